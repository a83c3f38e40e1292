package store

import (
	"context"
	"errors"

	"github.com/lathe-agent/lathe"
)

// Staged is a session on its way into the store. Add writes its messages to a file, one at a time,
// so that a session of any length takes little memory and no lock. Commit then writes them in one
// transaction: the session appears completely or not at all. It is for one goroutine.
type Staged struct {
	store *Store
	blobs *blobs
	spool *spool
	apart bool // some parts come apart from their message
}

// Imported is the outcome of an import.
type Imported struct {
	New       bool // the session was not here before
	Unchanged bool // the source has not changed since the last time and was not read
	Messages  int  // messages of the source
	Added     int  // of them, new here
	Changed   int  // messages that were here with other content, and were replaced
}

// Continued is the error of a refresh if the session has messages here that its source does not have.
type Continued struct{ Session lathe.SessionID }

func (e Continued) Error() string { return e.Unwrap().Error() }

// Unwrap makes it a conflict.
func (e Continued) Unwrap() error {
	return lathe.Errorf(lathe.Conflict, "session %s was continued here; it stays as it is", e.Session)
}

// Stage begins an import. The caller closes the result.
func (s *Store) Stage() (*Staged, error) {
	f, err := newSpool(s.blobs.dir)
	if err != nil {
		return nil, err
	}
	return &Staged{store: s, spool: f, blobs: s.blobs.staged()}, nil
}

// Close removes the file of the staged messages.
func (g *Staged) Close() error { return g.spool.close() }

// Add stages a message with its parts. Without Data it stages further parts of a message that is
// added before or after it.
func (g *Staged) Add(m lathe.Message) error {
	if m.Data == nil {
		g.apart = true
		for _, p := range m.Parts {
			enc, err := g.blobs.encode(&lathe.PartChanged{Part: p})
			if err != nil {
				return err
			}
			if err := g.spool.add(stagedMessage{id: m.ID, parts: []stagedPart{stagePart(p, enc)}}); err != nil {
				return err
			}
		}
		return nil
	}
	rows, err := g.blobs.encodeMessage(m)
	if err != nil {
		return err
	}
	row := stagedMessage{id: m.ID, role: m.Data.Role(), created: float64(m.Created), parent: m.Parent(), row: rows.message}
	for i, p := range m.Parts {
		row.parts = append(row.parts, stagePart(p, rows.parts[i]))
	}
	return g.spool.add(row)
}

// stagePart is the row of a part. The text of an open one is apart, as in the database.
func stagePart(p lathe.Part, enc encoded) stagedPart {
	out := stagedPart{id: p.ID, kind: p.Body.Kind(), open: p.Open(), row: enc}
	if out.open {
		out.tail = p.GrowingText()
	}
	return out
}

// Commit writes the staged session. Ids and times stay. An existing session moves to the record's
// project, directory and path, and gets its missing messages and parts; existing ones stay unchanged.
// An id that belongs to another session is a conflict.
func (g *Staged) Commit(ctx context.Context, rec lathe.Session) (Imported, error) {
	return g.commit(ctx, rec, false)
}

// Refresh is Commit for a source that is still in use: an existing session stays where it is, and
// its messages are replaced where the source has changed them. A session with messages that the
// source does not have is left alone, with the error Continued.
func (g *Staged) Refresh(ctx context.Context, rec lathe.Session) (Imported, error) {
	return g.commit(ctx, rec, true)
}

func (g *Staged) commit(ctx context.Context, rec lathe.Session, refresh bool) (Imported, error) {
	g.blobs.syncNames()
	var imp importer
	_, err := g.store.writer.write(ctx, true, func(t *txn) error {
		imp = importer{txn: t, refresh: refresh}
		if err := imp.open(rec); err != nil {
			return err
		}
		t.bulk, t.index.behind = t.counter, true
		published := len(t.events)
		if err := imp.copy(g); err != nil {
			return err
		}
		if err := imp.touch(rec); err != nil {
			return err
		}
		err := t.addUsage(imp.dst, imp.came, imp.went)
		t.events = t.events[:published] // the rest is read back after the commit
		return err
	})
	return imp.result, err
}

// Import is Commit of messages that are in memory.
func (s *Store) Import(ctx context.Context, rec lathe.Session, messages []lathe.Message) (err error) {
	g, err := s.Stage()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	for _, m := range messages {
		if err := g.Add(m); err != nil {
			return err
		}
	}
	_, err = g.Commit(ctx, rec)
	return err
}

// importer writes staged rows into a session.
type importer struct {
	*txn
	dst        *sessionRow
	refresh    bool
	came, went usage
	known      int // messages of the source that were here before
	result     Imported
}

// open creates the session, or finds it and moves it to the project of the record.
func (i *importer) open(rec lathe.Session) error {
	row, err := i.session(rec.ID)
	switch {
	case lathe.CodeOf(err) == lathe.NotFound:
		i.result.New = true
		i.dst, err = i.insertSession(unused(rec))
		return err
	case err != nil:
		return err
	}
	i.dst = row
	if i.refresh {
		return nil
	}
	return i.edit(row, lathe.Edit{
		Project: lathe.Some(rec.Project), Directory: lathe.Some(rec.Directory), Path: lathe.Some(rec.Path),
	})
}

// touch moves the time of the last change to that of the source, if a refresh brought anything.
func (i *importer) touch(rec lathe.Session) error {
	if i.result.New || !i.refresh || i.result.Added+i.result.Changed == 0 {
		return nil
	}
	return i.exec(`UPDATE session SET updated = $1, seq = $2 WHERE n = $3 AND updated < $1`, float64(rec.Updated), i.next(), i.dst.n)
}

