package redis

import "github.com/redis/go-redis/v9"

// scripts are what must be one step. Each works on the keys of one slot, which
// it is given, so a cluster runs them too. KEYS[1] is a root's hash for the first
// five, and KEYS is keys.index for the next three.
type scripts struct {
	put, chain, delete, evict, names *redis.Script
	account, oldest, forget          *redis.Script
	unname                           *redis.Script
}

func newScripts() scripts {
	return scripts{
		put: putScript(), chain: chainScript(), delete: deleteScript(), evict: evictScript(), names: namesScript(),
		account: accountScript(), oldest: oldestScript(), forget: forgetScript(),
		unname: unnameScript(),
	}
}

// putScript adds a record to a root. It answers {"ok", seq, refresh, taken...},
// or the reason why it did not.
func putScript() *redis.Script {
	return redis.NewScript(`
local k, parent, now, ttl = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local size, cost = tonumber(ARGV[4]), tonumber(ARGV[5])
local depth, total = 1, size
local t = tonumber(redis.call('HGET', k, 't') or -1)
if parent > 0 then
  if t < 0 or now - t >= ttl then return {'notfound'} end
  local h = redis.call('HGET', k, 'h' .. parent)
  if not h then return {'notfound'} end
  local _, d, s = string.match(h, '^(%d+) (%d+) (%d+)')
  depth, total = tonumber(d) + 1, tonumber(s) + size
  if depth > tonumber(ARGV[6]) or total > tonumber(ARGV[7]) then return {'toolong', depth, total} end
end
local free, taken = '', {}
local ids = tonumber(ARGV[12])
for i = 1, ids do
  local at, p = tonumber(ARGV[12 + 2 * i - 1]), parent
  taken[i] = 0
  while at > 0 and p > 0 do
    if p == at then taken[i] = 1 break end
    local h = redis.call('HGET', k, 'h' .. p)
    if not h then break end
    p = tonumber(string.match(h, '^(%d+)'))
  end
  if taken[i] == 0 then free = free .. ARGV[12 + 2 * i] end
end
if free == '' then return {'inchain'} end
if tonumber(redis.call('HGET', k, 'b') or 0) + cost > tonumber(ARGV[8]) then return {'toolarge'} end
local seq = redis.call('HINCRBY', k, 'n', 1)
redis.call('HSET', k, 't', string.format('%.0f', math.max(t, now)), 'r' .. seq, ARGV[10], 'k' .. seq, free .. ARGV[11],
  'h' .. seq, string.format('%d %d %.0f %.0f', parent, depth, total, cost))
redis.call('HINCRBY', k, 'b', cost)
redis.call('HINCRBY', k, 'c', 1)
local refresh, f = 0, tonumber(redis.call('HGET', k, 'f') or 0)
if f == 0 or now - f > ttl / 2 then
  redis.call('HSET', k, 'f', string.format('%.0f', now))
  if f > 0 then refresh = 1 end
end
redis.call('PEXPIRE', k, ARGV[9])
return {'ok', seq, refresh, unpack(taken)}
`)
}

// chainScript answers the records from ARGV[1] back to the root, or nothing if
// one is missing or the root is expired.
func chainScript() *redis.Script {
	return redis.NewScript(`
local k, p = KEYS[1], tonumber(ARGV[1])
local t = redis.call('HGET', k, 't')
if not t or tonumber(ARGV[2]) - tonumber(t) >= tonumber(ARGV[3]) then return false end
local out = {}
while p > 0 do
  local v = redis.call('HMGET', k, 'h' .. p, 'r' .. p)
  if not v[1] or not v[2] then return false end
  out[#out + 1] = v[2]
  p = tonumber(string.match(v[1], '^(%d+)'))
end
return out
`)
}

