package store

import (
	"bytes"

	"github.com/lathe-agent/lathe"
)

// lookups are rows that a transaction read before its jobs, because a round trip costs more than a statement. A nil row
// does not exist. What is not in here is read when it is needed. A job that fails, or that may change anything,
// empties it.
type lookups struct {
	leases   map[Lease]*sessionRow
	messages map[lathe.MessageID]*messageRow
	parts    map[lathe.PartID]*partRow
	ends     map[lathe.PartID]int64 // lengths of growing texts
}

// change keeps a message that was written, for its parts.
func (k *lookups) change(id lathe.MessageID, m messageRow, role string, enc encoded) {
	if k.messages != nil {
		m.role, m.data, m.large = role, bytes.Clone(enc.data), len(enc.blobs) > 0
		k.messages[id] = &m
	}
}

// canLookAhead reports whether facts change no rows of lookups but those that they replace as a whole.
func canLookAhead(facts []lathe.Fact) bool {
	for _, f := range facts {
		switch f.(type) {
		case *lathe.MessageRemoved, *lathe.PartRemoved, *lathe.Promote:
			return false
		default: // rows of their own
		}
	}
	return true
}

// lookAhead reads the rows that a commit needs, with the next statement.
func lookAhead(t *txn, l Lease, facts []lathe.Fact) error {
	k := &t.known
	if k.leases == nil {
		*k = lookups{map[Lease]*sessionRow{}, map[lathe.MessageID]*messageRow{}, map[lathe.PartID]*partRow{}, map[lathe.PartID]int64{}}
	}
	err := readLater(t, k.leases, l, sessionOfLease, []any{string(l.Session), l.Epoch, t.store.driver.Owner()}, sessionRowOf(l.Session))
	for _, f := range facts {
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *lathe.MessageChanged:
			err = readLater(t, k.messages, f.Info.ID, messageByID, []any{string(f.Info.ID)}, readMessageRow)
		case *lathe.PartChanged:
			err = readLater(t, k.messages, f.Part.Message, messageByID, []any{string(f.Part.Message)}, readMessageRow)
			if err == nil {
				err = readLater(t, k.parts, f.Part.ID, partByID, []any{string(f.Part.ID)}, readPartRow)
			}
		case *lathe.Checkpoint:
			err = readLater(t, k.parts, f.Part, partByID, []any{string(f.Part)}, readPartRow)
			if err == nil {
				err = readLater(t, k.ends, f.Part, `SELECT at, text FROM tail WHERE part = (SELECT n FROM part WHERE id = $1) ORDER BY at DESC LIMIT 1`,
					[]any{string(f.Part)}, readEnd)
			}
		default: // looks up too little or too seldom
		}
	}
	return err
}

// readLater reads a row into a map, once. Without one its zero value is there.
func readLater[K comparable, V any](t *txn, into map[K]V, key K, sql string, args []any, read func(Row) (V, error)) error {
	if _, ok := into[key]; ok {
		return nil
	}
	into[key] = *new(V)
	return t.tx.Later(sql, args, func(row Row) { into[key], _ = read(row) }) // these readers have no errors
}
