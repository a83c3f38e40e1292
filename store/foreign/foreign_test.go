package foreign_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store/foreign"
)

// crush are the tables of crush, with the columns that matter.
const crush = `CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, created_at INTEGER, updated_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER);
INSERT INTO sessions VALUES ('s1', 'One', 1, 2);
INSERT INTO messages VALUES ('m1', 's1', 'user', '[]', 1);`

// database makes a database of statements, and returns its open connection if it stays in use.
func database(t *testing.T, sql string) (path string, conn *sqlite.Conn) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a b%20c?.db")
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(conn, sql, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return path, conn
}

// rows reads the messages of the session s1.
func rows(t *testing.T, path string) (out []foreign.Row, err error) {
	t.Helper()
	db, err := foreign.Open(t.Context(), path, foreign.CrushTables()...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	err = db.CrushMessages(t.Context(), "s1", func(r foreign.Row) error {
		out = append(out, r)
		return nil
	})
	return out, err
}

// A database in use is read up to its last commit, also what is only in its log, and neither its files nor its user notice.
func TestOpen_ChangesNothing(t *testing.T) {
	path, conn := database(t, `PRAGMA journal_mode = WAL;`+crush)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rows(t, path)
	if err != nil || len(got) != 1 || got[0]["role"] != "user" {
		t.Fatalf("%v %v", got, err)
	}
	if err := sqlitex.ExecuteScript(conn, `INSERT INTO messages VALUES ('m2', 's1', 'user', '[]', 2);`, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := rows(t, path); err != nil || len(got) != 2 {
		t.Fatalf("%v %v", got, err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database has changed (%v)", err)
	}
}

// A folder that cannot be written is no obstacle.
func TestOpen_ReadOnlyFolder(t *testing.T) {
	path, conn := database(t, crush)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	if got, err := rows(t, path); err != nil || len(got) != 1 {
		t.Fatalf("%v %v", got, err)
	}
}

// A schema that runs something when it is read is refused, or without effect.
func TestHostile_Views(t *testing.T) {
	endless := `CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS id, 's1' AS session_id, 'user' AS role, '[]' AS parts, i AS created_at FROM n;`
	path, _ := database(t, strings.Replace(crush, "CREATE TABLE messages", "CREATE TABLE other", 1)[:strings.Index(crush, "INSERT INTO messages")-3]+";"+endless)
	if _, err := rows(t, path); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("a view in place of a table: %v", err)
	}
	path, _ = database(t, crush+`ALTER TABLE messages ADD COLUMN model TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))) VIRTUAL;`)
	got, err := rows(t, path)
	if err == nil && (len(got) != 1 || got[0]["model"] != "") {
		t.Errorf("a column of 200 MB: %d rows, %v", len(got), err)
	}
	path, _ = database(t, crush) // the control: the same without the column
	if got, err := rows(t, path); err != nil || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
}

// Whatever bytes a file has, it is read or refused, and stays as it is.
func TestHostile_Damaged(t *testing.T) {
	path, conn := database(t, crush+strings.Repeat(`INSERT INTO messages SELECT hex(randomblob(8)), 's1', 'user', hex(randomblob(400)), 1 FROM messages;`, 7))
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 60 {
		broken := bytes.Clone(whole)
		for j := range 40 { // the same bytes in each run
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", i, j))
			broken[(int(sum[0])<<16|int(sum[1])<<8|int(sum[2]))%len(broken)] = sum[3]
		}
		if i%3 == 0 {
			broken = broken[:len(broken)*(i+1)/70]
		}
		name := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(name, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := rows(t, name); err != nil {
			refused++
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, broken) {
			t.Fatalf("%d: the file has changed (%v)", i, err)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// A value that is too long is left out; the others of the row stay.
func TestHostile_LongValue(t *testing.T) {
	path, _ := database(t, crush+`INSERT INTO messages VALUES ('m2', 's1', 'user', hex(zeroblob(20000000)), 2);`)
	got, err := rows(t, path)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	if _, ok := got[1]["parts"]; ok || got[1]["id"] != "m2" {
		t.Errorf("%d bytes", len(got[1]["parts"]))
	}
}

// Files that are no database, and names that are no files, are refused with a reason.
func TestOpen_Refuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{text, dir, filepath.Join(dir, "none.db")} {
		if _, err := rows(t, name); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}
