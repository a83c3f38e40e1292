package store

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Lease is the right to commit to a session. It lasts until it is released, until its
// process ends, or until the session is removed. Each lease has a higher epoch than
// all before, so a commit under an old one is detected.
type Lease struct {
	Session lathe.SessionID
	Epoch   int64
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
		owner, err := t.holder(row.n)
		if err != nil {
			return err
		}
		if owner != "" && s.driver.Alive(owner) {
			return lathe.Errorf(lathe.Conflict, "Session is busy: %s", id)
		}
		l.Epoch = t.next() // also higher than the epochs of a removed session with this id
		err = t.exec(`INSERT INTO lease (session, owner, epoch, cancel) VALUES ($1,$2,$3,0)
			ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, cancel = 0`,
			row.n, s.driver.Owner(), l.Epoch)
		if err != nil {
			return err
		}
		return t.resetStatus(row)
	})
	return l, err
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

// holder returns the owner of a session's lease, "" if it was released.
func (t *txn) holder(session int64) (owner string, err error) {
	return one(t.tx, `SELECT owner FROM lease WHERE session = $1`, []any{session}, firstText)
}

// resetStatus sets the status to idle if an earlier holder left it busy. Without a holder,
// readers treat any status as idle. With a holder, the row itself must say idle.
func (t *txn) resetStatus(s *sessionRow) error {
	left := false
	err := t.tx.Query(`SELECT data FROM status WHERE session = $1`, []any{s.n}, func(row Row) error {
		var st lathe.Status
		err := json.Unmarshal(row.Bytes(0), &st)
		left = st.Type != lathe.Idle
		return err
	})
	if err != nil || !left {
		return err
	}
	return t.putStatus(s, &lathe.StatusChanged{Session: s.id, Status: lathe.Status{Type: lathe.Idle}})
}

// checkLease checks the lease and finds its session.
func (t *txn) checkLease(l Lease) (*sessionRow, error) {
	s, err := one(t.tx, `SELECT session.n, directory, project FROM session JOIN lease ON lease.session = session.n
		WHERE session.id = $1 AND epoch = $2 AND owner = $3`,
		[]any{string(l.Session), l.Epoch, t.store.driver.Owner()}, sessionRowOf(l.Session))
	if err == nil && s == nil {
		err = lathe.Errorf(lathe.Conflict, "the lease of session %s was lost", l.Session)
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
	alive := map[string]bool{}
	err := query(ctx, s, `SELECT session.id, owner, cancel FROM lease JOIN session ON session.n = lease.session WHERE owner IS NOT NULL`,
		nil, func(row Row) error {
			owner := row.Text(1)
			if _, known := alive[owner]; !known {
				alive[owner] = s.driver.Alive(owner)
			}
			out = append(out, LeaseInfo{
				Session: lathe.SessionID(row.Text(0)), Alive: alive[owner],
				Here: owner == s.driver.Owner(), Canceled: row.Int(2) != 0,
			})
			return nil
		})
	return out, err
}

// Interruption is a session whose turn was interrupted, or never started.
type Interruption struct {
	Session lathe.SessionID
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
	alive := map[string]bool{}
	err := query(ctx, s, `SELECT session.id, COALESCE(lease.owner, ''), COALESCE(lease.interrupted, 0),
			EXISTS (SELECT 1 FROM message WHERE message.session = session.n AND waiting > 0 AND hold = 0)
		FROM session LEFT JOIN lease ON lease.session = session.n
		WHERE (lease.owner IS NOT NULL OR lease.interrupted = 1
			OR session.n IN (SELECT message.session FROM message WHERE waiting > 0 AND hold = 0))
			AND ($1 = '' OR session.id = $2) AND ($3 <> '' OR session.task <> 1 OR lease.owner IS NOT NULL
			OR session.n IN (SELECT message.session FROM message WHERE waiting > 0 AND hold = 0))`,
		[]any{string(only), string(only), string(only)}, func(row Row) error {
			owner := row.Text(1)
			if _, known := alive[owner]; !known && owner != "" {
				alive[owner] = s.driver.Alive(owner)
			}
			i := Interruption{
				Session: lathe.SessionID(row.Text(0)), Dead: owner != "" && !alive[owner],
				Closed: row.Int(2) != 0, HasQueued: row.Int(3) != 0,
			}
			if owner == "" || i.Dead { // else a live process works on it
				out = append(out, i)
			}
			return nil
		})
	return out, err
}
