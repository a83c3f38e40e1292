package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/lathe-agent/lathe"
)

// Files are deleted as soon as no row refers to them, under the write lock, which all processes on the files share.
//
// A store of many machines has no lock in common with the database, and a restored backup of the database may need a
// value again. So a value is deleted only when it had no row for keepUnused. The column unused of its row in the table
// blob has the state:
//
//	0    rows refer to the value
//	> 0  when a sweep found no reference
//	< 0  when it was deleted, negated
//
// A writer stores its value before its transaction. If that finds a state other than 0, the value may have been
// deleted in between, and the writer stores it once more, under the lock. Rows of deleted values stay for keepUnused,
// which is longer than any writer takes from one to the other.

const (
	keepUnused = 24 * time.Hour
	// lockedTime limits how long a sweep, or a value that is stored again, waits for the store under the write lock.
	lockedTime = 2 * time.Second
	// deleteGroup is the number of values deleted under one lock.
	deleteGroup = 20
)

// unnamed is the SQL condition for a blob without references.
const unnamed = `NOT EXISTS (SELECT 1 FROM blob_ref WHERE blob_ref.hash = blob.hash)`

// keepValue makes sure that a value still exists for a row of a transaction.
func keepValue(t *txn, v blob) error {
	b := t.store.blobs
	if b.large == nil {
		return b.files.ensure(v)
	}
	unused, err := one(t.tx, `SELECT unused FROM blob WHERE hash = $1`, []any{v.hash}, firstInt)
	if err != nil || unused == 0 {
		return err
	}
	if v.data == nil { // of an import, stored earlier and no longer in memory
		if v.data, err = b.get(v.hash); err != nil {
			return lathe.Errorf(lathe.Unavailable, "a large value (%s…) was deleted during the import; import again (%w)", v.hash[:12], err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockedTime)
	defer cancel()
	if err := unavailable(b.large.Put(ctx, v.hash, v.data)); err != nil {
		return err
	}
	return t.exec(`UPDATE blob SET unused = 0 WHERE hash = $1`, v.hash)
}

// sweep deletes files without references, while the write lock prevents new references. It
// is alone in its transaction, so the missing references are already on disk. If the
// transaction fails after a file was deleted, no row needs that file.
func (t *txn) sweep() error {
	gone, err := all(t.tx, `SELECT hash FROM blob WHERE `+unnamed, nil, firstText)
	if err != nil {
		return err
	}
	for _, hash := range gone {
		if err := t.store.blobs.files.Delete(context.Background(), hash); err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM blob WHERE hash = $1`, hash); err != nil {
			return err
		}
	}
	return nil
}

// markUnused notes the time for values without references.
func markUnused(t *txn) error {
	return t.exec(`UPDATE blob SET unused = $1 WHERE unused = 0 AND `+unnamed, t.sharedNow())
}

// sharedNow is the time by the clock of the database in milliseconds, which is the same for all machines.
func (t *txn) sharedNow() int64 { return int64(t.now) - t.store.driver.Skew().Milliseconds() }

// deleteUnused deletes some of the values that had no row for long enough, and reports whether there may be more.
func deleteUnused(ctx context.Context, t *txn) (more bool, err error) {
	now := t.sharedNow()
	before := now - keepUnused.Milliseconds()
	if err := t.exec(`DELETE FROM blob WHERE unused < 0 AND unused > $1`, -before); err != nil {
		return false, err
	}
	gone, err := all(t.tx, `SELECT hash FROM blob WHERE unused > 0 AND unused < $1 AND `+unnamed+` LIMIT $2`, []any{before, deleteGroup}, firstText)
	if err != nil || len(gone) == 0 {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockedTime)
	defer cancel()
	if err := t.store.blobs.large.Delete(ctx, gone...); err != nil {
		return false, err
	}
	for _, hash := range gone {
		if err := t.exec(`UPDATE blob SET unused = $1 WHERE hash = $2`, -now, hash); err != nil {
			return false, err
		}
	}
	return len(gone) == deleteGroup, nil
}

// RemoveUnused deletes the large values in a store of many machines that had no row for a day. Values in files are deleted at
// once, so there it does nothing.
func (s *Store) RemoveUnused(ctx context.Context) error {
	if s.blobs.large == nil {
		return nil
	}
	err := s.writer.inTurn(ctx, markUnused)
	for more := true; more && err == nil; {
		err = s.writer.inTurn(ctx, func(t *txn) (err error) {
			more, err = deleteUnused(ctx, t)
			return err
		})
	}
	return err
}

// inTurn runs a transaction of its own after those that wait.
func (w *writer) inTurn(ctx context.Context, do func(*txn) error) error {
	return w.maintain(ctx, func() error { return w.alone(false, do) })
}

// removeStrays deletes files that are not in the database. It holds the write lock, because
// another process may be about to refer to one. In a store of many machines, such values get a row without references,
// and are deleted a day later.
func (s *Store) removeStrays(ctx context.Context) error {
	if s.blobs.files != nil {
		return s.writer.inTurn(ctx, removeFiles)
	}
	if s.blobs.large == nil {
		return nil
	}
	found, err := unknownValues(ctx, s)
	if err == nil {
		err = s.writer.inTurn(ctx, func(t *txn) error { return adoptValues(t, found) })
	}
	return errors.Join(err, s.RemoveUnused(ctx))
}

func removeFiles(t *txn) error {
	known, err := knownValues(t.tx)
	if err != nil {
		return err
	}
	paths, err := t.store.blobs.files.strays(known, time.Now())
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot list the files of large values: %w", err)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return lathe.Errorf(lathe.Unavailable, "cannot remove %s: %w", path, err)
		}
	}
	return nil
}

func knownValues(r Reader) (map[string]bool, error) {
	known := map[string]bool{}
	err := r.Query(`SELECT hash FROM blob`, nil, func(row Row) error {
		known[row.Text(0)] = true
		return nil
	})
	return known, err
}

// unknownValues lists the values that have no row in the database.
func unknownValues(ctx context.Context, s *Store) (found []string, err error) {
	var known map[string]bool
	err = s.read(ctx, func(r Reader) (err error) {
		known, err = knownValues(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.blobs.large.List(ctx, func(hash string) error {
		if isHash(hash) && !known[hash] {
			found = append(found, hash)
		}
		return nil
	})
	return found, err
}

// adoptValues gives values a row without references.
func adoptValues(t *txn, hashes []string) error {
	for _, hash := range hashes {
		err := t.exec(`INSERT INTO blob (hash, size, unused) VALUES ($1,$2,$3) ON CONFLICT (hash) DO NOTHING`, hash, 0, t.sharedNow())
		if err != nil {
			return err
		}
	}
	return nil
}
