package migrate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/migrate"
)

var update = flag.Bool("update", false, "write the golden files")

// database makes a database of statements in a file.
func database(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(name, ".sql")+".db")
	c, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(c, strings.ReplaceAll(strings.ReplaceAll(string(text), "BEGIN TRANSACTION;", ""), "COMMIT;", ""), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// found lists the sessions of a program's files in testdata.
func found(t testing.TB, tool migrate.Tool) (list []migrate.Session) {
	t.Helper()
	var err error
	switch tool {
	case migrate.Claude:
		list, err = migrate.ClaudeSessions("testdata/claude")
	case migrate.Codex:
		list, err = migrate.CodexSessions("testdata/codex")
	case migrate.Gemini:
		list, err = migrate.GeminiSessions("testdata/gemini", nil)
	case migrate.OpenCode:
		list, err = migrate.OpenCodeSessions(t.Context(), filepath.Dir(database(t, "opencode.sql")))
	case migrate.Crush:
		list, err = migrate.CrushSessions(t.Context(), database(t, "crush.sql"), "/home/dev/shop")
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// price makes every token cost a millionth of a dollar.
func price(_ lathe.ModelRef, used lathe.Tokens) lathe.Money {
	return lathe.Dollars(float64(used.Input+used.Output) / 1e6)
}

// read reads a session whole.
func read(t testing.TB, s migrate.Session) (lathe.Export, migrate.Skipped) {
	t.Helper()
	x := lathe.Export{}
	skipped := migrate.Skipped{}
	var err error
	x.Info, err = s.Read(context.Background(), migrate.Input{Price: price, Skipped: skipped, Add: func(m lathe.Message) error {
		x.Messages = append(x.Messages, m)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return x, skipped
}

func TestGolden(t *testing.T) {
	for _, tool := range migrate.Tools() {
		t.Run(string(tool), func(t *testing.T) {
			list := found(t, tool)
			if len(list) != 1 {
				t.Fatalf("%d sessions", len(list))
			}
			x, _ := read(t, list[0])
			if x.Info.ID != list[0].ID {
				t.Errorf("the list says %s, the session %s", list[0].ID, x.Info.ID)
			}
			data, err := x.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, data, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			name := filepath.Join("testdata", string(tool)+".golden.json")
			if *update {
				if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Error(d)
			}
			conversationOf(t, x)
		})
	}
}

// conversationOf checks what every transcript here has: one prompt, a command that worked, a read that failed, an answer.
func conversationOf(t *testing.T, x lathe.Export) {
	t.Helper()
	var kinds []string
	last := lathe.Time(0)
	for _, m := range x.Messages {
		if m.Created <= last {
			t.Errorf("message %s is not after the one before it", m.ID)
		}
		last = m.Created
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.Text:
				kinds = append(kinds, m.Data.Role()+":"+b.Text)
			case *lathe.ToolCall:
				kinds = append(kinds, b.Tool+" "+b.State.Status())
			default:
			}
		}
	}
	got := strings.Join(kinds, "\n")
	for _, want := range []string{"user:", "Say hello with the shell", "bash completed", "assistant:Done: the shell said hello."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if x.Info.Directory != "/home/dev/shop" || x.Info.Title == "" || x.Info.Created == 0 || x.Info.Updated < x.Info.Created {
		t.Errorf("record %+v", x.Info)
	}
}
