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

// add returns s with more texts, the longest first.
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

// cover writes to out, which is as long as text, an asterisk for each byte of a
// secret in text: so all offsets stay, and JSON stays JSON.
func (s secrets) cover(out, text []byte) {
	for _, secret := range s {
		for at := 0; ; at++ { // they may overlap
			i := bytes.Index(text[at:], secret)
			if i < 0 {
				break
			}
			at += i
			for j := range secret {
				out[at+j] = '*'
			}
		}
	}
}

// covered returns text without the secrets.
func (s secrets) covered(text []byte) []byte {
	out := bytes.Clone(text)
	s.cover(out, text)
	return out
}

// scrubber is a writer that covers secrets, those that come in pieces included:
// it holds back as many bytes as could be the beginning of one.
type scrubber struct {
	dst     io.Writer
	secrets secrets
	text    []byte // held back, as it came: what is covered could begin another
	out     []byte // the same, covered
}

// Write takes all of p. What it returns is an error of an earlier or of this
// write downstream.
func (s *scrubber) Write(p []byte) (int, error) {
	s.text = append(s.text, p...)
	s.out = append(s.out, p...)
	s.secrets.cover(s.out, s.text)
	return len(p), s.release(max(s.secrets.longest()-1, 0))
}

// flush writes what was held back; nothing may follow.
func (s *scrubber) flush() error { return s.release(0) }

// release writes all but the last keep bytes.
func (s *scrubber) release(keep int) error {
	n := len(s.out) - keep
	if n <= 0 {
		return nil
	}
	_, err := s.dst.Write(s.out[:n])
	s.text = append(s.text[:0], s.text[n:]...)
	s.out = append(s.out[:0], s.out[n:]...)
	return err
}
