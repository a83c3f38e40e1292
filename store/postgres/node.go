package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/fence"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/store"
)

const (
	// leaseTime is how long a node counts as alive after it was last heard of, on the clock of the database.
	leaseTime = 5 * time.Second
	// renewEvery is the time between two renewals.
	renewEvery = time.Second
	// leaseMargin is how much earlier than the database a node believes that its lease has ended.
	leaseMargin = time.Second
	// renewWait is how long one renewal may take.
	renewWait = 2 * time.Second
	// refusedFor is how long a node is not ready after a change that the server could not store. Then it tries again.
	refusedFor = 10 * time.Second
	// skewLimit is how far a clock may be off unnoticed.
	skewLimit = 10 * time.Second
)

// Node describes this process to the others.
type Node struct {
	Addr   string        // URL at which the other nodes reach it; "" if it serves none
	Places []store.Place // whose sessions it runs; none means all
	Serves bool          // it stays, so it runs the sessions that others admit
}

// node keeps the row of this process. Its name is new at each start, so a node never inherits what an earlier one held.
type node struct {
	Node
	name   string
	driver *Driver
	fence  *fence.Fence
	cancel context.CancelFunc
	done   chan struct{}

	conn     *conn // of the goroutine alone, until done is closed
	renewals metric.Histogram

	now    func() time.Time
	warned bool // of a wrong clock

	mu    sync.Mutex // guards the fields below
	fault error      // of the last renewal
	skew  time.Duration
	at    []store.Place
}

// startNode writes the row and keeps renewing it.
func startNode(ctx context.Context, d *Driver, o Options) (*node, error) {
	out := &node{Node: o.Node, name: rand.Text(), driver: d, at: o.Node.Places, now: o.Now, fence: fence.New(), done: make(chan struct{})}
	if err := out.renew(ctx); err != nil {
		return nil, err
	}
	// Rows of nodes that ended long ago are of no use. The others say whose place is away.
	for _, sql := range []string{
		`DELETE FROM node WHERE until < clock_timestamp() - interval '30 days'`,
		`DELETE FROM writer WHERE NOT EXISTS (SELECT 1 FROM node WHERE name = writer.node)`,
	} {
		if _, err := out.conn.exec(ctx, sql); err != nil {
			return nil, explain(err)
		}
	}
	ctx, out.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go out.run(ctx)
	return out, nil
}

// run renews until close.
func (n *node) run(ctx context.Context) {
	defer close(n.done)
	t := time.NewTicker(renewEvery)
	defer t.Stop()
	for last := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		why := ""
		if err := n.renew(ctx); err != nil {
			why = err.Error()
		}
		if why != "" && why != last && ctx.Err() == nil { // a lost connection is often only the first sign of something else
			n.driver.log.Warn("could not renew the lease of this node", "error", why)
		}
		last = why
	}
}

// renew moves the end of the lease. The fence counts from before the message was sent, so it ends first. A row that was
// missed for too long is written again: the sessions that others took meanwhile have higher epochs.
func (n *node) renew(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	began := time.Now()
	defer func() {
		n.renewals.Observe(time.Since(began))
		n.mu.Lock()
		defer n.mu.Unlock()
		n.fault = err
	}()
	if n.conn == nil || n.conn.isLost() {
		if n.conn, err = n.driver.connect(ctx); err != nil {
			return err
		}
	}
	places, err := json.Marshal(append([]store.Place{}, n.places()...))
	if err != nil {
		return err
	}
	serves := 0
	if n.Serves {
		serves = 1
	}
	sent, asked := fence.Now(), n.now()
	err = n.conn.add(ctx, `INSERT INTO node (name, addr, places, serves, until)
		VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond')
		ON CONFLICT (name) DO UPDATE SET until = excluded.until, places = excluded.places`, []any{n.name, n.Addr, string(places), serves, leaseTime.Milliseconds()}, nil)
	oldest, theirs := 0, time.Time{}
	if err == nil {
		err = n.conn.query(ctx, `SELECT oldest, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM lathe_schema`, nil, func(r *row) error {
			oldest, theirs = int(r.Int(0)), time.UnixMilli(r.Int(1))
			return nil
		})
	}
	if err != nil {
		return explain(err)
	}
	if oldest > n.driver.schema.known {
		return tooNew(oldest, n.driver.schema.known)
	}
	n.fence.Extend(sent + leaseTime - leaseMargin)
	n.compareClocks(asked, n.now(), theirs)
	return nil
}

