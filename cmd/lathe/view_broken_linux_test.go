package main

import (
	"os"
	"strings"
	"testing"
)

// A mistake in the drawing ends the picture with a word that can be read, on its own line and
// in the usual look; the turn continues, asks what it has to ask, and ends as it would have.
func TestView_Broken(t *testing.T) {
	const script = "text \"First **line**.\\nSecond\"\npause 300ms\ntext \" one.\"\ncall bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"The end.\"\nfinish stop"
	for _, draws := range []string{"1", "2", "3"} {
		t.Run(draws, func(t *testing.T) {
			t.Parallel()
			home, _ := viewHome(t, script)
			x := onScreenBy(t, "lathe-breaks", home, 60, 24, []string{"DRAWS=" + draws}, "-C", "p", "run", "--title", "A view", "show all")
			x.see("type a reason:")
			x.enter("y\r")
			code, sent := x.end()
			if stateOf(t, x.user) != x.before {
				t.Error("the terminal is left in another state")
			}
			g := seenOn(60, 24, sent)
			seen := g.Plain()
			together := func(s string) string { return strings.Join(strings.Fields(s), "") } // the terminal breaks words
			if g.Style != "" || code != 0 || len(g.Unknown) > 0 || strings.Contains(seen, "goroutine") {
				t.Errorf("exit code %d, look %q, %v\n%s", code, g.Style, g.Unknown, seen)
			}
			for _, want := range []string{"Warning: the live view failed: runtime error: index out of range [1] with length 0.", "? bash touch x", "The end."} {
				if n := strings.Count(together(seen), together(want)); n != 1 {
					t.Errorf("%q is there %d times:\n%s", want, n, seen)
				}
			}
			if !strings.Contains(seen, "\nWarning: ") {
				t.Errorf("the message has no line of its own:\n%s", seen)
			}
			log, err := os.ReadFile(home + "/data/log/lathe.log")
			if err != nil || !strings.Contains(string(log), "the live view panicked") || !strings.Contains(string(log), "Screen") {
				t.Errorf("the log says %q, %v", log, err)
			}
			if _, err := os.Stat(home + "/p/x"); err != nil {
				t.Error(err)
			}
		})
	}
}
