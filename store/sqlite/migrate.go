package sqlite

import (
	"bytes"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
)

// schemaFiles are numbered and only ever added to. The number of the last one that was
// applied is the file's user_version.
//
//go:embed migrations/*.sql
var schemaFiles embed.FS

// applicationID marks a file as ours ("lath"), so that we do not migrate another program's
// database.
const applicationID = 0x6c617468

// step is one migration.
type step struct{ name, sql string }

// loadSteps reads migrations in the order of their numbers.
func loadSteps(files fs.FS) ([]step, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]step, len(names))
	for i, name := range names {
		sql, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps[i] = step{path.Base(name), string(sql)}
	}
	return steps, nil
}

// prepare makes sure that the file exists and has the current version. version is the result
// of inspect, -1 for a missing file.
func prepare(ctx context.Context, path string, version int, steps []step) error {
	if version == len(steps) {
		return nil
	}
	if version > len(steps) {
		return tooNew(path, version, len(steps))
	}
	unlock, err := lockFile(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	if version, err = inspect(path); err != nil { // another process may have been first
		return err
	}
	if version < 0 {
		return create(path, steps)
	}
	return migrate(path, steps)
}

func tooNew(path string, have, known int) error {
	return lathe.Errorf(lathe.Conflict, "%s was written by a newer version of lathe (schema %d; this version supports %d); update lathe, or set LATHE_DATA to another folder",
		path, have, known)
}

// unusable returns the error for a refused file. The file is never changed.
func unusable(path, why string, args ...any) error {
	return lathe.Errorf(lathe.Internal, "%s %s and was not changed: restore it from a backup, or move it away to start with an empty database%s", path, fmt.Sprintf(why, args...), andLog(path))
}

// andLog mentions the log, because SQLite would read it into the file that replaces a
// damaged one.
func andLog(path string) string {
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		return ""
	}
	return ", and do the same with " + path + "-wal, which belongs to it"
}

// inspect returns the version of the file, -1 if it does not exist. It reads the header
// without SQLite, which would treat an empty or truncated file as a new one.
func inspect(path string) (int, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, checkAbsent(path)
	}
	if err != nil {
		return 0, noAccess(path, err)
	}
	if !info.Mode().IsRegular() {
		return 0, unusable(path, "is not a file")
	}
	// Closing this file drops all POSIX locks of this process on it, also SQLite's. So it
	// happens before the first connection, and a process opens a database once.
	head := make([]byte, 100)
	n, err := readHead(path, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, noAccess(path, err)
	}
	switch {
	case n == 0:
		return 0, unusable(path, "is empty")
	case !bytes.HasPrefix(head, []byte("SQLite format 3\x00")[:min(n, 16)]):
		return 0, unusable(path, "is not a database")
	case n < len(head):
		return 0, unusable(path, "is truncated (%d bytes left)", n)
	case binary.BigEndian.Uint32(head[68:]) != applicationID:
		return 0, lathe.Errorf(lathe.Conflict, "%s is not a lathe database and was not changed: move it away, or set LATHE_DATA to another folder", path)
	}
	if err := checkWhole(path, head); err != nil {
		return 0, err
	}
	return int(binary.BigEndian.Uint32(head[60:])), nil
}

func noAccess(path string, err error) error {
	return lathe.Errorf(lathe.Unavailable, "%s cannot be read; check that you can read and write the file and its folder: %w", path, err)
}

func readHead(path string, head []byte) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadFull(f, head)
}

// checkAbsent refuses to create a file in place of a lost one: at a link to a missing file,
// or next to the log of a file that was moved away.
func checkAbsent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return lathe.Errorf(lathe.Unavailable, "%s is a link to a missing file; restore that file, or remove the link to start with an empty database", path)
	}
	for _, beside := range []string{path + "-wal", path + "-journal"} {
		if info, err := os.Stat(beside); err == nil && info.Size() > 0 {
			return lathe.Errorf(lathe.Internal, "%s is missing, but %s exists and may contain sessions; put the database back, or move that file away too to start with an empty database", path, beside)
		}
	}
	return nil
}

