// Package lsp runs language servers and turns their answers into short texts.
//
// It owns the list of known servers (registry.go), the search for their programs (locate.go), their
// processes from start to end (server.go), the protocol (client.go, protocol.go), the comparison of
// errors before and after a change (compare.go), and queries about symbols (query.go). It decides
// nothing about permissions and writes no file: a rename is returned as new contents.
//
// Everything that a server sends is hostile input. Frames, lists and texts have limits, control
// characters are removed, and a path counts only if it lies inside the project.
//
// A [Servers] is safe for use by many goroutines. Each server has one goroutine that sends changes to
// it in order; callers wait for results with a deadline.
//
// Start reading at [Servers.Change], then server.go.
package lsp
