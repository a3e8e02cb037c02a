// Package replay keeps finished turns and turns a previous_response_id back
// into the input it stands for, so that an upstream without state can continue
// a conversation.
//
// The model is a tree. A [Record] holds what one turn added: the caller's new
// input items, the output items, and the response object around them. It points
// at the record it continues. The records from a root to one of them are a
// chain; a chain of n turns costs n deltas, not n histories. Chains fork, and
// all chains of one root live and die together.
//
// A [Store] keeps records; the sub-packages memory, bolt and redis are stores,
// and storetest is the suite that each of them passes. [Expand] reads a chain
// from a store and builds the input to send.
//
// What it does not do: it knows nothing of HTTP, of streams or of the guard. It
// records what it is given. Whether a turn may become history (finished, not
// refused, not store:false) is for the caller to decide before [Store.Put], and
// so is what the client is told when something is not found.
//
// # Bytes from strangers
//
// Inputs come from clients and outputs from upstreams. Both are checked for
// syntax with a strict, depth-limited reader before anything else looks at
// them. A client's items are kept and replayed byte for byte. Output items are
// changed only where they could not be input again, see [Record.Replayable].
package replay
