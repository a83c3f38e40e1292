// Package store is the durable truth: facts in, history out, over SQL.
//
// It owns what is written and in which order: the numbers of the feed, leases, the
// inbox of waiting prompts, tails of open parts, tombstones, and the files that hold
// large values. It does not know what a turn is, nor which database it talks to
// (that is a [Driver]) nor who listens (that is Options.Publish).
//
// There are three ways in. [Store.Admit] takes an input from anyone and is on disk when
// it returns. [Store.Commit] takes facts from the runner that holds the lease.
// [Store.Edit] changes single columns of a session record, by anyone; Create, Fork, Import
// and Remove are its larger siblings. Everything written goes through one goroutine
// (writer.go), which groups transactions, numbers their facts and publishes them.
// Reads run beside it on snapshots.
//
// Start reading at commit.go, then feed.go.
package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/lathe-agent/lathe"
)

// Store is safe for use by many goroutines.
type Store struct {
	driver Driver
	writer *writer
	blobs  *blobs
	pub    func(Batch)
	wanted func() bool
	now    func() lathe.Time
	ids    *lathe.IDs
	log    *slog.Logger
	feed   string

	keepRows int64 // see trim

	mu        sync.Mutex     // guards published and closed
	published int64          // everything up to here was handed to pub
	closed    bool           // no read begins any more
	reads     sync.WaitGroup // those under way
}

// Batch is what one commit group, or another process, changed.
type Batch struct {
	Events []lathe.Event
	// Foreign events come from another process: open parts among them carry the text
	// as far as the store has it.
	Foreign bool
	Counter int64 // nothing up to here comes later
}

// Options are the surroundings of a store. All have defaults.
type Options struct {
	Publish      func(Batch)       // called in number order, by one goroutine at a time; must not block
	HasListeners func() bool       // whether anyone listens; false spares building large batches
	Now          func() lathe.Time // the clock
	IDs          *lathe.IDs
	Blobs        string // folder for large values
	Log          *slog.Logger
}

