package config

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	Where   string // "turngate.yaml:12", "--listen", "TURNGATE_LISTEN"
	Message string
}

// Faults is everything that is wrong with a configuration, as one error. Its
// text has one line a fault.
type Faults []Fault

// Error returns the faults, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Where + ": " + fault.Message
	}
	return strings.Join(lines, "\n")
}

// add appends a fault.
func (f *Faults) add(where, format string, args ...any) {
	*f = append(*f, Fault{where, fmt.Sprintf(format, args...)})
}

// err returns f as an error, nil if it is empty.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
