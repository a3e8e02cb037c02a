package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"turngate/replay"
)

// Bench runs the benchmarks on a store that open opens empty; disk returns the
// bytes that the store takes where it keeps them, or is nil.
//
// The turn is an agent's: a tool's output of some 3 kB as input, a reasoning
// item with ciphertext and a call as output, 8 kB together.
func Bench(b *testing.B, open func(b *testing.B) replay.Store, disk func(b *testing.B, s replay.Store) int64) {
	b.Run("Put", func(b *testing.B) {
		s := open(b)
		defer s.Close()
		var n atomic.Int64
		b.SetParallelism(32)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := s.Put(b.Context(), scope, Turn("r"+strconv.FormatInt(n.Add(1), 10), "")); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
		if disk != nil {
			b.ReportMetric(float64(disk(b, s))/float64(b.N), "disk-B/record")
		}
		if st, err := s.Stats(b.Context()); err == nil {
			b.ReportMetric(float64(st.Bytes)/float64(st.Records), "stored-B/record")
		}
	})
	b.Run("PutAlone", func(b *testing.B) {
		s := open(b)
		defer s.Close()
		for i := range b.N {
			if err := s.Put(b.Context(), scope, Turn("r"+strconv.Itoa(i), "")); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, length := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("Expand/%d", length), func(b *testing.B) {
			s := open(b)
			defer s.Close()
			last := ""
			for i := range length {
				id := "r" + strconv.Itoa(i)
				if err := s.Put(b.Context(), scope, Turn(id, last)); err != nil {
					b.Fatal(err)
				}
				last = id
			}
			req := replay.Request{PreviousID: last, Input: []byte(`[{"type":"function_call_output","call_id":"call_` + last + `","output":"ok"}]`)}
			b.ReportAllocs()
			for b.Loop() {
				x, err := replay.Expand(b.Context(), s, scope, req)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(x.Input)))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "expansions/s")
		})
	}
}

// Turn returns a record the size of an agent's turn.
func Turn(id, previous string) replay.Record {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, `src/module_%d/file_%d.go:%d: func (s *Store) do%d() error {\n`, i%7, i, i*13, i)
	}
	answers := "call_" + previous
	input := `[{"type":"function_call_output","call_id":"` + answers + `","output":"` + text.String() + `"}]`
	if previous == "" {
		input = `[{"role":"user","content":"` + text.String() + `"}]`
	}
	return replay.Record{
		ID: id, PreviousID: previous, Input: []byte(input),
		Output: []byte(`[{"type":"reasoning","id":"rs_` + id + `","summary":[],"encrypted_content":"` + Noise(id, 1500) + `"},` +
			`{"type":"function_call","id":"fc_` + id + `","call_id":"call_` + id + `","name":"exec","arguments":"{\"cmd\":\"grep -rn do .\"}","status":"completed"}]`),
		Snapshot: []byte(`{"id":"` + id + `","object":"response","created_at":1796040000,"status":"completed","error":null,"incomplete_details":null,` +
			`"instructions":"` + strings.Repeat("You are an agent that works in a repository. ", 40) + `","model":"m","parallel_tool_calls":true,` +
			`"temperature":1.0,"tool_choice":"auto","tools":[],"usage":{"input_tokens":1000,"output_tokens":200,"total_tokens":1200}}`),
	}
}
