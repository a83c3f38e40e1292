package store

import (
	"bytes"
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store/searchtext"
)

// The limits of a batch of old parts.
const (
	batchParts = 200
	batchBytes = 1 << 20 // of words
)

// indexState says which changes the index has: those up to low, and those after top up to high. Between
// low and top are old data, and what a process without the index wrote.
type indexState struct {
	low, top, high int64
	behind         bool // this transaction writes parts that it does not index
	moved          bool // this transaction moves a session to another project
}

// readFeed reads the counter and the state of the index.
func readFeed(r Reader) (counter int64, s indexState, err error) {
	err = r.Query(`SELECT counter, search_low, search_top, search_high FROM feed`, nil, func(row Row) error {
		counter, s = row.Int(0), indexState{low: row.Int(1), top: row.Int(2), high: row.Int(3)}
		return nil
	})
	return counter, s, err
}

// next is the state after a transaction with the index that moved the counter.
func (s indexState) next(before, counter int64) indexState {
	if s.high != before { // others wrote without the index
		if s.low >= s.top {
			s.low = s.high
		}
		s.top = before
	}
	if s.behind {
		if s.low >= s.top {
			s.low = before
		}
		s.top = counter
	}
	if s.moved { // its parts must be found under the new project
		s.low, s.top = 0, counter
	}
	return indexState{low: s.low, top: s.top, high: counter}
}

// gap is the range that is not indexed, at a counter. It is empty if after is upTo.
func (s indexState) gap(counter int64) numbers {
	if s.high != counter {
		s = s.next(counter, counter)
	}
	return numbers{s.low, max(s.low, s.top)}
}

// indexed is the share of all changes that the index has.
func (s indexState) indexed(counter int64) float64 {
	g := s.gap(counter)
	if g.after == g.upTo || counter == 0 {
		return 1
	}
	return 1 - float64(g.upTo-g.after)/float64(counter)
}

// saveCounter writes the counter, and with it the state of the index.
func (t *txn) saveCounter() error {
	if t.store.index == nil {
		return t.tx.Do(`UPDATE feed SET counter = $1`, t.counter)
	}
	s := t.index.next(t.began, t.counter)
	return t.tx.Do(`UPDATE feed SET counter = $1, search_low = $2, search_top = $3, search_high = $4`, t.counter, s.low, s.top, s.high)
}

// unputWords are words of a part whose number may come with the next round trip.
type unputWords struct {
	id    lathe.PartID
	part  *int64
	words []string
}

// indexPart puts a part with words into the index, at the end of the transaction if its number is not known.
func indexPart(t *txn, s *sessionRow, m *messageRow, id lathe.PartID, part *int64, words []string) error {
	if t.store.index == nil || len(words) == 0 {
		return nil
	}
	model, err := modelOf(m.role, m.data)
	if err != nil {
		return err
	}
	t.dirty = true
	words = append(words, searchtext.Filters(s.id, s.project, "", modelNames(model)...)...)
	if *part == 0 || slices.ContainsFunc(t.unput, func(u unputWords) bool { return u.id == id }) {
		t.unput = append(t.unput, unputWords{id, part, words})
		return nil
	}
	return t.store.index.Put(t.tx, *part, words)
}

// putWords indexes the new parts of a transaction.
func (t *txn) putWords() error {
	if len(t.unput) == 0 {
		return nil
	}
	if err := t.tx.Sync(); err != nil {
		return err
	}
	for _, u := range t.unput {
		if err := t.store.index.Put(t.tx, *u.part, u.words); err != nil {
			return err
		}
	}
	t.unput = nil
	return nil
}

// modelNames are the names under which a model is found.
func modelNames(m lathe.ModelRef) []string {
	if m.Model == "" {
		return nil
	}
	return []string{m.Model, m.Provider + "/" + m.Model}
}

// unindexParts removes parts of a subquery before they are deleted.
func unindexParts(t *txn, parts string, arg any) error {
	if t.store.index == nil {
		return nil
	}
	return t.store.index.Remove(t.tx, parts, arg)
}

// oldPart is a part to index later.
type oldPart struct {
	n, seq  int64
	id      lathe.PartID
	message int64
	session sessionRow
	words   []string
}

