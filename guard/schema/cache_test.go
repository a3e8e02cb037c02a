package schema

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func numbered(i int) []byte {
	return fmt.Appendf(nil, `{"properties":{"a":{"const":%d}}}`, i)
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	probe := compile(numbered(0))
	c := NewCache(int64(10*probe.bytes + probe.bytes/2))
	first := c.get(numbered(0))
	for i := range 100 {
		c.get(numbered(i))
		if c.get(numbered(0)) != first {
			t.Fatalf("the schema that is used all the time was dropped after %d others", i)
		}
	}
	if n := c.recent.Len(); n != len(c.entries) || n < 5 || n > 12 {
		t.Errorf("%d entries in the list, %d in the map, want about 10", n, len(c.entries))
	}
	if c.size > c.limit {
		t.Errorf("size is %d, limit %d", c.size, c.limit)
	}
	if c.get(numbered(50)) == nil || c.get(numbered(0)) != first {
		t.Error("a dropped schema does not come back")
	}
}

func TestCacheRemembersRejections(t *testing.T) {
	var c Cache
	schema := []byte(`{"$ref":"#"}`)
	if first := c.get(schema); c.get(schema) != first {
		t.Error("a rejected schema was compiled twice")
	}
	for i := range 1000 {
		c.Judge(fmt.Appendf(nil, `{"$ref":"#/%d"}`, i), nil)
	}
	if c.size != 1001*entryBytes {
		t.Errorf("size is %d, want %d", c.size, 1001*entryBytes)
	}
}

func TestCacheSmallerThanASchema(t *testing.T) {
	c := NewCache(1)
	for range 2 {
		if v := c.Judge(numbered(1), []byte(`{"a":2}`)); v.Outcome != Invalid {
			t.Errorf("got %+v", v)
		}
	}
	if len(c.entries) != 0 || c.size != 0 {
		t.Errorf("%d entries of size %d stay", len(c.entries), c.size)
	}
}

// TestCacheConcurrently judges few schemas from many goroutines with a cache
// that cannot hold them; the race detector looks on.
func TestCacheConcurrently(t *testing.T) {
	c := NewCache(int64(3 * compile(numbered(0)).bytes))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				n := (i*7 + g) % 6
				if v := c.Judge(numbered(n), fmt.Appendf(nil, `{"a":%d}`, n)); v.Outcome != Accepted {
					t.Errorf("got %+v", v)
				}
				if v := c.Judge(numbered(n), []byte(`{"a":-1}`)); v.Outcome != Invalid {
					t.Errorf("got %+v", v)
				}
			}
		})
	}
	all.Wait()
	if c.size > c.limit {
		t.Errorf("size is %d, limit %d", c.size, c.limit)
	}
}

// TestVerdictIsDeterministic judges arguments with more problems than are shown,
// which the validator finds in the order of Go's maps.
func TestVerdictIsDeterministic(t *testing.T) {
	args := []byte(`{` + repeat(200, func(i int) string { return fmt.Sprintf(`"k%d":{"b":1,"a":"x"}`, i) }) + `}`)
	schema := []byte(`{"required":["z","y","x"],"additionalProperties":{"required":["c"],"properties":{"a":{"type":"null"},"b":{"type":"null"}}}}`)
	want := NewCache(0).Judge(schema, args)
	if len(want.Problems) != maxProblems || want.Outcome != Missing {
		t.Fatalf("got %+v", want)
	}
	for range 20 {
		if diff := cmp.Diff(want, NewCache(0).Judge(schema, args)); diff != "" {
			t.Fatal(diff)
		}
	}
}
