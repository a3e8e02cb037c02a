package transcript

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// shelf holds the folders of a directory within a size. It looks at nothing
// whose name is not a turn's.
type shelf struct {
	dir   string
	max   int64
	kept  []folder // oldest first
	total int64    // bytes of them, and of those being written
}

type folder struct {
	name string
	size int64
}

// turnName matches the folders that a recorder makes; only they are removed.
var turnName = regexp.MustCompile(`^\d{8}T\d{6}\.\d{3}Z-req_[a-z0-9]+$`)

// scan finds the folders that are there. Their names sort by age.
func (s *shelf) scan() error {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if !e.IsDir() || !turnName.MatchString(e.Name()) {
			continue
		}
		f := folder{name: e.Name()}
		files, readErr := os.ReadDir(filepath.Join(s.dir, e.Name()))
		err = errors.Join(err, readErr)
		for _, file := range files {
			if info, err := file.Info(); err == nil {
				f.size += info.Size()
			}
		}
		s.kept = append(s.kept, f)
		s.total += f.size
	}
	return err
}

// fit charges what was written of a turn and makes room for it.
func (s *shelf) fit(o *output) error {
	s.total += o.size - o.charged
	o.charged = o.size
	for s.max > 0 && s.total > s.max {
		if len(s.kept) == 0 {
			return errTooLarge // with the others that are being written
		}
		if err := os.RemoveAll(filepath.Join(s.dir, s.kept[0].name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.total -= s.kept[0].size
		s.kept = s.kept[1:]
	}
	return nil
}

// keep takes a folder that is complete.
func (s *shelf) keep(name string, o *output) {
	s.kept = append(s.kept, folder{name, o.size})
}

// abandon removes a folder that is not going to be complete.
func (s *shelf) abandon(o *output) {
	s.total -= o.charged
	if o.dir != "" {
		os.RemoveAll(o.dir) // where that fails, writing it has failed too
	}
}
