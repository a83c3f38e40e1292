package store

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// putTask notes what a session works for from now on. Someone else's prompt ends the work for
// a call, which no longer waits alone; who works in the background reports all the same.
func (t *txn) putTask(s *sessionRow, task lathe.Task) error {
	if task == lathe.NoTask {
		return t.exec(`UPDATE session SET task = 0 WHERE n = $1 AND task = 1`, s.n)
	}
	return t.exec(`UPDATE session SET task = $1 WHERE n = $2`, int64(task), s.n)
}

// Task is what a session works for.
func (s *Store) Task(ctx context.Context, id lathe.SessionID) (lathe.Task, error) {
	task, err := findOne(ctx, s, `SELECT task FROM session WHERE id = $1`, []any{string(id)}, firstInt)
	return lathe.Task(task), err
}

// BackgroundTasks lists the sessions whose end their parent has yet to be told, in the order of
// their birth; of one parent if it is named.
func (s *Store) BackgroundTasks(ctx context.Context, parent lathe.SessionID) ([]lathe.Session, error) {
	return findAll(ctx, s, `SELECT `+sessionColumns+` FROM session WHERE task = 2 AND ($1 = '' OR parent = $2) ORDER BY n`,
		[]any{string(parent), string(parent)}, readSession)
}

// ReportToParent tells the parent of a background session that it has ended: the prompt is admitted
// there and the session works for nobody any more, both or neither. So it is told once,
// however often it is tried and whoever dies meanwhile; told reports whether it was this time.
func (s *Store) ReportToParent(ctx context.Context, id lathe.SessionID, p lathe.Submission) (told bool, err error) {
	rows, err := s.encodeMessage(p.Message)
	if err != nil {
		return false, err
	}
	_, err = s.writer.write(ctx, true, func(t *txn) error {
		n, err := t.count(`UPDATE session SET task = 0 WHERE id = $1 AND task = 2`, string(id))
		if told = err == nil && n > 0; !told {
			return err
		}
		parent, err := t.session(p.Message.Session)
		if err != nil {
			return err
		}
		return t.admitPrompt(parent, p, rows)
	})
	return told && err == nil, err
}
