// Package sqlite is the store's database on one machine: a file in WAL mode, shared by
// all lathe processes of a user.
//
// It owns the file: how it is created, migrated, locked, checked and shrunk, and the error
// messages for SQLite's errors. It has no statement about sessions; those are the
// store's. One connection writes, for the store's writer goroutine. A few read, each for
// one goroutine at a time.
//
// Start reading at [Open]; migrate.go creates the schema, owner.go finds live processes.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// The number of connections that read at the same time, and of pages that one Reclaim frees.
const (
	readers      = 4
	reclaimPages = 4096
)

// lockLook is the shortest wait between two attempts to take the write lock.
const lockLook = 500 * time.Microsecond

// Options has the paths of a database and its logger.
type Options struct {
	Path  string       // of the database file; its folder is created
	State string       // folder for the locks of processes; default: beside the database
	Log   *slog.Logger // gets a warning about a damaged log; default: none
}

// Driver is an open database.
type Driver struct {
	path  string
	owner *owner
	write *sqlite.Conn  // for the store's writer goroutine alone
	sync  string        // the writer's current PRAGMA synchronous
	data  int64         // PRAGMA data_version at the last check
	files []os.FileInfo // the file and its log, as they were opened
	pool  chan *sqlite.Conn
	spare chan struct{} // tokens for readers not opened yet
	ended chan struct{} // closed by Close
	end   sync.Once
}

// Open opens the file, and creates or migrates it first if necessary. A file that is damaged,
// truncated, newer than this program or not ours is refused and not changed. A process
// opens a file once: see inspect.
func Open(ctx context.Context, o Options) (*Driver, error) {
	steps, err := loadSteps(schemaFiles)
	if err != nil {
		return nil, err
	}
	return open(ctx, o, steps)
}

// open inspects the file and saves a copy of a damaged log before SQLite reads either.
func open(ctx context.Context, o Options, steps []step) (*Driver, error) {
	if err := o.resolve(); err != nil {
		return nil, err
	}
	version, err := inspect(o.Path)
	if err != nil {
		return nil, err
	}
	o.guardLog()
	if err := prepare(ctx, o.Path, version, steps); err != nil {
		return nil, err
	}
	d := &Driver{
		path: o.Path, pool: make(chan *sqlite.Conn, readers), spare: make(chan struct{}, readers), ended: make(chan struct{}),
	}
	if d.write, err = d.connect(); err != nil {
		return nil, err
	}
	if err := d.begin(len(steps)); err != nil {
		return nil, errors.Join(err, d.write.Close())
	}
	if d.owner, err = newOwner(o.State); err != nil {
		return nil, errors.Join(err, d.write.Close())
	}
	for range readers {
		d.spare <- struct{}{}
	}
	return d, nil
}

// resolve creates the folder and follows links, so that all processes use the same files
// next to the database, whichever path they open.
func (o *Options) resolve() error {
	dir := filepath.Dir(o.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot create the data folder %s; check its permissions or set LATHE_DATA: %w", dir, err)
	}
	if real, err := filepath.EvalSymlinks(o.Path); err == nil {
		o.Path = real
	} else if real, err := filepath.EvalSymlinks(dir); err == nil {
		o.Path = filepath.Join(real, filepath.Base(o.Path))
	}
	if o.State == "" {
		o.State = filepath.Join(filepath.Dir(o.Path), "state")
	}
	return nil
}

// guardLog saves a copy of a log that was damaged while no process ran. The database opens
// in any case: after a power cut, the end of a log may be lost.
func (o *Options) guardLog() {
	for _, name := range owners(o.State) {
		if isAlive(o.State, name) {
			return // the log is in use, and so was read before
		}
	}
	lost, copied, err := keepDamagedLog(o.Path)
	if lost > 0 && o.Log != nil {
		o.Log.Warn("the database log was damaged; the last changes may be missing", "commits", lost, "copy", copied, "error", err)
	}
}

// begin checks the version that SQLite reports and records the open files.
func (d *Driver) begin(known int) error {
	version, err := pragma(d.write, "user_version")
	if err != nil {
		return d.explain(err)
	}
	if version > int64(known) { // the header may lag behind the log
		return tooNew(d.path, int(version), known)
	}
	if d.data, err = pragma(d.write, "data_version"); err != nil {
		return d.explain(err)
	}
	for _, path := range d.paths() {
		info, err := os.Stat(path)
		if err != nil {
			return noAccess(path, err)
		}
		d.files = append(d.files, info)
	}
	return nil
}

