// Package nats carries deltas and hints between the nodes of a cluster, over a NATS server.
//
// It brings readers on other nodes the words of a model within milliseconds. Nothing depends on it: numbered events
// are read from the store, a message of another node is a hint or a part of a text that the store corrects, and
// without a server readers see the growth of texts when it is stored, about once a second. So messages are sent at
// most once, and what cannot be sent at once is dropped.
//
// # Subjects
//
//	lathe.FEED.d.SESSION  a delta: message, part, byte offset and text
//	lathe.FEED.c          a node has committed: look into the store
//	lathe.FEED.w.NODE     the same, for one node
//
// FEED is the name of the database, so that clusters on one server never mix.
//
// # Fit
//
// A delta at the end of the text here is appended. One that the text has is dropped. One beyond the end waits, bounded in
// size and for [heldFor], for what is missing: another delta, or what the store has. If it waits for
// longer than [gapTime], the part is read from the store once.
//
// # Concurrency
//
// All methods may be called from any goroutine and do not block. One goroutine sends and subscribes, one looks for
// gaps, and those of the NATS client receive. The mutex of the Relay is never held during a call of the bus or the client.
//
// Start reading at [Relay.Start], then send.go and receive.go.
package nats

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/internal/metric"
)

// Options say where the server is.
type Options struct {
	URL         string // nats://, tls:// or ws:// addresses of servers of one cluster, separated by commas
	Credentials string // file with a user's credentials; "" means none, or those in the URL
	CA          string // file with the certificates of the server's authority; "" means those of the system
	Log         *slog.Logger
}

// Relay implements engine/events.Relay.
type Relay struct {
	o       Options
	node    bus.Node
	subject string // the beginning of all subjects
	conn    *nats.Conn
	stop    context.CancelFunc
	work    sync.WaitGroup
	count   counts

	away atomic.Bool   // a lost connection was logged
	wake chan struct{} // holds one after a change of out
	mu   sync.Mutex    // guards the fields below
	out  outbox
	in   inbox
	upTo int64 // of the last hint
}

// counts are for metrics.
type counts struct {
	sent, dropped, received, applied, gaps, reads, refused atomic.Int64
}

// Open returns a relay that is not connected. It checks the addresses.
func Open(o Options) (*Relay, error) {
	for address := range strings.SplitSeq(o.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			return nil, errAddress() // the error of Parse has the password
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return nil, errAddress()
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Relay{o: o, wake: make(chan struct{}, 1), in: newInbox()}, nil
}

func errAddress() error {
	return lathe.Errorf(lathe.Invalid, "--bus: want nats://HOST:PORT or tls://HOST:PORT, several separated by commas")
}

// Start connects a node, in the background if the server does not answer.
func (r *Relay) Start(n bus.Node) error {
	feed, _, _ := strings.Cut(n.Feed, "-") // the rest changes when a standby takes over
	r.node, r.subject = n, "lathe."+token(feed)+"."
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	conn, err := nats.Connect(r.o.URL, r.options()...)
	if err != nil {
		return errors.Join(r.fail(err), ctx.Err())
	}
	r.conn = conn
	for _, subject := range []string{"c", "w." + token(n.Name)} {
		if _, err := conn.Subscribe(r.subject+subject, func(*nats.Msg) { n.Look() }); err != nil {
			r.Close()
			return r.fail(err)
		}
	}
	r.work.Go(func() { r.send(ctx) })
	r.work.Go(func() { r.maintain(ctx) })
	return nil
}

func (r *Relay) fail(err error) error {
	return lathe.Errorf(lathe.Invalid, "cannot use the bus at --bus: %w", err)
}

func (r *Relay) options() []nats.Option {
	log := r.o.Log
	out := []nats.Option{
		nats.Name("lathe " + r.node.Name), nats.NoEcho(),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(500 * time.Millisecond), nats.ReconnectJitter(200*time.Millisecond, 200*time.Millisecond),
		nats.ReconnectBufSize(-1), // late deltas are worse than none
		nats.Timeout(2 * time.Second), nats.FlusherTimeout(time.Second), nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				r.away.Store(true)
				log.Warn("lost the bus; readers on other nodes see text as it is stored, about once a second", "error", err)
			}
		}),
		nats.ConnectHandler(func(*nats.Conn) { r.lookAgain() }), nats.ReconnectHandler(func(*nats.Conn) { r.lookAgain() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if errors.Is(err, nats.ErrNoServers) || r.away.Swap(true) { // the next error says why there is none
				log.Debug("the bus cannot be reached", "error", err)
				return
			}
			log.Warn("the bus cannot be reached, and is tried again; readers on other nodes see text as it is stored, about once a second", "error", err)
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) {
				r.count.dropped.Add(1)
				return
			}
			log.Warn("the bus reports an error", "error", err)
		}),
	}
	if r.o.Credentials != "" {
		out = append(out, nats.UserCredentials(r.o.Credentials))
	}
	if r.o.CA != "" {
		out = append(out, nats.RootCAs(r.o.CA))
	}
	return out
}

// lookAgain looks for commits of the time without a connection.
func (r *Relay) lookAgain() {
	r.away.Store(false)
	r.o.Log.Info("connected to the bus")
	r.node.Look()
}

// Connected reports whether there is a connection now.
func (r *Relay) Connected() bool { return r.conn != nil && r.conn.IsConnected() }

// Close ends the connection.
func (r *Relay) Close() {
	if r.stop == nil {
		return
	}
	r.stop()
	if r.conn != nil {
		r.conn.Close()
	}
	r.work.Wait()
}

// Measure writes whether the relay is connected, and what it has carried.
func (r *Relay) Measure(p *metric.Page) {
	connected := 0.0
	if r.Connected() {
		connected = 1
	}
	p.Gauge("lathe_bus_connected", "Whether the connection to other nodes stands. Without it readers are about a second late.", connected)
	for _, c := range []struct {
		name, help string
		n          *atomic.Int64
	}{
		{"lathe_bus_deltas_sent_total", "Deltas sent to other nodes.", &r.count.sent},
		{"lathe_bus_deltas_received_total", "Deltas received from other nodes.", &r.count.received},
		{"lathe_bus_deltas_applied_total", "Received deltas that continued a text.", &r.count.applied},
		{"lathe_bus_dropped_total", "Deltas that were dropped without a connection or because too many waited.", &r.count.dropped},
		{"lathe_bus_refused_total", "Received messages that were malformed or contradicted a text.", &r.count.refused},
		{"lathe_delta_gaps_total", "Times that a delta came without those before it.", &r.count.gaps},
		{"lathe_delta_gap_reads_total", "Gaps that were closed by reading a part from the store.", &r.count.reads},
	} {
		p.Counter(c.name, c.help, float64(c.n.Load()))
	}
}

// token makes a name fit for a subject. Different names stay different.
func token(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
			continue
		}
		const digits = "0123456789abcdef"
		b.WriteByte('=')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return cmp.Or(b.String(), "=")
}
