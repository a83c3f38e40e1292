// Package serve implements `lathe serve`. Start with New.
package serve

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/install"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/server/push"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
)

type serveFlags struct {
	hostname, socket string
	port             int
	noAuth           bool
	cors, hosts      []string
	certificates
	pairing
	metrics, traces bool
	mdns            bool
	mdnsDomain      string
	debugAddr       string
	shared          harness.Shared
	node            nodeFlags
}

// New returns `lathe serve`.
func New(a *cli.App) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server for browsers, phones and OpenCode clients",
		Long:  serveHelp,
		Example: `  lathe serve                                     # 127.0.0.1, port 4096 or any free port
  lathe serve --socket ~/.lathe.sock              # only for your user, no port
  LATHE_NO_AUTH=1 lathe serve --port 4096         # for launchers without a password
  lathe serve --hostname 0.0.0.0 --allow-host build.lan --tls-cert cert.pem --tls-key key.pem
  lathe serve --mdns                              # on the local network: http://opencode.local:4096
  lathe serve --hostname 0.0.0.0 --tls auto --pair # for your phone: prints a QR code
  lathe serve --store postgres://db/lathe --place shop=/srv/shop   # one of several nodes
  curl -u opencode:$(cat ~/.local/state/lathe/server-password) http://127.0.0.1:4096/session`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serveHTTP(c.Context(), a, f, c.Flags().Changed) },
	}
	s := cmd.Flags()
	s.StringVar(&f.hostname, "hostname", "127.0.0.1", "`ADDRESS` to listen on")
	s.IntVar(&f.port, "port", 0, "`PORT` to listen on; 0 means 4096 or any free port")
	s.StringVar(&f.socket, "socket", "", "`PATH` of a Unix socket to listen on instead")
	s.BoolVar(&f.noAuth, "no-auth", false, "require no password; only on loopback or a socket")
	s.StringArrayVar(&f.cors, "cors", nil, "`ORIGIN` whose web pages can send requests; repeatable")
	s.StringArrayVar(&f.hosts, "allow-host", nil, "host `NAME` that clients use for this server; repeatable")
	s.StringVar(&f.cert, "tls-cert", "", "TLS certificate `FILE`")
	s.StringVar(&f.key, "tls-key", "", "TLS key `FILE`")
	s.StringVar(&f.tls, "tls", "", "`auto` makes and renews a certificate without an authority")
	s.BoolVar(&f.pair, "pair", false, "print a QR code and a link that pair one device")
	s.StringVar(&f.right, "right", "full", "`RIGHT` of that device: read, answer or full")
	s.BoolVar(&f.mdns, "mdns", false, "announce the server on the local network; listens on 0.0.0.0 unless --hostname is given")
	s.StringVar(&f.mdnsDomain, "mdns-domain", defaultDomain, "host `NAME` for --mdns")
	s.BoolVar(&f.metrics, "metrics", false, "serve Prometheus metrics at /lathe/metrics, with the password")
	s.StringVar(&f.debugAddr, "debug-addr", "", "loopback `ADDRESS` for go tool pprof, such as 127.0.0.1:6060")
	s.StringVar(&f.node.store, "store", "", "`URL` of a PostgreSQL database that several nodes share (default LATHE_STORE)")
	s.StringArrayVar(&f.node.places, "place", nil, "`NAME=PATH` of a directory whose sessions this node runs; repeatable")
	s.StringVar(&f.node.addr, "node-addr", "", "`URL` at which the other nodes reach this one")
	s.BoolVar(&f.traces, "traces", false, "send traces to the collector at OTEL_EXPORTER_OTLP_ENDPOINT")
	s.StringVar(&f.shared.Bus, "bus", "", "`ADDRESS` of a NATS server that connects the nodes on one database, as nats://HOST:4222")
	s.StringVar(&f.shared.Blobs, "blobs", "", "bucket for large values, as s3://`BUCKET/PREFIX`; default: files beside the database")
	return cmd
}

