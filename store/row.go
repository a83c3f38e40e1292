package store

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// The small rows of a session: status, asks, todo list, diff.

// putStatus stores a changed status and publishes every status. Idle has a second event, for
// old clients.
func (t *txn) putStatus(s *sessionRow, f *lathe.StatusChanged) error {
	data, _ := json.Marshal(f.Status)
	same := f.Status.Type == lathe.Idle // a session without a row is idle
	err := t.tx.Query(`SELECT data FROM status WHERE session = $1`, []any{s.n}, func(row Row) error {
		same = row.Text(0) == string(data)
		return nil
	})
	if err != nil {
		return err
	}
	seq := int64(0)
	if !same {
		seq = t.next()
		err := t.exec(`INSERT INTO status (session, data, born, seq) VALUES ($1,$2,$3,$4)
			ON CONFLICT (session) DO UPDATE SET data = excluded.data, seq = excluded.seq`, s.n, string(data), seq, seq)
		if err != nil {
			return err
		}
	}
	t.publish(seq, s, f)
	if f.Status.Type == lathe.Idle {
		t.publish(0, s, &lathe.SessionIdle{Session: s.id})
	}
	return nil
}

// putList replaces the todo list or the diff of a session.
func (t *txn) putList(s *sessionRow, kind string, data any, f lathe.Fact) error {
	seq := t.next()
	err := t.exec(`INSERT INTO list (session, kind, data, born, seq) VALUES ($1,$2,$3,$4,$5)
		ON CONFLICT (session, kind) DO UPDATE SET data = excluded.data, seq = excluded.seq`, s.n, kind, data, seq, seq)
	if err != nil {
		return err
	}
	t.publish(seq, s, f)
	return nil
}

// putAsk stores a request to the user.
func (t *txn) putAsk(s *sessionRow, id lathe.AskID, kind string, data any, f lathe.Fact) error {
	seq := t.next()
	n, err := t.count(`INSERT INTO ask (id, session, kind, data, born, seq) VALUES ($1,$2,$3,$4,$5,$6) ON CONFLICT (id) DO NOTHING`,
		string(id), s.n, kind, data, seq, seq)
	if err != nil {
		return err
	}
	if n == 0 {
		return lathe.Errorf(lathe.Conflict, "request %s already exists", id)
	}
	t.publish(seq, s, f)
	return nil
}

// answer sets the answer of an ask once. A second answer changes nothing.
func (t *txn) answer(s *sessionRow, id lathe.AskID, f lathe.Fact) error {
	data, err := json.Marshal(lathe.Event{Fact: f})
	if err != nil {
		return err
	}
	seq := t.next()
	n, err := t.count(`UPDATE ask SET answer = $1, answered = $2, seq = $3 WHERE id = $4 AND session = $5 AND answer IS NULL`,
		string(data), float64(t.now), seq, string(id), s.n)
	if err != nil || n == 0 {
		return err
	}
	t.tombstones++
	t.publish(seq, s, f)
	return nil
}

// Statuses returns the status of every session that is not idle. A session whose process
// has died counts as idle, unless another one continues it.
func (s *Store) Statuses(ctx context.Context, scope lathe.Scope) (map[lathe.SessionID]lathe.Status, error) {
	out := map[lathe.SessionID]lathe.Status{}
	err := s.read(ctx, func(r Reader) error { return statuses(s, r, scope, out) })
	return out, err
}

func statuses(s *Store, r Reader, scope lathe.Scope, out map[lathe.SessionID]lathe.Status) error {
	owners := ownersOf(s, r)
	return r.Query(`SELECT session.id, session.directory, data, owner FROM status JOIN session ON session.n = status.session
		LEFT JOIN lease ON lease.session = session.n WHERE data <> '{"type":"idle"}'`, nil, func(row Row) error {
		id := lathe.SessionID(row.Text(0))
		if !scope.Includes(lathe.Event{Session: id, Directory: row.Text(1)}) {
			return nil
		}
		st, err := owners.liveStatus(row.Text(2), row.Text(3))
		if err == nil && st.Type != lathe.Idle {
			out[id] = st
		}
		return err
	})
}

// liveStatus reads a status. Without a live owner, and others that continue its sessions, the session is idle.
func (o *owners) liveStatus(data, owner string) (st lathe.Status, err error) {
	if err = json.Unmarshal([]byte(data), &st); err != nil || st.Type == lathe.Idle {
		return st, err
	}
	on, err := o.alive(owner)
	if err == nil && !on {
		on, err = o.continued(owner)
	}
	if err != nil || !on {
		return lathe.Status{Type: lathe.Idle}, err
	}
	return st, nil
}

// Todos returns the list of a session, never nil.
func (s *Store) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	out := []lathe.Todo{}
	err := s.list(ctx, id, `todo`, &out)
	return out, err
}

// Diff returns the file changes of a session, never nil.
func (s *Store) Diff(ctx context.Context, id lathe.SessionID) ([]lathe.FileDiff, error) {
	out := []lathe.FileDiff{}
	err := s.list(ctx, id, `diff`, &out)
	return out, err
}

func (s *Store) list(ctx context.Context, id lathe.SessionID, kind string, out any) error {
	return query(ctx, s, `SELECT data FROM list JOIN session ON session.n = list.session WHERE session.id = $1 AND kind = $2`,
		[]any{string(id), kind}, func(row Row) error { return json.Unmarshal(row.Bytes(0), out) })
}

// Asks returns the unanswered requests in scope, oldest first.
func (s *Store) Asks(ctx context.Context, scope lathe.Scope) ([]lathe.Fact, error) {
	var out []lathe.Fact
	err := query(ctx, s, `SELECT session.id, session.directory, kind, data FROM ask JOIN session ON session.n = ask.session
		WHERE answer IS NULL ORDER BY ask.n`, nil, func(row Row) error {
		if !scope.Includes(lathe.Event{Session: lathe.SessionID(row.Text(0)), Directory: row.Text(1)}) {
			return nil
		}
		f, err := readAsk(row.Text(2), row.Bytes(3))
		out = append(out, f)
		return err
	})
	return out, err
}

func readAsk(kind string, data []byte) (lathe.Fact, error) {
	if kind == `question` {
		f := &lathe.QuestionAsked{}
		return f, json.Unmarshal(data, &f.QuestionRequest)
	}
	f := &lathe.PermissionAsked{}
	return f, json.Unmarshal(data, &f.PermissionRequest)
}
