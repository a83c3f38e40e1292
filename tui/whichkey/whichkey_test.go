package whichkey_test

import (
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"github.com/lathe-agent/lathe/tui/whichkey"
	"pgregory.net/rapid"
)

// all are all names there are.
func all() (out []key.Name) {
	for _, e := range key.All() {
		out = append(out, e.Name)
	}
	return out
}

func leader() whichkey.Context {
	return whichkey.Context{Title: "ctrl+x", Names: all(), AfterLeader: true}
}

func press(mod tea.KeyMod, code rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: code, Mod: mod} }

const both = tea.ModCtrl | tea.ModAlt

func TestGolden(t *testing.T) {
	m := styletest.Keys(t)
	th := style.Default(true)
	styletest.Frames(t, "leader", func(width int) []style.Line {
		var p whichkey.Panel
		return p.View(th, m, leader(), width, 12)
	})
	styletest.Frames(t, "group", func(width int) []style.Line {
		var p whichkey.Panel
		p.View(th, m, leader(), width, 12)
		p.Key(press(both, tea.KeyRight), m, true)
		p.Key(press(both, tea.KeyRight), m, true)
		return p.View(th, m, leader(), width, 12)
	})
	styletest.Frames(t, "mode", func(width int) []style.Line {
		var p whichkey.Panel
		p.Key(press(both|tea.ModShift, 'k'), m, false)
		now := whichkey.Context{Title: "Diff viewer", Names: []key.Name{key.DiffClose, key.DiffToggle, key.DiffNextHunk, key.DiffPreviousHunk, key.DiffOpen, key.AppExit}}
		return p.View(th, m, now, width, 12)
	})
	styletest.Frames(t, "none", func(width int) []style.Line {
		var p whichkey.Panel
		return p.View(th, m, whichkey.Context{Title: "ctrl+x"}, width, 12)
	})
}

func TestPanel_Shown(t *testing.T) {
	m := styletest.Keys(t)
	var p whichkey.Panel
	if p.Shown(false) || !p.Shown(true) {
		t.Error("it opens only after the leader")
	}
	if p.Key(press(both, tea.KeyDown), m, false) {
		t.Error("a key that moves counts while nothing is shown")
	}
	if !p.Key(press(both, 'k'), m, false) || !p.Shown(false) {
		t.Error("the key that opens does not")
	}
	if !p.Key(press(both, 'k'), m, false) || p.Shown(false) {
		t.Error("not closed")
	}
	if !p.Key(press(both|tea.ModShift, 'p'), m, false) || p.Shown(true) {
		t.Error("it still opens after the leader")
	}
	if !p.Key(press(both|tea.ModShift, 'p'), m, false) || !p.Shown(true) {
		t.Error("it does not open after the leader again")
	}
	if p.Key(press(0, 'k'), m, true) {
		t.Error("a letter counts")
	}
}

// Every key that can follow the leader is on some page.
func TestPanel_Pages(t *testing.T) {
	m := styletest.Keys(t)
	th := style.Default(true)
	for _, width := range []int{20, 40, 80, 200} {
		var p whichkey.Panel
		var seen strings.Builder
		for range 60 {
			rows := p.View(th, m, leader(), width, 6)
			styletest.CheckWidth(t, rows, width)
			seen.WriteString(style.Text(rows[1:]) + "\n")
			p.Key(press(both, tea.KeyPgDown), m, true)
		}
		for _, does := range []string{"Choose a", "Exit", "Redo", "Show"} {
			if !strings.Contains(seen.String(), does) {
				t.Errorf("at %d nobody sees %q:\n%s", width, does, seen.String())
			}
		}
		last := style.Text(p.View(th, m, leader(), width, 6))
		p.Key(press(both, tea.KeyHome), m, true)
		first := style.Text(p.View(th, m, leader(), width, 6))
		p.Key(press(both, tea.KeyEnd), m, true)
		if end := style.Text(p.View(th, m, leader(), width, 6)); end != last || width < 200 && first == last {
			t.Errorf("at %d: the end is\n%s\nand after all pages\n%s", width, end, last)
		}
	}
}

