package store

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

type partRow struct {
	n, message, session, born int64
	open                      bool
	kind                      string
	large                     bool // it refers to large values
}

const partByID = `SELECT part.n, message, session, open, type, part.born,
	EXISTS (SELECT 1 FROM blob_ref WHERE kind = 'part' AND row = part.n)
	FROM part JOIN message ON message.n = part.message WHERE part.id = $1`

func readPartRow(row Row) (*partRow, error) {
	return &partRow{
		n: row.Int(0), message: row.Int(1), session: row.Int(2), open: row.Int(3) != 0, kind: row.Text(4), born: row.Int(5), large: row.Int(6) != 0,
	}, nil
}

func (t *txn) part(id lathe.PartID) (*partRow, error) {
	if p, ok := t.known.parts[id]; ok {
		return p, nil
	}
	return one(t.tx, partByID, []any{string(id)}, readPartRow)
}

// putPart writes a whole part. The text of an open part goes to a tail, so that the row
// is not rewritten while it grows.
func (t *txn) putPart(s *sessionRow, p lathe.Part, enc encoded) error {
	old, err := t.part(p.ID)
	if err != nil {
		return err
	}
	m, err := t.ownMessage(s, p.Message)
	if err != nil {
		return err
	}
	if old != nil && old.message != m.n {
		return lathe.Errorf(lathe.Conflict, "part %s belongs to another message", p.ID)
	}
	p.Session = s.id
	var before usage
	if old != nil {
		if before, err = t.usedByPart(old); err != nil {
			return err
		}
	}
	seq := t.next()
	n, err := t.writePart(old, m.n, p, enc, seq)
	if err != nil {
		return err
	}
	if hasTail(p) {
		if err := t.exec(`INSERT INTO tail (part, at, text) VALUES ($1, 0, $2)`, *n, p.GrowingText()); err != nil {
			return err
		}
	}
	if err := indexPart(t, s, m, p.ID, n, enc.words); err != nil {
		return err
	}
	t.publish(seq, s, &lathe.PartChanged{Part: p, Time: t.now})
	return t.addUsage(s, usageOf(p.Body), before)
}

// hasTail reports whether an open part has text already.
func hasTail(p lathe.Part) bool { return p.Open() && p.GrowingText() != "" }

// writePart inserts or updates the row, without tails. The number of a new row may come with the next round trip, if
// nothing refers to it.
func (t *txn) writePart(old *partRow, message int64, p lathe.Part, enc encoded, seq int64) (*int64, error) {
	delete(t.known.parts, p.ID)
	delete(t.known.ends, p.ID)
	if old == nil {
		n := new(int64)
		t.dirty = true
		err := t.tx.Later(`INSERT INTO part (id, message, type, data, born, seq, open) VALUES ($1,$2,$3,$4,$5,$6,$7) RETURNING n`,
			[]any{string(p.ID), message, p.Body.Kind(), enc.data, seq, seq, boolInt(p.Open())}, func(row Row) { *n = row.Int(0) })
		if err == nil && (len(enc.blobs) > 0 || hasTail(p)) {
			err = t.tx.Sync()
		}
		if err != nil {
			return nil, err
		}
		return n, t.refer(kindPart, *n, enc.blobs, false)
	}
	if old.open {
		if err := t.exec(`DELETE FROM tail WHERE part = $1`, old.n); err != nil {
			return nil, err
		}
	}
	err := t.exec(`UPDATE part SET type = $1, data = $2, seq = $3, open = $4 WHERE n = $5`,
		p.Body.Kind(), enc.data, seq, boolInt(p.Open()), old.n)
	if err != nil {
		return nil, err
	}
	return &old.n, t.refer(kindPart, old.n, enc.blobs, old.large)
}

// removePart deletes a part with a tombstone, and subtracts its usage from the session.
func (t *txn) removePart(s *sessionRow, message lathe.MessageID, id lathe.PartID) error {
	m, err := t.ownMessage(s, message)
	if err != nil {
		return err
	}
	p, err := t.part(id)
	if err != nil {
		return err
	}
	if p == nil || p.message != m.n {
		return lathe.Errorf(lathe.NotFound, "Part not found: %s", id)
	}
	used, err := t.usedByPart(p)
	if err != nil {
		return err
	}
	if err := t.refer(kindPart, p.n, nil, p.large); err != nil {
		return err
	}
	if err := unindexParts(t, `(SELECT n FROM part WHERE n = $1)`, p.n); err != nil {
		return err
	}
	for _, sql := range []string{`DELETE FROM tail WHERE part = $1`, `DELETE FROM part WHERE n = $1`} {
		if err := t.exec(sql, p.n); err != nil {
			return err
		}
	}
	if err := t.addTombstone(tombstone{kind: partTombstone, message: message, part: id, born: p.born}, s); err != nil {
		return err
	}
	t.publish(t.counter, s, &lathe.PartRemoved{Session: s.id, Message: message, Part: id})
	return t.addUsage(s, usage{}, used)
}

