package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
)

// sessionRow has the columns that are needed to write rows of a session.
type sessionRow struct {
	n                  int64
	id                 lathe.SessionID
	directory, project string
}

const sessionColumns = `n, id, slug, project, workspace, directory, path, parent, title, version,
	created, updated, compacting, archived, summary, share, rules, revert, cost, tokens, agent, model, metadata, extra,
	born, seq`

// readSession reads the columns above.
func readSession(row Row) (s lathe.Session, err error) {
	s = lathe.Session{
		ID: lathe.SessionID(row.Text(1)), Slug: row.Text(2), Project: row.Text(3),
		Workspace: lathe.WorkspaceID(row.Text(4)), Directory: row.Text(5), Parent: lathe.SessionID(row.Text(7)),
		Title: row.Text(8), Version: row.Text(9), Created: lathe.Time(row.Float(10)), Updated: lathe.Time(row.Float(11)),
		Compacting: lathe.Time(row.Float(12)), Agent: row.Text(20),
	}
	if !row.Null(6) {
		path := row.Text(6)
		s.Path = &path
	}
	if !row.Null(13) {
		at := lathe.Time(row.Float(13))
		s.Archived = &at
	}
	var rest sessionRest
	for i, v := range map[int]any{14: &s.Summary, 15: &s.Share, 16: &s.Rules, 17: &s.Revert, 19: &s.Tokens, 21: &s.Model, 23: &rest} {
		if err = unpack(row, i, v); err != nil {
			return s, lathe.Errorf(lathe.Internal, "session %s: column %d: %w", s.ID, i, err)
		}
	}
	if !row.Null(18) {
		cost := lathe.Money(row.Int(18))
		s.Cost = &cost
	}
	if !row.Null(22) {
		s.Metadata = json.RawMessage(row.Text(22))
	}
	s.Extra, s.TimeExtra = rest.Extra, rest.Time
	return s, nil
}

// sessionRest holds the unknown members of a session record.
type sessionRest struct {
	Extra lathe.Extra `json:"extra,omitempty"`
	Time  lathe.Extra `json:"time,omitempty"`
}

func unpack(row Row, i int, v any) error {
	if row.Null(i) {
		return nil
	}
	return json.Unmarshal(row.Bytes(i), v)
}

// pack encodes a value for a JSON column; nil pointers and slices become NULL.
func pack(v any) any {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" {
		return nil
	}
	return b
}

// null is the value, or NULL for "".
func null[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}

func nullPtr[T any](p *T, f func(T) any) any {
	if p == nil {
		return nil
	}
	return f(*p)
}

// insertSession writes a new record. The id must be free.
func (t *txn) insertSession(s lathe.Session) (*sessionRow, error) {
	seq := t.next()
	var extra any
	if s.Extra != "" || s.TimeExtra != "" {
		extra = pack(sessionRest{Extra: s.Extra, Time: s.TimeExtra})
	}
	changed, err := t.count(`INSERT INTO session (id, slug, project, workspace, directory, path, parent, title, title_key, version,
		created, updated, compacting, archived, summary, share, rules, revert, cost, tokens, agent, model, metadata, extra, born, seq)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26)
		ON CONFLICT (id) DO NOTHING`,
		string(s.ID), s.Slug, s.Project, null(s.Workspace), s.Directory, nullPtr(s.Path, func(p string) any { return p }),
		null(s.Parent), s.Title, fold(s.Title), s.Version, float64(s.Created), float64(s.Updated), float64(s.Compacting),
		nullPtr(s.Archived, func(a lathe.Time) any { return float64(a) }), pack(s.Summary), pack(s.Share), pack(s.Rules),
		pack(s.Revert), nullPtr(s.Cost, func(m lathe.Money) any { return int64(m) }), pack(s.Tokens), null(s.Agent), pack(s.Model),
		packRaw(s.Metadata), extra, seq, seq)
	if err != nil {
		return nil, err
	}
	if changed == 0 {
		return nil, lathe.Errorf(lathe.Conflict, "session %s already exists", s.ID)
	}
	row, err := t.session(s.ID)
	if err != nil {
		return nil, err
	}
	t.publish(seq, row, &lathe.SessionCreated{Info: s})
	return row, nil
}

