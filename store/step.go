package store

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
)

// StepPage is a part of the answers of a session, oldest first.
type StepPage struct {
	Total    int // answers in the session
	At       int // answers that are not undone
	First    int // number of the first one here, from 1
	Messages []lathe.Message
	Prompts  map[lathe.MessageID]lathe.Message // that they answer
}

// StepPage reads the newest answers before a number, at most limit. 0 is the end. A session has many steps, and only
// those of the page are read.
func (s *Store) StepPage(ctx context.Context, of lathe.Session, before, limit int) (page StepPage, err error) {
	err = s.readFiles(ctx, func(r Reader) (err error) {
		page, err = s.stepPage(r, of, before, limit)
		return err
	})
	return page, err
}

// RequestDigests returns what was kept of the requests of a session, by answer.
func RequestDigests(ctx context.Context, s *Store, id lathe.SessionID) (map[lathe.MessageID]string, error) {
	out := map[lathe.MessageID]string{}
	err := query(ctx, s, `SELECT message.id, message.request FROM message JOIN session ON session.n = message.session
		WHERE session.id = $1 AND message.request IS NOT NULL`, []any{string(id)}, func(row Row) error {
		out[lathe.MessageID(row.Text(0))] = row.Text(1)
		return nil
	})
	return out, err
}

func (s *Store) stepPage(r Reader, of lathe.Session, before, limit int) (StepPage, error) {
	page := StepPage{Prompts: map[lathe.MessageID]lathe.Message{}}
	session, err := one(r, `SELECT n FROM session WHERE id = $1`, []any{string(of.ID)}, firstInt)
	if err != nil {
		return page, err
	}
	if session == 0 {
		return page, notFound(of.ID)
	}
	if err := page.count(r, session, of.Revert); err != nil {
		return page, err
	}
	end := page.Total
	if before > 0 {
		end = min(end, before-1)
	}
	var rows []int64
	err = r.Query(`SELECT `+messageColumns+` FROM message WHERE session = $1 AND role = 'assistant'
		ORDER BY created DESC, id DESC LIMIT $2 OFFSET $3`, []any{session, int64(limit), int64(page.Total - end)}, func(row Row) error {
		m, err := s.readMessage(row, of.ID)
		page.Messages, rows = append(page.Messages, m), append(rows, row.Int(0))
		return err
	})
	if err != nil {
		return page, err
	}
	for i, n := range rows {
		if page.Messages[i].Parts, err = s.parts(r, of.ID, page.Messages[i].ID, n); err != nil {
			return page, err
		}
		if err := s.addPrompt(r, &page, page.Messages[i]); err != nil {
			return page, err
		}
	}
	slices.Reverse(page.Messages)
	page.First = end - len(rows) + 1
	return page, nil
}

// count counts the answers of a session, and those before the point of an undo.
func (p *StepPage) count(r Reader, session int64, undone *lathe.Revert) error {
	total, err := one(r, `SELECT count(*) FROM message WHERE session = $1 AND role = 'assistant'`, []any{session}, firstInt)
	p.Total, p.At = int(total), int(total)
	if err != nil || undone == nil {
		return err
	}
	from, err := one(r, `SELECT created FROM message WHERE session = $1 AND id = $2`, []any{session, string(undone.Message)},
		func(row Row) (lathe.Time, error) { return lathe.Time(row.Float(0)), nil })
	if err != nil || from == 0 {
		return err
	}
	at, err := one(r, `SELECT count(*) FROM message WHERE session = $1 AND role = 'assistant' AND (created, id) < ($2, $3)`,
		[]any{session, float64(from), string(undone.Message)}, firstInt)
	p.At = int(at)
	return err
}

// addPrompt reads the prompt of an answer, once.
func (s *Store) addPrompt(r Reader, page *StepPage, answer lathe.Message) error {
	id := answer.Parent()
	if _, ok := page.Prompts[id]; ok || id == "" {
		return nil
	}
	n := int64(0)
	var m lathe.Message
	err := r.Query(`SELECT `+messageColumns+` FROM message WHERE id = $1`, []any{string(id)}, func(row Row) (err error) {
		n = row.Int(0)
		m, err = s.readMessage(row, answer.Session)
		return err
	})
	if err == nil && n != 0 {
		m.Parts, err = s.parts(r, answer.Session, id, n)
	}
	page.Prompts[id] = m
	return err
}

// AfterStep returns the message after an answer, which is named by its number; "" at the end of the history. Step 0 is
// before the first message.
func (s *Store) AfterStep(ctx context.Context, id lathe.SessionID, step int) (after lathe.MessageID, err error) {
	err = s.readFiles(ctx, func(r Reader) error {
		session, err := one(r, `SELECT n FROM session WHERE id = $1`, []any{string(id)}, firstInt)
		if err != nil {
			return err
		}
		if session == 0 {
			return notFound(id)
		}
		var at lathe.Position
		if step != 0 {
			at, err = one(r, `SELECT created, id FROM message WHERE session = $1 AND role = 'assistant' ORDER BY created, id LIMIT 1 OFFSET $2`,
				[]any{session, int64(max(step, 1) - 1)}, func(row Row) (lathe.Position, error) {
					return lathe.Position{Time: lathe.Time(row.Float(0)), ID: row.Text(1)}, nil
				})
			if err == nil && (at.IsZero() || step < 0) {
				err = lathe.Errorf(lathe.NotFound, "no step %d in %s; `lathe session rewind` lists the steps", step, id)
			}
			if err != nil {
				return err
			}
		}
		next, err := one(r, `SELECT id FROM message WHERE session = $1 AND (created, id) > ($2, $3) AND waiting = 0 ORDER BY created, id LIMIT 1`,
			[]any{session, float64(at.Time), at.ID}, firstText)
		after = lathe.MessageID(next)
		return err
	})
	return after, err
}