// IndexBatch indexes some parts of the gap, newest first, and reports whether there are more, and the share of
// all changes that is indexed. Their words are found outside the writer. With search off it empties an index that
// was made before.
func IndexBatch(ctx context.Context, s *Store) (more bool, indexed float64, err error) {
	if s.index == nil {
		return false, 0, clearIndex(ctx, s)
	}
	var gap numbers
	var parts []oldPart
	end := int64(0) // all later changes of the gap are in parts
	err = s.readFiles(ctx, func(r Reader) error {
		counter, state, err := readFeed(r)
		if err != nil {
			return err
		}
		if gap = state.gap(counter); gap.after == gap.upTo {
			return nil
		}
		parts, end, err = readOld(ctx, s, r, gap)
		return err
	})
	if err != nil || gap.after == gap.upTo {
		return false, 1, err
	}
	_, err = s.writer.write(ctx, false, func(t *txn) (err error) {
		more, indexed, err = indexOld(t, gap, parts, end)
		return err
	})
	return more, indexed, err
}

// readOld reads the newest parts of a gap, up to the limits of a batch.
func readOld(ctx context.Context, s *Store, r Reader, gap numbers) (parts []oldPart, end int64, err error) {
	size, rows, full := 0, 0, false
	end = gap.upTo
	err = r.Query(`SELECT part.n, part.seq, part.id, part.type, part.data, part.message, session.n, session.id, session.project
		FROM part JOIN message ON message.n = part.message JOIN session ON session.n = message.session
		WHERE part.seq > $1 AND part.seq <= $2 ORDER BY part.seq DESC LIMIT $3`, []any{gap.after, gap.upTo, int64(batchParts)}, func(row Row) error {
		if rows++; full {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		p := oldPart{
			n: row.Int(0), seq: row.Int(1), id: lathe.PartID(row.Text(2)), message: row.Int(5),
			session: sessionRow{n: row.Int(6), id: lathe.SessionID(row.Text(7)), project: row.Text(8)},
		}
		body, err := partOf(row, 2, p.session.id, "", s.blobs.expand)
		end = p.seq - 1
		if err != nil {
			s.log.Warn("a part cannot be indexed", "error", err)
			return nil // the check of the database reports it
		}
		if p.words = searchtext.Words(body); len(p.words) > 0 {
			parts = append(parts, p)
		}
		for _, w := range p.words {
			size += len(w)
		}
		full = size > batchBytes
		return nil
	})
	if rows < batchParts && !full {
		end = gap.after
	}
	return parts, end, err
}

// indexOld writes a batch, unless another process has moved the gap since.
func indexOld(t *txn, gap numbers, parts []oldPart, end int64) (more bool, indexed float64, err error) {
	if t.index.gap(t.began) != gap {
		return true, t.index.indexed(t.began), nil
	}
	for _, p := range parts {
		seq, err := one(t.tx, `SELECT seq FROM part WHERE n = $1`, []any{p.n}, firstInt)
		if err != nil {
			return false, 0, err
		}
		if seq != p.seq {
			continue // it was changed, and indexed then, or removed
		}
		m, err := one(t.tx, `SELECT role, data FROM message WHERE n = $1`, []any{p.message}, func(row Row) (messageRow, error) {
			return messageRow{role: row.Text(0), data: bytes.Clone(row.Bytes(1))}, nil
		})
		if err != nil {
			return false, 0, err
		}
		if err := indexPart(t, &p.session, &m, p.id, &p.n, p.words); err != nil {
			return false, 0, err
		}
	}
	// The jobs of this transaction before and after this one have indexed their parts.
	t.index.low, t.index.top, t.index.high = gap.after, end, t.began
	err = t.exec(`UPDATE feed SET search_low = $1, search_top = $2, search_high = $3`, gap.after, end, t.began)
	return end > gap.after, t.index.indexed(t.began), err
}

// clearIndex empties the index of a store without search, so that it takes no space.
func clearIndex(ctx context.Context, s *Store) error {
	index := s.driver.TextIndex()
	_, state, err := findFeed(ctx, s)
	if err != nil || index == nil || state == (indexState{top: state.high, high: state.high}) {
		return err // nothing was indexed
	}
	_, err = s.writer.write(ctx, false, func(t *txn) error {
		if err := index.Clear(t.tx); err != nil {
			return err
		}
		t.index = indexState{top: t.counter, high: t.counter}
		return t.exec(`UPDATE feed SET search_low = 0, search_top = $1, search_high = $2`, t.counter, t.counter)
	})
	return err
}

func findFeed(ctx context.Context, s *Store) (counter int64, state indexState, err error) {
	err = s.read(ctx, func(r Reader) error {
		counter, state, err = readFeed(r)
		return err
	})
	return counter, state, err
}