// paths are the file and its log.
func (d *Driver) paths() []string { return []string{d.path, d.path + "-wal"} }

// inPlace detects that the file or its log was moved or deleted while it is open. Later
// writes would be lost silently.
func (d *Driver) inPlace() error {
	for i, path := range d.paths() {
		now, err := os.Stat(path)
		if err != nil || !os.SameFile(now, d.files[i]) {
			return lathe.Errorf(lathe.Unavailable, "%s was moved, replaced or deleted while it was in use; put it back if you can, then restart lathe", path)
		}
	}
	return nil
}

// connect opens one connection with our settings.
func (d *Driver) connect() (*sqlite.Conn, error) {
	c, err := sqlite.OpenConn(d.path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, d.explain(err)
	}
	c.SetBusyTimeout(lockWait)
	for _, p := range []string{
		`PRAGMA journal_mode = WAL`, `PRAGMA synchronous = NORMAL`, `PRAGMA cache_size = -4000`,
		`PRAGMA journal_size_limit = 16777216`, `PRAGMA temp_store = MEMORY`,
		`PRAGMA fullfsync = ON`, // or macOS leaves synced data in the disk's cache
	} {
		if err := sqlitex.ExecuteTransient(c, p, nil); err != nil {
			return nil, errors.Join(d.explain(err), c.Close())
		}
	}
	return c, nil
}

// Close ends the leases of this process, waits for running reads and closes the file. The
// store's writer must have ended before.
func (d *Driver) Close() error {
	var errs []error
	d.end.Do(func() {
		close(d.ended)
		for range readers {
			select {
			case c := <-d.pool:
				errs = append(errs, c.Close())
			case <-d.spare:
			}
		}
		errs = append(errs, d.write.Close(), d.owner.close())
	})
	return errors.Join(errs...)
}

// Owner names this process in leases.
func (d *Driver) Owner() string { return d.owner.name }

// Alive looks at the lock of the process.
func (d *Driver) Alive(_ store.Reader, name string) (bool, error) { return d.owner.alive(name), nil }

// FeedName is the word: a file has one history.
func (d *Driver) FeedName(word string) string { return word }

// Skew is 0: the database is on this machine.
func (d *Driver) Skew() time.Duration { return 0 }

// Successors is false: a process continues the sessions of another only when it starts.
func (d *Driver) Successors(store.Reader) (bool, error) { return false, nil }

// Ahead is false: another process is seldom there.
func (d *Driver) Ahead() bool { return false }

