package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgrestest"
)

// far is a connection to a server that is some way off. It counts the round trips.
type far struct {
	net.Conn
	trip    time.Duration
	trips   *atomic.Int64
	waiting atomic.Bool // for an answer
}

// Write waits for the whole round trip once, before the first message after an answer.
func (c *far) Write(b []byte) (int, error) {
	if !c.waiting.Swap(true) {
		c.trips.Add(1)
		if c.trip > 0 { // a timer of Go takes a millisecond at least
			pause := unix.NsecToTimespec(c.trip.Nanoseconds())
			_ = unix.Nanosleep(&pause, nil)
		}
	}
	return c.Conn.Write(b)
}

func (c *far) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.waiting.Store(false)
	return n, err
}

// farNode opens a node whose writer is some way from the server.
func farNode(tb testing.TB, dsn string, trip time.Duration) (*store.Store, *Driver, *atomic.Int64) {
	tb.Helper()
	d, err := Open(tb.Context(), Options{DSN: dsn})
	if err != nil {
		tb.Fatal(err)
	}
	trips := new(atomic.Int64)
	dial := d.config.DialFunc
	d.config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return &far{Conn: c, trip: trip, trips: trips}, err
	}
	_ = d.write.close() // the next one is far
	s, err := store.Open(tb.Context(), d, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s, d, trips
}

// live is a session whose answer grows.
type live struct {
	store  *store.Store
	lease  store.Lease
	answer lathe.MessageID
	ids    *lathe.IDs
}

func newLive(tb testing.TB, s *store.Store, ids *lathe.IDs) *live {
	tb.Helper()
	id := ids.Session()
	rec := lathe.Session{ID: id, Slug: "s", Project: "p", Directory: "/d", Title: "t", Version: "1", Created: 1, Updated: 1}
	if err := s.Create(tb.Context(), rec); err != nil {
		tb.Fatal(err)
	}
	l, err := s.Acquire(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	a := &live{store: s, lease: l, answer: ids.Message(), ids: ids}
	m := lathe.Message{ID: a.answer, Session: id, Data: &lathe.Assistant{Agent: "build"}}
	if _, err := s.Commit(tb.Context(), l, &lathe.MessageChanged{Info: m}); err != nil {
		tb.Fatal(err)
	}
	return a
}

// facts are two parts of a kilobyte and a change of their message.
func (a *live) facts() []lathe.Fact {
	text := fmt.Sprintf("%01024d", 7)
	part := func() lathe.Fact {
		return &lathe.PartChanged{Part: lathe.Part{ID: a.ids.Part(), Session: a.lease.Session, Message: a.answer, Body: &lathe.Text{Text: text}}}
	}
	m := lathe.Message{ID: a.answer, Session: a.lease.Session, Data: &lathe.Assistant{Agent: "build"}}
	return []lathe.Fact{part(), part(), &lathe.MessageChanged{Info: m}}
}

func startServer(tb testing.TB) *postgrestest.Server {
	tb.Helper()
	server, err := postgrestest.Start(postgrestest.Options{})
	if errors.Is(err, postgrestest.ErrMissing) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = server.Close() })
	return server
}

// BenchmarkCommit has three nodes with fifty sessions, at round trips as within a rack, a region and between zones.
func BenchmarkCommit(b *testing.B) {
	server := startServer(b)
	for _, trip := range []time.Duration{0, 70 * time.Microsecond, 300 * time.Microsecond, 1200 * time.Microsecond} {
		b.Run(fmt.Sprint(trip), func(b *testing.B) {
			ids, dsn := lathe.NewIDs(), server.Fresh(b)
			var all []*live
			var counts []*atomic.Int64
			for range 3 {
				s, _, trips := farNode(b, dsn, trip)
				counts = append(counts, trips)
				for range 17 {
					all = append(all, newLive(b, s, ids))
				}
			}
			before := int64(0)
			for _, c := range counts {
				before += c.Load()
			}
			var left atomic.Int64
			var mu sync.Mutex
			var took []time.Duration
			var group sync.WaitGroup
			b.ResetTimer()
			left.Store(int64(b.N))
			for _, a := range all {
				group.Go(func() {
					for left.Add(-1) >= 0 {
						began := time.Now()
						_, err := a.store.Commit(context.Background(), a.lease, a.facts()...)
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			group.Wait()
			trips := -before
			for _, c := range counts {
				trips += c.Load()
			}
			slices.Sort(took)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(trips)/float64(b.N), "trips/commit")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// A server that is stopped, as a machine is that hangs, still has a kernel that confirms what it gets.
func TestTx_ServerHangs(t *testing.T) {
	d, err := Open(t.Context(), Options{DSN: startServer(t).Fresh(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	d.wait = 300 * time.Millisecond
	_ = d.write.close() // the next one has the limit
	tx, err := d.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	err = tx.Query(`SELECT pg_backend_pid()`, nil, func(r store.Row) error {
		pid = int(r.Int(0))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) })
	if _, err := tx.Exec(`UPDATE feed SET counter = 7`); !errors.Is(err, store.ErrLost) || lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("a server that hangs: %v", err)
	}
}

// A reader may wait for a large value for longer than a writer may hold its lock without a statement.
func TestRead_WaitsForAValue(t *testing.T) {
	server := startServer(t)
	d, err := Open(t.Context(), Options{DSN: server.Fresh(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	limit := func(r store.Reader) (text string) {
		err := r.Query(`SHOW idle_in_transaction_session_timeout`, nil, func(row store.Row) error {
			text = row.Text(0)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return text
	}
	err = d.Read(t.Context(), func(r store.Reader) error {
		if got := limit(r); got != "1min" {
			t.Errorf("a reader may be idle for %s", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	tx, err := d.Begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := limit(tx); got != "3s" {
		t.Errorf("a writer may be idle for %s", got)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// A group of commits needs few round trips, and their number does not grow with the group.
func TestCommit_FewRoundTrips(t *testing.T) {
	s, _, trips := farNode(t, startServer(t).Fresh(t), 0)
	a := newLive(t, s, lathe.NewIDs())
	commit := func(n int) int64 {
		var facts []lathe.Fact
		for range n {
			facts = append(facts, a.facts()...)
		}
		before := trips.Load()
		if _, err := s.Commit(t.Context(), a.lease, facts...); err != nil {
			t.Fatal(err)
		}
		return trips.Load() - before
	}
	commit(1) // which prepares the statements
	one, many := commit(1), commit(30)
	// Look at others and end it; begin with all lookups; write; index and commit.
	if one > 5 || many > 5 {
		t.Errorf("%d round trips for one commit and %d for one of 30 times its size, want 5", one, many)
	}
}
