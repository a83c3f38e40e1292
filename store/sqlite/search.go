package sqlite

import (
	"errors"
	"strings"

	"github.com/lathe-agent/lathe/store"
)

// textIndex is an FTS5 table without content. The words come separated, so that its tokenizer only
// splits at spaces.
type textIndex struct{}

// TextIndex returns the FTS5 table.
func (d *Driver) TextIndex() store.TextIndex { return textIndex{} }

// Put replaces the words of a part.
func (textIndex) Put(tx store.Tx, part int64, words []string) error {
	_, err := tx.Exec(`INSERT OR REPLACE INTO search (rowid, words) VALUES ($1, $2)`, part, strings.Join(words, " "))
	return err
}

// Remove removes the parts of a subquery.
func (textIndex) Remove(tx store.Tx, parts string, arg any) error {
	_, err := tx.Exec(`DELETE FROM search WHERE rowid IN `+parts, arg)
	return err
}

// Clear empties the table.
func (textIndex) Clear(tx store.Tx) error {
	_, err := tx.Exec(`INSERT INTO search (search) VALUES ('delete-all')`)
	return err
}

// errEnough ends a query early.
var errEnough = errors.New("enough")

// Find walks the table backwards.
func (textIndex) Find(r store.Reader, q store.IndexQuery, f func(int64) (bool, error)) error {
	const sql = `SELECT rowid FROM search WHERE search MATCH $1 AND rowid < $2 ORDER BY rowid DESC`
	err := r.Query(sql, []any{matchQuery(q), q.Before}, func(row store.Row) error {
		more, err := f(row.Int(0))
		if err == nil && !more {
			err = errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// matchQuery writes a query in the language of FTS5.
func matchQuery(q store.IndexQuery) string {
	var b strings.Builder
	b.WriteString("(")
	for i, w := range q.All {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(quoteWord(w.Text))
		if w.Prefix {
			b.WriteString("*")
		}
	}
	b.WriteString(")")
	for _, w := range q.None {
		b.WriteString(" NOT " + quoteWord(w))
	}
	return b.String()
}

// quoteWord makes a string of a word. Quotes do not occur in words, and are doubled in any case.
func quoteWord(w string) string { return `"` + strings.ReplaceAll(w, `"`, `""`) + `"` }
