package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Errors are red on a screen that shows colors and whose user wants them, and plain elsewhere.
func TestScreen_Color(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	code, seen := onTerminal(t, home, nil, "nonsense").end()
	if code != 2 || !strings.HasPrefix(seen, "\x1b[31mError:\x1b[0m unknown command `lathe nonsense`") {
		t.Errorf("%d %q", code, seen)
	}
	must(t, home, "import", sample(t, "first.json"))
	for _, args := range [][]string{{"nonsense"}, {"session", "list", "--all"}, {"session", "show", "ses_4fc0a81bbffeQ2mTzX8rWcVyLk"}, {"models", "nobody"}, {"--help"}, {"debug", "info"}} {
		for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
			if _, seen := onTerminal(t, home, []string{env}, args...).end(); strings.Contains(seen, "\x1b") || seen == "" {
				t.Errorf("%s %q: %q", env, args, seen)
			}
		}
	}
}

// An interrupt where something is asked, or takes for ever, ends the command without a word and
// without having done anything.
func TestScreen_Interrupts(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, home, "import", sample(t, "first.json"))
	for _, tt := range []struct {
		name, see string
		args      []string
	}{
		{"delete", "[y/N] ", []string{"session", "delete", "ses_4fc0a81bbffeQ2mTzX8rWcVyLk"}},
		{"agent", "Description (when to use it): ", []string{"agent", "create"}},
		{"question", "x\r\n1\r\n", []string{"db", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"}},
		{"provider", ": ", []string{"auth", "login"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := onTerminal(t, home, nil, tt.args...)
			x.see(tt.see)
			x.enter("\x03")
			if code, seen := x.end(); code != 130 || strings.Contains(seen, "Error") {
				t.Errorf("%d\n%s", code, termtext.Clip(seen, 2000))
			}
		})
	}
	if list := must(t, home, "session", "list", "--all"); !strings.Contains(list, "ses_4fc0a81bbffeQ2mTzX8rWcVyLk") {
		t.Errorf("it was deleted:\n%s", list)
	}
	for _, name := range []string{".lathe", ".config", "data/auth.json"} {
		if _, err := os.Stat(filepath.Join(home, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	noneLeft(t, home)
}

// What waits for input elsewhere does not on a terminal when nothing was said.
func TestScreen_NothingText(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, args := range [][]string{{"run"}, {"import"}, {"debug", "ask", "-m", "own/m"}} {
		if code, seen := onTerminal(t, home, nil, args...).end(); code != 2 || !strings.Contains(seen, "Error") {
			t.Errorf("%q: %d\n%s", args, code, seen)
		}
	}
}

// A list that is longer than the screen goes through the user's pager, a short one and one of a given
// length do not.
func TestScreen_Pager(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, name := range []string{"first.json", "second.json"} {
		must(t, home, "import", sample(t, name))
	}
	pager := filepath.Join(home, "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\necho paged $1\nexec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PAGER=" + pager + " -x"}
	for rows, paged := range map[uint16]bool{0: false, 3: true, 40: false} {
		code, seen := onScreen(t, home, 100, rows, env, "session", "list", "--all").end()
		if code != 0 || strings.Contains(seen, "paged -x") != paged || !strings.Contains(seen, "ses_4fc0a81bbffeQ2mTzX8rWcVyLk") {
			t.Errorf("%d rows: %d\n%s", rows, code, seen)
		}
	}
	for _, args := range [][]string{{"session", "list", "--all", "-n", "5"}, {"session", "list", "--all", "--json"}} {
		if code, seen := onScreen(t, home, 100, 3, env, args...).end(); code != 0 || strings.Contains(seen, "paged") {
			t.Errorf("%q: %d\n%s", args, code, seen)
		}
	}
	if code, seen := onScreen(t, home, 100, 3, []string{"PAGER=/nonexistent/pager"}, "session", "list", "--all").end(); code != 0 || !strings.Contains(seen, "ses_4fc0a81bbffeQ2mTzX8rWcVyLk") {
		t.Errorf("without a pager: %d\n%s", code, seen)
	}
}

// Who names no session on a terminal chooses the one to export.
func TestScreen_ChooseExport(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, name := range []string{"first.json", "second.json"} {
		must(t, home, "import", sample(t, name))
	}
	file := filepath.Join(home, "out.json")
	x := onScreen(t, home, 100, 40, nil, "export", "-o", file)
	x.see("Session:")
	x.see("Number or name: ")
	x.enter("2\r")
	code, seen := x.end()
	text, err := os.ReadFile(file)
	if code != 0 || err != nil || !strings.Contains(seen, "Exported session: ses_") || !strings.Contains(string(text), `"messages"`) {
		t.Errorf("%d %v\n%s", code, err, seen)
	}
}
