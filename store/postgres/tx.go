package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// lockAll begins a write transaction: it waits for all other writers of the cluster, as the numbers of the feed demand,
// and learns its own name, by which it can be ended later.
const lockAll = `SELECT pg_current_xact_id()::text FROM feed FOR UPDATE`

// tx is a transaction. Its beginning travels with its first statement.
type tx struct {
	driver *Driver
	conn   *conn
	ctx    context.Context
	writes bool
	sent   bool   // the server has heard of it
	xid    string // of a write
	soon   map[string]*expected
	failed error // ends the transaction
}

// Begin starts the write transaction. Every one is on disk when Commit returns.
func (d *Driver) Begin(ctx context.Context, _ bool) (store.Tx, error) {
	if d.write == nil || d.write.isLost() {
		c, err := d.reconnect(ctx)
		if err != nil {
			return nil, retryable(err)
		}
		d.write = c
	}
	t := &tx{driver: d, conn: d.write, ctx: ctx, writes: true}
	if err := t.begin(`BEGIN`); err != nil {
		return nil, err
	}
	err := t.conn.add(ctx, `SET LOCAL idle_in_transaction_session_timeout = `+millis(idleWait), nil, nil)
	if err != nil {
		return nil, t.fail(err)
	}
	err = t.conn.add(ctx, lockAll, nil, func(r *rows) {
		if len(r.values) > 0 {
			t.xid = string(r.values[0][0])
		}
	})
	return t, t.fail(err)
}

// begin queues the first statement. A reader whose connection was lost while it waited gets another.
func (t *tx) begin(sql string) error {
	err := t.conn.add(t.ctx, sql, nil, nil)
	if err == nil || t.writes || !t.conn.isLost() {
		return t.fail(err)
	}
	return t.renew(sql)
}

// renew replaces the lost connection of a reader before its first statement.
func (t *tx) renew(sql string) error {
	c, err := t.driver.reconnect(t.ctx)
	if err != nil {
		return err
	}
	t.conn = c
	return t.fail(c.add(t.ctx, sql, nil, nil))
}

// Query calls f with each row. f may query again.
func (t *tx) Query(sql string, args []any, f func(store.Row) error) error {
	if t.failed != nil {
		return t.failed
	}
	if len(t.soon) > 0 {
		if found, err := t.takeExpected(sql, args, f); found || err != nil {
			return err
		}
	}
	var own error
	err := t.first(sql, args, func(r *row) error {
		own = f(r)
		return own
	})
	if own != nil {
		return own
	}
	return t.fail(err)
}

