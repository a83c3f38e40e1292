package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lathe-agent/lathe"
)

// Lease is the right to commit to a session. It lasts until it is released, until its
// process ends, or until the session is removed. Each lease has a higher epoch than
// all before, so a commit under an old one is detected.
type Lease struct {
	Session lathe.SessionID
	Epoch   int64
	// Busy means that a process which is gone left the session busy, and that clients still see that: who holds the lease
	// must publish idle. Cut means that such a process left a turn, which it closed, to others.
	Busy, Cut bool
}

// Acquire takes the lease of a session. It fails with a conflict if another runner holds the
// lease, in this process or another live one.
func (s *Store) Acquire(ctx context.Context, id lathe.SessionID) (Lease, error) {
	l := Lease{Session: id}
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		row, err := t.session(id)
		if err != nil {
			return err
		}
		owner, cut, err := t.holder(row.n)
		if err != nil {
			return err
		}
		owners := ownersOf(s, t.tx)
		if alive, err := owners.alive(owner); err != nil {
			return err
		} else if alive {
			return lathe.Errorf(lathe.Conflict, "Session is busy: %s", id)
		}
		l.Epoch = t.next() // also higher than the epochs of a removed session with this id
		err = t.exec(`INSERT INTO lease (session, owner, epoch, cancel) VALUES ($1,$2,$3,0)
			ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, cancel = 0`,
			row.n, s.driver.Owner(), l.Epoch)
		if err != nil {
			return err
		}
		continued, err := owners.continued(owner)
		if err != nil {
			return err
		}
		l.Cut = cut && continued
		l.Busy, err = t.leftBusy(row, continued)
		return err
	})
	return l, err
}

// TakeOver takes the leases of those of the sessions whose process has died. Their statuses stay as they are.
func TakeOver(ctx context.Context, s *Store, ids []lathe.SessionID) (taken []Lease, err error) {
	wanted := make(map[lathe.SessionID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	_, err = s.writer.write(ctx, false, func(t *txn) error {
		taken = nil
		var rows []int64
		owners := ownersOf(s, t.tx)
		err := t.tx.Query(`SELECT session.id, session.n, owner, COALESCE(data, '{"type":"idle"}') <> '{"type":"idle"}', interrupted
			FROM lease JOIN session ON session.n = lease.session LEFT JOIN status ON status.session = session.n WHERE owner IS NOT NULL`,
			nil, func(row Row) error {
				l := Lease{Session: lathe.SessionID(row.Text(0)), Busy: row.Int(3) != 0, Cut: row.Int(4) != 0}
				if !wanted[l.Session] {
					return nil
				}
				alive, err := owners.alive(row.Text(2))
				if err == nil && !alive {
					taken, rows = append(taken, l), append(rows, row.Int(1))
				}
				return err
			})
		for i := range taken {
			if err != nil {
				break
			}
			taken[i].Epoch = t.next()
			err = t.exec(`UPDATE lease SET owner = $1, epoch = $2, cancel = 0 WHERE session = $3`, s.driver.Owner(), taken[i].Epoch, rows[i])
		}
		return err
	})
	return taken, err
}

// Release returns the lease. It does nothing if the lease was lost.
func (s *Store) Release(ctx context.Context, l Lease) error {
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		return t.exec(`UPDATE lease SET owner = NULL, cancel = 0
			WHERE epoch = $1 AND owner = $2 AND session = (SELECT n FROM session WHERE id = $3)`,
			l.Epoch, s.driver.Owner(), string(l.Session))
	})
	return err
}

// handedOver is the owner of sessions whose node has left: no process has this name, so any may take them.
const handedOver = "-"

// HandOver returns the lease of a session that another process is to continue. It does nothing if the lease was lost.
func HandOver(ctx context.Context, s *Store, l Lease) error {
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		return t.exec(`UPDATE lease SET owner = $1, cancel = 0
			WHERE epoch = $2 AND owner = $3 AND session = (SELECT n FROM session WHERE id = $4)`,
			handedOver, l.Epoch, s.driver.Owner(), string(l.Session))
	})
	return err
}

// IsHeld reports whether a live process holds the lease of a session.
func IsHeld(ctx context.Context, s *Store, id lathe.SessionID) (held bool, err error) {
	err = s.read(ctx, func(r Reader) error {
		owner, err := one(r, `SELECT owner FROM lease JOIN session ON session.n = lease.session WHERE session.id = $1`, []any{string(id)}, firstText)
		if err == nil {
			held, err = ownersOf(s, r).alive(owner)
		}
		return err
	})
	return held, err
}

// IsUnfinished reports whether a process works on a session, or one that continues interrupted ones will. It is true from
// the moment a prompt is stored.
func IsUnfinished(ctx context.Context, s *Store, id lathe.SessionID) (yes bool, err error) {
	err = s.read(ctx, func(r Reader) error {
		owners := ownersOf(s, r) // an owner is the same for both queries
		owner, err := one(r, `SELECT owner FROM lease JOIN session ON session.n = lease.session WHERE session.id = $1`, []any{string(id)}, firstText)
		if err == nil {
			yes, err = owners.alive(owner)
		}
		if err != nil || yes {
			return err
		}
		found, err := owners.interruptions(id)
		yes = len(found) > 0 && (found[0].Dead || found[0].HasQueued)
		return err
	})
	return yes, err
}

// holder returns the owner of a session's lease, "" if it was released, and whether its turn was cut off.
func (t *txn) holder(session int64) (owner string, cut bool, err error) {
	err = t.tx.Query(`SELECT owner, interrupted FROM lease WHERE session = $1`, []any{session}, func(row Row) error {
		owner, cut = row.Text(0), row.Int(1) != 0
		return nil
	})
	return owner, cut, err
}

