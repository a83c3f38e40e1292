package store

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Lease is the right to commit to a session. It lasts until it is released, until its
// process ends, or until the session is removed. Each taking has a higher epoch than
// all before, so a commit under an old one is noticed.
type Lease struct {
	Session lathe.SessionID
	Epoch   int64
}

// Acquire takes the lease of a session. If another runner holds it, here or in a process
// that is alive, that is a conflict.
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
		l.Epoch = t.next() // also above those of a removed session that had this id
		err = t.exec(`INSERT INTO lease (session, owner, epoch, cancel) VALUES ($1,$2,$3,0)
			ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, cancel = 0`,
			row.n, s.driver.Owner(), l.Epoch)
		if err != nil {
			return err
		}
		return t.calm(row)
	})
	return l, err
}

// Release gives the lease back. One that was lost meanwhile needs no giving back.
func (s *Store) Release(ctx context.Context, l Lease) error {
	_, err := s.writer.write(ctx, false, func(t *txn) error {
		return t.exec(`UPDATE lease SET owner = NULL, cancel = 0
			WHERE epoch = $1 AND owner = $2 AND session = (SELECT n FROM session WHERE id = $3)`,
			l.Epoch, s.driver.Owner(), string(l.Session))
	})
	return err
}

// holder reads who took the lease of a session and has not given it back.
func (t *txn) holder(session int64) (owner string, err error) {
	return one(t.tx, `SELECT owner FROM lease WHERE session = $1`, []any{session}, firstText)
}

// calm makes the status of a session idle that an earlier holder left busy. Without a
// holder it has been read as idle; now that there is one, the row must say so itself.
func (t *txn) calm(s *sessionRow) error {
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

// LeaseInfo tells who works on a session.
type LeaseInfo struct {
	Session  lathe.SessionID
	Alive    bool // the process that took the lease still runs
	Here     bool // it is this one
	Canceled bool // someone wishes the turn to end
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

// Interruption is a session whose work was cut off, or never begun.
type Interruption struct {
	Session lathe.SessionID
	// Dead says that the process that worked on it has died, and nobody has looked since.
	Dead bool
	// Closed says that what it left open was closed, and nothing was said since.
	Closed bool
	// HasQueued says that a prompt has not been taken up.
	HasQueued bool
}

// Interruptions lists the sessions whose turn was cut off, and those with prompts that
// nobody works on; of one session if it is named. A child whose call was repaired is not
// listed with the others: whoever made the call decides whether it goes on.
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
			if owner == "" || i.Dead { // another one works on it
				out = append(out, i)
			}
			return nil
		})
	return out, err
}
