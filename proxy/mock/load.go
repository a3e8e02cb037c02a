package mock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Load reads turns from files: each path is a file, a folder whose .sse and
// .json files are taken in the order of their names, a recorded turn, or a folder
// of those, the oldest first. A turn's name is its file's without the ending, or
// the model of a recorded request. An .sse file is sent as text/event-stream and
// a .json file as application/json; for a file of another ending, named by
// itself, the first byte decides.
func Load(paths ...string) ([]Turn, error) {
	var turns []Turn
	for _, path := range paths {
		recorded, err := loadRecorded(path)
		if err != nil {
			return nil, err
		}
		if len(recorded) > 0 {
			turns = append(turns, recorded...)
			continue
		}
		files, err := turnFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			ext := filepath.Ext(file)
			turns = append(turns, Turn{
				Name:        strings.TrimSuffix(filepath.Base(file), ext),
				Body:        body,
				ContentType: typeOf(ext),
			})
		}
	}
	return turns, nil
}

// typeOf returns the content type of a turn in a file with this ending, or "".
func typeOf(ext string) string {
	switch ext {
	case ".sse":
		return "text/event-stream"
	case ".json":
		return "application/json"
	}
	return ""
}

// turnFiles returns path, or the files with turns if it is a folder.
func turnFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if typeOf(filepath.Ext(e.Name())) != "" && !e.IsDir() {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no .sse or .json file, and no recorded turn, in %s", path)
	}
	return files, nil
}
