// Package server is HTTP over an engine: OpenCode's classic API, its event streams, and a few
// routes of our own below /lathe.
//
// It owns the table of routes, from which come the handlers and the OpenAPI document; who may
// ask (password, Host, Origin, what browsers say of a request); how requests are read, errors
// written and answers compressed; and how the feed becomes server-sent events. It does not own
// what an answer means: each family of routes is a struct in a file of its own, with the small
// interfaces that it answers from, which the program implements. It never imports the engine, reads no environment, and
// listens only where it is told to.
//
// A Server is safe for use by many goroutines. Each request is served by the goroutine of
// net/http, streams too; the one goroutine started here beats the heart of the streams while
// there are any.
//
// Start reading at table in table.go, then route.go for what a row is, guard.go for who may
// ask, and session.go for a family; stream.go is the feed. The reference's routes that are not
// here, and answers that differ, are in docs/http-differences.md.
package server
