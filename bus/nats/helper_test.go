package nats_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	gonats "github.com/nats-io/nats.go"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/bus/nats"
	"github.com/lathe-agent/lathe/engine/events"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgres"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// patience is the longest wait for what must happen; it only limits a failure.
const patience = 30 * time.Second

// serve starts a NATS server. Port -1 is any.
func serve(t testing.TB, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server did not start")
	}
	return s
}

// dial connects a client of the test.
func dial(t testing.TB, url string) *gonats.Conn {
	t.Helper()
	c, err := gonats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// named is a relay in a cluster with another name, so that a test can stand between two nodes.
type named struct {
	*nats.Relay
	feed string
}

func (n named) Start(of bus.Node) error {
	if n.feed != "" {
		of.Feed = n.feed
	}
	return n.Relay.Start(of)
}

// node is a process on a database with a store, a bus and readers.
type node struct {
	t     testing.TB
	store *store.Store
	bus   *bus.Bus
	relay *nats.Relay
	*events.Source
	close func()
}

// join opens the database in dir as another process does.
func join(t testing.TB, dir, url, feed string) *node {
	t.Helper()
	ctx := context.Background()
	r, err := nats.Open(nats.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, relay: r, bus: bus.New(bus.Grown(r.Grew))}
	link := named{r, feed}
	pub := events.NewPublisher(n.bus, func([]lathe.Event) {}, func() bool { return false }, link)
	driver, err := open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	if n.store, err = store.Open(ctx, driver, store.Options{Publish: pub.Publish, HasListeners: pub.HasListeners, Blobs: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	n.bus.Advance(n.store.Last())
	n.Source = events.New(n.store, n.bus, lathe.NewIDs(), n.store.Poll, testLog(t))
	if err := n.Join(link, driver.Owner()); err != nil {
		t.Fatal(err)
	}
	n.close = sync.OnceFunc(func() {
		n.Source.Close()
		if err := n.store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(n.close)
	return n
}

// open opens the database at the URL of a PostgreSQL server, or in a folder.
func open(ctx context.Context, at string) (store.Driver, error) {
	if postgres.IsURL(at) {
		d, err := postgres.Open(ctx, postgres.Options{DSN: at})
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	d, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(at, "lathe.db")})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (n *node) ok(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// value returns a figure of the relay.
func (n *node) value(name string) string {
	var p metric.Page
	n.relay.Measure(&p)
	return metricOf(string(p.Bytes()), name)
}

// session creates a session with one message, and returns the lease to write in it.
func (n *node) session(id lathe.SessionID) store.Lease {
	n.t.Helper()
	ctx := context.Background()
	n.ok(n.store.Create(ctx, lathe.Session{ID: id, Directory: "/d", Project: "prj"}))
	l, err := n.store.Acquire(ctx, id)
	n.ok(err)
	n.commit(l, &lathe.MessageChanged{Info: lathe.Message{ID: messageOf(id), Session: id, Created: 1, Data: &lathe.Assistant{}}})
	return l
}

func (n *node) commit(l store.Lease, facts ...lathe.Fact) []lathe.Event {
	n.t.Helper()
	out, err := n.store.Commit(context.Background(), l, facts...)
	n.ok(err)
	return out
}

func messageOf(id lathe.SessionID) lathe.MessageID { return lathe.MessageID("msg_" + id) }

// writer is an open part and its text, as the runner of a session has them.
type writer struct {
	n      *node
	lease  store.Lease
	part   lathe.Part
	text   *bus.Text
	stored int
}

func (n *node) grow(l store.Lease, id lathe.PartID) *writer {
	n.t.Helper()
	p := lathe.Part{ID: id, Session: l.Session, Message: messageOf(l.Session), Body: &lathe.Text{Time: &lathe.Span{Start: 1}}}
	e := n.commit(l, &lathe.PartChanged{Part: p})
	return &writer{n: n, lease: l, part: p, text: n.bus.Open(e[0])}
}

func (w *writer) checkpoint() {
	if more := w.text.Since(w.stored); more != "" {
		w.n.commit(w.lease, &lathe.Checkpoint{Session: w.lease.Session, Part: w.part.ID, Offset: w.stored, Text: more})
		w.stored += len(more)
	}
}

// settle writes the part whole.
func (w *writer) settle() {
	p := w.part
	p.Body = &lathe.Text{Text: w.text.String(), Time: &lathe.Span{Start: 1, End: 2}}
	w.n.commit(w.lease, &lathe.PartChanged{Part: p})
	w.text.Close()
}

func (w *writer) remove() {
	w.n.commit(w.lease, &lathe.PartRemoved{Session: w.lease.Session, Message: w.part.Message, Part: w.part.ID})
	w.text.Close()
}

// reader is a client that follows a scope on a node.
type reader struct {
	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	seen    map[lathe.SessionID]*lathe.Transcript
	changed chan struct{} // closed at the next event
	deltas  int
}

func (n *node) read(scope lathe.Scope, sessions ...lathe.SessionID) *reader {
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{t: n.t, cancel: cancel, done: make(chan struct{}), seen: map[lathe.SessionID]*lathe.Transcript{}, changed: make(chan struct{})}
	for _, id := range sessions {
		r.seen[id] = lathe.NewTranscript(lathe.Session{ID: id}, nil)
	}
	go func() {
		defer close(r.done)
		for e, err := range n.Events(ctx, scope, lathe.Some(lathe.Cursor{})) {
			if err != nil {
				return
			}
			r.apply(e)
		}
	}()
	n.t.Cleanup(r.end)
	return r
}

func (r *reader) apply(e lathe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.seen[e.Session]; t != nil {
		t.Apply(e)
	}
	if _, ok := e.Fact.(*lathe.PartDelta); ok {
		r.deltas++
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *reader) end() {
	r.cancel()
	<-r.done
}

// waits waits until the reader's state fits.
func (r *reader) waits(what string, fits func(texts map[lathe.PartID]string) bool) {
	r.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		texts := map[lathe.PartID]string{}
		for _, t := range r.seen {
			for _, m := range t.Messages() {
				for _, p := range m.Parts {
					texts[p.ID] = p.GrowingText()
				}
			}
		}
		changed := r.changed
		r.mu.Unlock()
		if fits(texts) {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			r.t.Fatalf("%s: the reader still has %.300q", what, texts)
		}
	}
}