// first runs a query. The first one of a reader is repeated if its connection was lost while nobody used it.
func (t *tx) first(sql string, args []any, f func(*row) error) error {
	fresh := !t.sent
	t.sent = true
	err := t.conn.query(t.ctx, sql, args, f)
	if err == nil || !fresh || t.writes || !t.conn.isLost() || t.ctx.Err() != nil {
		return err
	}
	if again := t.renew(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`); again != nil {
		return again
	}
	return t.conn.query(t.ctx, sql, args, f)
}

// Exec runs a statement and returns how many rows it changed.
func (t *tx) Exec(sql string, args ...any) (int64, error) {
	if t.failed != nil {
		return 0, t.failed
	}
	t.sent, t.soon = true, nil
	n, err := t.conn.exec(t.ctx, sql, args...)
	return n, t.fail(err)
}

// Do queues a statement.
func (t *tx) Do(sql string, args ...any) error {
	if t.failed != nil {
		return t.failed
	}
	t.soon = nil
	return t.queue(sql, args, nil)
}

// queue adds a statement, and sends all if there are many.
func (t *tx) queue(sql string, args []any, read func(*rows)) error {
	err := t.conn.add(t.ctx, sql, args, read)
	if err == nil && t.conn.size > maxQueued {
		t.sent = true
		err = t.conn.flush(t.ctx)
	}
	return t.fail(err)
}

// Later queues a query. The first one of a reader does not wait: it may have to be repeated.
func (t *tx) Later(sql string, args []any, f func(store.Row)) error {
	if t.failed != nil {
		return t.failed
	}
	if !t.sent && !t.writes {
		return t.Query(sql, args, func(r store.Row) error {
			f(r)
			return nil
		})
	}
	return t.queue(sql, args, func(r *rows) {
		for _, v := range r.values {
			f(&row{r.fields, v})
		}
	})
}

// expected is the result of a query that was announced.
type expected struct{ rows *rows }

// Expect queues a query whose result waits for Query. That of a reader which has not begun does not: it may have to be
// repeated.
func (t *tx) Expect(sql string, args ...any) error {
	key := queryKey(sql, args)
	if t.failed != nil || !t.sent && !t.writes || t.soon[key] != nil {
		return t.failed
	}
	e := &expected{}
	if t.soon == nil {
		t.soon = map[string]*expected{}
	}
	t.soon[key] = e
	return t.queue(sql, args, func(r *rows) { e.rows = r })
}

func queryKey(sql string, args []any) string { return fmt.Sprintf("%s %q", sql, args) }

// takeExpected calls f with the rows of a query that was announced.
func (t *tx) takeExpected(sql string, args []any, f func(store.Row) error) (found bool, err error) {
	key := queryKey(sql, args)
	e := t.soon[key]
	if e == nil {
		return false, nil
	}
	delete(t.soon, key)
	if e.rows == nil {
		if err := t.Sync(); err != nil {
			return true, err
		}
	}
	for _, v := range e.rows.values {
		if err := f(&row{e.rows.fields, v}); err != nil {
			return true, err
		}
	}
	return true, nil
}

// Sync sends the queue.
func (t *tx) Sync() error {
	if t.failed != nil {
		return t.failed
	}
	t.sent = t.sent || len(t.conn.queue) > 0
	return t.fail(t.conn.flush(t.ctx))
}

// fail explains an error. A lost connection, or a failed statement of the queue, ends the transaction: which of its
// callers is to blame is unknown.
func (t *tx) fail(err error) error {
	if err == nil {
		return nil
	}
	out := explain(err)
	if t.writes && isOutOfMeans(err) {
		t.driver.refuse(out)
	}
	var queued queuedError
	switch {
	case t.writes && t.conn.isLost():
		out = retryable(out)
		t.failed = out
	case errors.As(err, &queued):
		out = &undone{out, store.ErrDeferred}
		t.failed = out
	}
	return out
}

// Commit ends the transaction. If the answer is lost, it asks the server again on a new connection.
func (t *tx) Commit() error {
	if t.failed != nil {
		return errors.Join(t.failed, t.Rollback())
	}
	var tag pgconn.CommandTag
	t.driver.mark++
	err := t.conn.add(t.ctx, saveMark, []any{t.driver.node.name, t.driver.mark}, nil)
	if err == nil {
		err = t.conn.add(t.ctx, `COMMIT`, nil, func(r *rows) { tag = r.tag })
	}
	if err == nil {
		t.sent = true
		err = t.conn.flush(t.ctx)
	}
	switch {
	case err == nil && tag.String() != "COMMIT":
		return lathe.Errorf(lathe.Internal, "the database undid a change instead of storing it; try again")
	case err == nil:
		return nil
	case !t.conn.isLost():
		err = t.fail(err)
		return errors.Join(err, t.Rollback())
	}
	return t.driver.resolve(t, explain(err))
}

// Rollback undoes the transaction. One that the server does not know ends without a message.
func (t *tx) Rollback() error {
	t.conn.queue, t.conn.size = nil, 0
	if !t.sent || t.conn.isLost() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), endWait)
	defer cancel()
	if _, err := t.conn.exec(ctx, `ROLLBACK`); err != nil {
		_ = t.conn.close() // which undoes it too
	}
	return nil
}

// resolve finds out how a transaction ended whose commit got no answer. Without an answer the caller must not believe
// that it was stored.
func (d *Driver) resolve(t *tx, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	for {
		stored, err := d.isStored(ctx, t)
		switch {
		case err == nil && stored:
			return nil
		case err == nil:
			return retryable(cause)
		}
		select {
		case <-ctx.Done():
			return lathe.Errorf(lathe.Unavailable, "the connection to the database was lost during a change, and it is unknown whether the change was stored; look, then try again: %w", cause)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// saveMark stores which change of this node is the last one.
const saveMark = `INSERT INTO writer (node, mark) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET mark = excluded.mark`

// isStored asks whether the last change of this node was stored, once it has ended: the lock of all writers is free
// then. A backend that still has it is ended first, since it may wait for a client that is gone. After a failover connect
// fails: the new server may not have all of the old one.
func (d *Driver) isStored(ctx context.Context, t *tx) (stored bool, err error) {
	c, err := d.connect(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.close()) }() // which ends the transaction, too
	_, err = c.exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE pid = $1 AND backend_xid = $2::text::xid8::xid AND usename = current_user`, int64(t.conn.pg.PID()), t.xid)
	if err != nil {
		return false, err
	}
	for _, sql := range []string{`BEGIN`, `SELECT FROM feed FOR UPDATE`} {
		if err := c.add(ctx, sql, nil, nil); err != nil {
			return false, err
		}
	}
	err = c.query(ctx, `SELECT 1 FROM writer WHERE node = $1 AND mark = $2`, []any{d.node.name, d.mark}, func(*row) error {
		stored = true
		return nil
	})
	return stored, err
}

// undone is an error of a transaction that changed nothing, with the store's reason to repeat it.
type undone struct {
	error
	reason error
}

func (e *undone) Unwrap() []error { return []error{e.error, e.reason} }

// retryable marks an error of a transaction that surely changed nothing.
func retryable(err error) error { return &undone{err, store.ErrLost} }
