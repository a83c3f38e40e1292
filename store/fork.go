package store

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Fork creates the session rec with the messages of another session before the named message,
// or with all of them if it is empty or unknown. Message data has no ids, so it is copied
// inside the database. Creation times stay, and so does the order.
func (s *Store) Fork(ctx context.Context, from lathe.SessionID, before lathe.MessageID, rec lathe.Session) error {
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		src, err := t.session(from)
		if err != nil {
			return err
		}
		dst, err := t.insertSession(unused(rec))
		if err != nil {
			return err
		}
		t.bulk, t.index.behind = t.counter, true
		if err := t.copySystemPrompt(src, dst); err != nil {
			return err
		}
		return (&forker{txn: t, dst: dst, ids: map[lathe.MessageID]lathe.MessageID{}}).run(src, before)
	})
	return err
}

// forker copies messages and maps old ids to new ones.
type forker struct {
	*txn
	dst *sessionRow
	ids map[lathe.MessageID]lathe.MessageID
}

type sourceMessage struct {
	n      int64
	id     lathe.MessageID
	parent lathe.MessageID
}

// run copies the messages and sums the usage of the copies, because the source may have more.
func (f *forker) run(src *sessionRow, before lathe.MessageID) error {
	messages, err := f.source(src, before)
	if err != nil {
		return err
	}
	var used usage
	for _, m := range messages {
		n, err := f.copyMessage(m)
		if err != nil {
			return err
		}
		steps, err := f.copyParts(m, n)
		if err != nil {
			return err
		}
		if steps {
			u, err := f.usedByMessage(n)
			if err != nil {
				return err
			}
			used = used.plus(u)
		}
	}
	published := len(f.events)
	err = f.addUsage(f.dst, used, usage{})
	f.events = f.events[:published] // read back with the rest
	return err
}

// source lists the messages to copy, by position and never by id. Queued prompts are not
// part of the history yet.
func (f *forker) source(src *sessionRow, before lathe.MessageID) (out []sourceMessage, err error) {
	sql, args := `SELECT n, id, parent FROM message WHERE session = $1 AND waiting = 0`, []any{src.n}
	err = f.tx.Query(`SELECT created FROM message WHERE id = $1 AND session = $2`, []any{string(before), src.n}, func(row Row) error {
		sql, args = sql+` AND (created, id) < ($2, $3)`, append(args, row.Float(0), string(before))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all(f.tx, sql+` ORDER BY created, id`, args, func(row Row) (sourceMessage, error) {
		return sourceMessage{row.Int(0), lathe.MessageID(row.Text(1)), lathe.MessageID(row.Text(2))}, nil
	})
}

// copyMessage gives the copy a new id and points it at the copy of its parent.
func (f *forker) copyMessage(m sourceMessage) (int64, error) {
	id := f.store.ids.Message()
	f.ids[m.id] = id
	parent := m.parent
	if to, ok := f.ids[parent]; ok {
		parent = to
	}
	seq := f.next()
	n, err := f.insert(`INSERT INTO message (id, session, role, created, parent, data, born, seq, waiting, hold, wants)
		SELECT $1, $2, role, created, $3, data, $4, $5, 0, 0, 0 FROM message WHERE n = $6 RETURNING n`,
		string(id), f.dst.n, null(parent), seq, seq, m.n)
	if err != nil {
		return 0, err
	}
	return n, f.copyRefs(kindMessage, m.n, n)
}

func (f *forker) copyRefs(kind string, from, to int64) error {
	return f.exec(`INSERT INTO blob_ref (kind, row, hash) SELECT kind, $1, hash FROM blob_ref WHERE kind = $2 AND row = $3`, to, kind, from)
}

// copyParts reports whether there are steps among the parts.
func (f *forker) copyParts(m sourceMessage, to int64) (steps bool, err error) {
	type source struct {
		n     int64
		kind  string
		open  bool
		blobs bool
	}
	parts, err := all(f.tx, `SELECT n, type, open, (SELECT count(*) FROM blob_ref WHERE kind = 'part' AND row = part.n)
		FROM part WHERE message = $1 ORDER BY n`, []any{m.n}, func(row Row) (source, error) {
		return source{row.Int(0), row.Text(1), row.Int(2) != 0, row.Int(3) > 0}, nil
	})
	if err != nil {
		return false, err
	}
	for _, p := range parts {
		steps = steps || p.kind == "step-finish"
		seq := f.next()
		n, err := f.insert(`INSERT INTO part (id, message, type, data, born, seq, open)
			SELECT $1, $2, type, data, $3, $4, open FROM part WHERE n = $5 RETURNING n`,
			string(f.store.ids.Part()), to, seq, seq, p.n)
		if err != nil {
			return false, err
		}
		if p.open {
			err = f.exec(`INSERT INTO tail (part, at, text) SELECT $1, at, text FROM tail WHERE part = $2`, n, p.n)
		}
		if err == nil && p.kind == "compaction" {
			err = f.remapTail(n)
		}
		if err == nil && p.blobs {
			err = f.copyRefs(kindPart, p.n, n)
		}
		if err != nil {
			return false, err
		}
	}
	return steps, nil
}

// remapTail points the copy of a compaction at the copy of its first uncompacted message, or
// at none if that was not copied.
func (f *forker) remapTail(n int64) error {
	var p lathe.Part
	err := f.tx.Query(`SELECT data FROM part WHERE n = $1`, []any{n}, func(row Row) error {
		return p.ReadRow("compaction", row.Bytes(0))
	})
	if err != nil {
		return err
	}
	c, ok := p.Body.(*lathe.Compaction)
	if !ok || c.TailStart == "" {
		return nil
	}
	c.TailStart = f.ids[c.TailStart]
	return f.exec(`UPDATE part SET data = $1 WHERE n = $2`, p.AppendRow(nil), n)
}
