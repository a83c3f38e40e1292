package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxKnown is the number of prepared statements of a connection.
	maxKnown = 400
	// maxQueued is the size of statements that wait.
	maxQueued = 512 << 10
)

// conn is a connection, its prepared statements, and the statements that wait to be sent.
type conn struct {
	pg    *pgconn.PgConn
	known map[string]*pgconn.StatementDescription
	named int // statements so far, for their names
	queue []queued
	size  int           // bytes of the queue
	wait  time.Duration // for an answer
}

// queued is a statement with its arguments.
type queued struct {
	statement *pgconn.StatementDescription
	args      [][]byte
	formats   []int16
	results   []int16
	rows      func(*rows) // nil drops them
}

// queuedError is the failure of a statement that was not the last one of its round trip.
type queuedError struct{ error }

func (e queuedError) Unwrap() error { return e.error }

// isLost reports whether the server can no longer be reached on this connection. A transaction on it has failed.
func (c *conn) isLost() bool { return c.pg.IsClosed() }

// close ends the connection. The server undoes a transaction that is still open on it.
func (c *conn) close() error {
	if c == nil || c.pg.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	return c.pg.Close(ctx)
}

// prepare returns the statement of this connection.
func (c *conn) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if s := c.known[sql]; s != nil {
		return s, nil
	}
	if len(c.known) >= maxKnown {
		if err := c.forget(ctx); err != nil {
			return nil, err
		}
	}
	c.named++
	defer c.limitWait()()
	s, err := c.pg.Prepare(ctx, "s"+strconv.Itoa(c.named), sql, nil)
	if err != nil {
		return nil, err
	}
	c.known[sql] = s
	return s, nil
}

// forget drops all prepared statements.
func (c *conn) forget(ctx context.Context) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	clear(c.known)
	_, err := c.pg.Exec(ctx, `DEALLOCATE ALL`).ReadAll()
	return err
}

// add queues a statement.
func (c *conn) add(ctx context.Context, sql string, args []any, read func(*rows)) error {
	s, err := c.prepare(ctx, sql)
	if err != nil {
		return err
	}
	q := queued{statement: s, rows: read}
	if q.args, q.formats, err = encode(s.ParamOIDs, args); err != nil {
		return err
	}
	q.results = make([]int16, len(s.Fields))
	for i, f := range s.Fields {
		q.results[i] = formatOf(f.DataTypeOID)
	}
	c.queue = append(c.queue, q)
	for _, a := range q.args {
		c.size += len(a)
	}
	return nil
}

// flush sends the queue and reads all results. After an error the server skips the rest.
func (c *conn) flush(ctx context.Context) error {
	queue := c.queue
	if len(queue) == 0 {
		return nil
	}
	c.queue, c.size = nil, 0
	defer c.limitWait()()
	p := c.pg.StartPipeline(ctx)
	for _, q := range queue {
		p.SendQueryStatement(q.statement, q.args, q.formats, q.results)
	}
	err := p.Sync()
	for i := 0; err == nil && i <= len(queue); {
		var result any
		result, err = p.GetResults()
		switch r := result.(type) {
		case *pgconn.ResultReader:
			if err = collect(r, queue[i]); err == nil {
				i++
			} else if i < len(queue)-1 && isServerError(err) {
				err = queuedError{err}
			}
		case *pgconn.PipelineSync:
			i = len(queue) + 1
		}
	}
	if end := p.Close(); err == nil {
		err = end
	}
	return err
}

// limitWait ends the connection if no answer comes. A server that is stopped still has its kernel confirm what we send.
func (c *conn) limitWait() (end func()) {
	_ = c.pg.Conn().SetDeadline(time.Now().Add(c.wait))
	return func() { _ = c.pg.Conn().SetDeadline(time.Time{}) }
}

// isServerError reports whether a statement failed, and not the connection.
func isServerError(err error) bool {
	var known *pgconn.PgError
	return errors.As(err, &known)
}

// collect reads the rows of a result. Their bytes are copied into large pieces.
func collect(r *pgconn.ResultReader, q queued) error {
	out := &rows{fields: q.statement.Fields}
	var slab []byte
	for r.NextRow() {
		if q.rows == nil {
			continue
		}
		values := make([][]byte, len(r.Values()))
		for i, v := range r.Values() {
			if v == nil {
				continue
			}
			if cap(slab)-len(slab) < len(v) {
				slab = make([]byte, 0, max(4096, len(v)))
			}
			at := len(slab)
			slab = append(slab, v...)
			values[i] = slab[at:len(slab):len(slab)]
		}
		out.values = append(out.values, values)
	}
	tag, err := r.Close()
	if err == nil && q.rows != nil {
		out.tag = tag
		q.rows(out)
	}
	return err
}

// query runs a statement with all that wait, then calls f with each row. f may query again.
func (c *conn) query(ctx context.Context, sql string, args []any, f func(*row) error) error {
	var got *rows
	if err := c.add(ctx, sql, args, func(r *rows) { got = r }); err != nil {
		return err
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	for _, v := range got.values {
		if err := f(&row{got.fields, v}); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, sql string, args ...any) (n int64, err error) {
	if err := c.add(ctx, sql, args, func(r *rows) { n = r.tag.RowsAffected() }); err != nil {
		return 0, err
	}
	err = c.flush(ctx)
	return n, err
}
