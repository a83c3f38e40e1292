// Package foreign reads the SQLite databases of other coding agents: those of OpenCode and of crush.
//
// A database of another program is hostile input. It is opened for reading only, its schema may run nothing, its tables
// must be tables, and a value that is too long is left out. Nothing is written beside it where the system allows that,
// and a program that uses the database at the same time is not disturbed. The meaning of the rows is not known
// here: package migrate has it.
//
// Start reading at [Open]. A Database is for one goroutine.
package foreign

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
)

const (
	// maxValue is the longest value that is read, in bytes.
	maxValue = 16 << 20
	// lockWait is how long a read waits for the other program.
	lockWait = 5 * time.Second
)

// Database is an open database of another program.
type Database struct {
	conn    *sqlite.Conn
	path    string
	columns map[string][]string // by table
}

// Open opens a database for reading. It must have the tables.
func Open(ctx context.Context, path string, tables ...string) (*Database, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, lathe.Errorf(lathe.Invalid, "%s is not a file", path)
	}
	conn, err := connect(path, "mode=ro")
	if err != nil { // a log that needs a lock file which cannot be created: read what is in the database itself
		conn, err = connect(path, "mode=ro&immutable=1")
	}
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot open %s: %w", path, err)
	}
	conn.SetInterrupt(ctx.Done())
	d := &Database{conn: conn, path: path, columns: map[string][]string{}}
	if err := d.prepare(ctx, tables); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return d, nil
}

// connect opens a connection and reads the schema, which shows whether the file can be used.
func connect(path, options string) (*sqlite.Conn, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	at := url.URL{Scheme: "file", Path: path, RawQuery: options}
	c, err := sqlite.OpenConn(at.String(), sqlite.OpenReadOnly|sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	c.SetBusyTimeout(lockWait)
	c.Limit(sqlite.LimitLength, maxValue+1<<20)
	err = c.SetDefensive(true)
	for _, p := range []string{`PRAGMA trusted_schema = OFF`, `PRAGMA cell_size_check = ON`, `PRAGMA mmap_size = 0`, `PRAGMA cache_size = -2000`, `PRAGMA query_only = ON`, `SELECT count(*) FROM sqlite_schema`} {
		if err == nil {
			err = sqlitex.ExecuteTransient(c, p, nil)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// prepare checks that the tables are tables and not views, notes their columns, and forbids all but reading.
func (d *Database) prepare(ctx context.Context, tables []string) error {
	for _, table := range tables {
		kind := ""
		err := d.each(ctx, `SELECT type FROM sqlite_schema WHERE name = ?`, []any{table}, func(s *sqlite.Stmt) error {
			kind = s.ColumnText(0)
			return nil
		})
		if err != nil {
			return err
		}
		if kind != "table" {
			return lathe.Errorf(lathe.Invalid, "%s has no table %s: it belongs to another program, or to a version that lathe does not know", d.path, table)
		}
		err = d.each(ctx, `SELECT name FROM pragma_table_info(?)`, []any{table}, func(s *sqlite.Stmt) error {
			d.columns[table] = append(d.columns[table], s.ColumnText(0))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return d.conn.SetAuthorizer(sqlite.AuthorizeFunc(onlyReads))
}

// onlyReads allows to select from tables. Functions in a generated column are harmless ones, because the schema is not
// trusted, and their values are limited like all others.
func onlyReads(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpRead, sqlite.OpFunction:
		return sqlite.AuthResultOK
	default:
		return sqlite.AuthResultDeny
	}
}

// Close closes the database.
func (d *Database) Close() error { return d.conn.Close() }

// each runs a statement.
func (d *Database) each(ctx context.Context, sql string, args []any, f func(*sqlite.Stmt) error) error {
	err := sqlitex.ExecuteTransient(d.conn, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: f})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy:
		return lathe.Errorf(lathe.Unavailable, "another program is writing to %s; try again when it is done", d.path)
	case slices.Contains([]sqlite.ResultCode{sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultIOErr, sqlite.ResultTooBig}, sqlite.ErrCode(err).ToPrimary()):
		return lathe.Errorf(lathe.Invalid, "%s is damaged: %w", d.path, err)
	default:
		return err
	}
}

// Row is a row by column. A value that is too long, and a column that this version of the other program does not
// have, is missing.
type Row map[string]string

// rows calls f with the rows of a table, with those of the columns that it has.
func (d *Database) rows(ctx context.Context, table string, columns []string, rest string, args []any, f func(Row) error) error {
	var have []string
	for _, c := range columns {
		if slices.Contains(d.columns[table], c) {
			have = append(have, c)
		}
	}
	var list []string
	for _, c := range have {
		list = append(list, fmt.Sprintf(`CASE WHEN octet_length("%[1]s") <= %[2]d THEN "%[1]s" END`, c, maxValue))
	}
	sql := `SELECT ` + strings.Join(list, `, `) + ` FROM main."` + table + `" ` + rest
	return d.each(ctx, sql, args, func(s *sqlite.Stmt) error {
		row := Row{}
		for i, c := range have {
			if s.ColumnType(i) != sqlite.TypeNull {
				row[c] = strings.ToValidUTF8(s.ColumnText(i), "\uFFFD")
			}
		}
		return f(row)
	})
}

// OpenCodeTables and CrushTables are the tables that must be there.
func OpenCodeTables() []string { return []string{"session", "message", "part"} }
func CrushTables() []string    { return []string{"sessions", "messages"} }

// OpenCodeSessions reads the records of OpenCode's sessions, the oldest first.
func (d *Database) OpenCodeSessions(ctx context.Context, f func(Row) error) error {
	return d.rows(ctx, "session", []string{
		"id", "parent_id", "slug", "directory", "title", "version", "share_url", "metadata", "revert", "permission", "agent", "model",
		"summary_additions", "summary_deletions", "summary_files", "time_created", "time_updated", "time_archived",
	}, `ORDER BY time_created, id`, nil, f)
}

// OpenCodeMessages reads the messages of a session, the oldest first.
func (d *Database) OpenCodeMessages(ctx context.Context, session string, f func(Row) error) error {
	return d.rows(ctx, "message", []string{"id", "data"}, `WHERE session_id = ? ORDER BY time_created, id`, []any{session}, f)
}

// OpenCodeParts reads the parts of a message in the order of creation.
func (d *Database) OpenCodeParts(ctx context.Context, message string, f func(Row) error) error {
	return d.rows(ctx, "part", []string{"id", "data"}, `WHERE message_id = ? ORDER BY time_created, id`, []any{message}, f)
}

// CrushSessions reads the records of crush's sessions, the oldest first.
func (d *Database) CrushSessions(ctx context.Context, f func(Row) error) error {
	return d.rows(ctx, "sessions", []string{
		"id", "parent_session_id", "title", "prompt_tokens", "completion_tokens", "cost", "created_at", "updated_at", "workspace_cwd",
	}, `ORDER BY created_at, id`, nil, f)
}

// CrushMessages reads the messages of a session, the oldest first. Times are in seconds, so that the row decides.
func (d *Database) CrushMessages(ctx context.Context, session string, f func(Row) error) error {
	return d.rows(ctx, "messages", []string{
		"id", "role", "parts", "model", "provider", "created_at", "updated_at", "is_summary_message",
	}, `WHERE session_id = ? ORDER BY created_at, rowid`, []any{session}, f)
}
