package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

// Options are the surroundings of a server.
type Options struct {
	Directory string   // what requests are about that name no directory
	Version   string   // of the program
	Username  string   // "" is opencode
	Password  string   // "" lets everyone in: for loopback and tests
	Origins   []string // of web pages that may ask, beside those that always may
	Hosts     []string // names of this machine that requests may be addressed to
	Private   bool     // nobody but this process reaches it, so that no session is shared by itself
	Log       *slog.Logger
	IDs       *lathe.IDs
	Heartbeat time.Duration // of streams; 0 is ten seconds
	Look      time.Duration // at settings and credentials, while there are streams; 0 is two seconds
	MaxBody   int64         // bytes of a request; 0 is 64 MiB
	Metrics   bool          // figures are told, to those who know the password
	Tracer    *otlp.Tracer  // is told of requests; nil is nobody
	// Peer says why a client may not use this server, with or without a password: a command of an
	// agent, for one. It is asked once for each connection that [Server.Serve] accepts; nil lets all in.
	Peer func(net.Conn) error
}

// Backend is what a server stands on, one small interface for each family of routes. All of
// them are needed.
type Backend struct {
	Feed        Feed
	Instances   Instances
	Sessions    Sessions
	Messages    Messages
	Turns       Turns
	Commands    Commands
	Own         Own
	Asks        Asks
	Settings    Settings
	Providers   Providers
	ToolServers ToolServers
	Projects    Projects
	Folders     Folders
	Git         *git.Git
	Terminals   *terminal.Set
	Meters      Meters  // may be nil
	Watched     Watched // may be nil
}

// Server answers requests. Make one with [New]; it is an [http.Handler].
type Server struct {
	options   Options
	guard     *guard
	mux       *http.ServeMux
	instances Instances
	sessions  Sessions
	meters    *meters
	watch     *watch
	streams   *streamAPI

	closing context.Context // ends when the server does; streams and waits end with it
	close   context.CancelFunc
}

// New returns a server that listens nowhere yet.
func New(b Backend, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IDs == nil {
		o.IDs = lathe.NewIDs()
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 10 * time.Second
	}
	if o.Look <= 0 {
		o.Look = watchEvery
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	events := publisher{feed: b.Feed, ids: o.IDs}
	s := &Server{
		options: o, guard: newGuard(o), instances: b.Instances, sessions: b.Sessions, meters: &meters{},
		watch: newWatch(events, b.Watched, o.Look),
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.mux = s.routes(s.table(b, events))
	return s
}

// Watch looks for changes beside the server, as long as a stream is open or until stop is called, and publishes
// them. A program that reads the events of its engine itself needs it.
func (s *Server) Watch() (stop func()) {
	beat, look := s.streams.pulse.enter(), s.watch.enter()
	return func() {
		beat()
		look()
	}
}

// Close ends streams and waits. Requests that come later are answered as before.
func (s *Server) Close() { s.close() }
