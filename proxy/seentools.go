package proxy

import (
	"container/list"
	"iter"
	"sync"
	"time"

	"turngate/guard"
)

// What is remembered of the tools that requests declare (A9).
const (
	maxSeenTools = 16_384
	maxSeenBytes = 32 << 20 // schemas, and what is said of the tools
	maxSeenName  = 1_024    // bytes of a name with its namespace; the API allows 128
	maxTurnTools = 1_024    // tools of one turn
)

// seenTools remembers the tools that were declared of late, each with the schema
// that it had last, so that operators can search them and see those whose schema
// changes. The least recently seen make room.
//
// A turn that declares what the turn before it did, which nearly all do, costs a
// look-up and a comparison of pointers. The zero value is ready for use, and safe
// for concurrent use.
type seenTools struct {
	mu      sync.Mutex
	sources map[toolSource]*sourceTools
	recent  list.List             // of *seenTool, most recently seen first
	schemas map[*guard.Schema]int // how many tools have each
	size    int
}

// toolSource is whose turns are compared with each other: those of one client
// that go to one upstream.
type toolSource struct {
	scope    uint64
	upstream string
}

// sourceTools are the tools of one source.
type sourceTools struct {
	toolSource
	tools map[toolName]*list.Element
	lists []*guard.ToolList // what the last turn declared; nil if that is not all here
	turn  uint64            // counts turns that declared something else than the one before
	at    time.Time         // of the last turn
	moved time.Time         // when its tools were last moved to the front
}

// maxUnmoved is how long the tools of turns that declare the same again and again
// keep their place among the recent ones.
const maxUnmoved = time.Minute

type toolName struct{ namespace, name string }

// seenTool is a tool of one source.
type seenTool struct {
	toolName
	from        *sourceTools
	description string
	schema      *guard.Schema
	drifted     bool      // its schema's hash has changed since it was first seen
	at          time.Time // when it was seen last, unless it is of the source's last turn
	turn        uint64    // the last of the source's turns that declared it
	next        *guard.Schema
	fresh, gone bool
}

// lastSeen returns when a turn last declared t.
func (t *seenTool) lastSeen() time.Time {
	if t.turn == t.from.turn {
		return t.from.at
	}
	return t.at
}

// observe takes what a turn declares and returns how many tools have another
// schema hash than in the turn before.
func (s *seenTools) observe(source toolSource, lists iter.Seq[*guard.ToolList], now time.Time) (drifted int) {
	s.mu.Lock()
	if from := s.sources[source]; from != nil && now.Sub(from.moved) < maxUnmoved && from.declaredLast(lists) {
		from.at = now
		s.mu.Unlock()
		return 0
	}
	var changes []change
	for range lists { // nothing is kept of a turn that declares nothing
		changes = s.take(s.from(source), lists, now)
		break
	}
	s.mu.Unlock()
	if len(changes) == 0 {
		return 0
	}
	for i, c := range changes { // hashing is slow: not under the lock
		changes[i].differs = hashOf(c.before) != hashOf(c.after)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		if c.tool.gone || c.tool.schema != c.before {
			continue // another turn was faster
		}
		s.setSchema(c.tool, c.after)
		if c.differs {
			c.tool.drifted = true
			drifted++
		}
	}
	s.evict()
	return drifted
}

// declaredLast reports whether the last turn declared the same lists.
func (f *sourceTools) declaredLast(lists iter.Seq[*guard.ToolList]) bool {
	n := 0
	for l := range lists {
		if n >= len(f.lists) || f.lists[n] != l {
			return false
		}
		n++
	}
	return n > 0 && n == len(f.lists)
}

// change is a tool that came with another schema.
type change struct {
	tool          *seenTool
	before, after *guard.Schema
	differs       bool // in its hash, too
}