func packRaw(m json.RawMessage) any {
	if m == nil {
		return nil
	}
	return string(m)
}

// session finds the row of a session, or returns NotFound.
func (t *txn) session(id lathe.SessionID) (*sessionRow, error) { return sessionOf(t.tx, id) }

// sessionRowOf reads number, directory and project.
func sessionRowOf(id lathe.SessionID) func(Row) (*sessionRow, error) {
	return func(row Row) (*sessionRow, error) {
		return &sessionRow{n: row.Int(0), id: id, directory: row.Text(1), project: row.Text(2)}, nil
	}
}

func sessionOf(r Reader, id lathe.SessionID) (*sessionRow, error) {
	s, err := one(r, `SELECT n, directory, project FROM session WHERE id = $1`, []any{string(id)}, sessionRowOf(id))
	if err == nil && s == nil {
		err = notFound(id)
	}
	return s, err
}

func notFound(id lathe.SessionID) error {
	return lathe.Errorf(lathe.NotFound, "Session not found: %s", id)
}

// Create writes a new session with a complete record. An existing id is a conflict.
func (s *Store) Create(ctx context.Context, rec lathe.Session) error {
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		_, err := t.insertSession(rec)
		return err
	})
	return err
}

// Session returns a session record.
func (s *Store) Session(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	out, err := findOne(ctx, s, `SELECT `+sessionColumns+` FROM session WHERE id = $1`, []any{string(id)}, readSession)
	if out.ID == "" && err == nil {
		err = notFound(id)
	}
	return out, err
}

// recordOf is the record of a row.
func recordOf(r Reader, row *sessionRow) (lathe.Session, error) {
	return one(r, `SELECT `+sessionColumns+` FROM session WHERE n = $1`, []any{row.n}, readSession)
}

// maxSearch is the longest title search in bytes, because databases limit the length of patterns.
const maxSearch = 10_000

// Sessions lists sessions by their last change, newest first, then by id.
func (s *Store) Sessions(ctx context.Context, q lathe.Query) ([]lathe.Session, error) {
	if len(q.Search) > maxSearch {
		return nil, lathe.Errorf(lathe.Invalid, "the search text has %d bytes; the limit is %d", len(q.Search), maxSearch)
	}
	sql, args := sessionQuery(q)
	return findAll(ctx, s, sql, args, readSession)
}

// sessionQuery writes the statement for a query.
func sessionQuery(q lathe.Query) (string, []any) {
	var where []string
	var args []any
	and := func(cond string, vals ...any) {
		for _, v := range vals {
			args = append(args, v)
			cond = strings.Replace(cond, "?", placeholder(len(args)), 1)
		}
		where = append(where, cond)
	}
	if q.Project != "" {
		and(`project = ?`, q.Project)
	}
	if q.Directory != "" {
		and(`directory = ?`, q.Directory)
	}
	if q.Path != "" {
		and(`(path = ? OR path > ? AND path < ?)`, q.Path, q.Path+"/", q.Path+"0") // 0 follows the slash
	}
	if q.Parent != "" {
		and(`parent = ?`, string(q.Parent))
	}
	if q.Roots {
		and(`parent IS NULL`)
	}
	if q.Search != "" {
		and(`title_key LIKE ? ESCAPE '\'`, "%"+likeEscape(fold(q.Search))+"%")
	}
	if q.Since != 0 {
		and(`updated >= ?`, float64(q.Since))
	}
	switch q.Archived {
	case lathe.HideArchived:
		and(`archived IS NULL`)
	case lathe.OnlyArchived:
		and(`archived IS NOT NULL`)
	case lathe.WithArchived:
	}
	if !q.Before.IsZero() {
		and(`(updated, id) < (?, ?)`, float64(q.Before.Time), q.Before.ID)
	}
	sql := `SELECT ` + sessionColumns + ` FROM session`
	if len(where) > 0 {
		sql += ` WHERE ` + strings.Join(where, ` AND `)
	}
	sql += ` ORDER BY updated DESC, id DESC`
	if q.Limit > 0 {
		args = append(args, int64(q.Limit))
		sql += ` LIMIT ` + placeholder(len(args))
	}
	return sql, args
}

// fold makes texts equal that differ only in case, including letters with two lower-case
// forms.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

func likeEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
