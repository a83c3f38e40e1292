// Package filelock locks files between processes.
//
// The operating system releases a lock when its file is closed or its process ends for any
// reason, so locks never become stale. A lock is advisory: it stops only processes that also
// take it. The lock file itself stays, and must not be a file that gets replaced.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrLocked says that someone else has the lock.
var ErrLocked = errors.New("the lock is held")

// How long to wait between attempts: short at first, since most locks are held for
// milliseconds.
const (
	firstWait = 2 * time.Millisecond
	mostWait  = 100 * time.Millisecond
)

// TryLock takes the lock of an open file or fails at once, with ErrLocked if another has it,
// also through another open file of this process. Release gives it back.
func TryLock(f *os.File) error { return tryLock(f) }

// Release gives a lock back and closes its file. Closing alone is not enough for those who look at once: a process that is
// starting at this moment has a copy of the file until it runs its program.
func Release(f *os.File) error { return errors.Join(unlock(f), f.Close()) }

// Lock waits for the lock of the file at path, which is made if need be, until the context
// ends. The returned function releases it.
func Lock(ctx context.Context, path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		err := tryLock(f)
		if err == nil {
			return func() { _ = Release(f) }, nil
		}
		if !errors.Is(err, ErrLocked) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			_ = f.Close()
			return nil, fmt.Errorf("wait for the lock of %s: %w", path, context.Cause(ctx))
		case <-timer.C:
		}
	}
}
