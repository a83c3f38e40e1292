package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Walk calls f with every message of the sessions that a query selects, session after session in
// the query's order, oldest message first. since, if not 0, skips earlier messages.
// It is for statistics: it holds one message at a time and omits data that statistics do not
// need. The parts have no reasoning, step starts or old snapshots,
// large values are empty, and parts that still grow have the text of their rows.
func (s *Store) Walk(ctx context.Context, q lathe.Query, since lathe.Time, f func(lathe.Session, lathe.Message) error) error {
	sql, args := sessionQuery(q)
	return s.read(ctx, func(r Reader) error {
		return r.Query(sql, args, func(row Row) error {
			if err := context.Cause(ctx); err != nil {
				return lathe.Errorf(lathe.Canceled, "the walk over all messages was canceled: %w", err)
			}
			rec, err := readSession(row)
			if err != nil {
				return err
			}
			return s.walkSession(r, row.Int(0), rec.ID, since, func(m lathe.Message) error { return f(rec, m) })
		})
	})
}

// walkColumns are the columns of messages, then id, type, data and row of a part. Each session takes
// one statement, because a hundred thousand small ones would take most of the time.
const walkColumns = messageColumns + `, part.id, part.type, part.data, part.n`

func (s *Store) walkSession(r Reader, session int64, id lathe.SessionID, since lathe.Time, f func(lathe.Message) error) error {
	var m lathe.Message
	var born []createdPart
	open := int64(0) // the row of m
	flush := func() error {
		if open == 0 {
			return nil
		}
		// The database would copy all their data to sort them, and most are sorted already.
		slices.SortFunc(born, func(a, b createdPart) int { return cmp.Compare(a.n, b.n) })
		for _, b := range born {
			m.Parts = append(m.Parts, b.part)
		}
		born = born[:0]
		return f(m)
	}
	err := r.Query(`SELECT `+walkColumns+` FROM message
		LEFT JOIN part ON part.message = message.n AND part.type NOT IN ('reasoning', 'snapshot', 'step-start')
		WHERE message.session = $1 AND message.created >= $2 ORDER BY message.created, message.id`,
		[]any{session, float64(since)}, func(row Row) error {
			if n := row.Int(0); n != open {
				if err := flush(); err != nil {
					return err
				}
				var err error
				if m, err = messageOf(row, id, withoutLarge); err != nil {
					return err
				}
				open = n
			}
			if row.Null(8) {
				return nil
			}
			p, err := partOf(row, 8, id, m.ID, withoutLarge)
			born = append(born, createdPart{row.Int(11), p})
			return err
		})
	if err != nil {
		return err
	}
	return flush()
}

// createdPart is a part and the number of its first commit.
type createdPart struct {
	n    int64
	part lathe.Part
}
