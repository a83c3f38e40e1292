package store

import (
	"bytes"
	"context"
	"math"

	"github.com/lathe-agent/lathe"
)

// Commit writes the facts of a runner, in their order, if it still holds the lease. A lost
// lease, or a removed session, is a conflict. Ephemeral events among the facts are published in
// sequence and not stored. The returned events are the published ones: a new message may have
// moved by a millisecond, because creation times in a session increase strictly.
func (s *Store) Commit(ctx context.Context, l Lease, facts ...lathe.Fact) ([]lathe.Event, error) {
	rows, err := s.encodeAll(facts)
	if err != nil {
		return nil, err
	}
	j := &job{ctx: ctx, do: func(t *txn) error {
		row, err := t.checkLease(l)
		if err != nil {
			return err
		}
		return t.applyAll(row, facts, rows)
	}}
	if canLookAhead(facts) {
		j.lookAhead = func(t *txn) error { return lookAhead(t, l, facts) }
	}
	return s.writer.perform(j)
}

func (t *txn) applyAll(s *sessionRow, facts []lathe.Fact, rows []encoded) error {
	for i, f := range facts {
		if err := t.apply(s, f, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) encodeAll(facts []lathe.Fact) (rows []encoded, err error) {
	rows = make([]encoded, len(facts))
	for i, f := range facts {
		if rows[i], err = s.blobs.encode(f); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// apply writes one fact.
func (t *txn) apply(s *sessionRow, f lathe.Fact, enc encoded) error {
	if id := lathe.SessionOf(f); id != s.id && id != "" {
		return lathe.Errorf(lathe.Invalid, "a fact about %s cannot be committed to %s", id, s.id)
	}
	switch f := f.(type) {
	case *lathe.MessageChanged:
		return t.putMessage(s, f.Info, enc)
	case *lathe.MessageRemoved:
		return t.removeMessage(s, f.Message)
	case *lathe.PartChanged:
		return t.putPart(s, f.Part, enc)
	case *lathe.PartRemoved:
		return t.removePart(s, f.Message, f.Part)
	case *lathe.Checkpoint:
		return t.checkpoint(s, f)
	case *lathe.Promote:
		return t.promote(s, f.Message)
	case *lathe.Interrupted:
		return t.exec(`UPDATE lease SET interrupted = 1 WHERE session = $1`, s.n)
	case *lathe.Spent:
		return t.spent(s, f)
	case *lathe.SystemPromptSaved:
		return t.putSystemPrompt(s, f.SystemPrompt)
	case *lathe.RequestSent:
		return t.exec(`UPDATE message SET request = $1 WHERE id = $2 AND session = $3`, f.Digest, string(f.Message), s.n)
	case *lathe.TestsRan:
		return t.ranTests(f)
	case *lathe.StatusChanged:
		return t.putStatus(s, f)
	case *lathe.TodosChanged:
		return t.putList(s, `todo`, pack(orEmpty(f.Todos)), f)
	case *lathe.DiffChanged:
		return t.putList(s, `diff`, pack(orEmpty(f.Diff)), f)
	case *lathe.PermissionAsked:
		return t.putAsk(s, f.ID, `permission`, pack(f.PermissionRequest), f)
	case *lathe.QuestionAsked:
		return t.putAsk(s, f.ID, `question`, pack(f.QuestionRequest), f)
	case *lathe.PermissionReplied:
		return t.answer(s, f.Request, f)
	case *lathe.QuestionReplied:
		return t.answer(s, f.Request, f)
	case *lathe.QuestionRejected:
		return t.answer(s, f.Request, f)
	case *lathe.SessionCreated, *lathe.SessionChanged, *lathe.SessionDeleted, *lathe.ProjectChanged:
		return lathe.Errorf(lathe.Invalid, "%s is not for Commit: use Create, Edit or Remove", f.Type())
	default:
		t.publish(0, s, f)
		return nil
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// messageRow has the columns that are needed to write a message or its parts.
type messageRow struct {
	n, born int64
	created float64
	session int64
	waiting int64
	digest  string
	role    string
	data    []byte // as it is stored
	large   bool   // it refers to large values
}

const messageByID = `SELECT n, born, created, session, waiting, digest, role, data,
	EXISTS (SELECT 1 FROM blob_ref WHERE kind = 'message' AND row = message.n) FROM message WHERE id = $1`

// numbersOfMessage is for parts, which need the rest only for the index.
const numbersOfMessage = `SELECT n, born, created, session, waiting, digest, role, '', 0 FROM message WHERE id = $1`

func readMessageRow(row Row) (*messageRow, error) {
	return &messageRow{
		n: row.Int(0), born: row.Int(1), created: row.Float(2), session: row.Int(3), waiting: row.Int(4), digest: row.Text(5),
		role: row.Text(6), data: bytes.Clone(row.Bytes(7)), large: row.Int(8) != 0,
	}, nil
}

func (t *txn) message(id lathe.MessageID) (*messageRow, error) {
	if m, ok := t.known.messages[id]; ok {
		return m, nil
	}
	return one(t.tx, messageByID, []any{string(id)}, readMessageRow)
}

// ownMessage finds a message of the session.
func (t *txn) ownMessage(s *sessionRow, id lathe.MessageID) (*messageRow, error) {
	m, ok := t.known.messages[id]
	if !ok {
		sql := messageByID
		if t.store.index == nil {
			sql = numbersOfMessage
		}
		var err error
		if m, err = one(t.tx, sql, []any{string(id)}, readMessageRow); err != nil {
			return nil, err
		}
	}
	if m == nil || m.session != s.n {
		return nil, lathe.Errorf(lathe.NotFound, "Message not found: %s", id)
	}
	return m, nil
}

// putMessage writes a message without its parts. A new one takes the next free
// creation time; an old one keeps its own.
func (t *txn) putMessage(s *sessionRow, m lathe.Message, enc encoded) error {
	old, err := t.message(m.ID)
	if err != nil {
		return err
	}
	if old == nil {
		if m.Created, err = t.nextCreated(s, m.Created); err != nil {
			return err
		}
		if _, answer := m.Data.(*lathe.Assistant); answer {
			if err := t.clearInterrupted(s); err != nil {
				return err
			}
		}
		return t.insertMessage(s, m, enc, marks{})
	}
	if old.session != s.n {
		return lathe.Errorf(lathe.Conflict, "message %s belongs to another session", m.ID)
	}
	m.Session, m.Created, m.Parts = s.id, lathe.Time(old.created), nil
	seq := t.next()
	err = t.exec(`UPDATE message SET role = $1, data = $2, parent = $3, seq = $4 WHERE n = $5`,
		m.Data.Role(), enc.data, null(m.Parent()), seq, old.n)
	if err != nil {
		return err
	}
	if err := t.refer(kindMessage, old.n, enc.blobs, old.large); err != nil {
		return err
	}
	t.known.change(m.ID, *old, m.Data.Role(), enc)
	t.publish(seq, s, &lathe.MessageChanged{Info: m})
	return nil
}

// marks are the private columns of a user message.
type marks struct {
	waiting    int64 // 0 no, 1 steer, 2 queue
	needsReply bool
	digest     string
}

func (t *txn) insertMessage(s *sessionRow, m lathe.Message, enc encoded, k marks) error {
	m.Session, m.Parts = s.id, nil
	seq := t.next()
	n, err := t.insert(`INSERT INTO message (id, session, role, created, parent, data, born, seq, waiting, hold, wants, digest)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,0,$10,$11) RETURNING n`,
		string(m.ID), s.n, m.Data.Role(), float64(m.Created), null(m.Parent()), enc.data, seq, seq, k.waiting, boolInt(k.needsReply), null(k.digest))
	if err != nil {
		return err
	}
	if err := t.refer(kindMessage, n, enc.blobs, false); err != nil {
		return err
	}
	t.known.change(m.ID, messageRow{n: n, born: seq, created: float64(m.Created), session: s.n, waiting: k.waiting, digest: k.digest}, m.Data.Role(), enc)
	t.publish(seq, s, &lathe.MessageChanged{Info: m})
	return nil
}

// insert runs an INSERT that returns the number of the new row.
func (t *txn) insert(sql string, args ...any) (n int64, err error) {
	t.dirty = true
	return one(t.tx, sql, args, firstInt)
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// nextCreated returns the requested time, or a millisecond after the session's last
// message if that is later.
func (t *txn) nextCreated(s *sessionRow, requested lathe.Time) (lathe.Time, error) {
	last, err := t.lastCreated(s, `TRUE`)
	if err != nil || last < requested {
		return requested, err
	}
	return later(last), nil
}

// later is the next whole millisecond, or the next number where doubles are further apart.
func later(at lathe.Time) lathe.Time {
	next := math.Floor(float64(at)) + 1
	if lathe.Time(next) <= at {
		next = math.Nextafter(float64(at), math.MaxFloat64)
	}
	return lathe.Time(next)
}

// lastCreated returns the creation time of the session's last message that matches the
// condition. Without one it is before all times.
func (t *txn) lastCreated(s *sessionRow, where string) (lathe.Time, error) {
	last := lathe.Time(math.Inf(-1))
	err := t.tx.Query(`SELECT created FROM message WHERE session = $1 AND `+where+` ORDER BY created DESC, id DESC LIMIT 1`,
		[]any{s.n}, func(row Row) error {
			last = lathe.Time(row.Float(0))
			return nil
		})
	return last, err
}

// promote clears waiting. If anything but further prompts was written since, the prompt
// moves to the end and is published again, so that creation time stays the only order.
func (t *txn) promote(s *sessionRow, id lathe.MessageID) error {
	m, err := t.ownMessage(s, id)
	if err != nil {
		return err
	}
	if m.waiting == 0 {
		return nil // already promoted
	}
	if err := t.exec(`UPDATE message SET waiting = 0, hold = 0 WHERE n = $1`, m.n); err != nil {
		return err
	}
	if err := t.clearInterrupted(s); err != nil {
		return err
	}
	since, err := t.lastCreated(s, `waiting = 0`)
	if err != nil || float64(since) <= m.created {
		return err
	}
	last, err := t.lastCreated(s, `TRUE`)
	if err != nil {
		return err
	}
	created, seq := max(t.now, later(last)), t.next()
	if err := t.exec(`UPDATE message SET created = $1, seq = $2 WHERE n = $3`, float64(created), seq, m.n); err != nil {
		return err
	}
	moved, err := t.store.messageInfo(t.tx, m.n)
	if err != nil {
		return err
	}
	t.publish(seq, s, &lathe.MessageChanged{Info: moved})
	return nil
}

// clearInterrupted clears the mark of an interrupted turn.
func (t *txn) clearInterrupted(s *sessionRow) error {
	return t.exec(`UPDATE lease SET interrupted = 0 WHERE session = $1 AND interrupted = 1`, s.n)
}

// removeMessage deletes a message with one tombstone, and subtracts its usage from the session.
func (t *txn) removeMessage(s *sessionRow, id lathe.MessageID) error {
	m, err := t.ownMessage(s, id)
	if err != nil {
		return err
	}
	used, err := t.usedByMessage(m.n)
	if err != nil {
		return err
	}
	if err := t.deleteMessages(`n = $1`, m.n); err != nil {
		return err
	}
	if err := t.addTombstone(tombstone{kind: messageTombstone, message: id, born: m.born}, s); err != nil {
		return err
	}
	t.publish(t.counter, s, &lathe.MessageRemoved{Session: s.id, Message: id})
	return t.addUsage(s, usage{}, used)
}

// deleteMessages removes messages with their parts, tails and references.
func (t *txn) deleteMessages(where string, arg any) error {
	messages := `(SELECT n FROM message WHERE ` + where + `)`
	parts := `(SELECT n FROM part WHERE message IN ` + messages + `)`
	if err := unindexParts(t, parts, arg); err != nil {
		return err
	}
	for _, q := range []struct {
		sql   string
		blobs bool
	}{
		{`DELETE FROM tail WHERE part IN ` + parts, false},
		{`DELETE FROM blob_ref WHERE kind = 'part' AND row IN ` + parts, true},
		{`DELETE FROM blob_ref WHERE kind = 'message' AND row IN ` + messages, true},
		{`DELETE FROM part WHERE message IN ` + messages, false},
		{`DELETE FROM message WHERE ` + where, false},
	} {
		n, err := t.count(q.sql, arg)
		if err != nil {
			return err
		}
		t.orphanedBlobs = t.orphanedBlobs || q.blobs && n > 0
	}
	return nil
}
