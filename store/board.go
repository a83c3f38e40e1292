package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

const (
	boardLimit = 1000
	lineRunes  = 200 // of the last line of a session
	mostDepth  = 32  // of subagents
)

// boardSQL reads a session, its lease and status, and of its messages only the last one, by an index.
const boardSQL = `SELECT session.id, title, session.project, session.directory, agent, model, cost, session.created, session.updated,
	COALESCE(lease.owner, ''), COALESCE(lease.interrupted, 0), COALESCE(status.data, ''),
	EXISTS (SELECT 1 FROM message WHERE message.session = session.n AND waiting > 0 AND hold = 0),
	last.role, last.data,
	(SELECT part.data FROM part WHERE part.message = last.n AND part.type = 'text' ORDER BY part.n DESC LIMIT 1)
	FROM session LEFT JOIN lease ON lease.session = session.n LEFT JOIN status ON status.session = session.n
	LEFT JOIN message AS last ON last.n = (SELECT n FROM message WHERE message.session = session.n AND waiting = 0 ORDER BY created DESC, id DESC LIMIT 1)
	WHERE session.parent IS NULL`

// Board reads what sessions are doing, by their last change, newest first. Its cost grows with the number of sessions,
// not with their length.
func Board(ctx context.Context, s *Store, q lathe.BoardQuery) ([]lathe.BoardEntry, error) {
	sql, args := boardSQL, []any{}
	if !q.Archived {
		sql += ` AND archived IS NULL`
	}
	if len(q.Sessions) > 0 {
		marks := make([]string, len(q.Sessions))
		for i, id := range q.Sessions {
			args = append(args, string(id))
			marks[i] = placeholder(len(args))
		}
		sql += ` AND session.id IN (` + strings.Join(marks, `, `) + `)`
	}
	if q.Limit <= 0 {
		q.Limit = boardLimit
	}
	args = append(args, int64(q.Limit))
	sql += ` ORDER BY session.updated DESC, session.id DESC LIMIT ` + placeholder(len(args))
	out := []lathe.BoardEntry{}
	err := s.readFiles(ctx, func(r Reader) error {
		out = out[:0]
		b, err := newBoard(s, r)
		if err != nil {
			return err
		}
		return r.Query(sql, args, func(row Row) error {
			e, err := b.entry(row)
			out = append(out, e)
			return err
		})
	})
	return out, err
}

// activity is what happens in a session or below it.
type activity struct {
	asks int
	ask  string // the first request, or the command among those of one call
	busy bool
}

// board is what one reading of the board shares between its rows.
type board struct {
	expand func([]byte) ([]byte, error) // of large values
	alive  func(owner string) (bool, error)
	below  map[lathe.SessionID]*activity
}

// newBoard finds the sessions with open requests and those at work, and counts them for all sessions above. Both are few.
func newBoard(s *Store, r Reader) (*board, error) {
	b := &board{expand: s.blobs.expand, alive: ownersOf(s, r).alive, below: map[lathe.SessionID]*activity{}}
	out, alive := b.below, b.alive
	note := func(sql string, set func(a *activity, kind string, data []byte)) error {
		type found struct {
			id, parent, owner, kind string
			data                    []byte
		}
		list, err := all(r, sql, nil, func(row Row) (found, error) {
			return found{row.Text(0), row.Text(1), row.Text(2), row.Text(3), slices.Clone(row.Bytes(4))}, nil
		})
		for _, f := range list {
			on, gone := alive(f.owner)
			if err = errors.Join(err, gone); !on { // nobody waits for the answer any more
				continue
			}
			id, parent := f.id, f.parent
			for range mostDepth { // parents in a circle end somewhere
				a := out[lathe.SessionID(id)]
				if a == nil {
					a = &activity{}
					out[lathe.SessionID(id)] = a
				}
				if set(a, f.kind, f.data); parent == "" || err != nil {
					break
				}
				id = parent
				parent, err = one(r, `SELECT parent FROM session WHERE id = $1`, []any{id}, firstText)
			}
		}
		return err
	}
	err := note(`SELECT session.id, session.parent, lease.owner, kind, ask.data FROM ask JOIN session ON session.n = ask.session
		LEFT JOIN lease ON lease.session = session.n WHERE answer IS NULL ORDER BY ask.n`, (*activity).addAsk)
	if err == nil {
		err = note(`SELECT session.id, session.parent, lease.owner, '', '' FROM status JOIN session ON session.n = status.session LEFT JOIN lease ON lease.session = session.n
			WHERE data <> '{"type":"idle"}'`, func(a *activity, _ string, _ []byte) { a.busy = true })
	}
	return b, err
}

