package proxy

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"turngate/guard"
)

// listsOf reads the lists of tools that a request would declare.
func listsOf(t testing.TB, known *guard.Tools, tools string) iter.Seq[*guard.ToolList] {
	t.Helper()
	r, err := known.ReadRequest([]byte(`{"tools":` + tools + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return r.Catalog.Lists()
}

// manyTools declares n tools named prefix and a number, with a schema each.
func manyTools(prefix string, n int) string {
	var all []string
	for i := range n {
		all = append(all, function(fmt.Sprintf("%s%d", prefix, i), "Does a thing.", fmt.Sprintf(`{"required":["%s%d"]}`, prefix, i)))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// check holds the store's books to what is in it.
func (s *seenTools) check(t *testing.T) {
	t.Helper()
	size, tools, schemas := 0, 0, map[*guard.Schema]int{}
	for source, from := range s.sources {
		if len(from.tools) == 0 || from.toolSource != source {
			t.Errorf("source %v has %d tools", source, len(from.tools))
		}
		for name, e := range from.tools {
			tool := e.Value.(*seenTool)
			if tool.toolName != name || tool.from != from || tool.gone || tool.fresh || tool.next != nil {
				t.Errorf("tool %v is %+v", name, tool)
			}
			tools++
			size += tool.overhead() + len(tool.description)
			if tool.schema != nil {
				if schemas[tool.schema]++; schemas[tool.schema] == 1 {
					size += tool.schema.Size()
				}
			}
		}
	}
	if tools != s.recent.Len() || size != s.size || len(schemas) != len(s.schemas) {
		t.Errorf("%d tools of %d bytes with %d schemas, but the books say %d, %d and %d",
			tools, size, len(schemas), s.recent.Len(), s.size, len(s.schemas))
	}
	if tools > maxSeenTools || size > maxSeenBytes {
		t.Errorf("%d tools of %d bytes are over the limits", tools, size)
	}
}

func TestA9MemoryIsBounded(t *testing.T) {
	var s seenTools
	known, now := guard.NewTools(1<<20), time.Now()
	mine := toolSource{1, "mine"}
	rounds := 200 // of 500 tools: 100,000
	if raceDetector {
		rounds = 40
	}
	for i := range rounds {
		s.observe(mine, listsOf(t, known, manyTools("mine", 1)), now)
		other := toolSource{uint64(i % 3), "other"}
		s.observe(other, listsOf(t, known, manyTools(fmt.Sprintf("turn%d_", i), 500)), now.Add(time.Duration(i)*time.Second))
	}
	s.check(t)
	if n := s.recent.Len(); n < maxSeenTools/2 {
		t.Errorf("only %d tools are remembered", n)
	}
	// Nothing was evicted that a turn keeps declaring, however often it did so
	// by the same list; what is gone is what was seen first.
	for q, want := range map[string]int{"mine0": 1, fmt.Sprintf("turn%d_", rounds-1): 500, "turn0_": 0} {
		if got := len(s.search(q, "", maxToolRows)); got != want {
			t.Errorf("%d tools %s, want %d", got, q, want)
		}
	}
}

func TestA9LargeSchemasAreBounded(t *testing.T) {
	var s seenTools
	known, now := guard.NewTools(1<<20), time.Now()
	for i := range 100 {
		schema := `{"description":"` + strings.Repeat("x", 1<<20) + `"}`
		s.observe(toolSource{uint64(i), "u"}, listsOf(t, known, "["+function(fmt.Sprint("f", i), "", schema)+"]"), now)
	}
	s.check(t)
	if n := s.recent.Len(); n < 10 || n > 32 {
		t.Errorf("%d tools are remembered", n)
	}
	long := strings.Repeat("n", maxSeenName)
	s.observe(toolSource{1, "long"}, listsOf(t, known, `[{"name":"`+long+`n"},{"name":"`+long+`"}]`), now)
	s.observe(toolSource{2, "long"}, listsOf(t, known, `[{"name":"`+long+`n"}]`), now)
	s.check(t)
	if got := s.search("nnn", "long", 10); len(got) != 1 {
		t.Errorf("%d tools with long names", len(got))
	}
}

func TestA9TurnsAreBounded(t *testing.T) {
	var s seenTools
	known, now := guard.NewTools(0), time.Now()
	s.observe(toolSource{1, "u"}, listsOf(t, known, manyTools("f", maxTurnTools+100)), now)
	s.check(t)
	if n := s.recent.Len(); n != maxTurnTools {
		t.Errorf("%d tools of one turn are remembered", n)
	}
	s.observe(toolSource{2, "u"}, listsOf(t, known, `[]`), now)
	s.observe(toolSource{3, "u"}, listsOf(t, known, `[{"type":"web_search"}]`), now)
	if n := len(s.sources); n != 1 {
		t.Errorf("%d sources are remembered, want that of the turn with named tools", n)
	}
}

func TestA9LastSeen(t *testing.T) {
	var s seenTools
	known, start := guard.NewTools(0), time.Now()
	source := toolSource{1, "u"}
	at := func(minutes float64) time.Time { return start.Add(time.Duration(minutes * float64(time.Minute))) }
	both, one := manyTools("f", 2), manyTools("f", 1)
	for minutes, tools := range []string{both, both, both, one, one, one} {
		s.observe(source, listsOf(t, known, tools), at(float64(minutes)/3))
	}
	for name, want := range map[string]time.Time{"f0": at(5. / 3), "f1": at(2. / 3)} {
		if got := s.search(name, "", 1); !got[0].LastSeen.Equal(want) {
			t.Errorf("%s was seen after %v, want %v", name, got[0].LastSeen.Sub(start), want.Sub(start))
		}
	}
	// Of two clients the later one counts.
	s.observe(toolSource{2, "u"}, listsOf(t, known, both), at(9))
	if got := s.search("f1", "", 9); len(got) != 1 || !got[0].LastSeen.Equal(at(9)) {
		t.Errorf("%+v", got)
	}
}

// Turns of one client run side by side: each change is counted once.
func TestA9ConcurrentTurns(t *testing.T) {
	var s seenTools
	known, now := guard.NewTools(0), time.Now()
	var drifted atomic.Int64
	versions := [2]string{`[` + function("f", "", `{"required":["a"]}`) + `]`, `[` + function("f", "", `{"required":["b"]}`) + `]`}
	s.observe(toolSource{1, "u"}, listsOf(t, known, versions[0]), now)
	for i := range 20 {
		var wg sync.WaitGroup
		for range 8 {
			lists := listsOf(t, known, versions[(i+1)%2])
			wg.Go(func() {
				drifted.Add(int64(s.observe(toolSource{1, "u"}, lists, now)))
				s.search("f", "", 10)
			})
		}
		wg.Wait()
	}
	s.check(t)
	if got := drifted.Load(); got != 20 {
		t.Errorf("%d changes counted, want 20", got)
	}
}

// What an unchanged catalog costs a turn, and what a changed one does.
func BenchmarkA9Observe(b *testing.B) {
	known := guard.NewTools(0)
	tools := realTools(b)
	same := listsOf(b, known, "["+strings.Join(tools, ",")+"]")
	reordered := slices.Clone(tools)
	slices.Reverse(reordered)
	other := listsOf(b, known, "["+strings.Join(reordered, ",")+"]")
	now := time.Now()
	b.Run("same list", func(b *testing.B) {
		var s seenTools
		b.ReportAllocs()
		for b.Loop() {
			s.observe(toolSource{1, "u"}, same, now)
		}
	})
	b.Run("another list of the same 15 tools", func(b *testing.B) {
		var s seenTools
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			lists := same
			if i%2 == 1 {
				lists = other
			}
			s.observe(toolSource{1, "u"}, lists, now)
		}
	})
}
