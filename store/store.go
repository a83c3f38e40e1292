// Package store is the durable record of all sessions: it writes facts and reads history, over SQL.
//
// It owns the stored data and its order: the numbers of the feed, leases, the
// inbox of queued prompts, tails of open parts, tombstones, and the files of
// large values. It knows neither turns, nor the database (a [Driver]), nor the
// subscribers (Options.Publish).
//
// There are three ways to write. [Store.Admit] takes an input from any caller and is on disk
// when it returns. [Store.Commit] takes facts from the runner that holds the lease.
// [Store.Edit] changes single columns of a session record, for any caller. Create, Fork, Import
// and Remove work on whole sessions. All writes go through one goroutine
// (writer.go), which groups transactions, numbers their facts and publishes them.
// Reads run concurrently on snapshots.
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

	index TextIndex // nil if search is off

	mu        sync.Mutex     // guards published and closed
	published int64          // all numbers up to here were passed to pub
	closed    bool           // no new reads
	reads     sync.WaitGroup // running reads
}

// Batch is the changes of one commit group, or of another process.
type Batch struct {
	Events []lathe.Event
	// Foreign events come from another process. Their open parts have the text that is
	// stored so far.
	Foreign bool
	Counter int64 // no later batch has a number up to here
}

// Options are the dependencies of a store. All have defaults.
type Options struct {
	Publish      func(Batch)       // called in number order, by one goroutine at a time; must not block
	HasListeners func() bool       // whether there are subscribers; false avoids building large batches
	Now          func() lathe.Time // the clock
	IDs          *lathe.IDs
	Blobs        string // folder for large values
	Large        Blobs  // stores large values for many machines; nil means files in the folder
	Search       bool   // index the words of parts, for Search
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
	if o.Search {
		s.index = d.TextIndex()
	}
	s.blobs = newBlobs(o.Blobs, o.Large, s.index != nil)
	err := d.Read(ctx, func(r Reader) error {
		return r.Query(`SELECT counter, word FROM feed`, nil, func(row Row) error {
			s.published, s.feed = row.Int(0), d.FeedName(row.Text(1))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	s.writer = startWriter(s)
	return s, nil
}

// Close finishes earlier writes, waits for reads, then closes the database. The leases
// of this process end with it. A second Close does nothing.
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

// one reads a value of the row that a statement finds, or the zero value without a row.
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

// readFiles is read for rows that may refer to files. A writer may have deleted a file
// after the snapshot was taken. A newer snapshot no longer refers to it, so f runs again.
func (s *Store) readFiles(ctx context.Context, f func(Reader) error) (err error) {
	for range 5 {
		if err = s.read(ctx, f); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func errClosed() error { return lathe.Errorf(lathe.Unavailable, "the store is closed") }

// Feed is the short name of this database in cursors.
func (s *Store) Feed() string { return s.feed }

// Last is the number up to which this process has published everything.
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
	dirty   bool // a write took no number
	events  []lathe.Event
	bulk    int64 // if not 0: events after this number are read back after the commit, to save memory
	began   int64 // the counter before this transaction
	index   indexState
	known   lookups
	unput   []unputWords

	orphanedBlobs bool // a row dropped its reference to a blob
	tombstones    int  // tombstones and answered asks made
}

// next takes a number.
func (t *txn) next() int64 {
	t.counter++
	return t.counter
}

// exec runs a statement and marks the transaction as dirty.
func (t *txn) exec(sql string, args ...any) error {
	t.dirty = true
	return t.tx.Do(sql, args...)
}

func (t *txn) count(sql string, args ...any) (int64, error) {
	t.dirty = true
	return t.tx.Exec(sql, args...)
}

// publish records an event to publish after the commit. Seq 0 is an ephemeral event.
func (t *txn) publish(seq int64, s *sessionRow, f lathe.Fact) {
	e := lathe.Event{Seq: seq, Fact: f}
	if s != nil {
		e.Session, e.Directory, e.Project = s.id, s.directory, s.project
	}
	t.events = append(t.events, e)
}

// finish marks the last numbered event, the only one that a reader may use as its cursor.
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

// publish publishes the changes of a group, up to a number. If some cannot be read back
// now, the next poll publishes them, and no later number before them.
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

// setPublished records that everything up to a number was published.
func (s *Store) setPublished(n int64) {
	s.mu.Lock()
	s.published = max(s.published, n)
	s.mu.Unlock()
}

// readBack publishes the rows of a range in pieces, to limit memory.
func (s *Store) readBack(n numbers, events *[]lathe.Event, flush func(int64)) error {
	return s.read(context.Background(), func(r Reader) error {
		return s.yieldChanges(r, n.after, n.upTo, 0, func(e lathe.Event) error {
			if *events = append(*events, e); len(*events) >= piece {
				flush(n.after)
			}
			return nil
		})
	})
}

// piece is the number of events published at a time where there may be very many.
const piece = 256

// Poll publishes the changes of other processes. It is cheap if there are none.
func (s *Store) Poll(ctx context.Context) error {
	return s.writer.maintain(ctx, func() error { return s.writer.poll(ctx) })
}