func TestPanel_Click(t *testing.T) {
	m := styletest.Keys(t)
	th := style.Default(true)
	var p whichkey.Panel
	rows := p.View(th, m, leader(), 120, 14)
	for y, row := range rows {
		text := row.Text()
		if x := strings.Index(text, "Choose a theme"); x >= 0 {
			if out := p.Click(style.Width(text[:x]), y); out.Name != key.ThemeList {
				t.Errorf("the theme: %+v", out)
			}
		}
		if x := strings.Index(text, "Open a pinned"); x >= 0 {
			if out := p.Click(style.Width(text[:x]), y); out.Handled {
				t.Errorf("a line of several: %+v", out)
			}
		}
	}
	x := strings.Index(rows[0].Text(), "Messages")
	if out := p.Click(x, 0); !out.Handled || out.Name != "" {
		t.Errorf("a group: %+v", out)
	}
	if text := style.Text(p.View(th, m, leader(), 120, 14)); strings.Contains(text, "Choose a theme") || !strings.Contains(text, "Redo") {
		t.Errorf("not the group:\n%s", text)
	}
}

func TestPanel_OwnKeys(t *testing.T) {
	m, err := key.New(map[string]json.RawMessage{"theme_list": json.RawMessage(`"<leader>z"`), "session_new": json.RawMessage(`"none"`)})
	if err != nil {
		t.Fatal(err)
	}
	var p whichkey.Panel
	text := style.Text(p.View(style.Default(true), m, leader(), 200, 30))
	if !strings.Contains(text, "z  ") || strings.Contains(text, "Start a new session") {
		t.Errorf("settings do not count:\n%s", text)
	}
}

func TestPanel_Colors(t *testing.T) {
	m := styletest.Keys(t)
	th := style.Default(true)
	var p whichkey.Panel
	rows := p.View(th, m, leader(), 120, 14)
	for text, want := range map[string]style.Color{"ctrl+x": th.Primary, "Choose a theme": th.TextMuted, "All": th.Text} {
		if got := styletest.Look(t, rows, text); got.FG != want || got.BG != th.BackgroundPanel {
			t.Errorf("%s: %v on %v", text, got.FG, got.BG)
		}
	}
}

func TestPanel_Anything(t *testing.T) {
	m := styletest.Keys(t)
	names := all()
	rapid.Check(t, func(t *rapid.T) {
		var p whichkey.Panel
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now := whichkey.Context{
				Title: rapid.SampledFrom(append(styletest.Hostile(), styletest.Megabyte())).Draw(t, "title"), AfterLeader: rapid.Bool().Draw(t, "after"),
				Names: names[:rapid.IntRange(0, len(names)).Draw(t, "n")],
			}
			w, h := rapid.IntRange(1, 150).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
			rows := p.View(style.Default(true), m, now, w, h)
			styletest.CheckWidth(t, rows, w)
			if len(rows) > h {
				t.Fatalf("%d rows, asked for %d", len(rows), h)
			}
			code := rapid.SampledFrom([]rune{tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd, 'k', 'p'}).Draw(t, "key")
			p.Key(press(both|rapid.SampledFrom([]tea.KeyMod{0, tea.ModShift}).Draw(t, "mod"), code), m, rapid.Bool().Draw(t, "pending"))
			p.Click(rapid.IntRange(-1, 160).Draw(t, "x"), rapid.IntRange(-1, 30).Draw(t, "y"))
			p.Wheel(rapid.IntRange(-5, 5).Draw(t, "dy"))
		}
	})
}

func BenchmarkView(b *testing.B) {
	m, now, th := styletest.Keys(b), leader(), style.Default(true)
	var p whichkey.Panel
	b.ReportAllocs()
	for b.Loop() {
		p.View(th, m, now, 200, 15)
	}
}
