package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A rewind to a step takes back its file and not that of the step before; redo brings it back. Then a prompt is
// repeated until a command passes. Both also work on a server, where the command runs.
func TestMini_RewindAndUntil(t *testing.T) {
	t.Parallel()
	work := "call bash {\"command\":\"echo one > one\"}\nfinish tool-calls\n--\ncall bash {\"command\":\"echo two > two\"}\nfinish tool-calls\n--\n" +
		"text \"Both made.\"\nusage 100 20\nfinish stop\n--\ntext \"I look at it.\"\nfinish stop\n--\ncall bash {\"command\":\"echo done > done\"}\nfinish tool-calls\n--\ntext \"Done now.\"\nfinish stop"
	for _, where := range []string{"here", "server"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			home, env := miniHome(t, work)
			env = append(env, `LATHE_PERMISSION={"*":"allow"}`)
			args := []string{"-C", "p", "--mini"}
			if where == "server" {
				s := startServe(t, home, []string{`LATHE_PERMISSION={"*":"allow"}`}, "--socket", filepath.Join(home, "s"))
				defer s.end()
				args = []string{"attach", "unix://" + filepath.Join(home, "s"), "-C", filepath.Join(home, "p"), "--mini"}
			}
			x := onScreen(t, home, 100, 30, env, args...)
			x.see("/help")
			x.enter("make both\r")
			x.see("tokens")
			x.enter("/rewind\r")
			x.see("changed two")
			x.enter("\x1b[B\r") // below the beginning of the session
			x.see("Rewind to step 1")
			x.enter("\r")
			x.see("Rewound to step 1")
			if _, err := os.Stat(filepath.Join(home, "p", "two")); err == nil {
				t.Error("the file of the second step is there")
			}
			if _, err := os.Stat(filepath.Join(home, "p", "one")); err != nil {
				t.Error("the file of the first step is gone")
			}
			x.enter("/redo\r")
			x.see("Redone")
			if _, err := os.Stat(filepath.Join(home, "p", "two")); err != nil {
				t.Error("redo did not bring the file back")
			}
			x.enter("/until test -e done\r")
			x.see("until it passes")
			x.enter("finish it\r")
			x.see("Check passed (run 2 of 10): test -e done")
			x.enter("\x04")
			code, sent := x.end()
			if seen := seenOn(100, 30, sent).Plain(); code != 0 || !strings.Contains(seen, "The check failed with exit code 1") || strings.Contains(seen, "Could not") {
				t.Errorf("%d\n%s", code, seen)
			}
		})
	}
}
