package config

import (
	"strconv"
	"strings"
)

// syntaxError takes the text of an error of the YAML library apart. The library
// has no type for it, counts the lines of its parser from 0 and those of its
// scanner from 1, and leaves out a line 0. A line of 0 is unknown.
func syntaxError(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	line = 1
	if after, ok := strings.CutPrefix(text, "line "); ok {
		if number, rest, ok := strings.Cut(after, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, rest
				if fromParser(text) {
					line++
				}
			}
		}
	} else if strings.HasPrefix(text, "unknown anchor") || strings.Contains(text, "UTF-8") {
		line = 0
	}
	return line, text
}

// fromParser reports whether a text is one of the parser's.
func fromParser(text string) bool {
	for _, what := range []string{"key", "node content", "'-' indicator", "',' or ']'", "',' or '}'", "<document start>"} {
		if text == "did not find expected "+what {
			return true
		}
	}
	return false
}
