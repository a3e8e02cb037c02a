package schema

import "fmt"

// rejection is why a schema is not used to judge anything.
type rejection struct {
	reason Reason
	detail string
}

func (r *rejection) Error() string { return r.detail }

func reject(format string, args ...any) error {
	return &rejection{SchemaRejected, fmt.Sprintf(format, args...)}
}

func tooLarge(format string, args ...any) error {
	return &rejection{TooLarge, fmt.Sprintf(format, args...)}
}
