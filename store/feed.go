package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
)

// The feed lists the rows that changed since a number, in their current state. It is not a
// log: a row that changed five times appears once. Every row has the numbers of its first
// and last change, and a removal leaves a tombstone.

// change is a row that changed.
type change struct {
	table            int
	n, born, seq, at int64 // at is where it sorts
}

// The tables of the feed, in no particular order.
const (
	inProject = iota
	inSession
	inMessage
	inPart
	inStatus
	inAsk
	inList
	inTombstone
)

// changes are the statements that list changed rows: row number, first and last
// change. $1 and $2 limit the change; +x makes SQLite use the index on the
// number. Where follows, then a condition on the session.
var changes = [...]struct{ sql, session string }{
	inProject: {`SELECT n, born, seq FROM project WHERE seq > $1 AND seq <= $2`, ``},
	inSession: {`SELECT n, born, seq FROM session WHERE seq > $1 AND seq <= $2`, ` AND +n`},
	inMessage: {`SELECT n, born, seq FROM message WHERE seq > $1 AND seq <= $2`, ` AND +session`},
	inPart: {`SELECT part.n, part.born, part.seq FROM part CROSS JOIN message
		WHERE message.n = part.message AND part.seq > $1 AND part.seq <= $2`, ` AND +message.session`},
	inStatus:    {`SELECT session, born, seq FROM status WHERE seq > $1 AND seq <= $2`, ` AND +session`},
	inAsk:       {`SELECT n, born, seq FROM ask WHERE seq > $1 AND seq <= $2`, ` AND +session`},
	inList:      {`SELECT n, born, seq FROM list WHERE seq > $1 AND seq <= $2`, ` AND +session`},
	inTombstone: {`SELECT n, born, seq FROM tomb WHERE seq > $1 AND seq <= $2`, ``},
}

// ResumeResult says how far a reader has resumed.
type ResumeResult struct {
	Last int64 // all changes up to here were sent
	// Resync means that the cursor cannot be used: it is from another database, from the
	// future, or older than the floor. Nothing was sent, and the reader must read everything again.
	Resync bool
}

// Since yields the changes in scope after the cursor: new rows in the order of their
// creation, others in the order of their last change, so that a message comes
// before its parts. Only the last event has a number to resume from. An error of yield
// ends it.
//
// The list of changed rows is read at once, the rows themselves a piece at a time. yield runs
// between two reads, so a slow reader, or one that calls the store, blocks no other caller.
// A row that has changed again by then is sent in its new state, and again with its higher
// number.
func (s *Store) Since(ctx context.Context, after lathe.Cursor, scope lathe.Scope, yield func(lathe.Event) error) (ResumeResult, error) {
	var res ResumeResult
	var rows []change
	t := changeReader{store: s, after: after.Seq, scope: scope, resume: true, yield: yield}
	err := s.readFiles(ctx, func(r Reader) error {
		floor := int64(0)
		err := r.Query(`SELECT counter, floor FROM feed`, nil, func(row Row) error {
			res.Last, floor = row.Int(0), row.Int(1)
			return nil
		})
		if err != nil {
			return err
		}
		if after.Seq < floor || after.Seq > res.Last || after.Feed != "" && after.Feed != s.feed {
			res.Resync = true
			return nil
		}
		t.upTo = res.Last
		if rows, err = listChanges(r, after.Seq, res.Last, scope); err != nil {
			return err
		}
		rows, err = t.load(r, rows)
		return err
	})
	for err == nil && len(rows) > 0 {
		if err = t.yieldEvents(); err != nil {
			return res, err
		}
		err = s.readFiles(ctx, func(r Reader) (err error) {
			rows, err = t.load(r, rows)
			return err
		})
	}
	if err != nil {
		return res, err
	}
	return res, t.finish()
}

// yieldChanges yields the rows that changed after one number and up to another, all in
// one read.
func (s *Store) yieldChanges(r Reader, after, upTo int64, patience time.Duration, yield func(lathe.Event) error) error {
	rows, err := listChanges(r, after, upTo, lathe.Scope{})
	if err != nil {
		return err
	}
	t := changeReader{store: s, after: after, upTo: upTo, yield: yield, patience: patience}
	for len(rows) > 0 {
		if rows, err = t.load(r, rows); err != nil {
			return err
		}
		if err := t.yieldEvents(); err != nil {
			return err
		}
	}
	return t.finish()
}

