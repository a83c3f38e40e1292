package sqlite

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"github.com/lathe-agent/lathe/store"
)

// tx runs statements on one connection. Statements are prepared once per connection.
type tx struct {
	driver *Driver
	conn   *sqlite.Conn
	writes bool
	failed error           // the error on which SQLite rolled back the whole transaction
	busy   map[string]bool // statements whose rows are being read
}

// Exec runs a statement to its end.
func (t *tx) Exec(sql string, args ...any) (int64, error) {
	err := t.Query(sql, args, func(store.Row) error { return nil })
	if err != nil {
		return 0, err
	}
	return int64(t.conn.Changes()), nil
}

// Do is Exec: a statement costs no round trip.
func (t *tx) Do(sql string, args ...any) error {
	return t.Query(sql, args, func(store.Row) error { return nil })
}

// Later is Query.
func (t *tx) Later(sql string, args []any, f func(store.Row)) error {
	return t.Query(sql, args, func(r store.Row) error {
		f(r)
		return nil
	})
}

// Expect does nothing: queries have no round trip to share.
func (t *tx) Expect(string, ...any) error { return nil }

// Sync does nothing: no statement waits.
func (t *tx) Sync() error { return nil }

// Query calls f with each row. Inside f the same statement may be queried again.
func (t *tx) Query(sql string, args []any, f func(store.Row) error) error {
	if t.failed != nil { // or the statement would run outside the transaction
		return t.failed
	}
	s, done, err := t.prepare(sql)
	if err != nil {
		return t.fail(err)
	}
	defer done()
	if err := bind(s, args); err != nil {
		return err
	}
	r := row{s: s}
	for {
		more, err := s.Step()
		if err != nil {
			return t.fail(err)
		}
		if !more {
			return nil
		}
		if err := f(&r); err != nil {
			return err
		}
	}
}

// fail explains an error and records whether it ended the transaction, as a full disk does.
func (t *tx) fail(err error) error {
	err = t.driver.explain(err)
	if t.writes && t.conn.AutocommitEnabled() {
		t.failed = err
	}
	return err
}

// prepare returns the statement and a function to call after its rows are read.
func (t *tx) prepare(sql string) (*sqlite.Stmt, func(), error) {
	if t.busy[sql] { // the cached statement would lose its position
		s, _, err := t.conn.PrepareTransient(sql)
		if err != nil {
			return nil, nil, err
		}
		return s, func() { _ = s.Finalize() }, nil
	}
	s, err := t.conn.Prepare(sql)
	if err != nil {
		return nil, nil, err
	}
	if t.busy == nil {
		t.busy = map[string]bool{}
	}
	t.busy[sql] = true
	return s, func() {
		_ = s.Reset() // repeats the error of the last step
		delete(t.busy, sql)
	}, nil
}

func bind(s *sqlite.Stmt, args []any) error {
	for i, a := range args {
		switch a := a.(type) {
		case nil:
			s.BindNull(i + 1)
		case int64:
			s.BindInt64(i+1, a)
		case int:
			s.BindInt64(i+1, int64(a))
		case float64:
			s.BindFloat(i+1, a)
		case string:
			s.BindText(i+1, a)
		case []byte:
			s.BindBytes(i+1, a)
		default:
			return fmt.Errorf("sqlite: cannot bind a %T", a)
		}
	}
	return nil
}

// Commit ends the transaction, and rolls it back if that fails.
func (t *tx) Commit() error {
	_, err := t.Exec(`COMMIT`)
	if err != nil {
		_ = t.Rollback()
	}
	return err
}

// Rollback undoes the transaction. SQLite may have done so itself on a full disk.
func (t *tx) Rollback() error {
	if t.conn.AutocommitEnabled() {
		return nil
	}
	_, err := t.Exec(`ROLLBACK`)
	return err
}

// row reads the current row of a statement.
type row struct{ s *sqlite.Stmt }

func (r *row) Int(i int) int64     { return r.s.ColumnInt64(i) }
func (r *row) Float(i int) float64 { return r.s.ColumnFloat(i) }
func (r *row) Text(i int) string   { return r.s.ColumnText(i) }
func (r *row) Null(i int) bool     { return r.s.ColumnIsNull(i) }

// Bytes may be called for several columns of a row, so each call allocates its own buffer.
func (r *row) Bytes(i int) []byte {
	n := r.s.ColumnLen(i)
	b := make([]byte, n)
	r.s.ColumnBytes(i, b)
	return b
}
