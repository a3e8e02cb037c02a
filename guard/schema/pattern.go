package schema

import (
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern checks and counts one of the schema's regular expressions.
func (r *rewriter) pattern(text string) error {
	work, err := patternWork(text)
	if err != nil {
		return err
	}
	if r.patternWork += work; r.patternWork > maxPatternTotal {
		return reject("the patterns are too complex together")
	}
	return nil
}

// patternWork returns about how many instructions a pattern compiles to, which
// is also what matching it costs for each byte of input at most. Go matches in
// linear time, but a repetition of a repetition is compiled to all its copies.
func patternWork(text string) (int, error) {
	if len(text) > maxPatternBytes {
		return 0, reject("a pattern is longer than %d bytes", maxPatternBytes)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, reject("a pattern is not one that Go understands")
	}
	work := treeWork(tree)
	if work > maxPatternWork {
		return 0, reject("a pattern is too complex")
	}
	return work, nil
}

// treeWork saturates just over maxPatternWork, so it cannot overflow. The
// parser bounds the depth of the tree.
func treeWork(re *syntax.Regexp) int {
	work := 1
	switch re.Op {
	case syntax.OpLiteral:
		work = len(re.Rune)
	case syntax.OpCharClass:
		work = 1 + len(re.Rune)/16
	case syntax.OpCapture:
		work = 2
	}
	for _, sub := range re.Sub {
		work = min(work+treeWork(sub), maxPatternWork+1)
	}
	if re.Op == syntax.OpRepeat {
		work *= max(re.Min, re.Max, 1)
	}
	return min(work, maxPatternWork+1)
}

// pattern is a compiled regular expression that knows what it costs.
type pattern struct {
	*regexp.Regexp
	work int
}

// patternEngine compiles the patterns of one schema, each once although the
// metaschema asks for them too. It is not for concurrent use; the patterns are.
func patternEngine() jsonschema.RegexpEngine {
	known := map[string]*pattern{}
	return func(text string) (jsonschema.Regexp, error) {
		if p, ok := known[text]; ok {
			return p, nil
		}
		work, err := patternWork(text)
		if err != nil {
			return nil, err
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, reject("a pattern is not one that Go understands")
		}
		known[text] = &pattern{re, work}
		return known[text], nil
	}
}
