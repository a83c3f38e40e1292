// Package sqlitetest simulates a full disk or a read-only database, for tests of packages
// that write to a store. SQLite itself then fails, with its real errors and half-done
// transactions.
//
// A [Database] is used like the driver it wraps. Any goroutine may set its failure, which
// applies from the next transaction on. Start at [Wrap].
package sqlitetest

import (
	"context"
	"errors"
	"sync"

	"github.com/lathe-agent/lathe/store"
)

// Failure is a condition under which writes fail.
type Failure int

// The failures to simulate.
const (
	None     Failure = iota
	DiskFull         // the file cannot grow
	ReadOnly         // nothing can be written
)

// Database is an open database whose writes can be made to fail.
type Database struct {
	store.Driver

	mu     sync.Mutex // guards the fields below
	lacks  Failure
	from   int // the first write that fails
	writes int
}

// Wrap returns a database without a failure.
func Wrap(d store.Driver) *Database { return &Database{Driver: d} }

// Fail makes writes fail, from the n-th write from now on.
func (d *Database) Fail(what Failure, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lacks, d.from = what, d.writes+n
}

// Restore ends the failure.
func (d *Database) Restore() { d.Fail(None, 0) }

// Writes returns the number of transactions so far.
func (d *Database) Writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes
}

func (d *Database) next() Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writes++; d.writes < d.from {
		return None
	}
	return d.lacks
}

// Begin starts a transaction under the current failure.
func (d *Database) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	tx, err := d.Driver.Begin(ctx, durable)
	if err != nil {
		return nil, err
	}
	lacks := d.next()
	pages := `PRAGMA max_page_count = 4294967294`
	if lacks == DiskFull {
		pages = `PRAGMA max_page_count = 1` // as many as there are
	}
	if _, err = tx.Exec(pages); err == nil && lacks == ReadOnly {
		_, err = tx.Exec(`PRAGMA query_only = ON`)
		tx = protected{tx}
	}
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// protected is a transaction that cannot write. The connection becomes writable again at its
// end, because the next transaction could not begin otherwise.
type protected struct{ store.Tx }

func (t protected) Commit() error {
	_, err := t.Exec(`PRAGMA query_only = OFF`)
	return errors.Join(err, t.Tx.Commit())
}

func (t protected) Rollback() error {
	_, err := t.Exec(`PRAGMA query_only = OFF`)
	return errors.Join(err, t.Tx.Rollback())
}
