package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Errors are red on a screen that shows colours and whose user wants them, and plain elsewhere.
func TestScreen_Colour(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	code, seen := onTerminal(t, home, nil, "nonsense").end()
	if code != 2 || !strings.HasPrefix(seen, "\x1b[31mError:\x1b[0m there is no command `lathe nonsense`") {
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
		{"agent", "What is it for? ", []string{"agent", "create"}},
		{"question", "x\r\n1\r\n", []string{"db", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"}},
		{"provider", ": ", []string{"auth", "login"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := onTerminal(t, home, nil, tt.args...)
			x.see(tt.see)
			x.enter("\x03")
			if code, seen := x.end(); code != 130 || strings.Contains(seen, "Error") {
				t.Errorf("%d\n%s", code, clip(seen, 2000))
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
func TestScreen_NothingSaid(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, args := range [][]string{{"run"}, {"import"}, {"debug", "ask", "-m", "own/m"}} {
		if code, seen := onTerminal(t, home, nil, args...).end(); code != 2 || !strings.Contains(seen, "Error") {
			t.Errorf("%q: %d\n%s", args, code, seen)
		}
	}
}