// Open returns a store on an open database and starts its writer.
func Open(ctx context.Context, d Driver, o Options) (*Store, error) {
	s := &Store{driver: d, pub: o.Publish, wanted: o.HasListeners, now: o.Now, ids: o.IDs, log: o.Log, keepRows: keepRows}
	if s.pub == nil {
		s.pub = func(Batch) {}
	}
	if s.wanted == nil {
		s.wanted = func() bool { return true }
	}
	if s.now == nil {
		s.now = lathe.Now
	}
	if s.ids == nil {
		s.ids = lathe.NewIDs()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.blobs = &blobs{dir: o.Blobs}
	err := d.Read(ctx, func(r Reader) error {
		return r.Query(`SELECT counter, word FROM feed`, nil, func(row Row) error {
			s.published, s.feed = row.Int(0), row.Text(1)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	s.writer = startWriter(s)
	return s, nil
}

// Close writes what was sent before, lets reads end, then closes the database. The leases
// of this process end with it. Closing twice does nothing.
func (s *Store) Close() error {
	s.writer.close()
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		return nil
	}
	s.reads.Wait()
	return s.driver.Close()
}

// read runs f on a snapshot, unless the store is closed.
func (s *Store) read(ctx context.Context, f func(Reader) error) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed()
	}
	s.reads.Add(1)
	s.mu.Unlock()
	defer s.reads.Done()
	return s.driver.Read(ctx, f)
}

// query is read of a single statement.
func query(ctx context.Context, s *Store, sql string, args []any, f func(Row) error) error {
	return s.read(ctx, func(r Reader) error { return r.Query(sql, args, f) })
}

// one reads a value of the row that a statement finds, the zero value if it finds none.
func one[T any](r Reader, sql string, args []any, read func(Row) (T, error)) (out T, err error) {
	err = r.Query(sql, args, func(row Row) (err error) {
		out, err = read(row)
		return err
	})
	return out, err
}

func firstInt(row Row) (int64, error)   { return row.Int(0), nil }
func firstText(row Row) (string, error) { return row.Text(0), nil }

// all reads a value of every row that a statement finds; it is never nil.
func all[T any](r Reader, sql string, args []any, read func(Row) (T, error)) ([]T, error) {
	out := []T{}
	err := r.Query(sql, args, func(row Row) error {
		v, err := read(row)
		out = append(out, v)
		return err
	})
	return out, err
}

// findOne and findAll are one and all on a snapshot of their own.
func findOne[T any](ctx context.Context, s *Store, sql string, args []any, read func(Row) (T, error)) (out T, err error) {
	err = s.read(ctx, func(r Reader) (err error) {
		out, err = one(r, sql, args, read)
		return err
	})
	return out, err
}

func findAll[T any](ctx context.Context, s *Store, sql string, args []any, read func(Row) (T, error)) (out []T, err error) {
	err = s.read(ctx, func(r Reader) (err error) {
		out, err = all(r, sql, args, read)
		return err
	})
	return out, err
}

// readFiles is read for rows that may name files. A writer may have let go of a file and
// deleted it after the snapshot was taken; a newer snapshot does not name it any more, so
// f runs again.
func (s *Store) readFiles(ctx context.Context, f func(Reader) error) (err error) {
	for range 5 {
		if err = s.read(ctx, f); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func errClosed() error { return lathe.Errorf(lathe.Unavailable, "the store is closed") }

// Feed is the short word that names this database in cursors.
func (s *Store) Feed() string { return s.feed }

// Last is the number up to which everything was published by this process.
func (s *Store) Last() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published
}

// txn is a transaction of the writer, with the numbers and events it has made so far.
type txn struct {
	store   *Store
	tx      Tx
	now     lathe.Time
	counter int64
	dirty   bool // something was written that took no number
	events  []lathe.Event
	bulk    int64 // if not 0: what follows this number is too much to hold; it is read back after the commit

	orphanedBlobs bool // a row let go of a blob
	tombstones    int  // tombstones and answered asks made
}

// next takes a number.
func (t *txn) next() int64 {
	t.counter++
	return t.counter
}

// exec runs a statement and notes that something was written.
func (t *txn) exec(sql string, args ...any) error {
	_, err := t.count(sql, args...)
	return err
}

func (t *txn) count(sql string, args ...any) (int64, error) {
	t.dirty = true
	return t.tx.Exec(sql, args...)
}

// publish notes an event for after the commit. Seq 0 is news.
func (t *txn) publish(seq int64, s *sessionRow, f lathe.Fact) {
	e := lathe.Event{Seq: seq, Fact: f}
	if s != nil {
		e.Session, e.Directory, e.Project = s.id, s.directory, s.project
	}
	t.events = append(t.events, e)
}

// finish marks the last numbered event: only there may a reader note its place.
func (t *txn) finish() []lathe.Event {
	for i := len(t.events) - 1; i >= 0; i-- {
		if t.events[i].Seq > 0 {
			t.events[i].Last = true
			break
		}
	}
	return t.events
}

func readCounter(r Reader) (int64, error) { return one(r, `SELECT counter FROM feed`, nil, firstInt) }

// publish hands out what a group has changed, up to a number. What cannot be read back
// now stays for the next look at the store; no later number is handed out before it.
func (s *Store) publish(upTo int64, jobs []*job) error {
	var events []lathe.Event
	flush := func(counter int64) {
		s.pub(Batch{Events: events, Counter: counter})
		events = nil
	}
	for _, j := range jobs {
		events = append(events, j.events...)
		if j.bulk == nil || !s.wanted() {
			continue
		}
		if err := s.readBack(*j.bulk, &events, flush); err != nil {
			flush(j.bulk.after)
			s.setPublished(j.bulk.after)
			return err
		}
	}
	if len(events) > 0 || upTo > s.Last() {
		flush(upTo)
		s.setPublished(upTo)
	}
	return nil
}

// setPublished notes that everything up to a number was handed out.
func (s *Store) setPublished(n int64) {
	s.mu.Lock()
	s.published = max(s.published, n)
	s.mu.Unlock()
}

// readBack tells the rows of a range in pieces, so that memory stays flat.
func (s *Store) readBack(n numbers, events *[]lathe.Event, flush func(int64)) error {
	return s.read(context.Background(), func(r Reader) error {
		return s.yieldChanges(r, n.after, n.upTo, func(e lathe.Event) error {
			if *events = append(*events, e); len(*events) >= piece {
				flush(n.after)
			}
			return nil
		})
	})
}

// piece is how many events are handed out at a time where there may be very many.
const piece = 256

// Poll looks whether another process has written, and hands out what it has changed.
// It is cheap when nothing has.
func (s *Store) Poll(ctx context.Context) error {
	return s.writer.maintain(ctx, func() error { return s.writer.poll(ctx) })
}
