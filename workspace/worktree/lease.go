package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/filelock"
)

// The lock of the lease file is the system's, and ends with its process for any reason. So no tree stays busy after a
// crash, and none looks free while a command still works in it.

// Leases are the leases that the sessions of one process share: a command that made a tree and the turns in it hold one
// lock together. Merge and drop need the lock for themselves.
type Leases struct {
	mu   sync.Mutex // guards the rest
	held map[string]*sharedLease
}

// sharedLease is a lock and the number of its users. Its file and error are set when ready is closed.
type sharedLease struct {
	ready chan struct{}
	file  *os.File
	err   error
	users int
}

// add makes a lock one that others can share. Without Leases it has one user.
func (l *Leases) add(meta string, f *os.File) (release func()) {
	if l == nil {
		return func() { _ = filelock.Release(f) }
	}
	one, _ := l.join(meta)
	one.file = f
	close(one.ready)
	return sync.OnceFunc(func() { l.leave(meta) })
}

// join adds a user to the lock of a tree. The first one takes the lock and closes ready.
func (l *Leases) join(meta string) (one *sharedLease, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*sharedLease{}
	}
	one = l.held[meta]
	if first = one == nil; first {
		one = &sharedLease{ready: make(chan struct{})}
		l.held[meta] = one
	}
	one.users++
	return one, first
}

// leave removes a user. The last one gives the lock back.
func (l *Leases) leave(meta string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.held[meta]
	if one.users--; one.users == 0 {
		delete(l.held, meta)
		if one.file != nil {
			_ = filelock.Release(one.file)
		}
	}
}

// lease opens and locks the file that shows that the owner of a tree is alive.
func lease(meta string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(meta, leaseFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take locks the tree, and names the tree if another process has the lock.
func (t *Tree) take() (*os.File, error) {
	f, err := lease(t.meta)
	for range 5 { // IsLive of another process takes the lock for a moment
		if !errors.Is(err, filelock.ErrLocked) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		f, err = lease(t.meta)
	}
	if errors.Is(err, filelock.ErrLocked) {
		return nil, lathe.Errorf(lathe.Conflict, "worktree %s is in use; wait for its session to end, or stop it", t.Name)
	}
	return f, err
}

// Hold takes the lease of a tree for one user, until the returned function is called. A tree in use is a conflict.
func (t *Tree) Hold() (release func(), err error) {
	f, err := t.take()
	if err != nil {
		return nil, err
	}
	return func() { _ = filelock.Release(f) }, nil
}

// Share takes the lease of a tree together with other sessions of this process. A tree that another process uses is a
// conflict.
func (t *Tree) Share() (release func(), err error) {
	l := t.root.Leases
	if l == nil {
		return t.Hold()
	}
	one, first := l.join(t.meta)
	if first {
		one.file, one.err = t.take()
		close(one.ready)
	}
	<-one.ready // taking a lock does not wait
	release = sync.OnceFunc(func() { l.leave(t.meta) })
	if one.err != nil {
		release()
		return nil, one.err
	}
	return release, nil
}

// IsLive reports whether a process holds the tree.
func (t *Tree) IsLive() bool {
	f, err := lease(t.meta)
	if err != nil {
		return errors.Is(err, filelock.ErrLocked)
	}
	_ = filelock.Release(f)
	return false
}
