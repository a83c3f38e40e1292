package store

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/lathe-agent/lathe"
)

const messageColumns = `message.n, message.id, message.role, message.created, message.parent, message.data, message.born, message.seq`

// readMessage reads the columns above.
func (s *Store) readMessage(row Row, session lathe.SessionID) (lathe.Message, error) {
	return messageOf(row, session, s.blobs.expand)
}

func messageOf(row Row, session lathe.SessionID, expand func([]byte) ([]byte, error)) (lathe.Message, error) {
	m := lathe.Message{ID: lathe.MessageID(row.Text(1)), Session: session, Created: lathe.Time(row.Float(3))}
	data, err := expand(row.Bytes(5))
	if err == nil {
		err = m.ReadRow(row.Text(2), data)
	}
	if err != nil {
		return m, lathe.Errorf(codeOfRow(err), "message %s: %w", m.ID, err)
	}
	if !row.Null(4) {
		m = m.WithParent(lathe.MessageID(row.Text(4)))
	}
	return m, nil
}

const partColumns = `part.n, part.id, part.type, part.data, part.open, part.born, part.seq`

// readPart reads the columns above. An open part's text is not in its row: see withTails.
func (s *Store) readPart(row Row, session lathe.SessionID, message lathe.MessageID) (p lathe.Part, n int64, open bool, err error) {
	p, err = partOf(row, 1, session, message, s.blobs.expand)
	return p, row.Int(0), row.Int(4) != 0, err
}

// partOf reads id, type and data, from a column on.
func partOf(row Row, i int, session lathe.SessionID, message lathe.MessageID, expand func([]byte) ([]byte, error)) (lathe.Part, error) {
	p := lathe.Part{ID: lathe.PartID(row.Text(i)), Session: session, Message: message}
	data, err := expand(row.Bytes(i + 2))
	if err == nil {
		err = p.ReadRow(row.Text(i+1), data)
	}
	if err != nil {
		err = lathe.Errorf(codeOfRow(err), "part %s: %w", p.ID, err)
	}
	return p, err
}

// codeOfRow is the code of a row that cannot be read: the store of its large value is away, or it is damaged.
func codeOfRow(err error) lathe.Code {
	if lathe.CodeOf(err) == lathe.Unavailable && !errors.Is(err, fs.ErrNotExist) {
		return lathe.Unavailable
	}
	return lathe.Internal
}

const tailsOfPart = `SELECT text FROM tail WHERE part = $1 ORDER BY at`

// withTails adds the text in its tails to an open part.
func withTails(r Reader, n int64, p lathe.Part) (lathe.Part, error) {
	var text []byte
	err := r.Query(tailsOfPart, []any{n}, func(row Row) error {
		text = append(text, row.Bytes(0)...)
		return nil
	})
	return p.WithText(string(text)), err
}

// parts reads the parts of a message in the order of creation.
func (s *Store) parts(r Reader, session lathe.SessionID, message lathe.MessageID, n int64) ([]lathe.Part, error) {
	out := []lathe.Part{}
	type growing struct {
		i int
		n int64
	}
	var open []growing
	err := r.Query(`SELECT `+partColumns+` FROM part WHERE message = $1 ORDER BY n`, []any{n}, func(row Row) error {
		p, n, isOpen, err := s.readPart(row, session, message)
		if isOpen {
			open = append(open, growing{len(out), n})
		}
		out = append(out, p)
		return err
	})
	for _, g := range open {
		if err == nil {
			out[g.i], err = withTails(r, g.n, out[g.i])
		}
	}
	return out, err
}

// History returns the newest messages older than before, at most limit of them, oldest
// first. A zero position starts at the end, and a limit of 0 means no limit.
func (s *Store) History(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error) {
	var page lathe.Page
	err := s.readFiles(ctx, func(r Reader) (err error) {
		page, err = s.history(r, id, before, limit)
		return err
	})
	return page, err
}

