package store

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// keptShells is how many commands a session remembers that ran in the background and have ended.
const keptShells = 50

// Shells are the commands in the background, a part of the store.
type Shells struct{ store *Store }

// Shells returns the commands in the background.
func (s *Store) Shells() Shells { return Shells{s} }

// Add records a command that runs in the background of this process. It refuses more than most of one session.
func (x Shells) Add(ctx context.Context, task lathe.BackgroundTask, most int) error {
	s := x.store
	data, err := json.Marshal(task)
	if err != nil {
		return err
	}
	_, err = s.writer.write(ctx, false, func(t *txn) error {
		row, err := t.session(task.Session)
		if err != nil {
			return err
		}
		running, err := all(t.tx, `SELECT owner FROM shell WHERE session = $1 AND owner IS NOT NULL`, []any{row.n}, firstText)
		if err != nil {
			return err
		}
		alive, isAlive := 0, ownersOf(s, t.tx).alive
		for _, owner := range running {
			if on, err := isAlive(owner); err != nil {
				return err
			} else if on {
				alive++
			}
		}
		if alive >= most {
			return lathe.Errorf(lathe.Conflict, "%d commands already run in the background of this session, the most there may be", alive)
		}
		if err := t.exec(`INSERT INTO shell (id, session, data, owner) VALUES ($1,$2,$3,$4)`, string(task.ID), row.n, string(data), s.driver.Owner()); err != nil {
			return err
		}
		return t.exec(`DELETE FROM shell WHERE session = $1 AND owner IS NULL AND n NOT IN
			(SELECT n FROM shell WHERE session = $2 AND owner IS NULL ORDER BY n DESC LIMIT $3)`, row.n, row.n, int64(keptShells))
	})
	return err
}

// End records the end of a command and tells its session, in one transaction: the prompt is admitted once, however
// many processes try. sent is whether this call did it.
func (x Shells) End(ctx context.Context, task lathe.BackgroundTask, p lathe.Submission) (sent bool, err error) {
	s := x.store
	rows, err := s.blobs.encodeMessage(p.Message)
	if err != nil {
		return false, err
	}
	data, err := json.Marshal(task)
	if err != nil {
		return false, err
	}
	_, err = s.writer.write(ctx, true, func(t *txn) error {
		n, err := t.count(`UPDATE shell SET owner = NULL, data = $1 WHERE id = $2 AND owner IS NOT NULL`, string(data), string(task.ID))
		if sent = err == nil && n > 0; !sent {
			return err
		}
		row, err := t.session(task.Session)
		if err != nil {
			return err
		}
		return t.admitPrompt(row, p, rows)
	})
	return sent && err == nil, err
}

// SetPorts records the ports that a running command listens on, for readers in other processes.
func (x Shells) SetPorts(ctx context.Context, task lathe.BackgroundTask) error {
	data, err := json.Marshal(task)
	if err != nil {
		return err
	}
	_, err = x.store.writer.write(ctx, false, func(t *txn) error {
		return t.exec(`UPDATE shell SET data = $1 WHERE id = $2 AND owner = $3`, string(data), string(task.ID), x.store.driver.Owner())
	})
	return err
}

// Stop asks the process that runs a command to end it.
func (x Shells) Stop(ctx context.Context, id lathe.TaskID) error {
	s := x.store
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		n, err := t.count(`UPDATE shell SET stop = 1 WHERE id = $1 AND owner IS NOT NULL`, string(id))
		if err == nil && n == 0 {
			err = lathe.Errorf(lathe.NotFound, "no background task %s is running", id)
		}
		return err
	})
	return err
}

// StopRequested returns the running commands of this process that somebody wants to end, or whose session was removed.
func (x Shells) StopRequested(ctx context.Context, ids []lathe.TaskID) (out []lathe.TaskID, err error) {
	s := x.store
	running := map[lathe.TaskID]bool{}
	err = query(ctx, s, `SELECT id FROM shell WHERE owner = $1 AND stop = 0`, []any{s.driver.Owner()}, func(row Row) error {
		running[lathe.TaskID(row.Text(0))] = true
		return nil
	})
	for _, id := range ids {
		if !running[id] && err == nil {
			out = append(out, id)
		}
	}
	return out, err
}

// Shell is a command in the background and what is known of its process.
type Shell struct {
	Task lathe.BackgroundTask
	Here bool // this process runs it
	Told bool // its session knows its end
}

// List lists the commands in the background of a session and of all below it, or of all sessions with "", oldest first.
// The state of one whose process has died is [lathe.TaskEnded].
func (x Shells) List(ctx context.Context, session lathe.SessionID) (out []Shell, err error) {
	s := x.store
	sql, args := `SELECT data, owner FROM shell ORDER BY n`, []any{}
	if session != "" {
		sql, args = `WITH RECURSIVE below (id, n) AS (
			SELECT id, n FROM session WHERE id = $1
			UNION SELECT session.id, session.n FROM session JOIN below ON session.parent = below.id
		) SELECT data, owner FROM shell WHERE session IN (SELECT n FROM below) ORDER BY n`, []any{string(session)}
	}
	err = s.read(ctx, func(r Reader) error {
		out, err = all(r, sql, args, readShell(s, ownersOf(s, r).alive))
		return err
	})
	return out, err
}

// readShell reads a command and whether its process still runs.
func readShell(s *Store, isAlive func(string) (bool, error)) func(Row) (Shell, error) {
	return func(row Row) (Shell, error) {
		one := Shell{Told: row.Null(1), Here: row.Text(1) == s.driver.Owner()}
		if err := json.Unmarshal(row.Bytes(0), &one.Task); err != nil {
			return one, lathe.Errorf(lathe.Internal, "background task: %w", err)
		}
		if one.Told {
			return one, nil
		}
		alive, err := isAlive(row.Text(1))
		if !alive {
			one.Task.State, one.Task.Ports = lathe.TaskEnded, nil
		}
		return one, err
	}
}

// DetachTask makes a child session that a call waits for work in the background: it reports its end from now on.
func (x Shells) DetachTask(ctx context.Context, id lathe.SessionID) error {
	s := x.store
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		return t.exec(`UPDATE session SET task = $1 WHERE id = $2`, int64(lathe.Background), string(id))
	})
	return err
}

// TakeBackTask undoes that, if the session has not reported its end yet. It returns whether it did.
func (x Shells) TakeBackTask(ctx context.Context, id lathe.SessionID) (back bool, err error) {
	s := x.store
	_, err = s.writer.write(ctx, true, func(t *txn) error {
		n, err := t.count(`UPDATE session SET task = $1 WHERE id = $2 AND task = $3`, int64(lathe.Awaited), string(id), int64(lathe.Background))
		back = n > 0
		return err
	})
	return back && err == nil, err
}
