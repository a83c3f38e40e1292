package engine_test

import (
	"context"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// faulty is a database that fails from its n-th write on, as a full disk does.
type faulty struct {
	store.Driver

	mu     sync.Mutex // guards the fields below
	writes int        // so far
	from   int        // the first that fails; 0 fails none
	commit bool       // when it ends rather than when it begins
	single bool       // the first alone
}

// errDisk is how it fails.
var errDisk = lathe.Errorf(lathe.Unavailable, "the disk is full")

// fail lets the n-th write from now on fail, and all after it.
func (f *faulty) fail(n int) { f.failing(n, false) }

func (f *faulty) failing(n int, commit bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from, f.commit = f.writes+n, commit
}

// once lets no more than one write fail.
func (f *faulty) once() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.single = true
}

// fails counts a write and says whether and when it fails.
func (f *faulty) fails() (fails, commit bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	return f.from > 0 && (f.writes == f.from || f.writes > f.from && !f.single), f.commit
}

// failed reports whether the write that should fail was reached.
func (f *faulty) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from > 0 && f.writes >= f.from
}

// count is how many writes there were.
func (f *faulty) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

func (f *faulty) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	fails, commit := f.fails()
	if fails && !commit {
		return nil, errDisk
	}
	tx, err := f.Driver.Begin(ctx, durable)
	if err == nil && fails {
		tx = faultyTx{tx}
	}
	return tx, err
}

// faultyTx is a transaction that is lost when it should end.
type faultyTx struct{ store.Tx }

func (t faultyTx) Commit() error {
	if err := t.Rollback(); err != nil {
		return err
	}
	return errDisk
}
