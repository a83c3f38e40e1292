package store

import (
	"context"
	"errors"

	"github.com/lathe-agent/lathe"
)

// Remove deletes a session and everything below it, children first. An active runner loses
// its lease: its next commit is a conflict.
func (s *Store) Remove(ctx context.Context, id lathe.SessionID) error {
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		row, err := t.session(id)
		if err != nil {
			return err
		}
		return t.removeSession(row, map[lathe.SessionID]bool{})
	})
	if err != nil {
		return err
	}
	return s.tidy(ctx)
}

// removeSession goes depth first; seen guards against parents in a circle.
func (t *txn) removeSession(s *sessionRow, seen map[lathe.SessionID]bool) error {
	if seen[s.id] {
		return nil
	}
	seen[s.id] = true
	children, err := all(t.tx, `SELECT id FROM session WHERE parent = $1 ORDER BY n`, []any{string(s.id)}, firstText)
	if err != nil {
		return err
	}
	for _, id := range children {
		child, err := t.session(lathe.SessionID(id))
		if lathe.CodeOf(err) == lathe.NotFound {
			continue // already removed: it was its own descendant
		}
		if err != nil {
			return err
		}
		if err := t.removeSession(child, seen); err != nil {
			return err
		}
	}
	return t.dropSession(s)
}

// dropSession deletes one session. Its tombstone has the last record, for readers with an old cursor.
func (t *txn) dropSession(s *sessionRow) error {
	rec, born := lathe.Session{}, int64(0)
	err := t.tx.Query(`SELECT `+sessionColumns+` FROM session WHERE n = $1`, []any{s.n}, func(row Row) (err error) {
		born = row.Int(24)
		rec, err = readSession(row)
		return err
	})
	if err != nil {
		return err
	}
	if err := t.closeAccount(s); err != nil {
		return err
	}
	if err := t.deleteMessages(`session = $1`, s.n); err != nil {
		return err
	}
	for _, table := range []string{`status`, `ask`, `list`, `lease`, `preface`, `shell`} {
		if err := t.exec(`DELETE FROM `+table+` WHERE session = $1`, s.n); err != nil {
			return err
		}
	}
	if err := t.exec(`DELETE FROM approval WHERE project = $1`, grantedTo(s.id)); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM session WHERE n = $1`, s.n); err != nil {
		return err
	}
	if err := t.addTombstone(tombstone{kind: sessionTombstone, born: born, record: pack(rec)}, s); err != nil {
		return err
	}
	t.publish(t.counter, s, &lathe.SessionDeleted{Info: rec})
	return nil
}

// tidy cleans up after a removal: unused files, old tombstones, empty pages.
func (s *Store) tidy(ctx context.Context) error {
	return s.writer.maintain(ctx, func() error {
		if err := errors.Join(s.writer.sweep(true), s.writer.trim()); err != nil {
			return err
		}
		_, err := s.driver.Reclaim(ctx)
		return err
	})
}
