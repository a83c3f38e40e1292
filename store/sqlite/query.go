package sqlite

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/lathe-agent/lathe"
)

// Cell is a value of a row, as text and as JSON. In JSON, a BLOB is base64.
type Cell struct {
	Text string
	JSON json.RawMessage
}

// TablesQuery lists the tables.
const TablesQuery = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"

// SchemaQuery shows how a table and its indexes were made.
func SchemaQuery(table string) string {
	return "SELECT sql FROM sqlite_schema WHERE tbl_name = '" + strings.ReplaceAll(table, "'", "''") + "' AND sql IS NOT NULL ORDER BY type DESC, name"
}

// Query runs one read-only statement on an existing database, also while other processes use it.
// Row is called with the column names and the values.
func Query(ctx context.Context, path, question string, row func(columns []string, cells []Cell) error) (err error) {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite) // readers of a log must be able to write beside it
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot open %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetBusyTimeout(lockWait)
	c.SetInterrupt(ctx.Done())
	if err := c.SetAuthorizer(sqlite.AuthorizeFunc(onlyReads)); err != nil {
		return err
	}
	s, rest, err := c.PrepareTransient(question)
	if err != nil {
		return asked(ctx, path, err)
	}
	defer func() { err = errors.Join(err, s.Finalize()) }()
	if left := strings.Trim(question[len(question)-rest:], "; \t\r\n"); left != "" {
		return lathe.Errorf(lathe.Invalid, "run one statement at a time: remove %q after the first statement", left)
	}
	columns := columnsOf(c, s, question)
	for {
		more, err := s.Step()
		if err != nil {
			return asked(ctx, path, err)
		}
		if !more {
			return nil
		}
		cells := make([]Cell, len(columns))
		for i := range cells {
			cells[i] = cell(s, i)
		}
		if err := row(columns, cells); err != nil {
			return err
		}
	}
}

// columnsOf returns the column names of a statement. The library knows only the last of several
// columns with one name. The database distinguishes them (id, id:1) in a SELECT * over the statement.
func columnsOf(c *sqlite.Conn, s *sqlite.Stmt, question string) []string {
	columns := make([]string, s.ColumnCount())
	for i := range columns {
		columns[i] = s.ColumnName(i)
	}
	if !slices.Contains(columns, "") {
		return columns
	}
	all, _, err := c.PrepareTransient("SELECT * FROM (" + strings.TrimRight(question, "; \t\r\n") + "\n)")
	if err != nil {
		return columns
	}
	for i := range columns {
		columns[i] = all.ColumnName(i)
	}
	_ = all.Finalize() // it never ran
	return columns
}

// onlyReads allows SELECT, and no statement that changes a row, a table, a setting or a file.
func onlyReads(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpRead, sqlite.OpFunction, sqlite.OpRecursive:
		return sqlite.AuthResultOK
	default:
		return sqlite.AuthResultDeny
	}
}

// asked explains an error of the statement or of the database.
func asked(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultAuth:
		return lathe.Errorf(lathe.Denied, "only SELECT statements are allowed here: the database is open for reading only")
	case sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultIOErr, sqlite.ResultBusy, sqlite.ResultCantOpen, sqlite.ResultFull:
		return explain(path, err)
	}
	return lathe.Errorf(lathe.Invalid, "%w; the tables are in sqlite_schema", err)
}

func cell(s *sqlite.Stmt, i int) Cell {
	switch s.ColumnType(i) {
	case sqlite.TypeNull:
		return Cell{"", json.RawMessage("null")}
	case sqlite.TypeInteger:
		n := strconv.FormatInt(s.ColumnInt64(i), 10)
		return Cell{n, json.RawMessage(n)}
	case sqlite.TypeFloat:
		text := s.ColumnText(i)
		if !json.Valid([]byte(text)) { // Inf
			return Cell{text, json.RawMessage(strconv.Quote(text))}
		}
		return Cell{text, json.RawMessage(text)}
	case sqlite.TypeBlob:
		data := make([]byte, s.ColumnLen(i))
		s.ColumnBytes(i, data)
		text := base64.StdEncoding.EncodeToString(data)
		return Cell{text, json.RawMessage(`"` + text + `"`)}
	default:
		text := strings.ToValidUTF8(s.ColumnText(i), "\uFFFD")
		quoted, err := json.Marshal(text)
		if err != nil { // cannot happen for a valid string
			quoted = fmt.Appendf(nil, "%q", err.Error())
		}
		return Cell{text, quoted}
	}
}
