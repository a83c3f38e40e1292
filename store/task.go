package store

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// putTask records the new purpose of a session. Another client's prompt ends the work for a
// tool call. A background session still reports to its parent.
func (t *txn) putTask(s *sessionRow, task lathe.Task) error {
	if task == lathe.NoTask {
		return t.exec(`UPDATE session SET task = 0 WHERE n = $1 AND task = 1`, s.n)
	}
	return t.exec(`UPDATE session SET task = $1 WHERE n = $2`, int64(task), s.n)
}

// Task returns the purpose of a session.
func (s *Store) Task(ctx context.Context, id lathe.SessionID) (lathe.Task, error) {
	task, err := findOne(ctx, s, `SELECT task FROM session WHERE id = $1`, []any{string(id)}, firstInt)
	return lathe.Task(task), err
}

// BackgroundTasks lists the background sessions that have not reported to their parent, oldest
// first, of all parents or of the named one.
func (s *Store) BackgroundTasks(ctx context.Context, parent lathe.SessionID) ([]lathe.Session, error) {
	return findAll(ctx, s, `SELECT `+sessionColumns+` FROM session WHERE task = 2 AND ($1 = '' OR parent = $2) ORDER BY n`,
		[]any{string(parent), string(parent)}, readSession)
}

// ReportToParent reports the end of a background session: in one transaction it admits the prompt
// to the parent and ends the task. So the parent gets one report, despite retries and crashes.
// sent is whether this call sent it.
func (s *Store) ReportToParent(ctx context.Context, id lathe.SessionID, p lathe.Submission) (sent bool, err error) {
	rows, err := s.blobs.encodeMessage(p.Message)
	if err != nil {
		return false, err
	}
	_, err = s.writer.write(ctx, true, func(t *txn) error {
		n, err := t.count(`UPDATE session SET task = 0 WHERE id = $1 AND task = 2`, string(id))
		if sent = err == nil && n > 0; !sent {
			return err
		}
		parent, err := t.session(p.Message.Session)
		if err != nil {
			return err
		}
		return t.admitPrompt(parent, p, rows)
	})
	return sent && err == nil, err
}
