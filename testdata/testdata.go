// Package testdata holds the part of the catalogue that "turngate demo" plays,
// so that the binary needs no files beside it. Tests read the folder itself.
package testdata

import "embed"

// Demo holds one request and the answers that the demo's upstream gives to it.
//
//go:embed requests/one-tool.json
//go:embed streams/G5-function-call-declared.sse
//go:embed streams/K-E1-undeclared.sse
//go:embed streams/S6-json-custom.json
//go:embed streams/K-A1-truncated.sse
var Demo embed.FS