// copy writes the messages, then the parts that came apart from them.
func (i *importer) copy(g *Staged) error {
	here, err := one(i.tx, `SELECT count(*) FROM message WHERE session = $1`, []any{i.dst.n}, firstInt)
	if err != nil {
		return err
	}
	err = g.spool.each(func(m stagedMessage) error {
		if m.role == "" {
			return nil
		}
		return i.putStaged(m)
	})
	if err == nil && g.apart {
		err = g.spool.each(i.putApart)
	}
	if err == nil && i.refresh && int64(i.known) < here {
		err = Continued{i.dst.id}
	}
	return err
}

// putStaged writes a message and its parts.
func (i *importer) putStaged(m stagedMessage) error {
	i.result.Messages++
	seq := i.next()
	n, err := i.insert(`INSERT INTO message (id, session, role, created, parent, data, born, seq, waiting, hold, wants)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,0,0,0) ON CONFLICT (id) DO NOTHING RETURNING n`,
		string(m.id), i.dst.n, m.role, m.created, null(m.parent), m.row.data, seq, seq)
	if err != nil {
		return err
	}
	changed := false
	if n == 0 {
		i.counter-- // nothing has the number
		if n, changed, err = i.putKnown(m); err != nil {
			return err
		}
	} else {
		i.result.Added++
		if err := i.refer(kindMessage, n, m.row.blobs, false); err != nil {
			return err
		}
	}
	for _, p := range m.parts {
		replaced, err := i.putStagedPart(n, p)
		if err != nil {
			return err
		}
		changed = changed || replaced
	}
	if changed {
		i.result.Changed++
	}
	return nil
}

// putKnown handles a message whose id is here already.
func (i *importer) putKnown(m stagedMessage) (n int64, changed bool, err error) {
	old, err := i.message(m.id)
	switch {
	case err != nil:
		return 0, false, err
	case old.session != i.dst.n:
		return 0, false, lathe.Errorf(lathe.Conflict, "message %s belongs to another session here; nothing was imported", m.id)
	case old.born > i.bulk:
		return 0, false, lathe.Errorf(lathe.Invalid, "id %s occurs twice", m.id)
	}
	i.known++
	if !i.refresh {
		return old.n, false, nil
	}
	same, err := i.hasData(`SELECT data FROM message WHERE n = $1`, old.n, m.row.data)
	if err != nil || same {
		return old.n, false, err
	}
	err = i.exec(`UPDATE message SET data = $1, parent = $2, seq = $3 WHERE n = $4`, m.row.data, null(m.parent), i.next(), old.n)
	if err == nil {
		err = i.refer(kindMessage, old.n, m.row.blobs, old.large)
	}
	return old.n, true, err
}

// hasData reports whether a row has the same JSON already.
func (i *importer) hasData(sql string, n int64, data []byte) (same bool, err error) {
	err = i.tx.Query(sql, []any{n}, func(row Row) error {
		same = string(row.Bytes(0)) == string(data)
		return nil
	})
	return same, err
}

// putApart writes parts whose message is another record of the source.
func (i *importer) putApart(m stagedMessage) error {
	if m.role != "" {
		return nil
	}
	old, err := i.message(m.id)
	if err != nil {
		return err
	}
	if old == nil || old.session != i.dst.n {
		return lathe.Errorf(lathe.Invalid, "part %s belongs to message %s, which is missing", m.parts[0].id, m.id)
	}
	_, err = i.putStagedPart(old.n, m.parts[0])
	return err
}

// putStagedPart writes a part, and reports whether it replaced another content.
func (i *importer) putStagedPart(message int64, p stagedPart) (replaced bool, err error) {
	used, err := p.usage()
	if err != nil {
		return false, err
	}
	seq := i.next()
	n, err := i.insert(`INSERT INTO part (id, message, type, data, born, seq, open) VALUES ($1,$2,$3,$4,$5,$6,$7)
		ON CONFLICT (id) DO NOTHING RETURNING n`, string(p.id), message, p.kind, p.row.data, seq, seq, boolInt(p.open))
	if err != nil {
		return false, err
	}
	if n == 0 {
		i.counter-- // nothing has the number
		return i.putKnownPart(message, p, used)
	}
	i.came = i.came.plus(used)
	if p.tail != "" {
		if err := i.exec(`INSERT INTO tail (part, at, text) VALUES ($1, 0, $2)`, n, p.tail); err != nil {
			return false, err
		}
	}
	return false, i.refer(kindPart, n, p.row.blobs, false)
}

// putKnownPart handles a part whose id is here already.
func (i *importer) putKnownPart(message int64, p stagedPart, used usage) (changed bool, err error) {
	old, err := i.part(p.id)
	switch {
	case err != nil:
		return false, err
	case old == nil || old.session != i.dst.n:
		return false, lathe.Errorf(lathe.Conflict, "part %s belongs to another session here; nothing was imported", p.id)
	case old.born > i.bulk:
		return false, lathe.Errorf(lathe.Invalid, "id %s occurs twice", p.id)
	case !i.refresh || old.open || p.open || old.message != message:
		return false, nil
	}
	same, err := i.hasData(`SELECT data FROM part WHERE n = $1`, old.n, p.row.data)
	if err != nil || same {
		return false, err
	}
	was, err := i.usedByPart(old)
	if err != nil {
		return false, err
	}
	i.came, i.went = i.came.plus(used), i.went.plus(was)
	err = i.exec(`UPDATE part SET type = $1, data = $2, seq = $3 WHERE n = $4`, p.kind, p.row.data, i.next(), old.n)
	if err == nil {
		err = i.refer(kindPart, old.n, p.row.blobs, old.large)
	}
	return true, err
}
