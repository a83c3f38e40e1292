package harness

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// ByGuest marks the context of what plugins ask of us.
type ByGuest struct{}

// ownServer answers what plugins ask of the server they believe to run in, without a socket. It is
// made when the first of them asks.
func (s *Harness) ownServer(dir string) http.Handler {
	made := sync.OnceValue(func() http.Handler {
		b, done := s.Backend()
		answers := server.New(b, server.Options{Directory: dir, Version: s.app.Version, Log: s.app.Log})
		s.extensionSets.mu.Lock()
		defer s.extensionSets.mu.Unlock()
		s.extensionSets.ends = append(s.extensionSets.ends, func() error {
			answers.Close()
			return done.Close()
		})
		return answers
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := notForPlugins(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		r.Host = "localhost"
		made().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ByGuest{}, true)))
	})
}

// notForPlugins says why plugins may not use a route, "" if they may. They run confined, and a plugin
// may do what a model told it: nothing that they ask of us writes files that other programs obey,
// or runs something outside of a sandbox.
func notForPlugins(r *http.Request) string {
	path := strings.Trim(r.URL.Path, "/")
	first, _, _ := strings.Cut(path, "/")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case first == "pty", strings.HasPrefix(path, "session/") && strings.HasSuffix(path, "/shell"):
		return "Plugins may not open shells of the user."
	case reads:
		return ""
	case path == "config", path == "global/config", first == "auth", path == "mcp", path == "global/upgrade":
		return "Plugins may not change settings, credentials or programs."
	case path == "vcs/apply", path == "project/git/init":
		return "Plugins may not change files through the server; call a tool."
	}
	return ""
}

// Reply answers a permission request. A plugin does not give the permission sandbox: only a person
// or a rule does.
func (b *Served) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	if ctx.Value(ByGuest{}) != nil && (reply == lathe.Once || reply == lathe.Always) {
		asks, err := b.Asks(ctx, lathe.Scope{})
		if err != nil {
			return err
		}
		for _, f := range asks {
			if q, ok := f.(*lathe.PermissionAsked); ok && q.ID == id && q.Permission == "sandbox" {
				return lathe.Errorf(lathe.Denied, "plugins may not give the permission sandbox; a person answers, or a rule of the settings")
			}
		}
	}
	return b.Engine.Reply(ctx, id, reply, message)
}
