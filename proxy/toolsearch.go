package proxy

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"turngate/guard"
)

// toolRow is what operators see of a tool. Clients that declare the same tool
// with the same schema share a row.
type toolRow struct {
	Name         string          `json:"name"`
	Namespace    *string         `json:"namespace"`
	Upstream     string          `json:"upstream"`
	Description  string          `json:"description"`
	InputSummary json.RawMessage `json:"input_summary"`
	SchemaHash   *string         `json:"schema_hash"`
	LastSeen     time.Time       `json:"last_seen"`
	Drifted      bool            `json:"drifted"`

	hash string // SchemaHash; "" without a schema
}

// How many rows /tools shows.
const (
	defaultToolRows = 100
	maxToolRows     = 1_000
)

// serveTools answers GET /tools?q=&upstream=&limit=.
func (p *Proxy) serveTools(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, ok := limitOf(w, query.Get("limit"), defaultToolRows)
	if !ok {
		return
	}
	rows := p.seen.search(query.Get("q"), query.Get("upstream"), min(limit, maxToolRows))
	writeAdmin(w, http.StatusOK, map[string]any{"tools": rows})
}

// toolVersion is a tool with one of its schemas.
type toolVersion struct {
	toolName
	upstream string
	schema   *guard.Schema
}

// toolMatch is what a search found of a version, over all clients.
type toolMatch struct {
	toolVersion
	rank        int // 0: the name matches, 1: the description
	description string
	lastSeen    time.Time
	drifted     bool
}

// search returns the tools whose name, or else whose description, holds q,
// whatever the case. Schemas are hashed and summed up only for what is returned.
func (s *seenTools) search(q, upstream string, limit int) []toolRow {
	found := s.matches(strings.ToLower(q), upstream)
	slices.SortFunc(found, func(a, b *toolMatch) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace),
			cmp.Compare(a.upstream, b.upstream), b.lastSeen.Compare(a.lastSeen))
	})
	rows, first := []toolRow{}, 0 // first is the first row of the tool at hand
	for i, m := range found {
		if i == 0 || m.toolName != found[i-1].toolName || m.upstream != found[i-1].upstream {
			first = len(rows)
		}
		row := m.row()
		// A schema can be here twice: with its keys in another order, or read
		// again after it was forgotten.
		same := slices.IndexFunc(rows[first:], func(r toolRow) bool { return r.hash == row.hash })
		switch {
		case same >= 0:
			rows[first+same].Drifted = rows[first+same].Drifted || row.Drifted
		case len(rows) == limit:
			return rows
		default:
			rows = append(rows, row)
		}
	}
	return rows
}

// matches returns what matches, each version once, in no order.
func (s *seenTools) matches(q, upstream string) []*toolMatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	versions := map[toolVersion]*toolMatch{}
	var found []*toolMatch
	for e := s.recent.Front(); e != nil; e = e.Next() {
		t := e.Value.(*seenTool)
		rank := t.rank(q)
		if rank < 0 || upstream != "" && t.from.upstream != upstream {
			continue
		}
		v := toolVersion{t.toolName, t.from.upstream, t.schema}
		m := versions[v]
		if m == nil {
			m = &toolMatch{toolVersion: v, rank: rank, description: t.description}
			versions[v] = m
			found = append(found, m)
		}
		m.rank = min(m.rank, rank)
		m.drifted = m.drifted || t.drifted
		if at := t.lastSeen(); at.After(m.lastSeen) {
			m.lastSeen = at
		}
	}
	return found
}

// rank says how well t matches a text in lower case: 0 by its name, 1 by its
// description, -1 not at all.
func (t *seenTool) rank(q string) int {
	name := t.name
	if t.namespace != "" {
		name = t.namespace + "__" + t.name
	}
	switch {
	case strings.Contains(strings.ToLower(name), q):
		return 0
	case strings.Contains(strings.ToLower(t.description), q):
		return 1
	}
	return -1
}

func (m *toolMatch) row() toolRow {
	row := toolRow{
		Name: guard.Shown(m.name, maxLogged), Upstream: m.upstream, Description: m.description,
		LastSeen: m.lastSeen, Drifted: m.drifted, hash: hashOf(m.schema),
	}
	if m.namespace != "" {
		ns := guard.Shown(m.namespace, maxLogged)
		row.Namespace = &ns
	}
	if m.schema != nil {
		row.SchemaHash, row.InputSummary = &row.hash, m.schema.Summary()
	}
	return row
}
