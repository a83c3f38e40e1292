package editor

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func searchable(t *testing.T) *Editor {
	t.Helper()
	e := newEditor(t)
	e.SetHistory([]Draft{
		{Input: "fix the store test"},
		{Input: "go vet ./...", Mode: shellMode},
		{Input: "review @a.go", Parts: []DraftToken{{7, *fileToken("a.go", 0, 0)}}},
		{Input: "Fix the İndex\nof the store"},
		{Input: "Fix the İndex\nof the store"},
		{Input: "write docs"},
	})
	typeIn(t, e, "my draft")
	return e
}

// The search goes back through the prompts that have the typed text, and takes one into the prompt.
func TestSearch(t *testing.T) {
	t.Parallel()
	e := searchable(t)
	press(t, e, "ctrl+r")
	want(t, e, "|write docs") // nothing typed: the last one
	if d := e.Draft(); d.Input != "my draft" {
		t.Errorf("the draft is %q during the search", d.Input)
	}
	typeIn(t, e, "STORE")
	want(t, e, "Fix the İndex\nof the ^store^|")
	if from, to := e.selection(); e.lineAt(from).text[from.off:to.off] != "store" {
		t.Errorf("highlighted from %v to %v", from, to)
	}
	press(t, e, "ctrl+r") // not the same text again
	want(t, e, "fix the ^store^| test")
	press(t, e, "ctrl+r")
	want(t, e, "fix the ^store^| test")
	press(t, e, "down")
	want(t, e, "Fix the İndex\nof the ^store^|")
	press(t, e, "up", "enter")
	want(t, e, "fix the store test|")
	if _, on := e.Searching(); on {
		t.Error("the search goes on")
	}
	press(t, e, "ctrl+-") // undo brings the draft back
	want(t, e, "my draft|")
}

// Leaving the search restores the draft with its cursor, and what was typed does not get lost.
func TestSearch_Cancel(t *testing.T) {
	t.Parallel()
	for _, leave := range []string{"esc", "ctrl+c"} {
		e := searchable(t)
		press(t, e, "left", "left", "ctrl+r")
		typeIn(t, e, "vet")
		if !e.InShell() {
			t.Error("a shell command is shown as a prompt")
		}
		press(t, e, leave)
		if want(t, e, "my dra|ft"); e.InShell() {
			t.Error("the draft became a shell command")
		}
		press(t, e, "ctrl+-") // the undo log is the draft's
		want(t, e, "my |")
	}
	e := searchable(t)
	press(t, e, "ctrl+r")
	typeIn(t, e, "nowhere")
	if s, _ := e.Searching(); s.Found || s.Query != "nowhere" {
		t.Errorf("%+v", s)
	}
	want(t, e, "my draft|")
	press(t, e, "enter")
	want(t, e, "my draft|")
}

// Other keys take the match and do what they always do; a pasted text is searched for; tokens stay tokens.
func TestSearch_Keys(t *testing.T) {
	t.Parallel()
	e := searchable(t)
	press(t, e, "ctrl+r")
	typeIn(t, e, "vew")
	press(t, e, "backspace")
	e.Paste("iew\n")
	want(t, e, "my draft|")
	press(t, e, "backspace", "backspace", "backspace", "backspace", "backspace")
	typeIn(t, e, "review")
	press(t, e, "tab")
	if files := e.Draft().Files(); len(files) != 1 || files[0] != "a.go" {
		t.Errorf("files %v", files)
	}
	press(t, e, "ctrl+r", "ctrl+a")
	want(t, e, "|write docs")
	press(t, e, "ctrl+r")
	e.View(style.Default(true), ViewOptions{}, 40, 6)
	e.Click(gutter+2, 0)
	want(t, e, "wr|ite docs")
	press(t, e, "up")
	want(t, e, "Fix the İndex|\nof the store") // older than the one that was found
	empty := newEditor(t)
	press(t, empty, "ctrl+r", "x", "ctrl+r", "enter")
	want(t, empty, "|")
}

func TestSearch_Colors(t *testing.T) {
	t.Parallel()
	e := searchable(t)
	press(t, e, "ctrl+r")
	typeIn(t, e, "store")
	th := style.Default(true)
	rows := e.View(th, ViewOptions{}, 40, 6)
	if got := styletest.Look(t, rows, "store"); got.BG != th.Primary {
		t.Errorf("the match looks like %+v in\n%s", got, strings.TrimSpace(style.Text(rows)))
	}
}
