package postgres

import (
	"strings"

	"github.com/lathe-agent/lathe/store"
)

// textIndex is a table of tsvectors without positions. The words are made by the store, so no dictionary is asked.
type textIndex struct{}

// TextIndex returns the table of words.
func (d *Driver) TextIndex() store.TextIndex { return textIndex{} }

// Put replaces the words of a part.
func (textIndex) Put(tx store.Tx, part int64, words []string) error {
	return tx.Do(`INSERT INTO search (part, words) VALUES ($1, array_to_tsvector(string_to_array($2, ' ')))
		ON CONFLICT (part) DO UPDATE SET words = excluded.words`, part, strings.Join(words, " "))
}

// Remove removes the parts of a subquery.
func (textIndex) Remove(tx store.Tx, parts string, arg any) error {
	return tx.Do(`DELETE FROM search WHERE part IN `+parts, arg)
}

// Clear empties the table.
func (textIndex) Clear(tx store.Tx) error { return tx.Do(`DELETE FROM search`) }

// findBatch is how many parts one statement finds. Most searches need fewer.
const findBatch = 500

// Find walks the table backwards, some rows at a time.
func (textIndex) Find(r store.Reader, q store.IndexQuery, f func(int64) (bool, error)) error {
	query := textQuery(q)
	for before, more := q.Before, true; more; {
		var parts []int64
		err := r.Query(`SELECT part FROM search WHERE words @@ $1::text::tsquery AND part < $2 ORDER BY part DESC LIMIT $3`,
			[]any{query, before, int64(findBatch)}, func(row store.Row) error {
				parts = append(parts, row.Int(0))
				return nil
			})
		if err != nil {
			return err
		}
		for _, p := range parts {
			if more, err = f(p); err != nil || !more {
				return err
			}
			before = p
		}
		more = len(parts) == findBatch
	}
	return nil
}

// textQuery writes a query in the language of tsquery.
func textQuery(q store.IndexQuery) string {
	var b strings.Builder
	for i, w := range q.All {
		if i > 0 {
			b.WriteString(" & ")
		}
		b.WriteString(quoteWord(w.Text))
		if w.Prefix {
			b.WriteString(":*")
		}
	}
	for _, w := range q.None {
		b.WriteString(" & !" + quoteWord(w))
	}
	return b.String()
}

// quoteWord makes a lexeme of a word. Quotes and backslashes do not occur in words, and are doubled in any case.
func quoteWord(w string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(w, `\`, `\\`), "'", "''") + "'"
}
