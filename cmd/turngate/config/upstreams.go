package config

import (
	"strings"

	"turngate/guard"
	"turngate/proxy"
)

// upstreams makes the upstreams from the file's list or, without one, the one
// of the flags.
func (l *loader) upstreams(found *list) {
	var drafts []*draft
	if found == nil {
		drafts = []*draft{l.onlyUpstream()}
	} else {
		for _, name := range []string{"upstream", "upstream-key-env"} {
			if where, ok := l.from[name]; ok {
				l.faults.add(where, "cannot be set beside the list of upstreams in %s", found.file.at(found.pair.line))
			}
		}
		drafts = l.listed(found)
	}
	l.compare(drafts)
	for _, d := range drafts {
		l.settings.Upstreams = append(l.settings.Upstreams, l.resolve(d))
	}
}

// newDraft returns an upstream that has said nothing of its own.
func (l *loader) newDraft(where string) *draft {
	s := &l.settings
	return &draft{
		where:           where,
		whereIs:         make(map[string]string),
		state:           s.State,
		undeclared:      s.Undeclared,
		arguments:       s.Arguments,
		approvals:       s.Approvals,
		idleTimeout:     s.IdleTimeout,
		missingTerminal: s.MissingTerminal,
	}
}

// onlyUpstream returns the upstream of the flags.
func (l *loader) onlyUpstream() *draft {
	d := l.newDraft("--upstream")
	d.name = "default"
	d.baseURL = l.settings.Upstream
	d.keyEnv = l.settings.UpstreamKeyEnv
	if where, ok := l.from["upstream-key-env"]; ok {
		d.whereIs["key_env"] = where
	}
	return d
}

// listed reads the entries of the file's list.
func (l *loader) listed(found *list) []*draft {
	f := found.file
	entries, ok := f.items(found.pair)
	if ok && len(entries) == 0 {
		f.fault(found.pair.line, "upstreams is an empty list")
	}
	var out []*draft
	for _, n := range entries {
		n = target(n)
		if isNull(n) {
			f.fault(n.Line, "an upstream must be a mapping of keys to values")
			continue
		}
		d := l.newDraft(f.at(n.Line))
		for _, p := range f.pairs(n, "an upstream") {
			d.whereIs[p.key] = f.at(p.value.Line)
			f.setKey(d, p)
		}
		for _, required := range []string{"name", "base_url"} {
			if _, ok := d.whereIs[required]; !ok {
				l.faults.add(d.where, "an upstream needs %s", required)
			}
		}
		out = append(out, d)
	}
	return out
}

// setKey reads one key of an upstream.
func (f file) setKey(d *draft, p pair) {
	for _, k := range UpstreamKeys() {
		switch {
		case k.Name != p.key:
			continue
		case k.list != nil:
			f.setList(k.list(d), p)
		default:
			if v, ok := f.scalar(p); ok {
				if err := k.scalar(d).Set(v); err != nil {
					f.fault(p.value.Line, "%s: %v", p.key, err)
				}
			}
		}
		return
	}
	f.fault(p.line, "unknown key %s of an upstream", quote(p.key))
}

func (f file) setList(v listValue, p pair) {
	nodes, ok := f.items(p)
	if ok && len(nodes) == 0 {
		f.fault(p.line, "%s is an empty list", p.key)
	}
	for _, n := range nodes {
		s, ok := f.scalar(pair{"an entry of " + p.key, n.Line, target(n)})
		if !ok {
			continue
		}
		if err := v.check(s); err != nil {
			f.fault(n.Line, "%s: %v", p.key, err)
			continue
		}
		*v.to = append(*v.to, s)
	}
}

// compare looks at what upstreams say together.
func (l *loader) compare(drafts []*draft) {
	names := make(map[string]string)
	rest := ""
	for _, d := range drafts {
		if first, ok := names[d.name]; ok && d.name != "" {
			l.faults.add(d.at("name"), "another upstream is called %s as well (%s)", d.name, first)
		} else {
			names[d.name] = d.at("name")
		}
		if _, ok := d.whereIs["models"]; ok {
			continue
		}
		if rest != "" {
			l.faults.add(d.where, "only one upstream may be without models, and the one in %s is", rest)
		} else {
			rest = d.where
		}
	}
}

// resolve turns a draft into what the proxy takes.
func (l *loader) resolve(d *draft) proxy.Upstream {
	u := proxy.Upstream{
		Name:            d.name,
		BaseURL:         d.baseURL,
		Models:          d.models,
		Arguments:       d.arguments,
		Approvals:       d.approvals,
		DropHeaders:     d.dropHeaders,
		HostedCalls:     d.hostedCalls,
		PassMissingEnd:  d.missingTerminal == "pass",
		ReplayReasoning: d.replayReasoning,
		IdleTimeout:     d.idleTimeout,
	}
	if d.keyEnv != "" {
		u.Key = l.key(d)
	}
	if u.BaseURL == nil {
		return u // has its fault already
	}
	own := proxy.OwnProtocol(u.BaseURL.Hostname())
	if own && !u.InjectsKey() && l.settings.ClientKeys != "" {
		l.faults.add(d.where, "%s needs a key of its own, as with client keys it does not get the clients' credentials", u.BaseURL.Hostname())
	}
	u.Replay = d.state == "replay" || d.state == "auto" && !own
	u.Undeclared = UndeclaredMode(d.undeclared, own && d.keyEnv == "" && u.BaseURL.User == nil)
	return u
}

// UndeclaredMode resolves a value of the option "undeclared"; exempt says
// whether rule G9 exempts the upstream.
func UndeclaredMode(value string, exempt bool) guard.Mode {
	if value == "auto" {
		if exempt {
			return guard.Off
		}
		return guard.Refuse
	}
	m, err := guard.ParseMode(value)
	if err != nil {
		return guard.Refuse // fail closed; the option takes no such value
	}
	return m
}

// key reads the upstream's key from the environment.
func (l *loader) key(d *draft) string {
	where := d.at("key_env")
	if d.baseURL != nil && d.baseURL.User != nil {
		l.faults.add(where, "cannot be set beside a user in the base URL")
	}
	return l.secret(where, d.keyEnv)
}

// secret reads a key from the environment variable that is named at where. Files
// that keys come from often end in a line feed, which no header can carry, so
// white space around the key is dropped.
func (l *loader) secret(where, name string) string {
	v, _ := l.env(name)
	v = strings.TrimSpace(v)
	if v == "" {
		l.faults.add(where, "the environment variable %s is not set", name)
	}
	for _, r := range v {
		if r <= ' ' || r >= 0x7f {
			l.faults.add(where, "the environment variable %s holds a character that cannot be part of a key", name)
			break
		}
	}
	return v
}