// changeReader turns changed rows into events. A resuming reader gets a number only with the
// last event. Live readers get the highest number with every event, because the rows are not
// in number order. They also get events that a resuming reader does not need.
type changeReader struct {
	store       *Store
	after, upTo int64
	scope       lathe.Scope
	resume      bool
	patience    time.Duration // for each large value of another machine; 0 means any
	yield       func(lathe.Event) error
	events      []lathe.Event // loaded and not yielded yet
}

// load reads a piece of the rows and returns the rest of them. It can be retried after an
// error.
func (t *changeReader) load(r Reader, rows []change) ([]change, error) {
	n, loaded := min(len(rows), piece), t.events
	if err := t.fetchLarge(r, rows[:n]); err != nil {
		return rows, err
	}
	if t.store.driver.Ahead() {
		for _, c := range rows[:n] {
			if _, err := t.store.load(announcer{r}, c, t.after, t.resume); err != nil {
				return rows, err
			}
		}
	}
	for _, c := range rows[:n] {
		events, err := t.store.load(r, c, t.after, t.resume)
		if errors.Is(err, fs.ErrNotExist) {
			// The file of a large value is gone. Most likely the row has changed since this
			// snapshot, and comes again with a higher number. If the file is lost, the feed must
			// continue with the other rows, and reading the row itself reports the error.
			t.store.log.Warn("skipped a changed row: the file of its large value is missing", "error", err)
			continue
		}
		if err != nil {
			return rows, err
		}
		for _, e := range events {
			if !t.scope.Includes(e) {
				continue
			}
			if e.Seq = t.upTo; t.resume || isEphemeral(e.Fact) {
				e.Seq = 0
			}
			loaded = append(loaded, e)
		}
	}
	t.events = loaded
	return rows[n:], nil
}

// yieldEvents yields the loaded events except the last one, which is marked if none follows.
func (t *changeReader) yieldEvents() error {
	for len(t.events) > 1 {
		e := t.events[0]
		t.events = t.events[1:]
		if err := t.yield(e); err != nil {
			return err
		}
	}
	return nil
}

// finish yields the rest.
func (t *changeReader) finish() error {
	if len(t.events) == 0 {
		return nil
	}
	last := &t.events[len(t.events)-1]
	last.Seq, last.Last = t.upTo, true
	if err := t.yieldEvents(); err != nil {
		return err
	}
	return t.yield(t.events[0])
}

// isEphemeral reports whether the event accompanies a row and has no number itself.
func isEphemeral(f lathe.Fact) bool {
	_, idle := f.(*lathe.SessionIdle)
	return idle
}

