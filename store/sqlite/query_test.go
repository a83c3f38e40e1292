package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestLook(t *testing.T) {
	_, _, dir := openStore(t) // and it stays open
	path := filepath.Join(dir, "lathe.db")
	look := func(question string) (out []string, err error) {
		err = Query(t.Context(), path, question, func(columns []string, cells []Cell) error {
			for i, c := range cells {
				out = append(out, fmt.Sprintf("%s=%s=%s", columns[i], c.Text, c.JSON))
			}
			return nil
		})
		return out, err
	}
	got, err := look("SELECT 1 AS n, 'a<b' AS t, NULL AS z, 1.5 AS f, x'00ff' AS b, 9e999 AS inf ;\n")
	want := []string{`n=1=1`, `t=a<b="a\u003cb"`, `z==null`, `f=1.5=1.5`, `b=AP8=="AP8="`, `inf=Inf="Inf"`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v", got, err)
	}
	if got, err := look("SELECT count(*) FROM session"); err != nil || !slices.Equal(got, []string{"count(*)=0=0"}) {
		t.Errorf("%q %v", got, err)
	}
	got, err = look("SELECT a.id, b.id, 2 FROM (SELECT 1 AS id) a, (SELECT 3 AS id) b -- twice\n;")
	if err != nil || !slices.Equal(got, []string{"id=1=1", "id:1=3=3", "2=2=2"}) {
		t.Errorf("%q %v", got, err)
	}
	for _, bad := range []string{
		"DELETE FROM session", "UPDATE session SET id = 'x'", "DROP TABLE session", "CREATE TABLE x (y)", "PRAGMA journal_mode = DELETE",
		"PRAGMA query_only = OFF", "VACUUM", "VACUUM INTO '" + dir + "/copy.db'", "ATTACH '" + dir + "/other.db' AS o", "BEGIN IMMEDIATE",
	} {
		if _, err := look(bad); lathe.CodeOf(err) != lathe.Denied {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{"SELECT nothing", "hello", "SELECT 1; SELECT 2"} {
		if _, err := look(bad); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.db")); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func TestLook_Interrupted(t *testing.T) {
	_, _, dir := openStore(t)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(lathe.Errorf(lathe.Canceled, "enough"))
	err := Query(ctx, filepath.Join(dir, "lathe.db"), endless, func([]string, []Cell) error { return nil })
	if lathe.CodeOf(err) != lathe.Canceled || !strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
}