// Read runs f on a snapshot, on its own connection.
func (d *Driver) Read(ctx context.Context, f func(store.Reader) error) error {
	c, err := d.reader(ctx)
	if err != nil {
		return err
	}
	defer d.giveBack(c)
	c.SetInterrupt(ctx.Done())
	if err = d.explain(sqlitex.Execute(c, `BEGIN`, nil)); err == nil {
		err = f(&tx{driver: d, conn: c})
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reader waits for a free connection.
func (d *Driver) reader(ctx context.Context) (*sqlite.Conn, error) {
	select {
	case <-d.ended:
		return nil, errClosed(d.path)
	case c := <-d.pool:
		return c, nil
	default:
	}
	select {
	case <-d.ended:
		return nil, errClosed(d.path)
	case c := <-d.pool:
		return c, nil
	case <-d.spare:
		c, err := d.connect()
		if err != nil {
			d.spare <- struct{}{}
		}
		return c, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func errClosed(path string) error {
	return lathe.Errorf(lathe.Unavailable, "the database %s is closed", path)
}

// giveBack ends the read, also after an interrupt or a panic, and returns the connection. A
// connection that cannot end its read is closed.
func (d *Driver) giveBack(c *sqlite.Conn) {
	c.SetInterrupt(nil) // the end of the transaction must not be interrupted
	if !c.AutocommitEnabled() {
		_ = sqlitex.Execute(c, `ROLLBACK`, nil)
	}
	if c.AutocommitEnabled() {
		d.pool <- c
		return
	}
	_ = c.Close()
	d.spare <- struct{}{}
}

// Begin starts the write transaction.
func (d *Driver) Begin(_ context.Context, durable bool) (store.Tx, error) {
	if err := d.inPlace(); err != nil {
		return nil, err
	}
	mode := `NORMAL`
	if durable {
		mode = `FULL`
	}
	if d.sync != mode { // outside a transaction, or it has no effect
		if err := sqlitex.ExecuteTransient(d.write, `PRAGMA synchronous = `+mode, nil); err != nil {
			return nil, d.explain(err)
		}
		d.sync = mode
	}
	if err := lock(d.write, d.path); err != nil {
		return nil, d.explain(err)
	}
	return &tx{driver: d, conn: d.write, writes: true}, nil
}

// lock begins a transaction as soon as no other process writes. SQLite would wait up to a
// tenth of a second between two attempts. A process that writes without a pause would then
// block the others for seconds.
func lock(c *sqlite.Conn, path string) error { return lockWithin(c, path, lockWait, longestLock) }

// lockWithin waits for a writer that makes no progress up to idle, and for one that does, such as the import of a session of
// gigabytes, up to most. A long transaction shows its progress in the log, which grows.
func lockWithin(c *sqlite.Conn, path string, idle, most time.Duration) error {
	c.SetBusyTimeout(0)
	defer c.SetBusyTimeout(lockWait)
	began := time.Now()
	since, before := began, logState(path)
	for {
		err := sqlitex.Execute(c, `BEGIN IMMEDIATE`, nil)
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy {
			return err
		}
		if time.Since(since) > idle {
			now := logState(path)
			if now == before || time.Since(began) > most {
				return err
			}
			since, before = time.Now(), now
		}
		time.Sleep(lockLook + rand.N(lockLook))
	}
}

// logState changes when a process writes to the log of a database.
func logState(path string) string {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// Changed reports whether another process has written. It is for the writer goroutine:
// SQLite counts the commits of all connections but the current one.
func (d *Driver) Changed(context.Context) (bool, error) {
	v, err := pragma(d.write, "data_version")
	if err != nil {
		return false, d.explain(err)
	}
	changed := v != d.data
	d.data = v
	return changed, nil
}

// Reclaim shortens the file by some of its empty pages, and empties the log unless a reader
// still uses it.
func (d *Driver) Reclaim(context.Context) (bool, error) {
	free, err := pragma(d.write, "freelist_count")
	if err != nil || free == 0 {
		return false, d.explain(err)
	}
	if err := lock(d.write, d.path); err != nil {
		return false, d.explain(err)
	}
	t := &tx{driver: d, conn: d.write, writes: true}
	if _, err := t.Exec(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, reclaimPages)); err != nil {
		return false, errors.Join(err, t.Rollback())
	}
	if err := t.Commit(); err != nil || free > reclaimPages {
		return err == nil, err
	}
	// Waiting for a reader here would block every writer too, in all processes.
	d.write.SetBusyTimeout(0)
	defer d.write.SetBusyTimeout(lockWait)
	return false, d.explain(sqlitex.ExecuteTransient(d.write, `PRAGMA wal_checkpoint(TRUNCATE)`, nil))
}

// Check runs SQLite's integrity check on every page, and reports damaged logs.
func (d *Driver) Check(ctx context.Context) (found []string, err error) {
	for _, saved := range damagedLogs(d.path) {
		found = append(found, fmt.Sprintf("the log was damaged once and the last changes may be missing; a copy is in %s: remove it when you no longer need it", saved))
	}
	err = d.Read(ctx, func(r store.Reader) error {
		return r.Query(`PRAGMA integrity_check(20)`, nil, func(row store.Row) error {
			if line := row.Text(0); line != "ok" {
				found = append(found, line)
			}
			return nil
		})
	})
	if lathe.CodeOf(err) == lathe.Internal { // the damage stops SQLite's own check
		return append(found, err.Error()), nil
	}
	return found, err
}

// Size returns the bytes of the file and its log, and those of its empty pages.
func (d *Driver) Size(ctx context.Context) (used, free int64, err error) {
	for _, path := range d.paths() {
		if info, err := os.Stat(path); err == nil {
			used += info.Size()
		}
	}
	err = d.Read(ctx, func(r store.Reader) error {
		return r.Query(`SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`, nil, func(row store.Row) error {
			free = row.Int(0)
			return nil
		})
	})
	return used, free, err
}

func pragma(c *sqlite.Conn, name string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(c, `PRAGMA `+name, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		n = s.ColumnInt64(0)
		return nil
	}})
	return n, err
}
