package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// owner identifies this process among those that share the database. It holds an OS lock on
// its own file, which the system releases when the process ends for any reason. So a lease
// needs no clock: it is alive exactly as long as its owner's lock.
type owner struct {
	dir  string
	name string
	file *os.File
}

const ownerSuffix = ".owner"

// newOwner creates the lock file of this process and removes those of dead processes.
func newOwner(dir string) (*owner, error) {
	fail := func(err error) (*owner, error) {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot create a lock file in %s; make the folder writable: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	clearOwners(dir)
	for range 100 { // a process that clears at this moment may delete the new file
		o := &owner{dir: dir, name: rand.Text()}
		f, err := os.OpenFile(o.path(o.name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return fail(err)
		}
		if tryLock(f) == nil && isAt(f, o.path(o.name)) {
			o.file = f
			return o, nil
		}
		_ = f.Close()
		_ = os.Remove(o.path(o.name))
	}
	return fail(errors.New("the file system does not support file locks"))
}

// isAt reports whether the open file still has that name.
func isAt(f *os.File, path string) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(here, there)
}

// clearOwners removes the files that dead processes left.
func clearOwners(dir string) {
	for _, name := range owners(dir) {
		_ = isAlive(dir, name)
	}
}

// owners lists the processes that have a lock file, dead or alive.
func owners(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ownerSuffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// CountProcesses counts the live processes with a lock file in dir, including this one.
func CountProcesses(dir string) (n int) {
	for _, name := range owners(dir) {
		if isAlive(dir, name) {
			n++
		}
	}
	return n
}

func ownerPath(dir, name string) string { return filepath.Join(dir, name+ownerSuffix) }

func (o *owner) path(name string) string { return ownerPath(o.dir, name) }

func (o *owner) close() error {
	err := o.file.Close()
	if gone := os.Remove(o.path(o.name)); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// alive is only for names found in leases: their lock was taken before the lease.
func (o *owner) alive(name string) bool { return name == o.name || isAlive(o.dir, name) }

// isAlive checks the lock of a process. An invalid name is not alive. A process whose file
// cannot be opened or locked counts as alive.
func isAlive(dir, name string) bool {
	if !isOwnerName(name) {
		return false
	}
	f, err := os.OpenFile(ownerPath(dir, name), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	if err := tryShare(f); err != nil { // shared, so that two checks do not conflict
		_ = f.Close()
		return true
	}
	// It died without removing its file. Remove it under the lock, in case it was only just
	// created. Windows cannot remove an open file, so a new one is safe there.
	left := os.Remove(f.Name())
	_ = f.Close()
	if left != nil {
		_ = os.Remove(f.Name())
	}
	return false
}

// isOwnerName guards the file system against names from a damaged or hostile database.
func isOwnerName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// lockFile waits for the lock that guards the creation and migration of a database.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "%s cannot be created or updated; make its folder writable, or set LATHE_DATA to another folder: %w", path, err)
	}
	deadline := time.NewTimer(lockWait)
	defer deadline.Stop()
	for {
		if tryLock(f) == nil {
			return func() { _ = f.Close() }, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline.C:
			_ = f.Close()
			return nil, lathe.Errorf(lathe.Unavailable, "another process has been creating or updating %s for more than %s; try again when it is done", path, lockWait)
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