// addAsk counts a request. One that cannot be read is counted, too.
func (a *activity) addAsk(kind string, data []byte) {
	a.asks++
	f, err := readAsk(kind, data)
	if err != nil {
		return
	}
	switch f := f.(type) {
	case *lathe.PermissionAsked:
		if a.ask == "" || f.Permission == "bash" && !strings.HasPrefix(a.ask, "asks: bash") {
			a.ask = "asks: " + f.Permission + " " + f.Summary()
		}
	case *lathe.QuestionAsked:
		if a.ask == "" && len(f.Questions) > 0 {
			a.ask = "asks: " + f.Questions[0].Question
		}
	default:
	}
}

// entry reads a row of boardSQL and decides on the state: the first that fits, in the order of their urgency.
func (b *board) entry(row Row) (lathe.BoardEntry, error) {
	e := lathe.BoardEntry{
		Session: lathe.SessionID(row.Text(0)), Title: row.Text(1), Project: row.Text(2), Directory: row.Text(3), Agent: row.Text(4),
		Cost: lathe.Money(row.Int(6)), Created: lathe.Time(row.Float(7)), Updated: lathe.Time(row.Float(8)),
	}
	var m lathe.SessionModel
	if err := unpack(row, 5, &m); err != nil {
		return e, lathe.Errorf(lathe.Internal, "session %s: model: %w", e.Session, err)
	}
	if m.ID != "" {
		e.Model = m.Provider + "/" + m.ID
	}
	var failed bool
	var err error
	if e.Last, failed, err = b.lastLine(row); err != nil {
		return e, err
	}
	owner, a := row.Text(9), b.below[e.Session]
	if a == nil {
		a = &activity{}
	}
	e.Asks = a.asks
	alive, err := b.alive(owner)
	if err != nil {
		return e, err
	}
	cut := row.Int(10) != 0 && owner == "" || owner != "" && !alive
	switch queued := row.Int(12) != 0; {
	case a.asks > 0:
		e.State = lathe.BoardNeedsYou
		if a.ask != "" {
			e.Last = clipLine(strings.ReplaceAll(a.ask, "\n", " "))
		}
	case a.busy:
		e.State = lathe.BoardRunning
	case cut:
		e.State = lathe.BoardInterrupted
	case queued:
		e.State = lathe.BoardQueued
	case failed:
		e.State = lathe.BoardFailed
	default:
		e.State = lathe.BoardDone
	}
	return e, nil
}

// lastLine is the last line of the last message, or why that failed. A cancel of the user is no failure.
func (b *board) lastLine(row Row) (line string, failed bool, err error) {
	if row.Null(13) {
		return "", false, nil
	}
	if row.Text(13) == "assistant" {
		data, err := b.expand(row.Bytes(14))
		var m lathe.Message
		if err == nil {
			err = m.ReadRow("assistant", data)
		}
		if err != nil {
			return "", false, err
		}
		switch fault := m.Data.(*lathe.Assistant).Error.(type) {
		case nil, *lathe.AbortedFault:
		default:
			return clipLine(lathe.FaultMessage(fault)), true, nil
		}
	}
	if row.Null(15) {
		return "", false, nil
	}
	data, err := b.expand(row.Bytes(15))
	if err != nil {
		return "", false, err
	}
	var text struct {
		Text      string `json:"text"`
		Synthetic bool   `json:"synthetic"`
	}
	if err := json.Unmarshal(data, &text); err != nil || text.Synthetic {
		return "", false, err
	}
	return clipLine(text.Text), false, nil
}

// clipLine is the last line of a text that says something, in one line of printable characters.
func clipLine(text string) string {
	text = strings.TrimSpace(text)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	line = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, line)
	if r := []rune(line); len(r) > lineRunes {
		return string(r[:lineRunes-1]) + "…"
	}
	return line
}