const serveHelp = `Start an HTTP server with a web app for browsers and phones, and with the API of OpenCode for its SDKs,
editor extensions and terminal client. When the server is ready, it prints one line to standard output:

  opencode server listening on http://127.0.0.1:4096

Browsers: open that address, or run lathe web. For a phone: --hostname 0.0.0.0 --tls auto --pair.

Authentication: the first start creates a password and saves it to server-password in the state
folder, readable only by you. lathe's own clients read it there. The user name is opencode. Set
LATHE_SERVER_PASSWORD and LATHE_SERVER_USERNAME (or OPENCODE_…) to choose your own. Clients use HTTP
Basic or ?auth_token=base64(name:password). --no-auth, "auth": "none" under "server" in the config,
or LATHE_NO_AUTH=1 turn authentication off, on loopback and sockets only.

Web pages can send requests only from this machine or from an origin given with --cors. If clients
use a host name, through a proxy or a network, add it with --allow-host. IP addresses always work.

--pair prints a QR code and a link that admit one browser without the password, once and within two
minutes. Devices with the right read see sessions, those with answer also allow requests once or reject
them. List and revoke devices with lathe device. Use --tls auto, --tls-cert or a proxy with TLS on a
network; --tls auto shows the fingerprint of its certificate.

--mdns announces the server on the local network as opencode-PORT of type _http._tcp, with the host
name opencode.local or that of --mdns-domain. It requires a password, and traffic is unencrypted
without --tls-cert.

/doc serves the OpenAPI document. Event streams (/event, /global/event) resume with Last-Event-ID or
?after=, also after a restart of the server.

Other commands use the server with --attach: lathe run --attach http://127.0.0.1:4096 "…".

Operation: GET /global/health, --metrics, --traces, and --print-logs for one line per request with
its X-Request-Id. At most 64 model requests run at once; the rest wait, in turn by session.
--debug-addr 127.0.0.1:6060 serves profiles to clients with the password:
go tool pprof http://opencode:PASSWORD@127.0.0.1:6060/debug/pprof/heap.

--store keeps sessions in PostgreSQL, which any number of nodes may share: each session runs on one of
them at a time, and on another within seconds if that one dies. Other local users see the flag; a URL
with a password belongs into LATHE_STORE, or the password into ~/.pgpass. A node runs the sessions
below its places, which have the same path on every node that has them, or all without --place.
Requests without a directory use that of the server, or its first place if it starts outside of all.

Ctrl-C stops the server. Interrupted turns are saved and can be resumed, also after a crash.`

// serveHTTP listens until the context ends.
func serveHTTP(ctx context.Context, a *cli.App, f serveFlags, given func(string) bool) error {
	loaded, err := loadConfig(a)
	if err != nil {
		return err
	}
	if err := f.checkNode(given, a.Env("LATHE_STORE")); err != nil {
		return err
	}
	settings := loaded.Server
	f.fill(settings, given)
	f.shared.Blobs, f.shared.Bus = cmp.Or(f.shared.Blobs, a.Env("LATHE_BLOBS")), cmp.Or(f.shared.Bus, a.Env("LATHE_BUS"))
	if err := f.checkAnnounced(given("mdns")); err != nil {
		return err
	}
	o, err := serverOptions(a, f, settings)
	if err == nil {
		err = f.checkPairing(o, given("right"))
	}
	if err != nil {
		return err
	}
	o.Directory = f.node.directory(o.Directory, given("dir"))
	defer o.Pairing.Devices.Close()
	o.Pairing.Push = &push.Options{Reach: a.WebConfig(loaded.WebFetch, tool.Limits{}), Text: settings.Push.Text, Grace: pushGrace}
	return f.run(ctx, a, o)
}

// run serves with the given options until the context ends.
func (f serveFlags) run(ctx context.Context, a *cli.App, o server.Options) (err error) {
	if a.Tracer, err = openTracer(a, f.traces, f.node.addr); err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(a.Tracer, err) }()
	o.Metrics, o.Tracer = f.metrics, a.Tracer
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	cluster, err := f.node.cluster()
	if err != nil {
		return err
	}
	l, where, err := f.listen(ctx, at.State, &o.Pairing)
	if err != nil {
		return err
	}
	setup, err := harness.Open(ctx, &a.Host, harness.Options{HasClients: true, Tracer: a.Tracer, Shared: f.shared, Cluster: reachable(cluster, where)})
	if err != nil {
		return cli.CloseAfter(l, err)
	}
	defer func() { err = cli.CloseAfter(setup, err) }()
	if err := a.RecoverTurns(ctx, setup.Engine); err != nil {
		return cli.CloseAfter(l, err)
	}
	b, done := setup.Backend()
	defer func() { err = cli.CloseAfter(done, err) }()
	o.CheckPeer, o.Upgrade = peersOf(a, setup, setup.Folders).Check, install.UpgradeFor(a)
	defer install.StartAutoUpdate(ctx, a, setup.Engine.Publish)()
	s := server.New(b, o)
	stopDebug, err := serveDebug(ctx, a, s, f.debugAddr)
	if err != nil {
		return cli.CloseAfter(l, err)
	}
	defer stopDebug()
	defer announceServer(a, f, l.Addr())()
	defer register(a, at.Servers(), runningServer{Address: f.localAddress(where), Open: o.Password == ""})()
	f.describe(a, o, where)
	warnOfPlaces(a, setup.Engine.Member.MissingPlaces())
	a.Printf("opencode server listening on %s\n", where)
	if err := a.Out.Flush(); err != nil {
		return cli.CloseAfter(l, err)
	}
	if err := f.showReady(ctx, a, o, where); err != nil {
		return cli.CloseAfter(l, err)
	}
	serving, stop := leaveFirst(ctx, setup.Engine)
	defer stop()
	if err := s.Serve(serving, l); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// describe prints what this is and how to use it, for people who start the server by hand.
