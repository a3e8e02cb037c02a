package schema

import "testing"

// goodCall is what a model sends to the 15-property tool in testdata.
const goodCall = `{"command":["bash","-lc","go test ./... 2>&1 | tail -n 40"],"workdir":"/home/someone/project","timeout_ms":120000,"shell":"bash","login":false,"env":{"CI":"1"},"max_output_tokens":6000,"permissions":{"network":false,"write":["/tmp"]},"priority":"normal"}`

// BenchmarkJudge judges calls of a 15-property tool.
func BenchmarkJudge(b *testing.B) {
	schema := readTestdata(b, "testdata/golden/exec.json")
	bench := func(name, args string, want Outcome, cache func() *Cache) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v := cache().Judge(schema, []byte(args)); v.Outcome != want {
					b.Fatalf("got %+v", v)
				}
			}
		})
	}
	var warm Cache
	bench("accepted", goodCall, Accepted, func() *Cache { return &warm })
	bench("missing", `{"command":["ls"],"tty":"no"}`, Missing, func() *Cache { return &warm })
	bench("miss", goodCall, Accepted, func() *Cache { return NewCache(0) })
}

func BenchmarkSummary(b *testing.B) {
	schema := readTestdata(b, "testdata/golden/exec.json")
	b.ReportAllocs()
	for b.Loop() {
		Summary(schema)
	}
}

func BenchmarkHash(b *testing.B) {
	schema := readTestdata(b, "testdata/golden/exec.json")
	b.ReportAllocs()
	for b.Loop() {
		Hash(schema)
	}
}
