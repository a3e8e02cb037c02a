package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Why a text could not be read. Callers compare with ==.
var (
	errTooLarge  = errors.New("over a limit")
	errBlank     = errors.New("blank")
	errTruncated = errors.New("the JSON text is cut off")
	errNotJSON   = errors.New("not valid JSON")
	errTrailing  = errors.New("text after the JSON value")
)

// duplicate is a key that an object has twice. Readers disagree about which one
// counts, so whoever decides by the value must not guess.
type duplicate struct {
	pointer string // of the second one; as long as the text makes it
	name    string
}

// parse reads one JSON text within lim into the values that encoding/json would
// make, with [json.Number] for numbers. Invalid UTF-8 and lone surrogates are
// read as U+FFFD. Of duplicate keys the last one counts, and the first pair
// found is reported beside the value.
func parse(text []byte, lim limits) (any, *duplicate, error) {
	if len(text) > lim.bytes {
		return nil, nil, errTooLarge
	}
	p := parser{
		dec: jsontext.NewDecoder(bytes.NewBuffer(text),
			jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)),
		limits: lim,
	}
	if p.dec.PeekKind() == jsontext.KindInvalid && len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return nil, nil, errBlank
	}
	v, err := p.value(0)
	if err != nil {
		return nil, nil, fault(err)
	}
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return nil, nil, errTrailing
	}
	return v, p.dup, nil
}

// fault reduces an error to one of ours: the reader's messages quote the text.
func fault(err error) error {
	switch {
	case err == errTooLarge:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errTruncated
	}
	return errNotJSON
}

type parser struct {
	dec *jsontext.Decoder
	limits
	dup *duplicate
}

// value reads the next value, which has depth containers around it.
func (p *parser) value(depth int) (any, error) {
	if p.values--; p.values < 0 {
		return nil, errTooLarge
	}
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		return tok.Bool(), nil
	case jsontext.KindString:
		return tok.String(), nil
	case jsontext.KindNumber:
		n := json.Number(tok.String())
		if !p.allows(n) {
			return nil, errTooLarge
		}
		return n, nil
	case jsontext.KindBeginObject:
		return p.object(depth + 1)
	case jsontext.KindBeginArray:
		return p.array(depth + 1)
	}
	return nil, nil
}

func (p *parser) object(depth int) (any, error) {
	if depth > p.depth {
		return nil, errTooLarge
	}
	obj := map[string]any{}
	for p.dec.PeekKind() != jsontext.KindEndObject {
		tok, err := p.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		if _, twice := obj[name]; twice && p.dup == nil {
			p.dup = &duplicate{string(p.dec.StackPointer()), name}
		}
		if obj[name], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := p.dec.ReadToken()
	return obj, err
}

func (p *parser) array(depth int) (any, error) {
	if depth > p.depth {
		return nil, errTooLarge
	}
	arr := []any{}
	for p.dec.PeekKind() != jsontext.KindEndArray {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		arr = append(arr, v)
	}
	_, err := p.dec.ReadToken()
	return arr, err
}