func (f *serveFlags) describe(a *cli.App, o server.Options, where string) {
	a.Notify("lathe %s: server for browsers and OpenCode clients, in %s", a.Version, termtext.Plain(termtext.Tilde(o.Directory, a.Env("HOME"))))
	local := f.localAddress(where)
	a.Notify("  Connect   lathe attach %s, or any OpenCode client", termtext.Plain(local))
	if f.socket == "" {
		a.Notify("  Browser   %s", termtext.Plain(local))
	}
	if public := o.Pairing.Address; public != local && public != "" {
		a.Notify("  Phone     %s", termtext.Plain(public))
	}
	user := termtext.Plain(cmp.Or(o.Username, "opencode"))
	at, err := datadir.Find(a.Env)
	switch {
	case o.Password == "":
		a.Notify("  Password  none")
	case a.Variable("SERVER_PASSWORD") != "" || err != nil:
		a.Notify("  Password  as set in the environment, for the user %s", user)
	default:
		a.Notify("  Password  in %s, for the user %s; lathe's own clients read it there", a.DisplayPath(at.ServerPasswordFile()), user)
	}
	a.Notify("  Stop      Ctrl-C; running turns are saved and can be resumed")
	if o.Password == "" {
		a.Notify("Warning: this server requires no password; every local program can use it.")
	}
}

// peersOf distinguishes the user's clients from sandboxed commands of this and other processes on the database.
func peersOf(a *cli.App, s *harness.Harness, at datadir.Folders) *sandbox.PeerChecker {
	return &sandbox.PeerChecker{Runner: s.Runner, Others: func() bool { return sqlite.CountProcesses(at.Owners) > 1 }}
}

// loadConfig returns the config, with that of the project only if it is trusted.
func loadConfig(a *cli.App) (config.Config, error) {
	l, err := a.Config()
	if err != nil {
		return config.Config{}, err
	}
	a.WarnBroken(l)
	return l.Config, nil
}

// pushGrace is how long someone at the terminal has to answer before devices are notified.
const pushGrace = 5 * time.Second

// fill sets the values without flags from the config.
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
	if f.tls == "" && f.cert == "" && f.socket == "" {
		f.tls = c.TLS
	}
	f.cors = append(f.cors, c.CORS...)
	f.metrics, f.traces = f.metrics || c.Metrics, f.traces || c.Traces
}

// serverOptions sets up authentication.
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
	if u, err := url.Parse(f.node.addr); err == nil && u.Hostname() != "" {
		o.Hosts = append(o.Hosts, u.Hostname()) // other nodes ask by this name
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		return o, err
	}
	o.Pairing.Devices = device.Open(at.Devices(), a.Now)
	v := a.Env("LATHE_NO_AUTH")
	open := f.noAuth || o.Password == "" && (c.Auth == "none" || v == "1" || v == "true")
	switch {
	case f.noAuth && o.Password != "":
		return o, cli.Usagef("--no-auth and a password in the environment cannot be combined")
	case open && !f.isLocal():
		return o, cli.Usagef("a server on %s needs a password, because other machines can reach it; leave out --no-auth, or listen on 127.0.0.1", termtext.Plain(f.hostname))
	case !open && o.Password == "":
		if o.Password, err = at.ServerPassword(); err != nil {
			return o, err
		}
	}
	return o, nil
}

// isLocal reports whether only local programs can connect.
func (f serveFlags) isLocal() bool {
	if f.socket != "" || f.hostname == "localhost" {
		return true
	}
	ip := net.ParseIP(f.hostname)
	return ip != nil && ip.IsLoopback()
}

// listen opens the port or socket and returns its URL.
func (f serveFlags) listen(ctx context.Context, state string, pairing *server.Pairing) (l net.Listener, where string, err error) {
	if err := f.checkTLS(); err != nil {
		return nil, "", err
	}
	if f.socket != "" {
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
	where = f.scheme() + "://" + net.JoinHostPort(f.hostname, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	secure, err := f.secure(ctx, l, state, pairing)
	if err != nil {
		return nil, "", cli.CloseAfter(l, err)
	}
	pairing.Address = f.publicAddress(where)
	return secure, where, nil
}
