package server

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// longestProfile limits the duration of a CPU profile.
const longestProfile = 5 * time.Minute

// Debug returns a server that has profiles of this process and nothing else. It has the options of
// s, so it refuses the same clients. It uses runtime/pprof, since importing net/http/pprof would add its routes
// to the default mux of every program that imports this package.
func (s *Server) Debug() *Server {
	d := &Server{options: s.options, guard: s.guard, meters: &meters{}, peers: s.peers}
	d.closing, d.close = context.WithCancel(context.Background())
	d.mux = d.routes([]row{
		raw(route("GET /debug/pprof", "", "", mayAll, "", nil, withoutDirectory), "text/plain", listProfiles),
		raw(route("GET /debug/pprof/profile", "", "", mayAll,
			"", nil, withoutDirectory, withoutCompression), "application/octet-stream", profileProcessor),
		raw(route("GET /debug/pprof/{name}", "", "", mayAll, "", nil, withoutDirectory, withoutCompression), "application/octet-stream", writeProfile),
	})
	return d
}

// ListenDebug opens a port for [Server.Debug] on a loopback address. It refuses every other address: profiles
// show paths and running work.
func ListenDebug(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "--debug-addr %s: want ADDRESS:PORT, such as 127.0.0.1:6060", strconv.Quote(phrase.Shorten(address, 100)))
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the name resolves to
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, lathe.Errorf(lathe.Invalid, "--debug-addr %s: profiles are served locally only; use a loopback address, such as 127.0.0.1:6060",
			strconv.Quote(phrase.Shorten(address, 100)))
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot listen for profilers: %w; choose another port for --debug-addr, or 0 for any", err)
	}
	return l, nil
}

type profileQuery struct {
	Seconds int `query:"seconds"` // 0 is 30
	Debug   int `query:"debug"`   // 0 is the format of go tool pprof, 1 and 2 are text
	GC      int `query:"gc"`      // 1 collects garbage before a heap profile
}

// listProfiles names the profiles there are.
func listProfiles(c *call, _ none) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := "profile (?seconds=30)\n"
	for _, p := range pprof.Profiles() {
		text += p.Name() + "\n"
	}
	_, err := c.w.Write([]byte(text))
	return err
}

// writeProfile writes a profile by its name: heap, goroutine and so on.
func writeProfile(c *call, q profileQuery) error {
	p := pprof.Lookup(c.PathValue("name"))
	if p == nil {
		return notFound("Profile %q not found; GET /debug/pprof lists all profiles", phrase.Shorten(c.PathValue("name"), 100))
	}
	if p.Name() == "heap" && q.GC > 0 {
		runtime.GC()
	}
	kind := "application/octet-stream"
	if q.Debug != 0 {
		kind = "text/plain; charset=utf-8"
	}
	c.w.Header().Set("Content-Type", kind)
	return p.WriteTo(c.w, q.Debug)
}

// profileProcessor profiles the CPU for some seconds, or until the client leaves or the server shuts down.
func profileProcessor(c *call, q profileQuery) error {
	length := time.Duration(cmp.Or(q.Seconds, 30)) * time.Second
	if length < 0 || length > longestProfile {
		return badRequest("Query", "seconds: expected 1 to %d", int(longestProfile.Seconds()))
	}
	c.w.Header().Set("Content-Type", "application/octet-stream")
	if err := pprof.StartCPUProfile(c.w); err != nil {
		return &problem{status: http.StatusConflict, body: named("ConflictError", messageData{"A CPU profile is already running; wait until it ends"}), cause: err}
	}
	defer pprof.StopCPUProfile()
	select {
	case <-time.After(length):
	case <-c.Context().Done():
	case <-c.server.closing.Done():
	}
	return nil
}
