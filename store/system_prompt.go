package store

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
)

// SystemPrompt returns the saved system prompt of a session, nil if it has none.
func (s *Store) SystemPrompt(ctx context.Context, id lathe.SessionID) (out *lathe.SystemPrompt, err error) {
	err = query(ctx, s, `SELECT preface.data FROM preface JOIN session ON session.n = preface.session WHERE session.id = $1`,
		[]any{string(id)}, func(row Row) error {
			out = &lathe.SystemPrompt{}
			return json.Unmarshal(row.Bytes(0), out)
		})
	return out, err
}

func (t *txn) putSystemPrompt(s *sessionRow, p lathe.SystemPrompt) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO preface (session, data) VALUES ($1, $2)
		ON CONFLICT (session) DO UPDATE SET data = excluded.data`, s.n, data)
}

// copySystemPrompt gives a fork the same system prompt, byte for byte, so that the provider's cache
// of the original applies to it too.
func (t *txn) copySystemPrompt(from, to *sessionRow) error {
	return t.exec(`INSERT INTO preface (session, data) SELECT $1, data FROM preface WHERE session = $2`, to.n, from.n)
}
