// Package sqlitetest takes away from a database what it stands on, for tests of those who
// write to it: the room on its disk, the right to write. SQLite itself then fails, with the
// errors and the half-done transactions that it has in such a case.
//
// A [Database] is used like the driver it wraps, and told from other goroutines what it
// lacks; that counts from the next transaction on. Start at [Wrap].
package sqlitetest

import (
	"context"
	"errors"
	"sync"

	"github.com/lathe-agent/lathe/store"
)

// Failure is what a database misses.
type Failure int

// What may be missing.
const (
	None     Failure = iota
	DiskFull         // the file cannot grow
	ReadOnly         // nothing can be written
)

// Database is an open database in poor surroundings.
type Database struct {
	store.Driver

	mu     sync.Mutex // guards the fields below
	lacks  Failure
	from   int // the write with which that begins
	writes int
}

// Wrap returns the database with everything it needs.
func Wrap(d store.Driver) *Database { return &Database{Driver: d} }

// Fail takes something away with the n-th write from now on.
func (d *Database) Fail(what Failure, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lacks, d.from = what, d.writes+n
}

// Restore brings everything back.
func (d *Database) Restore() { d.Fail(None, 0) }

// Writes is how many transactions there were.
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

// Begin starts a transaction that lacks what it should.
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

// protected may not write. The connection may again when it ends: a transaction could not
// begin otherwise.
type protected struct{ store.Tx }

func (t protected) Commit() error {
	_, err := t.Exec(`PRAGMA query_only = OFF`)
	return errors.Join(err, t.Tx.Commit())
}

func (t protected) Rollback() error {
	_, err := t.Exec(`PRAGMA query_only = OFF`)
	return errors.Join(err, t.Tx.Rollback())
}
