// Package jsonrpc speaks JSON-RPC 2.0 with another program over a pair of pipes, in both directions
// at once: to plugins with one message a line, to language servers with a length before each.
//
// It owns the framing, the numbers of calls, cancellation (the notification $/cancelRequest, both
// ways), and limits: of the size of a message, of what waits to be written, of requests that are
// answered at once, of nonsense before the other side is given up. It starts and ends no program and
// knows no method. Batches are not understood and count as nonsense.
//
// A [Conn] is safe for use by many goroutines. It has one that reads, one that writes, and one for each
// request that it answers; Close ends them, and waits for all but a handler that does not heed its
// context.
//
// Start reading at [Open], then [Conn.Call].
package jsonrpc