// settle notes at the tools of the last turn when that was, for a turn that may
// declare others.
func (f *sourceTools) settle() {
	for _, l := range f.lists {
		for i := range l.Tools {
			if e := f.tools[toolName{l.Tools[i].Namespace, l.Tools[i].Name}]; e != nil {
				e.Value.(*seenTool).at = f.at
			}
		}
	}
	f.lists = nil
}

// take puts the tools of lists among the seen ones.
func (s *seenTools) take(from *sourceTools, lists iter.Seq[*guard.ToolList], now time.Time) []change {
	from.settle()
	from.turn++
	var turn []*seenTool
	var all []*guard.ToolList
	complete, n := true, 0
	for l := range lists {
		all = append(all, l)
		for i := range l.Tools {
			tool := &l.Tools[i]
			if n++; n > maxTurnTools || len(tool.Namespace)+len(tool.Name) > maxSeenName {
				complete = false
				continue
			}
			t := s.tool(from, toolName{tool.Namespace, tool.Name})
			if t.turn != from.turn {
				t.turn = from.turn
				turn = append(turn, t)
			}
			t.next = tool.Schema // of several, the one that was declared last
			s.size += len(tool.Description) - len(t.description)
			t.description, t.at = tool.Description, now
		}
	}
	from.at, from.moved = now, now
	if complete {
		from.lists = all
	}
	var changes []change
	for _, t := range turn {
		switch {
		case t.fresh:
			s.setSchema(t, t.next)
			t.fresh = false
		case t.next != t.schema:
			changes = append(changes, change{tool: t, before: t.schema, after: t.next})
		}
		t.next = nil
	}
	s.evict()
	if len(from.tools) == 0 {
		delete(s.sources, from.toolSource)
	}
	return changes
}

// from returns the tools of a source.
func (s *seenTools) from(source toolSource) *sourceTools {
	f := s.sources[source]
	if f == nil {
		if s.sources == nil {
			s.sources, s.schemas = map[toolSource]*sourceTools{}, map[*guard.Schema]int{}
		}
		f = &sourceTools{toolSource: source, tools: map[toolName]*list.Element{}}
		s.sources[source] = f
	}
	return f
}

// tool returns a source's tool of this name and makes it the most recent.
func (s *seenTools) tool(from *sourceTools, name toolName) *seenTool {
	if e := from.tools[name]; e != nil {
		s.recent.MoveToFront(e)
		return e.Value.(*seenTool)
	}
	t := &seenTool{toolName: name, from: from, fresh: true}
	from.tools[name] = s.recent.PushFront(t)
	s.size += t.overhead()
	return t
}

// overhead is about what t takes beside its description and its schema.
func (t *seenTool) overhead() int { return 256 + len(t.namespace) + len(t.name) }

// setSchema gives t another schema. One that several tools have is counted once.
func (s *seenTools) setSchema(t *seenTool, next *guard.Schema) {
	if next != nil {
		if s.schemas[next]++; s.schemas[next] == 1 {
			s.size += next.Size()
		}
	}
	if old := t.schema; old != nil {
		if s.schemas[old]--; s.schemas[old] == 0 {
			s.size -= old.Size()
			delete(s.schemas, old)
		}
	}
	t.schema = next
}

// evict lets go of the least recently seen tools that are too many.
func (s *seenTools) evict() {
	for s.recent.Len() > maxSeenTools || s.size > maxSeenBytes && s.recent.Len() > 0 {
		t := s.recent.Remove(s.recent.Back()).(*seenTool)
		s.setSchema(t, nil)
		s.size -= t.overhead() + len(t.description)
		t.gone = true
		from := t.from
		delete(from.tools, t.toolName)
		if t.turn == from.turn {
			from.lists = nil // not all of them are here any more
		}
		if len(from.tools) == 0 && s.sources[from.toolSource] == from {
			delete(s.sources, from.toolSource)
		}
	}
}

// hashOf returns the hash of a schema, "" if there is none.
func hashOf(s *guard.Schema) string {
	if s == nil {
		return ""
	}
	return s.Hash()
}
