package store

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Admit stores an input from any caller. When it returns, the input survives a kill
// and a power cut. Sending the same prompt again changes nothing. The same message id
// with a different text, or in another session, is a conflict.
func (s *Store) Admit(ctx context.Context, id lathe.SessionID, in lathe.Input) ([]lathe.Event, error) {
	var rows promptRows
	if p, ok := in.(lathe.Submission); ok {
		var err error
		if rows, err = s.blobs.encodeMessage(p.Message); err != nil {
			return nil, err
		}
	}
	return s.writer.write(ctx, true, func(t *txn) error {
		row, err := t.session(id)
		if err != nil {
			return err
		}
		switch in := in.(type) {
		case lathe.Submission:
			return t.admitPrompt(row, in, rows)
		case lathe.PermissionAnswer:
			if in.Reply == lathe.Always || in.ForSession {
				if err := saveAnswer(t, row, in); err != nil {
					return err
				}
			}
			return t.admitAnswer(row, in.Ask, &lathe.PermissionReplied{Session: id, Request: in.Ask, Reply: in.Reply}, noteOf(in))
		case lathe.QuestionAnswer:
			if in.Reject {
				return t.admitAnswer(row, in.Ask, &lathe.QuestionRejected{Session: id, Request: in.Ask}, "")
			}
			return t.admitAnswer(row, in.Ask, &lathe.QuestionReplied{Session: id, Request: in.Ask, Answers: in.Answers}, "")
		case lathe.Cancel:
			return t.admitCancel(row)
		case lathe.Resume:
			return t.exec(`UPDATE message SET hold = 0 WHERE session = $1 AND waiting > 0`, row.n)
		}
		return nil
	})
}

// promptRows are the rows of a message and its parts.
type promptRows struct {
	message encoded
	parts   []encoded
}

// encodeMessage encodes a message and its parts outside the writer, which all callers share.
func (b *blobs) encodeMessage(m lathe.Message) (rows promptRows, err error) {
	if rows.message, err = b.encode(&lathe.MessageChanged{Info: m}); err != nil {
		return rows, err
	}
	rows.parts = make([]encoded, len(m.Parts))
	for i, p := range m.Parts {
		if rows.parts[i], err = b.encode(&lathe.PartChanged{Part: p}); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// admitPrompt stores a prompt and resumes paused ones. The prompt's agent and model become those of
// the session. A digest recognizes a prompt that is sent again.
func (t *txn) admitPrompt(s *sessionRow, p lathe.Submission, rows promptRows) error {
	old, err := t.message(p.Message.ID)
	if err != nil {
		return err
	}
	if old != nil {
		if old.session != s.n || old.digest != p.Digest {
			return lathe.Errorf(lathe.Conflict, "message %s was already sent, in another session or with a different text; use a new id", p.Message.ID)
		}
		return nil
	}
	m := p.Message
	if m.Created == 0 {
		m.Created = t.now
	}
	if m.Created, err = t.nextCreated(s, m.Created); err != nil {
		return err
	}
	k := marks{waiting: 1, needsReply: !p.NoReply, digest: p.Digest}
	if p.Delivery == lathe.Queue {
		k.waiting = 2
	}
	if p.NoReply {
		k.waiting = 0 // no runner will promote it
	}
	if err := t.insertMessage(s, m, rows.message, k); err != nil {
		return err
	}
	for i, part := range m.Parts {
		part.Message = m.ID
		if err := t.putPart(s, part, rows.parts[i]); err != nil {
			return err
		}
	}
	if err := t.exec(`UPDATE message SET hold = 0 WHERE session = $1 AND hold = 1`, s.n); err != nil {
		return err
	}
	if err := t.putTask(s, p.Task); err != nil {
		return err
	}
	e := lathe.Edit{Touch: true}
	if u, ok := m.Data.(*lathe.User); ok {
		e.Agent = lathe.Some(u.Agent)
		variant := u.Model.Variant
		if variant == "" {
			variant = "default"
		}
		e.Model = lathe.Some(&lathe.SessionModel{ID: u.Model.Model, Provider: u.Model.Provider, Variant: variant})
	}
	return t.edit(s, e)
}

// admitAnswer sets the answer of an ask, once.
func (t *txn) admitAnswer(s *sessionRow, ask lathe.AskID, f lathe.Fact, note string) error {
	n, err := t.count(`UPDATE ask SET note = $1 WHERE id = $2 AND session = $3 AND answer IS NULL`, null(note), string(ask), s.n)
	if err != nil {
		return err
	}
	if n == 0 {
		return lathe.Errorf(lathe.NotFound, "request %s is not waiting for an answer", ask)
	}
	return t.answer(s, ask, f)
}

// admitCancel marks the lease for its epoch and pauses queued prompts. A session without a
// lease holder has nothing to cancel.
func (t *txn) admitCancel(s *sessionRow) error {
	if err := t.exec(`UPDATE lease SET cancel = 1 WHERE session = $1 AND owner IS NOT NULL`, s.n); err != nil {
		return err
	}
	return t.exec(`UPDATE message SET hold = 1 WHERE session = $1 AND waiting > 0`, s.n)
}

// QueuedPrompt is a user message with its private marks.
type QueuedPrompt struct {
	Message lathe.MessageID
	Queue   bool // delivered when the session becomes idle
	Paused  bool // waits for the next prompt
}

// Inbox lists the queued prompts of a session in admission order, and the newest message that
// needs a reply.
func (s *Store) Inbox(ctx context.Context, id lathe.SessionID) (queued []QueuedPrompt, needsReply lathe.MessageID, err error) {
	err = s.read(ctx, func(r Reader) error {
		queued, err = all(r, `SELECT message.id, waiting, hold FROM message JOIN session ON session.n = message.session
			WHERE session.id = $1 AND waiting > 0 ORDER BY message.created, message.id`, []any{string(id)}, func(row Row) (QueuedPrompt, error) {
			return QueuedPrompt{lathe.MessageID(row.Text(0)), row.Int(1) == 2, row.Int(2) != 0}, nil
		})
		if err != nil {
			return err
		}
		newest, err := one(r, `SELECT message.id FROM message JOIN session ON session.n = message.session
			WHERE session.id = $1 AND wants = 1 AND waiting = 0 ORDER BY message.created DESC, message.id DESC LIMIT 1`, []any{string(id)}, firstText)
		needsReply = lathe.MessageID(newest)
		return err
	})
	return queued, needsReply, err
}
