package ask_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// region is what both have in common.
type region interface {
	Shown(at time.Time)
	Key(k tea.KeyPressMsg, now time.Time) ask.Out
	Paste(text string) ask.Out
	Click(x, y int, now time.Time) ask.Out
	Wheel(dy int)
	View(th *style.Theme, width, height int) []style.Line
	Cursor() (x, y int, ok bool)
}

// start is when regions appear; ready is when they take keys.
var (
	start = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	ready = start.Add(time.Second)
)

func keys(t testing.TB) *key.Map {
	t.Helper()
	return mustKeys(t)
}

// failer is what tests and properties have in common.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func mustKeys(t failer) *key.Map {
	m, err := key.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// press makes a key of its name, as a terminal would send it.
func press(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || mod == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		name = rest
	}
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace, "f5": tea.KeyF5,
	}
	if code, ok := special[name]; ok {
		k.Code = code
		if name == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return k
	}
	k.Code = []rune(name)[0]
	if k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		k.Text = name
	}
	return k
}

// send presses keys, each long enough after the other for any guard, and returns what the last came to.
func send(r region, names ...string) (out ask.Out) {
	r.Shown(start)
	for i, n := range names {
		out = r.Key(press(n), start.Add(time.Duration(i+1)*time.Second))
	}
	return out
}

func write(r region, text string) {
	for _, c := range text {
		r.Key(tea.KeyPressMsg{Code: c, Text: string(c)}, ready.Add(time.Hour))
	}
}

// frame draws a region and checks what holds for all of them.
func frame(t testing.TB, r region, width, height int) string {
	t.Helper()
	return look(t, r, width, height)
}

func look(t failer, r region, width, height int) string {
	lines := r.View(style.Default(true), width, height)
	for i, l := range lines {
		if w := l.Width(); w != max(width, 20) {
			t.Fatalf("row %d is %d wide, not %d: %q", i, w, width, l.Text())
		}
		for _, s := range l {
			if style.Clean(s.Text) != s.Text {
				t.Fatalf("row %d is not clean: %q", i, s.Text)
			}
		}
	}
	if len(lines) > max(height, 10) {
		t.Fatalf("%d rows where there is room for %d:\n%s", len(lines), height, style.Text(lines))
	}
	if x, y, ok := r.Cursor(); ok && (y < 0 || y >= len(lines) || x < 0 || x >= max(width, 20)) {
		t.Fatalf("the cursor is at %d,%d, outside of %d×%d:\n%s", x, y, width, len(lines), style.Text(lines))
	}
	return style.Text(lines)
}

// golden compares frames at the usual widths with files.
func golden(t *testing.T, name string, r region) {
	t.Helper()
	for _, width := range []int{40, 80, 120} {
		got := frame(t, r, width, 20) + "\n"
		file := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, width))
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; run with -update and look at the change. Now:\n%s", file, got)
		}
	}
}
