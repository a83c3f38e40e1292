package main

import (
	"strings"
	"testing"
)

// On a screen titles and bars have color, unless the user wants none.
func TestTerminal_Stats(t *testing.T) {
	home := t.TempDir()
	must(t, home, "import", sample(t, "work.json"))
	code, seen := onTerminal(t, home, []string{"COLUMNS=60"}, "stats").end()
	if code != 0 || !strings.HasPrefix(seen, "\x1b[1mOverview\x1b[0m\r\nSessions") || !strings.Contains(seen, "\x1b[36m█") {
		t.Errorf("%d %q", code, seen)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if code, seen := onTerminal(t, home, []string{env}, "stats", "--harness").end(); code != 0 || strings.Contains(seen, "\x1b") {
			t.Errorf("%s: %d %q", env, code, seen)
		}
	}
}
