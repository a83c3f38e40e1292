package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// ServeHTTP handles one request: it authenticates the client, then finds the route.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	own := &writer{ResponseWriter: w, id: string(s.options.IDs.Event())[len("evt_"):], gzip: accepts(r, "gzip")}
	own.Header().Set("X-Request-Id", own.id)
	defer s.logRequest(own, r, began)
	r, span := s.traced(r)
	defer func() { s.measure(own, r, began, span) }()
	c := &call{Request: r, server: s, w: own}
	defer c.recoverPanic()
	if r.ContentLength != 0 {
		limitUnread(own) // reading the body has its own deadlines
	}
	err := checkPeer(r)
	if err == nil {
		err = s.guard.checkHost(r)
	}
	if err != nil {
		c.fail(err)
		return
	}
	done, err := s.guard.checkOrigin(own, r)
	if err != nil {
		c.fail(err)
	}
	if done || err != nil {
		return
	}
	if p := r.URL.EscapedPath(); p != "/" && path.Clean(p) != p { // a mux would redirect the client
		defer c.end()
		if err := (&endpoint{server: s}).serve(c); err != nil {
			c.fail(err)
		}
		return
	}
	s.mux.ServeHTTP(own, r)
}

// recoverPanic sends the response of a handler that panicked.
func (c *call) recoverPanic() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	c.server.options.Log.Error("a handler panicked", "request", c.w.id, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	c.fail(fmt.Errorf("panic: %v", v))
}

// logRequest writes one line for each request. Queries are left out: they may hold a password.
func (s *Server) logRequest(w *writer, r *http.Request, began time.Time) {
	ctx := r.Context()
	if !s.options.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	s.options.Log.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("request", w.id), slog.String("method", r.Method), slog.String("path", loggedPath(r)),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("took", time.Since(began)))
}

// loggedPath is a path without the secret of a share.
func loggedPath(r *http.Request) string {
	if parts := strings.SplitN(r.URL.Path, "/", 5); len(parts) > 3 && parts[1] == "share" {
		parts[3] = "…"
		return phrase.Shorten(strings.Join(parts, "/"), 200)
	}
	return phrase.Shorten(r.URL.Path, 200)
}
