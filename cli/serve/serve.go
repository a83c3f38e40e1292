// Package serve is `lathe serve`: sessions over HTTP. Start with New.
package serve

import (
	"cmp"
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/store/sqlite"
)

type serveFlags struct {
	hostname, socket string
	port             int
	noAuth           bool
	cors, hosts      []string
	cert, key        string
	metrics, traces  bool
	mdns             bool
	mdnsDomain       string
	debugAddr        string
}

// New is `lathe serve`.
func New(a *cli.App) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API that clients of OpenCode speak",
		Long:  serveHelp,
		Example: `  lathe serve                                     on 127.0.0.1, port 4096 or any that is free
  lathe serve --socket ~/.lathe.sock              only for your own user, no port
  LATHE_NO_AUTH=1 lathe serve --port 4096         for launchers that know no password
  lathe serve --hostname 0.0.0.0 --allow-host build.lan --tls-cert cert.pem --tls-key key.pem
  lathe serve --mdns                              for all in this network who have the password: http://opencode.local:4096
  curl -u opencode:$(cat ~/.local/state/lathe/server-password) http://127.0.0.1:4096/session`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serveHTTP(c.Context(), a, f, c.Flags().Changed) },
	}
	s := cmd.Flags()
	s.StringVar(&f.hostname, "hostname", "127.0.0.1", "the `ADDRESS` to listen on")
	s.IntVar(&f.port, "port", 0, "the `PORT`; 0 is 4096, or any that is free")
	s.StringVar(&f.socket, "socket", "", "listen on a unix socket at this `PATH` instead")
	s.BoolVar(&f.noAuth, "no-auth", false, "ask nobody for a password; only on loopback or a socket")
	s.StringArrayVar(&f.cors, "cors", nil, "let web pages of this `ORIGIN` ask; may be repeated")
	s.StringArrayVar(&f.hosts, "allow-host", nil, "a `NAME` under which clients reach this server; may be repeated")
	s.StringVar(&f.cert, "tls-cert", "", "speak TLS with the certificate in this `FILE`")
	s.StringVar(&f.key, "tls-key", "", "the `FILE` with its key")
	s.BoolVar(&f.mdns, "mdns", false, "announce it in the local network; it then listens on 0.0.0.0 unless --hostname is given")
	s.StringVar(&f.mdnsDomain, "mdns-domain", defaultDomain, "the `NAME` under which the network finds it")
	s.BoolVar(&f.metrics, "metrics", false, "tell figures for Prometheus at /lathe/metrics, to those who have the password")
	s.StringVar(&f.debugAddr, "debug-addr", "", "serve profiles for go tool pprof at this loopback `ADDRESS`, such as 127.0.0.1:6060")
	s.BoolVar(&f.traces, "traces", false, "send traces to the collector at OTEL_EXPORTER_OTLP_ENDPOINT")
	return cmd
}

const serveHelp = `Serves sessions over HTTP, in the API that the SDKs, editors and the terminal client of OpenCode
speak, until it is interrupted. When it is ready it prints one line on standard output:

  opencode server listening on http://127.0.0.1:4096

Who may ask. A password is made at the first start and kept in server-password in the state
folder, which only you can read; our own clients find it there. The name is opencode. Set
LATHE_SERVER_PASSWORD and LATHE_SERVER_USERNAME (or OPENCODE_…) to choose them. Clients send them
as HTTP Basic, or as ?auth_token=base64(name:password). To go without, say so: --no-auth, "auth":
"none" below "server" in the settings, or LATHE_NO_AUTH=1; that works on loopback and sockets only.

Web pages may not ask, with or without a password, unless they come from this machine or are named
by --cors. A server that is reached under a name, through a proxy or in a network, must be told
the name with --allow-host; addresses in figures always work.

--mdns tells the local network by multicast DNS that it is there, as opencode-PORT of type _http._tcp,
and lets clients call it opencode.local or what --mdns-domain says. A password is needed then, and what
is said is not encrypted without --tls-cert. On loopback there is nobody to tell.

What it answers is described at /doc, in OpenAPI. Event streams (/event, /global/event) resume from
where they were: send Last-Event-ID, or ?after=, also after a restart of the server.

Commands of this program use it with --attach: lathe run --attach http://127.0.0.1:4096 "…".

For those who look after it: GET /global/health, figures with --metrics, traces with --traces, and
--print-logs for one line a request, with the id that answers carry in X-Request-Id. At most 64
requests to models are under way at the same time; those that wait have their turn by session.
--debug-addr 127.0.0.1:6060 serves profiles of this process to clients with the password:
go tool pprof http://opencode:PASSWORD@127.0.0.1:6060/debug/pprof/heap.

An interrupt ends it in order: turns are settled and can be resumed. So they can after a crash.`

