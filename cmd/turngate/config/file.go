package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// applyFile reads the text of the file into the settings, except for its list
// of upstreams, which it returns: their defaults are known only when the other
// sources have been read.
func (l *loader) applyFile(path string, text []byte) *list {
	f := file{path: path, faults: &l.faults}
	var found *list
	faults := len(l.faults)
	root := f.root(text)
	if root == nil && len(l.faults) == faults {
		// A reload can meet a file that is being written. Without its upstreams
		// turns would go elsewhere, unguarded.
		l.faults.add(path, "the file sets nothing")
	}
	for _, p := range f.pairs(root, "the file") {
		if p.key == "upstreams" {
			found = &list{f, p}
			continue
		}
		o := l.fileOption(p.key)
		if o == nil {
			f.fault(p.line, "%s", l.unknownKey(p.key))
			continue
		}
		if v, ok := f.scalar(p); ok {
			l.set(o, v, f.at(p.value.Line), p.key+": ")
		}
	}
	return found
}

// list is the file's list of upstreams.
type list struct {
	file file
	pair pair
}

// fileOption returns the option of a key, nil if there is none in the file.
func (l *loader) fileOption(key string) *Option {
	for i := range l.options {
		if o := &l.options[i]; o.Key() == key && o.Where == Everywhere {
			return o
		}
	}
	return nil
}

// unknownKey says what is wrong with a key that the file does not have.
func (l *loader) unknownKey(key string) string {
	under := strings.ReplaceAll(key, "-", "_")
	switch {
	case under == "upstream" || under == "upstream_key_env":
		return quote(key) + " is not a key of the file: write a list of upstreams"
	case under != key && (under == "upstreams" || l.fileOption(under) != nil):
		return quote(key) + " is written " + under + " in the file"
	}
	return "unknown key " + quote(key)
}

// file names places in a YAML file and collects what is wrong there.
type file struct {
	path   string
	faults *Faults
	secret bool // no word of it may be repeated in a fault
}

func (f file) at(line int) string { return fmt.Sprintf("%s:%d", f.path, line) }

func (f file) fault(line int, format string, args ...any) {
	f.faults.add(f.at(line), format, args...)
}

// root returns the top of the one document in text, nil if there is none.
func (f file) root(text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // an empty file sets nothing
	} else if err != nil {
		f.syntax(err)
		return nil
	}
	if err := dec.Decode(&next); err == nil {
		f.fault(next.Line, "a second document, where one is expected")
	} else if !errors.Is(err, io.EOF) {
		f.syntax(err)
	}
	return doc.Content[0]
}

// syntax notes an error of the YAML library.
func (f file) syntax(err error) {
	line, text := syntaxError(err)
	where := f.path
	if line > 0 {
		where = f.at(line)
	}
	if f.secret {
		text = "what is wrong is not shown, as it may be a key"
	}
	f.faults.add(where, "is not YAML: %s", text)
}

// pair is an entry of a mapping.
type pair struct {
	key   string
	line  int // of the key
	value *yaml.Node
}

// pairs returns the entries of a mapping and notes keys that come twice. what
// names the mapping in faults.
func (f file) pairs(n *yaml.Node, what string) []pair {
	if n == nil || isNull(n) {
		return nil
	}
	n = target(n)
	if n.Kind != yaml.MappingNode {
		f.fault(n.Line, "%s must be a mapping of keys to values", what)
		return nil
	}
	var out []pair
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := target(n.Content[i]), n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			f.fault(k.Line, "a key of %s must be a word", what)
			continue
		}
		if line, ok := first[k.Value]; ok {
			name := k.Value
			if f.secret {
				name = "this name"
			}
			f.fault(k.Line, "%s is set already in line %d", name, line)
			continue
		}
		first[k.Value] = k.Line
		out = append(out, pair{k.Value, k.Line, target(v)})
	}
	return out
}

// scalar returns the text of a single value as it stands in the file, so that
// "off" and "0" are read by the option's own rules and not by YAML's.
func (f file) scalar(p pair) (string, bool) {
	switch {
	case isNull(p.value):
		f.fault(p.line, "%s has no value", p.key)
	case p.value.Kind != yaml.ScalarNode:
		f.fault(p.value.Line, "%s must be a single value", p.key)
	default:
		return p.value.Value, true
	}
	return "", false
}

// items returns the entries of a list, and whether it is one.
func (f file) items(p pair) ([]*yaml.Node, bool) {
	switch {
	case isNull(p.value):
		f.fault(p.line, "%s has no value", p.key)
	case p.value.Kind != yaml.SequenceNode:
		f.fault(p.value.Line, "%s must be a list", p.key)
	default:
		return p.value.Content, true
	}
	return nil, false
}

// target returns the node that an alias stands for. No more than two levels are
// ever read, so an alias to its own parent does no harm.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}
