// Package copier copies all sessions from one database into an empty one of any kind: from a file to PostgreSQL and back.
//
// The copy is one transaction: the target has everything or stays empty. Each row is read back and compared before the
// end. Large values are files beside the database and are not touched; the words of the search index are made again.
//
// Start at [Copy].
package copier

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// batch is how many rows are read at a time.
const batch = 300

// table is a table, its columns with their types after a colon (i integer, f float, t text, b bytes), and how many of
// them, from the first, are its key.
type table struct {
	name    string
	keys    int
	columns string
}

// tables has all tables but those that belong to one database: feed, search, node, writer and versions.
func tables() []table {
	return []table{
		{"known", 1, "key:t value:t"},
		{"project", 1, "n:i id:t worktree:t data:t born:i seq:i"},
		{"session", 1, "n:i id:t slug:t project:t workspace:t directory:t path:t parent:t title:t title_key:t version:t created:f updated:f " +
			"compacting:f archived:f summary:b share:b rules:b revert:b cost:i tokens:b agent:t model:b metadata:t extra:b born:i seq:i task:i"},
		{"message", 1, "n:i id:t session:i role:t created:f parent:t data:b born:i seq:i waiting:i hold:i wants:i digest:t request:t"},
		{"part", 1, "n:i id:t message:i type:t data:b born:i seq:i open:i"},
		{"tail", 2, "part:i at:i text:t"},
		{"status", 1, "session:i data:t born:i seq:i"},
		{"list", 1, "n:i session:i kind:t data:b born:i seq:i"},
		{"ask", 1, "n:i id:t session:i kind:t data:b answer:t note:t answered:f born:i seq:i"},
		{"tomb", 1, "n:i kind:t session:t message:t part:t directory:t project:t data:b born:i seq:i at:f"},
		{"lease", 1, "session:i owner:t epoch:i cancel:i interrupted:i"},
		{"blob", 1, "hash:t size:i unused:i"},
		{"blob_ref", 3, "kind:t row:i hash:t"},
		{"approval", 1, "n:i project:t permission:t pattern:t created:f"},
		{"account", 2, "kind:t key:t cost:i tokens:i steps:i time:i limits:t"},
		{"reservation", 2, "session:i slot:t epoch:i day:t project:t chain:t cost:i tokens:i steps:i sure_cost:i sure_tokens:i"},
		{"preface", 1, "session:i data:b"},
		{"tests", 1, "project:t command:t exit:i at:f"},
		{"shell", 1, "n:i id:t session:i data:t owner:t stop:i"},
	}
}

// numbered is a database that counts the rows of its tables itself and must learn where to continue.
type numbered interface {
	Renumber(tx store.Tx, table string) error
}

// Copied is the number of rows of a table.
type Copied struct {
	Table string
	Rows  int
}