// serveHTTP listens until the context ends.
func serveHTTP(ctx context.Context, a *cli.App, f serveFlags, given func(string) bool) (err error) {
	settings, err := serverSettings(a)
	if err != nil {
		return err
	}
	f.fill(settings, given)
	if err := f.checkAnnounced(given("mdns")); err != nil {
		return err
	}
	o, err := serverOptions(a, f, settings)
	if err != nil {
		return err
	}
	if a.Tracer, err = openTracer(a, f.traces); err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(a.Tracer, err) }()
	o.Metrics, o.Tracer = f.metrics, a.Tracer
	l, where, err := f.listen(ctx)
	if err != nil {
		return err
	}
	setup, err := harness.Open(ctx, &a.Host, harness.Options{HasClients: true, Tracer: a.Tracer})
	if err != nil {
		return cli.CloseAfter(l, err)
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	if err := a.RecoverTurns(ctx, setup.Engine); err != nil {
		return cli.CloseAfter(l, err)
	}
	b, done := setup.Backend()
	defer func() { err = cli.CloseAfter(done, err) }()
	o.CheckPeer = peersOf(a, setup, setup.Folders).Check
	s := server.New(b, o)
	stopDebug, err := serveDebug(ctx, a, s, f.debugAddr)
	if err != nil {
		return cli.CloseAfter(l, err)
	}
	defer stopDebug()
	defer announceServer(a, f, l.Addr())()
	if o.Password == "" {
		a.Notify("Warning: this server asks for no password; every program of this machine can use it.")
	}
	a.Printf("opencode server listening on %s\n", where)
	if err := a.Out.Flush(); err != nil {
		return cli.CloseAfter(l, err)
	}
	if err := s.Serve(ctx, l); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// peersOf tells the user's clients from commands: those of this process, and of others that share
// the database.
func peersOf(a *cli.App, s *harness.Harness, at datadir.Folders) *sandbox.PeerChecker {
	return &sandbox.PeerChecker{Runner: s.Runner, Others: func() bool { return sqlite.CountProcesses(at.Owners) > 1 }}
}

// serverSettings is what the settings say of the server; those of a project only if it is
// trusted.
func serverSettings(a *cli.App) (config.Server, error) {
	l, err := a.Config()
	if err != nil {
		return config.Server{}, err
	}
	a.WarnBroken(l)
	return l.Config.Server, nil
}

// fill takes from the settings what no flag says.
func (f *serveFlags) fill(c config.Server, given func(string) bool) {
	if !given("hostname") && c.Hostname != "" {
		f.hostname = c.Hostname
	}
	if !given("port") && c.Port != 0 {
		f.port = c.Port
	}
	if !given("mdns-domain") && c.MDNSDomain != "" {
		f.mdnsDomain = c.MDNSDomain
	}
	f.mdns = f.mdns || c.MDNS && !given("mdns")
	if f.mdns && !given("hostname") && c.Hostname == "" && f.socket == "" {
		f.hostname = "0.0.0.0"
	}
	f.cors = append(f.cors, c.CORS...)
	f.metrics, f.traces = f.metrics || c.Metrics, f.traces || c.Traces
}

// serverOptions settles who may ask.
func serverOptions(a *cli.App, f serveFlags, c config.Server) (server.Options, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return server.Options{}, err
	}
	o := server.Options{
		Directory: dir, Version: a.Version, Origins: f.cors, Hosts: append(f.hosts, f.hostname), Log: a.Log,
		Username: a.Variable("SERVER_USERNAME"), Password: a.Variable("SERVER_PASSWORD"),
	}
	if f.mdns {
		o.Hosts = append(o.Hosts, f.mdnsDomain)
	}
	v := a.Env("LATHE_NO_AUTH")
	open := f.noAuth || o.Password == "" && (c.Auth == "none" || v == "1" || v == "true")
	switch {
	case f.noAuth && o.Password != "":
		return o, cli.Usagef("--no-auth and a password in the environment do not go together")
	case open && !f.isLocal():
		return o, cli.Usagef("a server on %s needs a password: others can reach it; leave out --no-auth, or listen on 127.0.0.1", termtext.Plain(f.hostname))
	case !open && o.Password == "":
		at, err := datadir.Find(a.Env)
		if err != nil {
			return o, err
		}
		if o.Password, err = at.ServerPassword(); err != nil {
			return o, err
		}
		a.Notify("Clients log in as %s with the password in %s.", termtext.Plain(cmp.Or(o.Username, "opencode")), a.DisplayPath(at.ServerPasswordFile()))
	}
	return o, nil
}

// isLocal reports whether only programs of this machine can connect.
func (f serveFlags) isLocal() bool {
	if f.socket != "" || f.hostname == "localhost" {
		return true
	}
	ip := net.ParseIP(f.hostname)
	return ip != nil && ip.IsLoopback()
}

// listen opens the port or socket, and says how clients reach it.
func (f serveFlags) listen(ctx context.Context) (l net.Listener, where string, err error) {
	if (f.cert == "") != (f.key == "") {
		return nil, "", cli.Usagef("--tls-cert and --tls-key go together")
	}
	if f.socket != "" {
		if f.cert != "" {
			return nil, "", cli.Usagef("a socket is private already; --tls-cert is for ports")
		}
		path, err := filepath.Abs(f.socket)
		if err != nil {
			return nil, "", err
		}
		l, err := server.ListenSocket(ctx, path)
		return l, "unix://" + path, err
	}
	if f.port < 0 || f.port > 65535 {
		return nil, "", cli.Usagef("--port %d: want 0 to 65535", f.port)
	}
	if l, err = server.Listen(ctx, f.hostname, f.port); err != nil {
		return nil, "", err
	}
	where = "http://"
	port := l.Addr().(*net.TCPAddr).Port
	if f.cert != "" {
		where = "https://"
		secure, err := server.WithTLS(l, f.cert, f.key)
		if err != nil {
			return nil, "", cli.CloseAfter(l, err)
		}
		l = secure
	}
	return l, where + net.JoinHostPort(f.hostname, strconv.Itoa(port)), nil
}
