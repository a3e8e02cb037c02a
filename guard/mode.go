package guard

import "fmt"

// Mode says what happens when a rule is broken. The zero value is [Refuse], so
// that a forgotten setting fails closed.
type Mode uint8

const (
	Refuse Mode = iota // end the turn with a named reason
	Report             // count and log, let pass
	Off                // do not look
)

// String returns the mode as it is written in configuration.
func (m Mode) String() string {
	switch m {
	case Refuse:
		return "refuse"
	case Report:
		return "report"
	case Off:
		return "off"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode reads what String writes.
func ParseMode(s string) (Mode, error) {
	for m := Refuse; m <= Off; m++ {
		if s == m.String() {
			return m, nil
		}
	}
	return Refuse, fmt.Errorf("mode %q is none of refuse, report, off", s)
}