// Copy copies from one open database into another, which must be empty. progress is called after each table.
func Copy(ctx context.Context, from, to store.Driver, progress func(Copied)) error {
	return from.Read(ctx, func(r store.Reader) error {
		if err := checkIdle(r, from); err != nil {
			return err
		}
		tx, err := to.Begin(ctx, true)
		if err != nil {
			return err
		}
		if err := copyAll(ctx, r, tx, to, progress); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// checkIdle refuses a source in which a process works: its later changes would be missing.
func checkIdle(r store.Reader, d store.Driver) error {
	var owners []string
	err := r.Query(`SELECT DISTINCT owner FROM lease WHERE owner IS NOT NULL`, nil, func(row store.Row) error {
		owners = append(owners, row.Text(0))
		return nil
	})
	for _, o := range owners {
		if err != nil {
			return err
		}
		var alive bool
		if alive, err = d.Alive(r, o); alive {
			return lathe.Errorf(lathe.Conflict, "a running lathe works on a session of the source database; end it, then copy again")
		}
	}
	return err
}

// copyAll copies the tables one after the other. The counter is last: an empty target has none.
func copyAll(ctx context.Context, r store.Reader, tx store.Tx, to store.Driver, progress func(Copied)) error {
	if counter, _, err := counters(tx); err != nil {
		return err
	} else if counter != 0 {
		return lathe.Errorf(lathe.Conflict, "the target database is not empty; copy into a new one")
	}
	for _, t := range tables() {
		c := t.parse()
		rows, err := c.copy(ctx, r, tx)
		if err == nil {
			err = c.compare(ctx, r, tx)
		}
		if n, ok := to.(numbered); ok && err == nil && c.names[0] == "n" {
			err = n.Renumber(tx, t.name)
		}
		if err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, err)
		}
		progress(Copied{t.name, rows})
	}
	counter, floor, err := counters(r)
	if err != nil {
		return err
	}
	// All parts are to be indexed again.
	return tx.Do(`UPDATE feed SET counter = $1, floor = $2, search_low = 0, search_top = $3, search_high = $4`, counter, floor, counter, counter)
}

// counters reads the feed: numbers stay the same in a copy, so that rows keep their order.
func counters(r store.Reader) (counter, floor int64, err error) {
	err = r.Query(`SELECT counter, floor FROM feed`, nil, func(row store.Row) error {
		counter, floor = row.Int(0), row.Int(1)
		return nil
	})
	return counter, floor, err
}

// spec is a table ready to be read and written.
type spec struct {
	table
	names, types []string
}

// parse splits the columns of a table, which are one text so that the list above stays readable.
func (t table) parse() spec {
	s := spec{table: t}
	for c := range strings.FieldsSeq(t.columns) {
		name, kind, _ := strings.Cut(c, ":")
		s.names, s.types = append(s.names, name), append(s.types, kind)
	}
	return s
}

// marks are n placeholders from the first number on.
func marks(first, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(out, ", ")
}

// page reads the rows after a key, in its order.
func (s spec) page(r store.Reader, after []any) (rows [][]any, err error) {
	key := strings.Join(s.names[:s.keys], ", ")
	sql := `SELECT ` + strings.Join(s.names, ", ") + ` FROM ` + s.name
	if after != nil {
		sql += ` WHERE (` + key + `) > (` + marks(1, s.keys) + `)`
	}
	sql += fmt.Sprintf(` ORDER BY %s LIMIT %d`, key, batch)
	err = r.Query(sql, after, func(row store.Row) error {
		values := make([]any, len(s.names))
		for i, kind := range s.types {
			switch {
			case row.Null(i):
			case kind == "i":
				values[i] = row.Int(i)
			case kind == "f":
				values[i] = row.Float(i)
			case kind == "b":
				values[i] = append([]byte{}, row.Bytes(i)...)
			default:
				values[i] = row.Text(i)
			}
		}
		rows = append(rows, values)
		return nil
	})
	return rows, err
}

// each calls f with all pages.
func (s spec) each(ctx context.Context, r store.Reader, f func(rows [][]any, after []any) error) error {
	var after []any
	for {
		rows, err := s.page(r, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := f(rows, after); err != nil {
			return err
		}
		after = rows[len(rows)-1][:s.keys]
	}
}

// copy writes the rows of a table. The statements wait in the driver and travel together.
func (s spec) copy(ctx context.Context, r store.Reader, tx store.Tx) (n int, err error) {
	insert := `INSERT INTO ` + s.name + ` (` + strings.Join(s.names, ", ") + `) VALUES (` + marks(1, len(s.names)) + `)`
	err = s.each(ctx, r, func(rows [][]any, _ []any) error {
		for _, row := range rows {
			if err := tx.Do(insert, s.settled(row)...); err != nil {
				return err
			}
		}
		n += len(rows)
		return nil
	})
	return n, err
}

// settled is the row for the target. A session that a dead process left is interrupted there, and waits for its user.
func (s spec) settled(row []any) []any {
	if s.name != "lease" || row[1] == nil {
		return row
	}
	out := slices.Clone(row)
	out[1], out[3], out[4] = nil, int64(0), int64(1)
	return out
}

// compare reads both sides again.
func (s spec) compare(ctx context.Context, r store.Reader, tx store.Tx) error {
	total := 0
	err := s.each(ctx, r, func(rows [][]any, after []any) error {
		got, err := s.page(tx, after)
		if err != nil {
			return err
		}
		for i, row := range rows {
			if i >= len(got) || !reflect.DeepEqual(s.settled(row), got[i]) {
				return lathe.Errorf(lathe.Internal, "a row differs after the copy, at key %v; nothing was copied", row[:s.keys])
			}
		}
		total += len(rows)
		return nil
	})
	if err != nil {
		return err
	}
	have := int64(0)
	err = tx.Query(`SELECT count(*) FROM `+s.name, nil, func(row store.Row) error {
		have = row.Int(0)
		return nil
	})
	if err == nil && have != int64(total) {
		err = lathe.Errorf(lathe.Internal, "the copy has %d rows instead of %d; nothing was copied", have, total)
	}
	return err
}
