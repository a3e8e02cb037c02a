package main_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// soakLoad is clients that take one turn after the other.
type soakLoad struct {
	url   string
	kinds []soakKind
	seed  uint64

	mu     sync.Mutex
	sent   map[string]int // turns by kind
	faults []string       // what clients could not understand
}

// run keeps n clients busy until ctx ends, and waits for their last turns.
func (l *soakLoad) run(ctx context.Context, n int) {
	l.sent = map[string]int{}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	for worker := range n {
		all.Go(func() {
			random := rand.New(rand.NewPCG(l.seed, uint64(worker)))
			for ctx.Err() == nil {
				kind := l.choose(random)
				previous := l.turn(client, kind, "")
				if kind.chained && previous != "" {
					l.turn(client, kind, previous)
				}
			}
		})
	}
	all.Wait()
}

func (l *soakLoad) choose(random *rand.Rand) *soakKind {
	total := 0
	for _, k := range l.kinds {
		total += k.weight
	}
	n := random.IntN(total)
	for i := range l.kinds {
		if n -= l.kinds[i].weight; n < 0 {
			return &l.kinds[i]
		}
	}
	return &l.kinds[0]
}

// turn takes one turn and returns the response's id, if there is one.
func (l *soakLoad) turn(client *http.Client, k *soakKind, previous string) (id string) {
	l.mu.Lock()
	l.sent[k.name]++
	l.mu.Unlock()
	body := fmt.Sprintf(`{"model":"soak-%s","stream":%v,"input":[{"type":"message","role":"user","content":"hi"}],"tools":[{"type":"function","name":"declared"}]`, k.name, !strings.HasSuffix(k.name, "json"))
	if previous != "" {
		body += `,"previous_response_id":"` + previous + `"`
	}
	if !k.broken {
		body += "}"
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/v1/responses", strings.NewReader(body))
	if err != nil {
		l.fault(k, err)
		return ""
	}
	req.Header.Set("X-Soak", k.name)
	req.Header.Set("Authorization", "Bearer soak")
	resp, err := client.Do(req)
	if err != nil {
		l.fault(k, err)
		return ""
	}
	defer resp.Body.Close()
	if k.leaves {
		if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
			l.fault(k, err)
		}
		return ""
	}
	var from io.Reader = resp.Body
	if k.slow {
		from = slowReader{resp.Body}
	}
	got, err := io.ReadAll(from)
	if err != nil {
		l.fault(k, err) // whatever the upstream does, a client's answer ends well
	}
	return regexp.MustCompile(`resp_\d{12}`).FindString(string(got))
}

func (l *soakLoad) fault(k *soakKind, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, k.name+": "+err.Error())
}

// slowReader is a client on a slow line.
type slowReader struct{ io.Reader }

func (r slowReader) Read(p []byte) (int, error) {
	time.Sleep(2 * time.Millisecond) // the line's pace; nothing waits for it
	return r.Reader.Read(p[:min(len(p), 4<<10)])
}
