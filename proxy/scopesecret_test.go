package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"turngate/proxy/mock"
	"turngate/replay"
	"turngate/replay/bolt"
)

// spyStore keeps all that is put into a store.
type spyStore struct {
	replay.Store
	mu  sync.Mutex
	put []string
}

func (s *spyStore) Put(ctx context.Context, scope replay.Scope, r replay.Record) error {
	b, err := json.Marshal(map[string]any{"scope": string(scope), "id": r.ID, "input": string(r.Input), "output": string(r.Output), "snapshot": string(r.Snapshot)})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.put = append(s.put, string(b))
	s.mu.Unlock()
	return s.Store.Put(ctx, scope, r)
}

// R8: who made a record is told by a keyed hash; a credential is never stored.
func TestR8NoCredentialInTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	spy := &spyStore{Store: store}
	r := newRig(t, func(c *Config) {
		c.Store = spy
		c.Upstreams[0].Replay = true
	}, new(mock.Stream).Created().Text("hi").Completed().Turn())
	secrets := []string{"sk-marker-of-a-bearer-token", "marker-of-an-api-key"}
	r.post([]byte(`{"model":"m","stream":true,"input":"one"}`), map[string]string{"Authorization": "Bearer " + secrets[0]})
	r.post([]byte(`{"model":"m","stream":true,"input":"two"}`), map[string]string{"X-Api-Key": secrets[1]})
	r.stop()
	if len(spy.put) != 2 || !strings.Contains(spy.put[0], "resp_1") {
		t.Fatalf("recorded: %q", spy.put)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(strings.Join(spy.put, "\n"), secret) || bytes.Contains(file, []byte(secret)) {
			t.Errorf("%s is in the store", secret)
		}
	}
}
