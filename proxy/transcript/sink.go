package transcript

import (
	"bufio"
	"errors"
	"os"
)

// sink is a file that grows, without the secrets of what is written to it.
type sink struct {
	scrubber
	buf  *bufio.Writer
	file *os.File
}

func newSink(path string, s secrets) (*sink, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriter(file)
	return &sink{scrubber: scrubber{dst: buf, secrets: s}, buf: buf, file: file}, nil
}

// Close writes what is held back and closes the file.
func (s *sink) Close() error {
	return errors.Join(s.flush(), s.buf.Flush(), s.file.Close())
}
