package schema

// Outcome is what a verdict comes to. The zero value is Unjudged, so that a
// verdict nobody made accuses nobody.
type Outcome uint8

const (
	Unjudged Outcome = iota // not judged; Verdict.Reason says why
	Accepted                // the arguments satisfy the schema
	Missing                 // empty, or lacking what the schema requires
	Invalid                 // not JSON, not an object, or failing the schema
)

// String returns the outcome in lower case, for tests and logs.
func (o Outcome) String() string {
	switch o {
	case Accepted:
		return "accepted"
	case Missing:
		return "missing"
	case Invalid:
		return "invalid"
	}
	return "unjudged"
}

// Reason is why arguments were not judged, as a metric's label says it. The zero
// value means that they were.
type Reason string

const (
	NoSchema       Reason = "no_schema"       // the tool was declared without one
	SchemaRejected Reason = "schema_rejected" // it does not compile, or may not
	TooLarge       Reason = "too_large"       // it, the arguments, or both together
)

// Verdict is what a schema says about the arguments of one call. Its texts never
// hold a value from the arguments. They may hold names and values from the
// schema, and property names that the caller made up; all are cut and free of
// control characters.
type Verdict struct {
	Outcome Outcome
	Reason  Reason // only if Unjudged
	Detail  string // only if Unjudged: more about the reason, for a log

	// Missing names the properties of the whole arguments that are required and
	// absent, sorted, at most 32. It can be empty for the outcome Missing: a
	// schema may want one of several, which Problems then says.
	Missing []string

	// Problems are sorted by the names in their pointers, at most 8. Missing arguments can have
	// others beside.
	Problems []Problem
}

// Problem is one thing that is wrong with arguments.
type Problem struct {
	Pointer string `json:"pointer"` // JSON pointer into the arguments, "" for all of them
	Message string `json:"message"` // continues a sentence about the value there
}

func unjudged(reason Reason, detail string) Verdict {
	return Verdict{Outcome: Unjudged, Reason: reason, Detail: detail}
}

func invalid(pointer, message string) Verdict {
	return Verdict{Outcome: Invalid, Problems: []Problem{{pointer, message}}}
}
