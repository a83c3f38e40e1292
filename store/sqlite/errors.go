package sqlite

import (
	"context"
	"errors"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/lathe-agent/lathe"
)

// lockWait is how long a statement waits for another process to finish writing.
const lockWait = 15 * time.Second

// longestLock is how long a transaction waits for a process that visibly makes progress.
const longestLock = 10 * time.Minute

// explain turns an SQLite error into one that says what to do. It never deletes or
// replaces the file.
func (d *Driver) explain(err error) error { return explain(d.path, err) }

// explain says in words for people why a database cannot be opened or written.
func explain(path string, err error) error {
	var known *lathe.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	say := func(code lathe.Code, format string, args ...any) error {
		return lathe.Errorf(code, format+": %w", append(args, err)...)
	}
	code := sqlite.ErrCode(err)
	switch code.ToPrimary() {
	case sqlite.ResultFull:
		return say(lathe.Unavailable, "the disk is full: %s could not be written; free some space and try again; saved data is not lost", path)
	case sqlite.ResultReadOnly, sqlite.ResultPerm, sqlite.ResultAuth:
		return say(lathe.Unavailable, "%s cannot be written; make the file and its folder writable, or set LATHE_DATA to another folder", path)
	case sqlite.ResultCantOpen:
		return say(lathe.Unavailable, "%s cannot be opened; check that you can read and write the file and its folder", path)
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultProtocol:
		return say(lathe.Unavailable, "another process has been writing to %s for more than %s; try again when it is done", path, lockWait)
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return say(lathe.Internal, "%s is damaged and was not changed: run `lathe db check`, then restore it from a backup, or move it away to start with an empty database%s", path, andLog(path))
	case sqlite.ResultIOErr:
		if isWriteFault(code) {
			return say(lathe.Unavailable, "%s could not be written: the disk or its quota may be full, or the disk may be failing; free some space or check the disk, then try again; saved data is not lost", path)
		}
		return say(lathe.Unavailable, "the disk of %s failed to read or write; check the disk and try again", path)
	case sqlite.ResultInterrupt:
		return context.Canceled
	default:
		return say(lathe.Internal, "unexpected SQLite error in %s; run `lathe db check`, and report this as a bug if it finds nothing", path)
	}
}

// isWriteFault reports whether the error can also mean a full disk. SQLite reports a full disk
// only on ENOSPC, not for a quota or a limit on file size.
func isWriteFault(code sqlite.ResultCode) bool {
	switch code {
	case sqlite.ResultIOErrWrite, sqlite.ResultIOErrFsync, sqlite.ResultIOErrDirFsync, sqlite.ResultIOErrTruncate,
		sqlite.ResultIOErrSHMSize, sqlite.ResultIOErrSHMMap:
		return true
	default:
		return false
	}
}
