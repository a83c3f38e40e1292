// Package postgres is the store's database for many nodes: one PostgreSQL, shared by all lathe processes of a cluster.
//
// It owns the schema, its migrations, the connections, the lock that orders all writers, the rows of the nodes, and the
// error messages for PostgreSQL's errors. It has no statement about sessions; those are the store's. One connection
// writes, for the store's writer goroutine, and one renews the row of this node. A few read, each for one goroutine
// at a time.
//
// Statements that return nothing wait until the next one that does, or until the end of the transaction, and travel with
// it, because a round trip costs more than a statement. A lost connection is replaced. Whether a
// transaction was committed whose answer was lost is asked of the server.
//
// Start reading at [Open]; conn.go sends statements, tx.go ends transactions, node.go keeps the lease of this node.
package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/fence"
	"github.com/lathe-agent/lathe/store"
)

// readers is the number of connections that read at the same time.
const readers = 6

// Options describe a database and this node of its cluster.
type Options struct {
	DSN  string // a postgres:// URL
	Node Node
	Log  *slog.Logger     // default: none
	Now  func() time.Time // default: time.Now
}

// Driver is an open database.
type Driver struct {
	config  *pgconn.Config
	address string // for people
	log     *slog.Logger
	schema  schema
	wait    time.Duration           // for an answer
	suffix  string                  // of the feed's name: the timeline of the server
	moved   atomic.Bool             // to another server
	refused atomic.Pointer[refusal] // of the last write that the server could not store
	node    *node

	write *conn // for the store's writer goroutine alone, as is
	mark  int64 // the number of the last commit
	pool  chan *conn
	spare chan struct{} // tokens for readers not opened yet
	ended chan struct{} // closed by Close
	end   sync.Once
}

// Open connects to a database, and creates or updates its schema first if necessary.
func Open(ctx context.Context, o Options) (*Driver, error) {
	steps, err := loadSteps(schemaFiles)
	if err != nil {
		return nil, err
	}
	config, err := parse(o.DSN)
	if err != nil {
		return nil, err
	}
	d := &Driver{
		config: config, address: Redact(o.DSN), log: o.Log, schema: schema{known: len(steps)}, wait: answerWait, pool: make(chan *conn, readers), spare: make(chan struct{}, readers), ended: make(chan struct{}),
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	for range readers {
		d.spare <- struct{}{}
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Driver, error) { return nil, errors.Join(err, c.close()) }
	if d.schema.found, err = prepare(ctx, c, steps); err != nil {
		return fail(err)
	}
	if d.suffix, err = timeline(ctx, c); err != nil {
		return fail(err)
	}
	if d.node, err = startNode(ctx, d, o); err != nil {
		return fail(err)
	}
	d.write = c
	return d, nil
}

// OpenStore opens the store in a database.
func OpenStore(ctx context.Context, o Options, so store.Options) (*store.Store, error) {
	d, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, d, so)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

// Close ends the leases of this node, waits for running reads and closes the connections. The store's writer must have
// ended before.
func (d *Driver) Close() error {
	var errs []error
	d.end.Do(func() {
		close(d.ended)
		errs = append(errs, d.node.close())
		for range readers {
			select {
			case c := <-d.pool:
				errs = append(errs, c.close())
			case <-d.spare:
			}
		}
		errs = append(errs, d.write.close())
	})
	return errors.Join(errs...)
}

// FeedName adds the timeline of the server: after a failover a number may have been given twice, so cursors from before
// must not be used.
func (d *Driver) FeedName(word string) string { return word + d.suffix }

// String is the address of the database without its password.
func (d *Driver) String() string { return d.address }

// Owner names this process in leases.
func (d *Driver) Owner() string { return d.node.name }

// Fence ends before another node may take the sessions of this one.
func (d *Driver) Fence() *fence.Fence { return d.node.fence }

// Changed reports that another process may have written: a look costs as much as reading the counter.
func (d *Driver) Changed(context.Context) (bool, error) { return true, nil }

// Ahead is true: the changes of other nodes are read before the lock of all writers is taken.
func (d *Driver) Ahead() bool { return true }

// Reclaim does nothing: the server's autovacuum does.
func (d *Driver) Reclaim(context.Context) (bool, error) { return false, nil }

// Check reports indexes that the server knows to be broken.
func (d *Driver) Check(ctx context.Context) (found []string, err error) {
	err = d.Read(ctx, func(r store.Reader) error {
		return r.Query(`SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace`, nil, func(row store.Row) error {
			found = append(found, "index "+row.Text(0)+" is not valid; run REINDEX INDEX "+row.Text(0))
			return nil
		})
	})
	return found, err
}

// Size returns the bytes of the tables and indexes. The server does not tell how many of them are free.
func (d *Driver) Size(ctx context.Context) (used, free int64, err error) {
	err = d.Read(ctx, func(r store.Reader) error {
		return r.Query(`SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
			WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`, nil, func(row store.Row) error {
			used = row.Int(0)
			return nil
		})
	})
	return used, 0, err
}

// Read runs f on a snapshot, on its own connection.
func (d *Driver) Read(ctx context.Context, f func(store.Reader) error) error {
	c, err := d.reader(ctx)
	if err != nil {
		return err
	}
	t := &tx{driver: d, conn: c, ctx: ctx}
	defer func() { d.giveBack(t) }()
	if err := t.begin(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`); err != nil {
		return err
	}
	err = f(t)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reader waits for a free connection.
func (d *Driver) reader(ctx context.Context) (*conn, error) {
	select {
	case <-d.ended:
		return nil, errClosed()
	case c := <-d.pool:
		return c, nil
	default:
	}
	select {
	case <-d.ended:
		return nil, errClosed()
	case c := <-d.pool:
		return c, nil
	case <-d.spare:
		c, err := d.reconnect(ctx)
		if err != nil {
			d.spare <- struct{}{}
		}
		return c, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// errClosed is for callers that outlive the store.
func errClosed() error { return lathe.Errorf(lathe.Unavailable, "the database is closed") }

// giveBack ends the read, also after a panic, and returns the connection. A connection that cannot end its read is
// closed.
func (d *Driver) giveBack(t *tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), endWait)
	defer cancel()
	t.ctx = ctx
	if t.Rollback() == nil && !t.conn.isLost() {
		d.pool <- t.conn
		return
	}
	_ = t.conn.close()
	d.spare <- struct{}{}
}

// endWait is how long the end of a transaction may take that changes nothing.
const endWait = 5 * time.Second