// places are those that the next renewal writes.
func (n *node) places() []store.Place {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

// SetPlaces tells the other nodes the places of this one, with the next renewal of its lease.
func (d *Driver) SetPlaces(all []store.Place) {
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	d.node.at = all
}

// compareClocks notes how far the clock here is ahead. Leases do not depend on it. Times that people see do, and so do
// servers that refuse signatures of another time.
func (n *node) compareClocks(asked, answered, theirs time.Time) {
	skew := asked.Add(answered.Sub(asked) / 2).Sub(theirs)
	if skew.Abs() < skewLimit+answered.Sub(asked) {
		skew = 0
	}
	if skew != 0 && !n.warned {
		n.driver.log.Warn("the clock on this machine differs from the clock of the database; correct it: new messages get wrong times, and S3 may refuse requests", "ahead", skew.Round(time.Second).String())
	}
	n.warned = skew != 0
	n.mu.Lock()
	defer n.mu.Unlock()
	n.skew = skew
}

// Skew is how far the clock on this machine is ahead of that of the server.
func (d *Driver) Skew() time.Duration {
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	return d.node.skew
}

// Live returns an error if this process must be started again.
func (d *Driver) Live() error {
	if d.moved.Load() {
		return errFailOver
	}
	return nil
}

// refusal is the error of a write that the server could not store.
type refusal struct {
	err error
	at  time.Duration // of fence.Now
}

// refuse notes an error of a write, for readiness, and logs the first of several.
func (d *Driver) refuse(err error) {
	last := d.refused.Swap(&refusal{err, fence.Now()})
	if last == nil || fence.Now()-last.at > refusedFor {
		d.log.Error("the database cannot store changes", "error", err)
	}
}

// Ready returns the reason why this node cannot work now: the last renewal of its lease failed, or a change could not
// be stored a moment ago. A lease needs no space on a disk.
func (d *Driver) Ready() error {
	if r := d.refused.Load(); r != nil && fence.Now()-r.at < refusedFor {
		return r.err
	}
	d.node.mu.Lock()
	defer d.node.mu.Unlock()
	if d.node.fault != nil {
		return d.node.fault
	}
	return d.node.fence.Valid()
}

// close ends the lease at once, so that others need not wait for its time.
func (n *node) close() error {
	n.cancel()
	<-n.done
	if n.conn == nil || n.conn.isLost() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewWait)
	defer cancel()
	_, err := n.conn.exec(ctx, `UPDATE node SET until = clock_timestamp() WHERE name = $1`, n.name)
	if err != nil {
		n.driver.log.Warn("could not end the lease of this node; it ends by itself", "error", explain(err))
	}
	return n.conn.close()
}

// Alive asks the clock of the database whether a node still has its lease.
func (d *Driver) Alive(r store.Reader, owner string) (alive bool, err error) {
	if owner == d.node.name {
		return true, nil
	}
	err = r.Query(`SELECT 1 FROM node WHERE name = $1 AND until > clock_timestamp()`, []any{owner}, func(store.Row) error {
		alive = true
		return nil
	})
	return alive, err
}

// Successors asks whether a node serves, which continues the sessions of others.
func (d *Driver) Successors(r store.Reader) (found bool, err error) {
	err = r.Query(`SELECT 1 FROM node WHERE serves = 1 AND until > clock_timestamp() LIMIT 1`, nil, func(store.Row) error {
		found = true
		return nil
	})
	return found, err
}

// Peer is a node that serves, as its row describes it.
type Peer struct {
	Name string
	Node
	Alive bool // it has its lease
}

// Peers lists the serving nodes of the last 30 days, this one included, the oldest first.
func (d *Driver) Peers(ctx context.Context) (out []Peer, err error) {
	err = d.Read(ctx, func(r store.Reader) error {
		out = nil // a read may be repeated
		return r.Query(`SELECT name, addr, places, CASE WHEN until > clock_timestamp() THEN 1 ELSE 0 END
			FROM node WHERE serves = 1 ORDER BY since, name`, nil, func(row store.Row) error {
			p := Peer{Name: row.Text(0), Node: Node{Addr: row.Text(1), Serves: true}, Alive: row.Int(3) == 1}
			if err := json.Unmarshal(row.Bytes(2), &p.Places); err != nil {
				return lathe.Errorf(lathe.Internal, "the places of node %s: %w", p.Name, err)
			}
			out = append(out, p)
			return nil
		})
	})
	return out, err
}