// deleteScript removes one record and answers its names and its cost.
func deleteScript() *redis.Script {
	return redis.NewScript(`
local k, seq = KEYS[1], ARGV[1]
local t = redis.call('HGET', k, 't')
if not t or tonumber(ARGV[2]) - tonumber(t) >= tonumber(ARGV[3]) then return false end
local v = redis.call('HMGET', k, 'h' .. seq, 'k' .. seq)
if not v[1] then return false end
local cost = string.match(v[1], '(%d+)$')
redis.call('HDEL', k, 'h' .. seq, 'k' .. seq, 'r' .. seq)
redis.call('HINCRBY', k, 'b', '-' .. cost)
if redis.call('HINCRBY', k, 'c', -1) <= 0 then redis.call('UNLINK', k) end
return {v[2] or '', cost}
`)
}

// evictScript removes a root, unless it was extended since ARGV[1]. It answers
// {t} if so, {} if there is no such root, and else {t, names, records}.
func evictScript() *redis.Script {
	return redis.NewScript(`
local k = KEYS[1]
local v = redis.call('HMGET', k, 't', 'n', 'c')
if not v[1] then return {} end
if tonumber(v[1]) > tonumber(ARGV[1]) then return {v[1]} end
local names = {}
for i = 1, tonumber(v[2]) do
  names[#names + 1] = redis.call('HGET', k, 'k' .. i) or nil
end
redis.call('UNLINK', k)
return {v[1], table.concat(names), v[3]}
`)
}

// namesScript answers all names of a root.
func namesScript() *redis.Script {
	return redis.NewScript(`
local names = {}
for i = 1, tonumber(redis.call('HGET', KEYS[1], 'n') or 0) do
  names[#names + 1] = redis.call('HGET', KEYS[1], 'k' .. i) or nil
end
return table.concat(names)
`)
}

// accountScript notes in the index that root ARGV[1] was extended at ARGV[2], by
// ARGV[3] bytes and ARGV[4] records, and answers the bytes of all.
func accountScript() *redis.Script {
	return redis.NewScript(`
local root = ARGV[1]
local t = redis.call('ZSCORE', KEYS[1], root)
if not t or tonumber(t) < tonumber(ARGV[2]) then redis.call('ZADD', KEYS[1], ARGV[2], root) end
redis.call('HINCRBY', KEYS[2], root, ARGV[3])
local left = redis.call('HINCRBY', KEYS[3], root, ARGV[4])
redis.call('HINCRBY', KEYS[4], 'r', ARGV[4])
if left == 0 then
  redis.call('ZREM', KEYS[1], root)
  redis.call('HDEL', KEYS[2], root)
  redis.call('HDEL', KEYS[3], root)
end
return redis.call('HINCRBY', KEYS[4], 'b', ARGV[3])
`)
}

// oldestScript answers {root, t, cause} of the root that is to go first, if one
// is to go: expired by ARGV[1], or while there are more bytes than ARGV[2].
func oldestScript() *redis.Script {
	return redis.NewScript(`
local e = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if #e == 0 then return false end
if tonumber(e[2]) <= tonumber(ARGV[1]) then return {e[1], e[2], 'ttl'} end
if tonumber(redis.call('HGET', KEYS[4], 'b') or 0) > tonumber(ARGV[2]) then return {e[1], e[2], 'size'} end
return false
`)
}

// forgetScript takes root ARGV[1] out of the index.
func forgetScript() *redis.Script {
	return redis.NewScript(`
local root = ARGV[1]
redis.call('HINCRBY', KEYS[4], 'b', 0 - tonumber(redis.call('HGET', KEYS[2], root) or 0))
redis.call('HINCRBY', KEYS[4], 'r', 0 - tonumber(redis.call('HGET', KEYS[3], root) or 0))
redis.call('ZREM', KEYS[1], root)
redis.call('HDEL', KEYS[2], root)
redis.call('HDEL', KEYS[3], root)
return 1
`)
}

// unnameScript removes a name if what it says begins with ARGV[1].
func unnameScript() *redis.Script {
	return redis.NewScript(`
local v = redis.call('GET', KEYS[1])
if v and string.sub(v, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`)
}