// leftBusy reports whether an earlier holder left the session busy. If nobody continues it, readers have taken it for
// idle, and the row itself must say that once there is a holder.
func (t *txn) leftBusy(s *sessionRow, continued bool) (left bool, err error) {
	err = t.tx.Query(`SELECT data FROM status WHERE session = $1`, []any{s.n}, func(row Row) error {
		var st lathe.Status
		err := json.Unmarshal(row.Bytes(0), &st)
		left = st.Type != lathe.Idle
		return err
	})
	if err != nil || !left || continued {
		return left, err
	}
	return false, t.putStatus(s, &lathe.StatusChanged{Session: s.id, Status: lathe.Status{Type: lathe.Idle}})
}

const sessionOfLease = `SELECT session.n, directory, project FROM session JOIN lease ON lease.session = session.n
	WHERE session.id = $1 AND epoch = $2 AND owner = $3`

// ErrLeaseLost says that another process has taken the lease of a session.
var ErrLeaseLost = errors.New("the lease was lost")

// checkLease checks the lease and finds its session.
func (t *txn) checkLease(l Lease) (*sessionRow, error) {
	if s := t.known.leases[l]; s != nil {
		return s, nil
	}
	s, err := one(t.tx, sessionOfLease, []any{string(l.Session), l.Epoch, t.store.driver.Owner()}, sessionRowOf(l.Session))
	if err == nil && s == nil {
		t.store.writer.refused.Add(1)
		err = lathe.Errorf(lathe.Conflict, "session %s: %w", l.Session, ErrLeaseLost)
	}
	return s, err
}

// LeaseInfo describes the lease of a session and its owner.
type LeaseInfo struct {
	Session  lathe.SessionID
	Alive    bool // the process that took the lease still runs
	Here     bool // it is this process
	Canceled bool // a client has asked to cancel the turn
}

// Leases lists the sessions whose lease is taken, also by processes that have died.
func (s *Store) Leases(ctx context.Context) ([]LeaseInfo, error) {
	var out []LeaseInfo
	err := s.read(ctx, func(r Reader) error {
		owners := ownersOf(s, r)
		return r.Query(`SELECT session.id, owner, cancel FROM lease JOIN session ON session.n = lease.session WHERE owner IS NOT NULL`,
			nil, func(row Row) error {
				owner := row.Text(1)
				alive, err := owners.alive(owner)
				out = append(out, LeaseInfo{
					Session: lathe.SessionID(row.Text(0)), Alive: alive,
					Here: owner == s.driver.Owner(), Canceled: row.Int(2) != 0,
				})
				return err
			})
	})
	return out, err
}

// owners asks the driver about the owners of leases, once for each.
type owners struct {
	store      *Store
	r          Reader
	known      map[string]bool
	successors *bool // nil until it is asked for
}

func ownersOf(s *Store, r Reader) *owners {
	return &owners{store: s, r: r, known: map[string]bool{"": false}}
}

// alive reports whether the owner of a lease still runs.
func (o *owners) alive(owner string) (bool, error) {
	if alive, ok := o.known[owner]; ok {
		return alive, nil
	}
	alive, err := o.store.driver.Alive(o.r, owner)
	o.known[owner] = alive
	return alive, err
}

// continued reports whether others continue the sessions of an owner that no longer runs.
func (o *owners) continued(owner string) (bool, error) {
	if owner == "" { // the lease was released
		return false, nil
	}
	if o.successors == nil {
		found, err := o.store.driver.Successors(o.r)
		if err != nil {
			return false, err
		}
		o.successors = &found
	}
	return *o.successors, nil
}

// Interruption is a session whose turn was interrupted, or never started.
type Interruption struct {
	Session   lathe.SessionID
	Directory string
	// Dead means that the process that worked on it has died, and no other has taken the lease.
	Dead bool
	// Closed means that its open messages were settled, and no message was added since.
	Closed bool
	// HasQueued means that a prompt has not been processed.
	HasQueued bool
}

// Interruptions lists the sessions with an interrupted turn or with queued prompts and no
// runner, or only the named session. A child session whose call was repaired is listed only
// by name: its parent decides whether to resume it.
func (s *Store) Interruptions(ctx context.Context, only lathe.SessionID) ([]Interruption, error) {
	var out []Interruption
	err := s.read(ctx, func(r Reader) (err error) {
		out, err = ownersOf(s, r).interruptions(only)
		return err
	})
	return out, err
}

func (o *owners) interruptions(only lathe.SessionID) (out []Interruption, err error) {
	err = o.r.Query(`SELECT session.id, COALESCE(lease.owner, ''), COALESCE(lease.interrupted, 0),
			EXISTS (SELECT 1 FROM message WHERE message.session = session.n AND waiting > 0 AND hold = 0), session.directory
		FROM session LEFT JOIN lease ON lease.session = session.n
		WHERE (lease.owner IS NOT NULL OR lease.interrupted = 1
			OR session.n IN (SELECT message.session FROM message WHERE waiting > 0 AND hold = 0))
			AND ($1 = '' OR session.id = $2) AND ($3 <> '' OR session.task <> 1 OR lease.owner IS NOT NULL
			OR session.n IN (SELECT message.session FROM message WHERE waiting > 0 AND hold = 0))`,
		[]any{string(only), string(only), string(only)}, func(row Row) error {
			owner := row.Text(1)
			alive, err := o.alive(owner)
			i := Interruption{
				Session: lathe.SessionID(row.Text(0)), Dead: owner != "" && !alive,
				Closed: row.Int(2) != 0, HasQueued: row.Int(3) != 0, Directory: row.Text(4),
			}
			if owner == "" || i.Dead { // else a live process works on it
				out = append(out, i)
			}
			return err
		})
	return out, err
}
