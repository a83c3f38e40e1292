package server

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// peerKey is where the context of a connection has the judgment of its client.
type peerKey struct{}

// withPeer judges the client of a connection when its first request comes, since accepting must not wait.
func (s *Server) withPeer(ctx context.Context, c net.Conn) context.Context {
	if s.options.CheckPeer == nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() error { return s.options.CheckPeer(c) }))
}

// checkPeer refuses clients that may not use this server whatever they know.
func checkPeer(r *http.Request) error {
	judge, ok := r.Context().Value(peerKey{}).(func() error)
	if !ok {
		return nil
	}
	if err := judge(); err != nil {
		return forbidden("Commands, MCP servers and plugins cannot use lathe's own server: %v", err)
	}
	return nil
}
