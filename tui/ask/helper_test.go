package ask_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// region is what both have in common.
type region interface {
	StartGuard(at time.Time)
	Key(k tea.KeyPressMsg, now time.Time) ask.Result
	Paste(text string) ask.Result
	Click(x, y int, now time.Time) ask.Result
	Wheel(dy int)
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
}

// start is when regions appear; ready is when they take keys.
var (
	start = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	ready = start.Add(time.Second)
)

// send presses keys, each long enough after the other for any guard, and returns what the last came to.
func send(r region, names ...string) (out ask.Result) {
	r.StartGuard(start)
	for i, n := range names {
		out = r.Key(styletest.Press(n), start.Add(time.Duration(i+1)*time.Second))
	}
	return out
}

func write(r region, text string) {
	for _, c := range text {
		r.Key(tea.KeyPressMsg{Code: c, Text: string(c)}, ready.Add(time.Hour))
	}
}

// frame draws a region and checks what holds for all of them.
func frame(t styletest.TB, r region, width, height int) string {
	t.Helper()
	return style.Text(look(t, r, width, height))
}

func look(t styletest.TB, r region, width, height int) []style.Line {
	t.Helper()
	lines := r.View(style.Default(true), width, height)
	for i, l := range lines {
		if w := l.Width(); w != max(width, 20) {
			t.Fatalf("row %d is %d wide, not %d: %q", i, w, width, l.Text())
		}
	}
	styletest.CheckClean(t, lines)
	if len(lines) > max(height, 10) {
		t.Fatalf("%d rows where there is room for %d:\n%s", len(lines), height, style.Text(lines))
	}
	if x, y, ok := r.Cursor(); ok {
		styletest.CheckCursor(t, lines, max(width, 20), x, y)
	}
	return lines
}

// golden compares frames at the usual widths with files.
func golden(t *testing.T, name string, r region) {
	t.Helper()
	styletest.Frames(t, name, func(width int) []style.Line { return look(t, r, width, 20) })
}
