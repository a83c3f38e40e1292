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

// owner is this process among those that share the database. It holds an OS lock on a
// file of its own; the system lets go of it the moment the process ends, however it
// ends. So a lease needs no clock: it is alive exactly as long as its owner's lock.
type owner struct {
	dir  string
	name string
	file *os.File
}

const ownerSuffix = ".owner"

// newOwner makes the lock of this process and takes away those of processes that died.
func newOwner(dir string) (*owner, error) {
	fail := func(err error) (*owner, error) {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot make the lock of this process in %s; make the folder writable for you: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	clearOwners(dir)
	for range 100 { // who clears at this moment may take the new file for a leftover
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
	return fail(errors.New("the file system does not keep locks"))
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

// clearOwners removes the files of processes that died without doing so.
func clearOwners(dir string) {
	for _, name := range owners(dir) {
		_ = isAlive(dir, name)
	}
}

// owners lists the names that have a file, dead or alive.
func owners(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ownerSuffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// CountProcesses counts the processes that have a database with this folder of locks open, ours among them.
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

// alive asks only about names found in leases: their lock was taken before the lease.
func (o *owner) alive(name string) bool { return name == o.name || isAlive(o.dir, name) }

// isAlive asks for the lock of a name. A name that no process can have is not alive; one
// whose file cannot be asked counts as alive.
func isAlive(dir, name string) bool {
	if !isOwnerName(name) {
		return false
	}
	f, err := os.OpenFile(ownerPath(dir, name), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	if err := tryShare(f); err != nil { // shared, so that two who ask do not find each other
		_ = f.Close()
		return true
	}
	// It died without taking its file away. Under the lock, in case it was only just
	// made; but Windows removes no open file, and there nobody can lose one that way.
	left := os.Remove(f.Name())
	_ = f.Close()
	if left != nil {
		_ = os.Remove(f.Name())
	}
	return false
}

// isOwnerName guards the file system against what a damaged or hostile database says.
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

// lockFile waits for the lock that guards making or migrating a database.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "%s cannot be made or updated; make its folder writable for you, or set LATHE_DATA to another folder: %w", path, err)
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
			return nil, lathe.Errorf(lathe.Unavailable, "another process has been making or updating %s for more than %s; try again when it is done", path, lockWait)
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
