package store

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Import writes a whole session from another database, or nothing. Ids and times stay.
// An existing session moves to the record's project, directory and path, and gets its
// missing messages and parts. Existing ones stay unchanged. An id that belongs to another
// session is a conflict.
func (s *Store) Import(ctx context.Context, rec lathe.Session, messages []lathe.Message) error {
	rows := make([]promptRows, len(messages))
	for i, m := range messages {
		var err error
		if rows[i], err = s.encodeMessage(m); err != nil {
			return err
		}
	}
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		dst, err := t.importSession(rec)
		if err != nil {
			return err
		}
		t.bulk = t.counter
		published := len(t.events)
		for i, m := range messages {
			if err := t.importMessage(dst, m, rows[i]); err != nil {
				return err
			}
			t.events = t.events[:published] // the rest is read back after the commit
		}
		return nil
	})
	return err
}

// importSession creates the session, or moves an existing one to the project of the record.
func (t *txn) importSession(rec lathe.Session) (*sessionRow, error) {
	row, err := t.session(rec.ID)
	if lathe.CodeOf(err) == lathe.NotFound {
		return t.insertSession(unused(rec))
	}
	if err != nil {
		return nil, err
	}
	return row, t.edit(row, lathe.Edit{
		Project: lathe.Some(rec.Project), Directory: lathe.Some(rec.Directory), Path: lathe.Some(rec.Path),
	})
}

// importMessage adds the missing rows of a message. Its sums come from its step-finish parts.
func (t *txn) importMessage(s *sessionRow, m lathe.Message, rows promptRows) error {
	old, err := t.message(m.ID)
	if err != nil {
		return err
	}
	switch {
	case old == nil:
		if err := t.insertMessage(s, m, rows.message, marks{}); err != nil {
			return err
		}
	case old.session != s.n:
		return lathe.Errorf(lathe.Conflict, "message %s belongs to another session here; nothing was imported", m.ID)
	}
	for i, p := range m.Parts {
		known, err := t.part(p.ID)
		if err != nil {
			return err
		}
		if known != nil {
			if known.session != s.n {
				return lathe.Errorf(lathe.Conflict, "part %s belongs to another session here; nothing was imported", p.ID)
			}
			continue
		}
		p.Message = m.ID
		if err := t.putPart(s, p, rows.parts[i]); err != nil {
			return err
		}
	}
	return nil
}
