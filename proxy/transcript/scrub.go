package transcript

import (
	"bytes"
	"cmp"
	"io"
	"slices"
)

// minSecret is the length of the shortest secret that is looked for: shorter
// ones would be found everywhere.
const minSecret = 6

// secrets are texts that must not be written.
type secrets [][]byte

// add returns s with more texts, the longest first, so that one that is part of
// another does not leave the rest of it behind.
func (s secrets) add(texts ...string) secrets {
	for _, t := range texts {
		if len(t) >= minSecret && !slices.ContainsFunc(s, func(b []byte) bool { return string(b) == t }) {
			s = append(s, []byte(t))
		}
	}
	slices.SortFunc(s, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	return s
}

// longest returns the length of the longest.
func (s secrets) longest() int {
	if len(s) == 0 {
		return 0
	}
	return len(s[0])
}

// cover overwrites each secret in b with as many asterisks, so that all offsets
// stay and JSON stays JSON.
func (s secrets) cover(b []byte) {
	for _, secret := range s {
		for at := 0; ; {
			i := bytes.Index(b[at:], secret)
			if i < 0 {
				break
			}
			at += i
			for j := range secret {
				b[at+j] = '*'
			}
			at += len(secret)
		}
	}
}

// scrubber is a writer that covers secrets, those that come in pieces included:
// it holds back as many bytes as could be the beginning of one.
type scrubber struct {
	dst     io.Writer
	secrets secrets
	held    []byte
}

// Write takes all of p. What it returns is an error of an earlier or of this
// write downstream.
func (s *scrubber) Write(p []byte) (int, error) {
	s.held = append(s.held, p...)
	s.secrets.cover(s.held)
	return len(p), s.release(max(s.secrets.longest()-1, 0))
}

// flush writes what was held back; nothing may follow.
func (s *scrubber) flush() error { return s.release(0) }

// release writes all but the last keep bytes.
func (s *scrubber) release(keep int) error {
	n := len(s.held) - keep
	if n <= 0 {
		return nil
	}
	_, err := s.dst.Write(s.held[:n])
	s.held = append(s.held[:0], s.held[n:]...)
	return err
}
