package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"turngate/proxy/mock"
	"turngate/proxy/transcript"
)

// keeper writes what a mock upstream received into a folder: NNNN.request.json
// is a body as it came (NNNN.request.bin if it is not JSON), which "turngate
// check" can read, and NNNN.head.json is all the rest but credentials. Files
// are for their owner alone. It is safe for use by many requests at once.
type keeper struct {
	dir string

	mu   sync.Mutex
	last int
}

// newKeeper makes dir if need be.
func newKeeper(dir string) (*keeper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &keeper{dir: dir}, nil
}

// write keeps r under the next number that is free.
func (k *keeper) write(r mock.Request) error {
	head, err := json.MarshalIndent(struct {
		Method  string      `json:"method"`
		Path    string      `json:"path"`
		Query   string      `json:"query,omitempty"`
		Headers http.Header `json:"headers"`
		Turn    string      `json:"turn"`
	}{r.Method, r.Path, transcript.CleanQuery(r.Query), transcript.CleanHeader(r.Header), r.Turn}, "", "  ")
	if err != nil {
		return err
	}
	ending := ".request.bin"
	if json.Valid(r.Body) {
		ending = ".request.json"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		k.last++
		stem := filepath.Join(k.dir, fmt.Sprintf("%04d", k.last))
		err := createFile(stem+".head.json", append(head, '\n'))
		if errors.Is(err, fs.ErrExist) {
			continue // kept by an earlier run
		}
		if err != nil {
			return err
		}
		return createFile(stem+ending, r.Body)
	}
}

// createFile writes a file that must not exist yet.
func createFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
