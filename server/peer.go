package server

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// peerKey is the context key of a connection's peer check.
type peerKey struct{}

// withPeer checks the client of a connection at its first request, since accepting must not wait.
func (s *Server) withPeer(ctx context.Context, c net.Conn) context.Context {
	if s.options.CheckPeer == nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() error { return s.options.CheckPeer(c) }))
}

// checkPeer rejects clients that must not use this server even with the password.
func checkPeer(r *http.Request) error {
	check, ok := r.Context().Value(peerKey{}).(func() error)
	if !ok {
		return nil
	}
	if err := check(); err != nil {
		return forbidden("Commands, MCP servers and plugins cannot use lathe's own server: %v", err)
	}
	return nil
}
