package store

import (
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// Tombstones and answered asks are deleted beyond this age and number. A reader with an
// older cursor has to read everything again.
const (
	keepDays = 7
	keepRows = 50_000
)

// The kinds of tombstone.
const (
	sessionTombstone = "session"
	messageTombstone = "message"
	partTombstone    = "part"
)

// tombstone marks one removed row. The rows below it have none.
type tombstone struct {
	kind    string
	message lathe.MessageID
	part    lathe.PartID
	born    int64
	record  any // the last record of a session
}

// addTombstone writes a tombstone with the next number.
func (t *txn) addTombstone(b tombstone, s *sessionRow) error {
	t.tombstones++
	return t.exec(`INSERT INTO tomb (kind, session, message, part, directory, project, data, born, seq, at)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)`,
		b.kind, string(s.id), null(b.message), null(b.part), s.directory, s.project, b.record, b.born, t.next(), float64(t.now))
}

func (s *Store) loadTombstone(r Reader, c change) ([]lathe.Event, error) {
	return all(r, `SELECT kind, message, part, data, session, directory, project FROM tomb WHERE n = $1`, []any{c.n}, func(row Row) (lathe.Event, error) {
		id, message := lathe.SessionID(row.Text(4)), lathe.MessageID(row.Text(1))
		switch row.Text(0) {
		case sessionTombstone:
			f := &lathe.SessionDeleted{}
			return of(row, 4, c.seq, f), json.Unmarshal(row.Bytes(3), &f.Info)
		case messageTombstone:
			return of(row, 4, c.seq, &lathe.MessageRemoved{Session: id, Message: message}), nil
		default:
			return of(row, 4, c.seq, &lathe.PartRemoved{Session: id, Message: message, Part: lathe.PartID(row.Text(2))}), nil
		}
	})
}

// trim deletes tombstones and answered asks that are too old or too many, and raises the
// floor to the highest deleted number.
func (t *txn) trim() error {
	old := float64(t.now) - keepDays*24*3600*1000
	floor := int64(0)
	for _, q := range []struct{ table, time, also string }{
		{`tomb`, `at`, `TRUE`},
		{`ask`, `answered`, `answer IS NOT NULL`},
	} {
		where := ` WHERE ` + q.also + ` AND (` + q.time + ` < $1 OR seq <= COALESCE(
			(SELECT seq FROM ` + q.table + ` WHERE ` + q.also + ` ORDER BY seq DESC LIMIT 1 OFFSET $2), 0))`
		err := t.tx.Query(`SELECT max(seq) FROM `+q.table+where, []any{old, t.store.keepRows}, func(row Row) error {
			floor = max(floor, row.Int(0))
			return nil
		})
		if err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM `+q.table+where, old, t.store.keepRows); err != nil {
			return err
		}
	}
	return t.exec(`UPDATE feed SET floor = $1 WHERE floor < $2`, floor, floor)
}
