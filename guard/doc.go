// Package guard decides whether a turn of the Responses API may reach the
// client: whether each client-executed call in a response was declared by the
// request, and whether its arguments can work.
//
// [ReadRequest] reads a request body once and strictly; its [Catalog] says what
// is declared. A [Guard] then judges the response, event by event with
// [Guard.Inspect], and [Guard.Skim] for runs of what decides nothing, or as a
// whole with [Guard.InspectAnswer]: one verdict on an item, whatever carried it.
// On the way it notes what the events say of the [Turn]. A [Refusal] names the
// reason.
//
// Bytes come from strangers. Where two readers of the same bytes could differ
// about a call (duplicate or case-folded keys, bare carriage returns, broken
// JSON), the guard takes the reading that refuses.
//
// The package does no I/O, knows no HTTP, and does not decide what a client is
// told: that is package proxy.
package guard
