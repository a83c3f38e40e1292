package dialog_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// opened is what all dialogs have in common.
type opened interface {
	Key(k tea.KeyPressMsg) dialog.Result
	Paste(text string) dialog.Result
	Click(x, y int) dialog.Result
	Wheel(dy int) dialog.Result
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
}

// send presses keys and returns what the last came to.
func send(d opened, names ...string) (out dialog.Result) {
	for _, n := range names {
		out = d.Key(styletest.Press(n))
	}
	return out
}

func write(d opened, text string) {
	for _, r := range text {
		d.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// frame draws a dialog and checks what holds for all of them.
func frame(t styletest.TB, d opened, width, height int) string {
	t.Helper()
	return style.Text(look(t, d, width, height))
}

func look(t styletest.TB, d opened, width, height int) []style.Line {
	t.Helper()
	lines := d.View(style.Default(true), width, height)
	for i, l := range lines {
		if w := l.Width(); w > max(width, 20) || w != lines[0].Width() {
			t.Fatalf("row %d is %d wide, the screen is %d, the first row %d: %q", i, w, width, lines[0].Width(), l.Text())
		}
	}
	styletest.CheckClean(t, lines)
	if len(lines) > max(height, 5) {
		t.Fatalf("%d rows where the screen has %d:\n%s", len(lines), height, style.Text(lines))
	}
	if x, y, ok := d.Cursor(); ok {
		styletest.CheckCursor(t, lines, lines[0].Width(), x, y)
	}
	return lines
}

// golden compares frames at the usual widths with files.
func golden(t *testing.T, name string, d opened) {
	t.Helper()
	styletest.Frames(t, name, func(width int) []style.Line { return look(t, d, width, 30) })
}

var now = time.Date(2026, 11, 15, 18, 30, 0, 0, time.UTC)

func ago(d time.Duration) lathe.Time { return lathe.TimeOf(now.Add(-d)) }

const dayLong = 24 * time.Hour

func someSessions() dialog.Sessions {
	mk := func(id, title string, age time.Duration) lathe.Session {
		return lathe.Session{ID: lathe.SessionID(id), Title: title, Created: ago(age), Updated: ago(age), Directory: "/home/dev/app"}
	}
	list := []lathe.Session{
		mk("ses_1", "Fix the parser of dates", 10*time.Minute),
		mk("ses_2", "Why is the build slow?", 3*time.Hour),
		mk("ses_3", "日本語のタイトルを直す", 26*time.Hour),
		mk("ses_4", "A very long title that goes on about everything that was said in the first prompt and more", 3*dayLong),
		mk("ses_5", "Release notes", 20*dayLong),
		mk("ses_6", "Last year's idea", 400*dayLong),
		mk("ses_7", "Pinned work", 5*dayLong),
	}
	list[4].Directory = "/home/dev/other"
	cents, dollars := lathe.Dollars(0.0423), lathe.Dollars(12.5)
	list[1].Cost, list[3].Cost = &cents, &dollars
	child := mk("ses_8", "child", time.Minute)
	child.Parent = "ses_1"
	return dialog.Sessions{
		List: append(list, child), Current: "ses_2", Directory: "/home/dev/app", Pinned: []lathe.SessionID{"ses_7"},
		Running: map[lathe.SessionID]lathe.Status{"ses_1": {Type: lathe.Busy}, "ses_3": {Type: lathe.Busy}}, Now: now, Home: "/home/dev",
		Waiting: map[lathe.SessionID]bool{"ses_3": true}, Cut: map[lathe.SessionID]bool{"ses_5": true},
		First: map[lathe.SessionID]string{"ses_2": "the build takes nine minutes, why?"},
	}
}

func someModels() dialog.Models {
	ref := func(p, m string) lathe.ModelRef { return lathe.ModelRef{Provider: p, Model: m} }
	return dialog.Models{
		Providers: []lathe.Provider{
			{ID: "acme", Name: "Acme", Models: []lathe.Model{
				{Ref: ref("acme", "large-2"), Name: "Large 2", Released: "2026-01-01", Reasoning: true, Context: 200_000, InputPrice: 3, OutputPrice: 15},
				{Ref: ref("acme", "large-3"), Name: "Large 3", Released: "2026-06-01", Reasoning: true, Context: 1_000_000, InputPrice: 5, OutputPrice: 25},
				{Ref: ref("acme", "old"), Name: "Old", Released: "2027-01-01", Status: "deprecated", Context: 8192, InputPrice: 0.5, OutputPrice: 1.5},
			}},
			{ID: "local", Name: "Local", Models: []lathe.Model{
				{Ref: ref("local", "org/tiny"), Name: "Tiny with a name that is rather long for a model", Context: 32_768},
			}},
		},
		Favorite: []lathe.ModelRef{ref("acme", "large-3")},
		Recent:   []lathe.ModelRef{ref("local", "org/tiny"), ref("acme", "large-3"), ref("gone", "x")},
		Current:  ref("acme", "large-2"),
	}
}

func someMessages() []lathe.Message {
	user := func(id, text string, age time.Duration) lathe.Message {
		return lathe.Message{ID: lathe.MessageID(id), Created: ago(age), Data: &lathe.User{}, Parts: []lathe.Part{
			{Body: &lathe.Text{Text: "hidden", Synthetic: lathe.Yes}}, {Body: &lathe.Text{Text: text}},
		}}
	}
	files := lathe.Message{ID: "msg_3", Created: ago(time.Hour), Data: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.File{Filename: "plan.pdf", Mime: "application/pdf"}}}}
	return []lathe.Message{
		user("msg_1", "\n  Read the code and\ntell me what it does", 50*time.Hour),
		{ID: "msg_2", Created: ago(49 * time.Hour), Data: &lathe.Assistant{}},
		files,
		user("msg_4", "Now make it faster", 5*time.Minute),
	}
}
