package harness

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
)

// ownServer answers what plugins ask of the server they believe to run in, without a socket. It is
// made when the first of them asks.
func (s *Harness) ownServer(dir string) http.Handler {
	made := sync.OnceValue(func() http.Handler {
		b, done := s.Backend()
		b.Engine = pluginEngine{s.Engine}
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
		call := &pluginCall{ResponseWriter: w, answered: s.extensionSets.beginCall(dir)}
		defer call.answered()
		made().ServeHTTP(call, r)
	})
}

// beginCall notes that a plugin of a directory waits for an answer, until it is called back.
func (vs *extensionSets) beginCall(dir string) (answered func()) {
	vs.mu.Lock()
	v := vs.dirs[dir]
	vs.mu.Unlock()
	if v == nil {
		return func() {}
	}
	v.calls.Add(1)
	return sync.OnceFunc(func() { v.calls.Add(-1) })
}

// pluginCall is an answer to a plugin. Where it has begun, nothing more is asked of the settings: a stream of events
// may last as long as the plugin does.
type pluginCall struct {
	http.ResponseWriter
	answered func()
}

func (c *pluginCall) WriteHeader(code int) {
	c.answered()
	c.ResponseWriter.WriteHeader(code)
}

func (c *pluginCall) Write(b []byte) (int, error) {
	c.answered()
	return c.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (c *pluginCall) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// notForPlugins says why plugins may not use a route, "" if they may. They run confined, and a plugin
// may do what a model told it: nothing that they ask of us writes files that other programs obey,
// or runs something outside of a sandbox.
func notForPlugins(r *http.Request) string {
	path := strings.Trim(r.URL.Path, "/")
	first, _, _ := strings.Cut(path, "/")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case first == "pty", strings.HasPrefix(path, "session/") && strings.HasSuffix(path, "/shell"):
		return "Plugins cannot open shells of the user."
	case reads:
		return ""
	case path == "config", path == "global/config", first == "auth", path == "mcp", path == "global/upgrade":
		return "Plugins cannot change config, credentials or programs."
	case path == "vcs/apply", path == "project/git/init":
		return "Plugins cannot change files through the server; call a tool."
	}
	return ""
}

// pluginEngine is the engine as plugins may use it.
type pluginEngine struct{ *engine.Engine }

// Reply answers a permission request. A plugin does not give the permission sandbox: only a person
// or a rule does.
func (e pluginEngine) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	if reply == lathe.Once || reply == lathe.Always {
		asks, err := e.Asks(ctx, lathe.Scope{})
		if err != nil {
			return err
		}
		for _, f := range asks {
			if q, ok := f.(*lathe.PermissionAsked); ok && q.ID == id && q.Permission == "sandbox" {
				return lathe.Errorf(lathe.Denied, "plugins cannot grant the permission sandbox; only a person or a rule in the config can")
			}
		}
	}
	return e.Engine.Reply(ctx, id, reply, message)
}
