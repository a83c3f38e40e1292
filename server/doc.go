// Package server serves an engine over HTTP: OpenCode's v1 API, its event streams, and a few
// routes of our own below /lathe.
//
// It owns the table of routes, which yields the handlers and the OpenAPI document; authentication
// (password, Host, Origin, Sec-Fetch-Site); the reading of requests, the writing of errors, the
// compression of responses; and the conversion of the feed to server-sent events. It does not own
// the content of responses: each family of routes is a struct in its own file, with small
// interfaces that the program implements. It never imports the engine and reads no environment.
//
// A Server is safe for use by many goroutines. Each request, also a stream, is served by the
// goroutine of net/http. The one goroutine started here sends the heartbeats of open streams.
//
// Start reading at table in table.go, then route.go for rows, guard.go for authentication, and
// session.go for a family; stream.go is the feed. docs/http-differences.md lists the missing routes
// of OpenCode and the responses that differ.
package server
