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

// ownServer answers the HTTP requests of plugins without a socket. It is created with the first request.
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

// beginCall counts a request of a directory's plugins. The returned function ends it.
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

// pluginCall is the response to a plugin. The call ends with the first written byte, when the config is no longer
// needed, because an event stream may last as long as the plugin.
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

// Unwrap lets http.ResponseController reach the underlying writer.
func (c *pluginCall) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// notForPlugins returns why a route is closed to plugins, "" if it is open. Plugins run confined and may act on a
// model's words. So none of their requests may write files that other programs obey, or run anything outside of a
// sandbox.
func notForPlugins(r *http.Request) string {
	path := strings.Trim(r.URL.Path, "/")
	first, _, _ := strings.Cut(path, "/")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case first == "pty", strings.HasPrefix(path, "session/") && strings.HasSuffix(path, "/shell"):
		return "Plugins cannot open shells of the user."
	case reads:
		return ""
	case path == "config", path == "global/config", first == "auth", path == "mcp", path == "global/upgrade", path == "lathe/settings", path == "lathe/memory":
		return "Plugins cannot change config, credentials or programs."
	case strings.HasPrefix(path, "lathe/grant"), strings.HasPrefix(path, "lathe/permission/"):
		return "Plugins cannot save permissions; only a person can."
	case path == "vcs/apply", path == "project/git/init":
		return "Plugins cannot change files through the server; call a tool."
	}
	return ""
}

// pluginEngine is the engine behind the server for plugins.
type pluginEngine struct{ *engine.Engine }

// Reply answers a permission request. A plugin cannot grant the permission sandbox, only a person or a rule can.
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
