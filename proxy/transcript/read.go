package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Folder is a recorded turn.
type Folder struct {
	Meta
	Path string
}

// Is reports whether path is the folder of a turn.
func Is(path string) bool {
	_, err := os.Stat(filepath.Join(path, fileMeta))
	return err == nil
}

// Open reads a folder's head. Its bodies are read when they are asked for.
func Open(path string) (*Folder, error) {
	text, err := os.ReadFile(filepath.Join(path, fileMeta))
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if err := json.Unmarshal(text, &f.Meta); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, fileMeta), err)
	}
	if f.Version != version {
		return nil, fmt.Errorf("%s: version %d is not %d", filepath.Join(path, fileMeta), f.Version, version)
	}
	return f, nil
}

// RequestBody returns the client's body; nil if none could be read.
func (f *Folder) RequestBody() ([]byte, error) { return f.read(fileRequest) }

// SentBody returns the body that went upstream; nil if none did.
func (f *Folder) SentBody() ([]byte, error) { return f.read(fileSent) }

// ResponseBody returns all that the upstream sent; nil if that is nothing.
func (f *Folder) ResponseBody() ([]byte, error) { return f.read(fileResponse) }

// ClientBody returns all that the client was sent; nil if that is nothing.
func (f *Folder) ClientBody() ([]byte, error) { return f.read(fileClient) }

func (f *Folder) read(name string) ([]byte, error) {
	body, err := os.ReadFile(filepath.Join(f.Path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return body, err
}

// OpenResponse opens what the upstream sent, for reading it piece by piece. The
// error is [fs.ErrNotExist] if it sent nothing.
func (f *Folder) OpenResponse() (*os.File, error) {
	return os.Open(filepath.Join(f.Path, fileResponse))
}

// Arrivals returns when the pieces of the upstream's answer came.
func (f *Folder) Arrivals() ([]Arrival, error) {
	path := filepath.Join(f.Path, fileTimes)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []Arrival
	for lines := bufio.NewScanner(file); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		var a Arrival
		var micros int64
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &a.Offset, &micros); err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", path, lines.Text(), err)
		}
		a.At = time.Duration(micros) * time.Microsecond
		all = append(all, a)
	}
}
