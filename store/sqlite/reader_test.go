package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// endless is a query that only an interrupt ends.
const endless = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c`

func openStore(t *testing.T) (*store.Store, *Driver, string) {
	t.Helper()
	dir := t.TempDir()
	d, err := Open(context.Background(), Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), d, store.Options{Blobs: filepath.Join(dir, "blobs")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, d, dir
}

// hold keeps a read transaction open until release is called.
func hold(t *testing.T, d *Driver) (release func()) {
	t.Helper()
	in, out, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.Read(context.Background(), func(r store.Reader) error {
			err := r.Query(`SELECT count(*) FROM session`, nil, func(store.Row) error { return nil }) // takes the snapshot
			close(in)
			<-out
			return err
		})
	}()
	<-in
	return sync.OnceFunc(func() {
		close(out)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// soon fails if f waits for something that does not come before it ends. Waiting for a
// lock would take lockWait.
func soon(t *testing.T, what string, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(lockWait * 2 / 3):
		t.Fatalf("%s waits", what)
	}
}

// record is a session with all that must be there.
func record(ids *lathe.IDs) lathe.Session {
	return lathe.Session{
		ID: ids.Session(), Slug: "calm", Project: lathe.GlobalProject, Directory: "/work", Title: "t", Version: "test",
		Created: lathe.Now(), Updated: lathe.Now(),
	}
}

// TestReader_DoesNotBlock holds a read open while others write, remove and shrink.
func TestReader_DoesNotBlock(t *testing.T) {
	t.Parallel()
	s, d, _ := openStore(t)
	ctx, ids := context.Background(), lathe.NewIDs()
	var all []lathe.SessionID
	for i := range 20 {
		rec := record(ids)
		rec.Title = strings.Repeat("x", 10_000*i) // pages to give back
		if err := s.Create(ctx, rec); err != nil {
			t.Fatal(err)
		}
		all = append(all, rec.ID)
	}
	release := hold(t, d)
	defer release()
	soon(t, "writing", func() error {
		_, err := s.Edit(ctx, all[0], lathe.Edit{Title: lathe.Some("new")})
		return err
	})
	soon(t, "removing", func() error {
		for _, id := range all[1:] {
			if err := s.Remove(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
	soon(t, "vacuum", func() error { return s.Vacuum(ctx, nil) })
	soon(t, "reading", func() error {
		rec, err := s.Session(ctx, all[0])
		if err == nil && rec.Title != "new" {
			err = errors.New("an old state")
		}
		return err
	})
	soon(t, "looking", func() error { return s.Poll(ctx) })
	release()
	soon(t, "vacuum afterwards", func() error { return s.Vacuum(ctx, nil) })
	if free := numberOf(t, d, `SELECT freelist_count FROM pragma_freelist_count`); free != 0 {
		t.Errorf("%d pages are still empty", free)
	}
}

// numberOf reads one number from the database.
func numberOf(t *testing.T, d *Driver, sql string) (n int64) {
	t.Helper()
	err := d.Read(context.Background(), func(r store.Reader) error {
		return r.Query(sql, nil, func(row store.Row) error {
			n = row.Int(0)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestReader_SlowResume blocks more resumes than there are connections.
func TestReader_SlowResume(t *testing.T) {
	t.Parallel()
	s, _, _ := openStore(t)
	ctx := context.Background()
	rec := record(lathe.NewIDs())
	if err := s.Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	in, out := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 2 * readers {
		all.Go(func() {
			first := true
			_, err := s.Since(ctx, lathe.Cursor{}, lathe.Scope{}, func(lathe.Event) error {
				if first {
					in <- struct{}{}
					<-out
				}
				first = false
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 * readers {
		<-in
	}
	soon(t, "writing", func() error {
		_, err := s.Edit(ctx, rec.ID, lathe.Edit{Title: lathe.Some("new")})
		return err
	})
	soon(t, "reading", func() error {
		_, err := s.Session(ctx, rec.ID)
		return err
	})
	close(out)
	all.Wait()
}

// TestReader_Interrupt ends long queries by their context, and leaves every connection fit
// for the next.
func TestReader_Interrupt(t *testing.T) {
	t.Parallel()
	s, d, _ := openStore(t)
	if err := s.Create(context.Background(), record(lathe.NewIDs())); err != nil {
		t.Fatal(err)
	}
	why := errors.New("changed my mind")
	for range 2 * readers {
		ctx, cancel := context.WithCancelCause(context.Background())
		began := make(chan struct{})
		go func() {
			<-began
			cancel(why)
		}()
		soon(t, "interrupting", func() error {
			err := d.Read(ctx, func(r store.Reader) error {
				return r.Query(`SELECT id FROM session`, nil, func(store.Row) error { // an outer query is left in the middle
					close(began)
					return r.Query(endless, nil, func(store.Row) error { return nil })
				})
			})
			if !errors.Is(err, why) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	var all sync.WaitGroup
	for range 2 * readers {
		all.Go(func() {
			err := d.Read(context.Background(), func(r store.Reader) error {
				n := 0
				err := r.Query(`SELECT id FROM session`, nil, func(store.Row) error {
					n++
					return nil
				})
				if n != 1 {
					t.Errorf("%d sessions", n)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestReader_WaitsWithItsContext gives up waiting for a connection, not before.
func TestReader_WaitsWithItsContext(t *testing.T) {
	t.Parallel()
	s, d, _ := openStore(t)
	var releases []func()
	for range readers {
		releases = append(releases, hold(t, d))
	}
	ctx, cancel := context.WithCancel(context.Background())
	waits := make(chan error, 1)
	go func() {
		_, err := s.Sessions(ctx, lathe.Query{})
		waits <- err
	}()
	select {
	case err := <-waits:
		t.Errorf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, release := range releases {
		release()
	}
	if _, err := s.Sessions(context.Background(), lathe.Query{}); err != nil {
		t.Error(err)
	}
}

// TestReader_Panic gives the connection back all the same.
func TestReader_Panic(t *testing.T) {
	t.Parallel()
	_, d, _ := openStore(t)
	for range 2 * readers {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = d.Read(context.Background(), func(r store.Reader) error {
				return r.Query(`SELECT counter FROM feed`, nil, func(store.Row) error { panic("a bug") })
			})
		}()
	}
	soon(t, "reading", func() error { return d.Read(context.Background(), func(store.Reader) error { return nil }) })
}

// TestReader_SameStatementInside queries the same statement while its rows are read.
func TestReader_SameStatementInside(t *testing.T) {
	t.Parallel()
	_, d, _ := openStore(t)
	const sql = `SELECT value FROM json_each('[1,2,3]') WHERE value > $1 ORDER BY value`
	var got []int64
	err := d.Read(context.Background(), func(r store.Reader) error {
		var visit func(after int64) error
		visit = func(after int64) error {
			return r.Query(sql, []any{after}, func(row store.Row) error {
				n := row.Int(0)
				got = append(got, n)
				return visit(n)
			})
		}
		return visit(0)
	})
	if want := []int64{1, 2, 3, 3, 2, 3, 3}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v; %v", got, want, err)
	}
}

func TestReader_AfterClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := Open(context.Background(), Options{Path: filepath.Join(dir, "lathe.db")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	soon(t, "reading", func() error {
		err := d.Read(context.Background(), func(store.Reader) error { return nil })
		if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "is closed") {
			return err
		}
		return nil
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "state", "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "lathe.db-wal")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log was left: %v", err)
	}
}

// TestReader_LogIsBounded lets the log grow after a reader, and looks that it shrinks to its
// limit when the reader is gone.
func TestReader_LogIsBounded(t *testing.T) {
	t.Parallel()
	s, d, dir := openStore(t)
	ctx := context.Background()
	log := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "lathe.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	release := hold(t, d)
	for i := 0; log() < 20<<20; i++ {
		text := strings.Repeat(string(rune('a'+i%26)), 1<<20) // the same again would not be written
		if err := s.SaveCached(ctx, fmt.Sprint("key", i%4), text); err != nil {
			t.Fatal(err)
		}
	}
	release()
	for i := range 3 { // one to copy the log, one to begin it again
		if err := s.SaveCached(ctx, "key", fmt.Sprint("small", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := log(); n > 16<<20 {
		t.Errorf("the log has %d bytes", n)
	}
}

// TestReader_Links opens one database by two names: the same locks and files are meant.
func TestReader_Links(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "lathe.db"), filepath.Join(other, "link.db")); err != nil {
		t.Skipf("skipped: no links here: %v", err)
	}
	ctx := context.Background()
	a, err := OpenStore(ctx, Options{Path: filepath.Join(dir, "lathe.db")}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	b, err := OpenStore(ctx, Options{Path: filepath.Join(other, "link.db")}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	rec := record(lathe.NewIDs())
	if err := a.Create(ctx, rec); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Acquire(ctx, rec.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(ctx, rec.ID); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("the lease of a living process was taken: %v", err)
	}
	if files, _ := os.ReadDir(other); len(files) != 1 {
		t.Errorf("files were made beside the link: %v", files)
	}
}

// TestReader_FullTransaction runs on after SQLite has undone a transaction by itself:
// nothing of it may be written outside.
func TestReader_FullTransaction(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d, err := Open(ctx, Options{Path: filepath.Join(t.TempDir(), "lathe.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	begin := func() store.Tx {
		t.Helper()
		tx, err := d.Begin(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	tx := begin()
	if _, err := tx.Exec(`INSERT INTO known VALUES ('a', 'b')`); err != nil {
		t.Fatal(err)
	}
	// A conflict that rolls back stands for a full disk.
	_, full := tx.Exec(`INSERT OR ROLLBACK INTO known VALUES ('a', 'c')`)
	if full == nil {
		t.Fatal("no conflict")
	}
	if _, err := tx.Exec(`INSERT INTO known VALUES ('x', 'y')`); !errors.Is(err, full) {
		t.Errorf("a statement after the end: %v", err)
	}
	if err := tx.Commit(); !errors.Is(err, full) {
		t.Errorf("commit after the end: %v", err)
	}
	if n := numberOf(t, d, `SELECT count(*) FROM known`); n != 0 {
		t.Errorf("%d rows were written", n)
	}
	tx = begin()
	if _, err := tx.Exec(`INSERT INTO known VALUES ('a', 'b')`); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// A process that waits for a long transaction gives up only if the transaction makes no progress.
func TestLock_LongTransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long.db")
	open := func() *sqlite.Conn {
		c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenWAL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	holder, other := open(), open()
	do := func(sql string) {
		if err := sqlitex.ExecuteTransient(holder, sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE x (y)`)
	do(`PRAGMA cache_size = 10`)
	do(`BEGIN IMMEDIATE`)
	do(`INSERT INTO x VALUES (1)`)
	if err := lockWithin(other, path, 50*time.Millisecond, time.Minute); sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy {
		t.Fatalf("without progress: %v", err)
	}
	got := make(chan error, 1)
	idle := 2 * time.Second
	began := time.Now()
	go func() { got <- lockWithin(other, path, idle, time.Minute) }()
	for time.Since(began) < idle+idle/2 { // its pages go to the log before the end, because they do not fit in memory
		do(`INSERT INTO x VALUES (randomblob(100000))`)
		select {
		case err := <-got:
			t.Fatalf("gave up after %s: %v", time.Since(began), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	do(`COMMIT`)
	if err := <-got; err != nil {
		t.Error(err)
	}
}
