// Package schema judges the arguments of a tool call by the tool's JSON Schema,
// and describes a schema to whoever has to call the tool again.
//
// Both the schema and the arguments come from strangers, and a call must be
// judged while its stream waits. So everything here ends after a bounded amount
// of work that is known before it starts, and nothing here opens a file or a
// connection:
//
//   - A schema is read with limits, then rewritten into the few keywords that
//     are asserted (rewrite.go), then compiled. References to other documents,
//     circles and references that multiply never reach the compiler.
//   - Arguments are read with limits, then a dry run over the compiled schema
//     counts what validation could cost at most (work.go). What costs too much
//     is not judged.
//
// A schema or arguments that break a limit are [Unjudged], with a reason to
// count; they are never a fault of the call.
//
// The package knows nothing of streams, of the Responses API or of what is done
// about a verdict. It does not assert format, contentMediaType or
// contentSchema, does not fill in defaults, and does not repair arguments. What
// it reports never repeats an argument's value.
package schema