// checkpoint appends the new text of an open part. It publishes nothing, because live readers
// have the text from deltas.
func (t *txn) checkpoint(s *sessionRow, c *lathe.Checkpoint) error {
	p, err := t.part(c.Part)
	if err != nil {
		return err
	}
	if p == nil || p.session != s.n || !p.open {
		return lathe.Errorf(lathe.Conflict, "part %s is not open", c.Part)
	}
	end, ok := t.known.ends[c.Part]
	if !ok {
		if end, err = one(t.tx, `SELECT at, text FROM tail WHERE part = $1 ORDER BY at DESC LIMIT 1`, []any{p.n}, readEnd); err != nil {
			return err
		}
	}
	if end != int64(c.Offset) {
		return lathe.Errorf(lathe.Conflict, "part %s ends at %d, not at %d", c.Part, end, c.Offset)
	}
	if c.Text == "" {
		return nil // two empty tails would have the same offset
	}
	delete(t.known.ends, c.Part)
	if err := t.exec(`INSERT INTO tail (part, at, text) VALUES ($1,$2,$3)`, p.n, end, c.Text); err != nil {
		return err
	}
	return t.exec(`UPDATE part SET seq = $1 WHERE n = $2`, t.next(), p.n)
}

// readEnd is the length of a text from its last tail.
func readEnd(row Row) (int64, error) { return row.Int(0) + int64(len(row.Bytes(1))), nil }

// usage is the cost and tokens that step-finish parts add to their session.
type usage struct {
	cost   lathe.Money
	tokens lathe.Tokens
}

func (u usage) plus(v usage) usage { return usage{u.cost.Add(v.cost), u.tokens.Add(v.tokens)} }

func usageOf(b lathe.Body) usage {
	if f, ok := b.(*lathe.StepFinish); ok {
		return usage{f.Cost, lathe.Tokens{}.Add(f.Tokens)}
	}
	return usage{}
}

// unused clears the sums of a record, so that they are computed from the copied parts.
func unused(rec lathe.Session) lathe.Session {
	if rec.Cost != nil {
		rec.Cost = new(lathe.Money)
	}
	if rec.Tokens != nil {
		rec.Tokens = &lathe.Tokens{}
	}
	return rec
}

func (t *txn) usedByPart(p *partRow) (usage, error) {
	if p.kind != "step-finish" {
		return usage{}, nil
	}
	return t.sumUsage(`part.n = $1`, p.n)
}

func (t *txn) usedByMessage(n int64) (usage, error) { return t.sumUsage(`part.message = $1`, n) }

func (t *txn) sumUsage(where string, arg any) (sum usage, err error) {
	err = t.tx.Query(`SELECT data FROM part WHERE type = 'step-finish' AND `+where, []any{arg}, func(row Row) error {
		var p lathe.Part
		if err := p.ReadRow("step-finish", row.Bytes(0)); err != nil {
			return err
		}
		sum = sum.plus(usageOf(p.Body))
		return nil
	})
	return sum, err
}

// addUsage updates the session's sums by the difference, without changing its update
// time.
func (t *txn) addUsage(s *sessionRow, came, went usage) error {
	if came == went {
		return nil
	}
	var sum usage
	err := t.tx.Query(`SELECT cost, tokens FROM session WHERE n = $1`, []any{s.n}, func(row Row) error {
		sum.cost = lathe.Money(row.Int(0))
		if row.Null(1) {
			return nil
		}
		return json.Unmarshal(row.Bytes(1), &sum.tokens)
	})
	if err != nil {
		return err
	}
	sum.cost = sum.cost.Add(came.cost).Add(-went.cost)
	minus := lathe.Tokens{
		Input: -went.tokens.Input, Output: -went.tokens.Output, Reasoning: -went.tokens.Reasoning,
		Cache: lathe.CacheTokens{Read: -went.tokens.Cache.Read, Write: -went.tokens.Cache.Write},
	}
	sum.tokens = sum.tokens.Add(came.tokens).Add(minus)
	seq := t.next()
	if err := t.exec(`UPDATE session SET cost = $1, tokens = $2, seq = $3 WHERE n = $4`, int64(sum.cost), pack(sum.tokens), seq, s.n); err != nil {
		return err
	}
	return t.publishSession(seq, s)
}
