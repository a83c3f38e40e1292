// Package jsonrpc speaks JSON-RPC 2.0 with another program over a pair of pipes, in both directions
// at once: to plugins with one message a line, to language servers with a length before each.
//
// It owns the framing, the ids of calls, cancellation (a notification, both
// ways), and limits: the size of a message, queued writes, concurrent requests, and invalid
// messages before it gives up. It starts and ends no program and knows no method. Batches are
// not supported and count as invalid.
//
// A [Conn] is safe for use by many goroutines. It has one that reads, one that writes, and one
// for each request that it answers; Close ends them, and waits for all but a handler that
// ignores its context.
//
// Start reading at [Open], then [Conn.Call].
package jsonrpc