// history reads one row more than limit, to learn whether there are older messages.
func (s *Store) history(r Reader, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error) {
	session, err := one(r, `SELECT n FROM session WHERE id = $1`, []any{string(id)}, firstInt)
	if err != nil {
		return lathe.Page{}, err
	}
	if session == 0 {
		return lathe.Page{}, notFound(id)
	}
	sql, args := `SELECT `+messageColumns+` FROM message WHERE session = $1`, []any{session}
	if !before.IsZero() {
		sql += ` AND (created, id) < ($2, $3)`
		args = append(args, float64(before.Time), before.ID)
	}
	sql += ` ORDER BY created DESC, id DESC`
	if limit > 0 {
		args = append(args, int64(limit)+1)
		sql += ` LIMIT ` + placeholder(len(args))
	}
	page := lathe.Page{Messages: []lathe.Message{}}
	var rows []int64
	err = r.Query(sql, args, func(row Row) error {
		if limit > 0 && len(rows) == limit {
			page.More = true
			return nil
		}
		m, err := s.readMessage(row, id)
		page.Messages, rows = append(page.Messages, m), append(rows, row.Int(0))
		return err
	})
	if err != nil {
		return lathe.Page{}, err
	}
	for i := range page.Messages {
		m := &page.Messages[i]
		if m.Parts, err = s.parts(r, id, m.ID, rows[i]); err != nil {
			return lathe.Page{}, err
		}
	}
	if n := len(page.Messages); page.More && n > 0 {
		oldest := page.Messages[n-1]
		page.Next = lathe.Position{Time: oldest.Created, ID: string(oldest.ID)}
	}
	slices.Reverse(page.Messages)
	return page, nil
}

// Message returns one message with its parts.
func (s *Store) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error) {
	var m lathe.Message
	err := s.readFiles(ctx, func(r Reader) error {
		n := int64(0)
		err := r.Query(`SELECT `+messageColumns+` FROM message JOIN session ON session.n = message.session
			WHERE message.id = $1 AND session.id = $2`, []any{string(id), string(session)}, func(row Row) (err error) {
			n = row.Int(0)
			m, err = s.readMessage(row, session)
			return err
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return lathe.Errorf(lathe.NotFound, "Message not found: %s", id)
		}
		m.Parts, err = s.parts(r, session, id, n)
		return err
	})
	return m, err
}

// Part returns one part.
func (s *Store) Part(ctx context.Context, session lathe.SessionID, message lathe.MessageID, id lathe.PartID) (lathe.Part, error) {
	var p lathe.Part
	err := s.readFiles(ctx, func(r Reader) error {
		n, open := int64(0), false
		err := r.Query(`SELECT `+partColumns+` FROM part JOIN message ON message.n = part.message
			JOIN session ON session.n = message.session
			WHERE part.id = $1 AND message.id = $2 AND session.id = $3`,
			[]any{string(id), string(message), string(session)}, func(row Row) (err error) {
				p, n, open, err = s.readPart(row, session, message)
				return err
			})
		if err != nil {
			return err
		}
		if n == 0 {
			return lathe.Errorf(lathe.NotFound, "Part not found: %s", id)
		}
		if open {
			p, err = withTails(r, n, p)
		}
		return err
	})
	return p, err
}

// messageInfo reads a message without its parts by its row.
func (s *Store) messageInfo(r Reader, n int64) (lathe.Message, error) {
	return one(r, `SELECT `+messageColumns+`, session.id FROM message JOIN session ON session.n = message.session WHERE message.n = $1`,
		[]any{n}, func(row Row) (lathe.Message, error) { return s.readMessage(row, lathe.SessionID(row.Text(8))) })
}

// Steps returns the messages of a session, oldest first, with only their patch and step-finish parts.
// It does not read tool outputs, which are most of a history.
func (s *Store) Steps(ctx context.Context, id lathe.SessionID) ([]lathe.Message, error) {
	var out []lathe.Message
	err := s.readFiles(ctx, func(r Reader) error {
		out = nil
		at := map[int64]int{}
		err := r.Query(`SELECT message.n, message.id, message.created FROM message JOIN session ON session.n = message.session
			WHERE session.id = $1 ORDER BY message.created, message.id`, []any{string(id)}, func(row Row) error {
			at[row.Int(0)] = len(out)
			out = append(out, lathe.Message{ID: lathe.MessageID(row.Text(1)), Session: id, Created: lathe.Time(row.Float(2))})
			return nil
		})
		if err != nil {
			return err
		}
		return r.Query(`SELECT `+partColumns+`, part.message FROM part
			WHERE part.message IN (SELECT message.n FROM message JOIN session ON session.n = message.session WHERE session.id = $1)
			AND part.type IN ('patch', 'step-finish') ORDER BY part.n`, []any{string(id)}, func(row Row) error {
			m := &out[at[row.Int(7)]]
			p, _, _, err := s.readPart(row, id, m.ID)
			m.Parts = append(m.Parts, p)
			return err
		})
	})
	return out, err
}