// checkWhole refuses a file that is shorter than its header says, unless the log has the
// missing pages. A process that was killed while it copied the log leaves such a file.
func checkWhole(path string, head []byte) error {
	pages := binary.BigEndian.Uint32(head[28:])
	if binary.BigEndian.Uint16(head[16:]) != pageBytes || pages == 0 {
		return unusable(path, "is damaged (invalid header)")
	}
	have, want := int64(0), pageBytes*int64(pages)
	for range 3 { // another process may be copying just now
		info, err := os.Stat(path)
		if err != nil {
			return noAccess(path, err)
		}
		if have = info.Size(); have >= want {
			return nil
		}
		view, err := readLog(path + "-wal")
		if err != nil {
			return noAccess(path, err)
		}
		if view.holds(uint32(have/pageBytes)+1, pages) {
			return nil
		}
	}
	return unusable(path, "is truncated (%d of %d bytes left)", have, want)
}

// create writes the file under another name and then renames it, so that a file of the
// right name is always complete.
func create(path string, steps []step) error {
	temp := path + ".new"
	fail := func(err error) error {
		code := lathe.CodeOf(err)
		if known := new(lathe.Error); !errors.As(err, &known) {
			code = lathe.Unavailable
		}
		_ = removeAll(temp)
		return lathe.Errorf(code, "cannot create %s: %w", path, err)
	}
	if err := removeAll(temp); err != nil { // left by a process that was killed here
		return fail(err)
	}
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // SQLite would let others read it
	if err != nil {
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	if err := fill(temp, path, steps); err != nil {
		return fail(err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fail(err)
	}
	return nil
}

func removeAll(temp string) error {
	for _, name := range []string{temp, temp + "-journal", temp + "-wal", temp + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fill creates the schema in an empty file. Nothing stays in its log, which is not renamed
// with it. Errors name the file path.
func fill(temp, path string, steps []step) error {
	c, err := sqlite.OpenConn(temp, sqlite.OpenReadWrite)
	if err != nil {
		return explain(path, err)
	}
	for _, p := range []string{
		fmt.Sprintf(`PRAGMA page_size = %d`, pageBytes), `PRAGMA auto_vacuum = INCREMENTAL`,
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		// WAL mode is set here, because it needs exclusive access, and after page_size, which it fixes.
		`PRAGMA journal_mode = WAL`,
	} {
		if err := sqlitex.ExecuteTransient(c, p, nil); err != nil {
			return errors.Join(explain(path, err), c.Close())
		}
	}
	err = apply(c, path, steps)
	if err == nil { // closing copies the log too, but does not report a full disk
		err = explain(path, sqlitex.ExecuteTransient(c, `PRAGMA wal_checkpoint(TRUNCATE)`, nil))
	}
	return errors.Join(err, explain(path, c.Close()))
}

// migrate updates an older file.
func migrate(path string, steps []step) error {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return explain(path, err)
	}
	c.SetBusyTimeout(lockWait)
	return errors.Join(apply(c, path, steps), explain(path, c.Close()))
}

// apply runs the missing migrations, each in its own transaction.
func apply(c *sqlite.Conn, path string, steps []step) error {
	have, err := pragma(c, "user_version")
	if err != nil {
		return explain(path, err)
	}
	if int(have) > len(steps) { // the header may lag behind the log
		return tooNew(path, int(have), len(steps))
	}
	for i := int(have); i < len(steps); i++ {
		if err := applyOne(c, path, steps[i], i+1); err != nil {
			return refuseStep(path, steps[i], err)
		}
	}
	return nil
}

// applyOne sets the version in the same transaction, so that a crash cannot separate them.
func applyOne(c *sqlite.Conn, path string, s step, version int) error {
	if err := lock(c, path); err != nil {
		return err
	}
	err := sqlitex.ExecuteScript(c, s.sql, nil)
	if err == nil {
		err = sqlitex.ExecuteTransient(c, fmt.Sprintf(`PRAGMA user_version = %d`, version), nil)
	}
	if err == nil {
		err = sqlitex.ExecuteTransient(c, `COMMIT`, nil)
	}
	if err != nil && !c.AutocommitEnabled() {
		err = errors.Join(err, sqlitex.ExecuteTransient(c, `ROLLBACK`, nil))
	}
	return err
}

// refuseStep returns the error for a failed migration. A disk error is reported as such. Any
// other error means an unexpected schema.
func refuseStep(path string, s step, err error) error {
	if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultError {
		return explain(path, err)
	}
	return lathe.Errorf(lathe.Internal, "migration %s of %s failed; the database stays at its old version: restore it from a backup, or move it away to start with an empty database%s: %w",
		s.name, path, andLog(path), err)
}