// listChanges lists the changed rows in scope, in the order in which a reader must get them.
func listChanges(r Reader, after, upTo int64, scope lathe.Scope) ([]change, error) {
	var out []change
	for table := range changes {
		sql, args := changesOf(table, after, upTo, scope)
		if err := r.Expect(sql, args...); err != nil {
			return nil, err
		}
	}
	for table := range changes {
		sql, args := changesOf(table, after, upTo, scope)
		err := r.Query(sql, args, func(row Row) error {
			c := change{table: table, n: row.Int(0), born: row.Int(1), seq: row.Int(2)}
			if c.at = c.seq; c.born > after {
				c.at = c.born
			}
			out = append(out, c)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return out, nil
}

// changesOf is the query for the changes of a table.
func changesOf(table int, after, upTo int64, scope lathe.Scope) (sql string, args []any) {
	q := changes[table]
	sql, args = q.sql, []any{after, upTo}
	switch {
	case scope.Session != "" && q.session != "":
		sql, args = sql+q.session+` = (SELECT n FROM session WHERE id = $3)`, append(args, string(scope.Session))
	case scope.Session != "" && table == inTombstone:
		sql, args = sql+` AND session = $3`, append(args, string(scope.Session))
	case scope.Directory != "" && q.session != "":
		sql, args = sql+q.session+` IN (SELECT n FROM session WHERE directory = $3)`, append(args, scope.Directory)
	case scope.Directory != "" && table == inTombstone:
		sql, args = sql+` AND directory = $3`, append(args, scope.Directory)
	}
	return sql, args
}

// announcer announces the queries that a function will make, and finds nothing.
type announcer struct{ Reader }

func (a announcer) Query(sql string, args []any, _ func(Row) error) error {
	return a.Expect(sql, args...)
}

// load returns the events for the current state of a changed row.
func (s *Store) load(r Reader, c change, after int64, resume bool) ([]lathe.Event, error) {
	switch c.table {
	case inProject:
		return s.loadProject(r, c)
	case inSession:
		return s.loadSession(r, c, after, resume)
	case inMessage:
		return s.loadMessage(r, c)
	case inPart:
		return s.loadPart(r, c)
	case inStatus:
		return s.loadStatus(r, c)
	case inAsk:
		return s.loadAsk(r, c)
	case inList:
		return s.loadList(r, c)
	default:
		return s.loadTombstone(r, c)
	}
}

// of returns an event about a session's row; columns i to i+2 are the session's id,
// directory and project.
func of(row Row, i int, seq int64, f lathe.Fact) lathe.Event {
	return lathe.Event{Seq: seq, Session: lathe.SessionID(row.Text(i)), Directory: row.Text(i + 1), Project: row.Text(i + 2), Fact: f}
}

func (s *Store) loadProject(r Reader, c change) ([]lathe.Event, error) {
	return all(r, `SELECT data FROM project WHERE n = $1`, []any{c.n}, func(row Row) (lathe.Event, error) {
		p, err := readProject(row)
		return lathe.Event{Seq: c.seq, Fact: &lathe.ProjectChanged{Project: p}}, err
	})
}

func (s *Store) loadSession(r Reader, c change, after int64, resume bool) (out []lathe.Event, err error) {
	err = r.Query(`SELECT `+sessionColumns+` FROM session WHERE n = $1`, []any{c.n}, func(row Row) error {
		rec, err := readSession(row)
		e := lathe.Event{Seq: c.seq, Session: rec.ID, Directory: rec.Directory, Project: rec.Project}
		if c.born > after {
			created := e
			created.Fact = &lathe.SessionCreated{Info: rec}
			out = append(out, created)
		}
		if resume || c.born != c.seq { // live readers get a new record once
			e.Fact = &lathe.SessionChanged{Info: rec}
			out = append(out, e)
		}
		return err
	})
	return out, err
}

func (s *Store) loadMessage(r Reader, c change) ([]lathe.Event, error) {
	return all(r, `SELECT `+messageColumns+`, session.id, directory, project FROM message
		JOIN session ON session.n = message.session WHERE message.n = $1`, []any{c.n}, func(row Row) (lathe.Event, error) {
		m, err := s.readMessage(row, lathe.SessionID(row.Text(8)))
		return of(row, 8, c.seq, &lathe.MessageChanged{Info: m}), err
	})
}

// loadPart reads a part. An open part gets the text of its tails, which is not in its row.
func (s *Store) loadPart(r Reader, c change) (out []lathe.Event, err error) {
	open := false
	f := &lathe.PartChanged{Time: s.now()}
	err = r.Query(`SELECT `+partColumns+`, message.id, session.id, directory, project FROM part
		JOIN message ON message.n = part.message JOIN session ON session.n = message.session WHERE part.n = $1`,
		[]any{c.n}, func(row Row) (err error) {
			f.Part, _, open, err = s.readPart(row, lathe.SessionID(row.Text(8)), lathe.MessageID(row.Text(7)))
			out = append(out, of(row, 8, c.seq, f))
			return err
		})
	if a, ok := r.(announcer); ok {
		return nil, a.Expect(tailsOfPart, c.n)
	}
	if err == nil && open {
		f.Part, err = withTails(r, c.n, f.Part)
	}
	return out, err
}

// PublishPart publishes what is stored of an open part, without a number, as a change of another process. It publishes
// nothing for other parts: their end comes with its number.
func (s *Store) PublishPart(ctx context.Context, session lathe.SessionID, message lathe.MessageID, id lathe.PartID) error {
	return s.writer.maintain(ctx, func() error {
		var events []lathe.Event
		err := s.readFiles(ctx, func(r Reader) error {
			counter, err := readCounter(r)
			if err == nil {
				err = s.catchUp(r, counter, pollPatience) // readers place a part after those that they know
			}
			if err != nil {
				return err
			}
			n, err := one(r, `SELECT part.n FROM part JOIN message ON message.n = part.message JOIN session ON session.n = message.session
				WHERE part.id = $1 AND message.id = $2 AND session.id = $3`, []any{string(id), string(message), string(session)}, firstInt)
			if err == nil && n > 0 {
				events, err = s.loadPart(r, change{n: n})
			}
			return err
		})
		if err != nil || len(events) == 0 || !events[0].Fact.(*lathe.PartChanged).Part.Open() {
			return err
		}
		s.pub(Batch{Events: events, Foreign: true, Counter: s.Last()})
		return nil
	})
}

// loadStatus reads a status as live readers see it.
func (s *Store) loadStatus(r Reader, c change) (out []lathe.Event, err error) {
	err = r.Query(`SELECT data, owner, session.id, directory, project FROM status JOIN session ON session.n = status.session
		LEFT JOIN lease ON lease.session = session.n WHERE status.session = $1`, []any{c.n}, func(row Row) error {
		st, err := ownersOf(s, r).liveStatus(row.Text(0), row.Text(1))
		id := lathe.SessionID(row.Text(2))
		out = append(out, of(row, 2, c.seq, &lathe.StatusChanged{Session: id, Status: st}))
		if st.Type == lathe.Idle {
			out = append(out, of(row, 2, 0, &lathe.SessionIdle{Session: id}))
		}
		return err
	})
	return out, err
}

// loadAsk returns a pending request, or its answer. A reader with a cursor older than both gets the answer too: it
// may have been disconnected inside the commit of the request, and know the request.
func (s *Store) loadAsk(r Reader, c change) ([]lathe.Event, error) {
	return all(r, `SELECT kind, data, answer, session.id, directory, project FROM ask JOIN session ON session.n = ask.session
		WHERE ask.n = $1`, []any{c.n}, func(row Row) (lathe.Event, error) {
		if row.Null(2) {
			f, err := readAsk(row.Text(0), row.Bytes(1))
			return of(row, 3, c.seq, f), err
		}
		var answer lathe.Event
		err := json.Unmarshal(row.Bytes(2), &answer)
		return of(row, 3, c.seq, answer.Fact), err
	})
}

func (s *Store) loadList(r Reader, c change) ([]lathe.Event, error) {
	return all(r, `SELECT kind, data, session.id, directory, project FROM list JOIN session ON session.n = list.session
		WHERE list.n = $1`, []any{c.n}, func(row Row) (lathe.Event, error) {
		id := lathe.SessionID(row.Text(2))
		if row.Text(0) == `todo` {
			f := &lathe.TodosChanged{Session: id}
			return of(row, 2, c.seq, f), json.Unmarshal(row.Bytes(1), &f.Todos)
		}
		f := &lathe.DiffChanged{Session: id}
		return of(row, 2, c.seq, f), json.Unmarshal(row.Bytes(1), &f.Diff)
	})
}

// catchUp publishes the changes of other processes up to a number that r can read. It
// runs in the writer's goroutine. If it fails, the next call starts at the same number.
func (s *Store) catchUp(r Reader, upTo int64, patience time.Duration) error {
	after := s.Last()
	if upTo <= after {
		return nil
	}
	var batch []lathe.Event
	flush := func(counter int64) {
		s.pub(Batch{Events: batch, Foreign: true, Counter: counter})
		batch = nil
	}
	if s.wanted() {
		err := s.yieldChanges(r, after, upTo, patience, func(e lathe.Event) error {
			if batch = append(batch, e); len(batch) >= piece {
				flush(after)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	flush(upTo)
	s.setPublished(upTo)
	return nil
}
