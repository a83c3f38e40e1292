package editor

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// scenes are what the frames show.
func scenes(t *testing.T) map[string]func(*Editor) {
	t.Helper()
	return map[string]func(*Editor){
		"empty": func(*Editor) {},
		"text": func(e *Editor) {
			typeIn(t, e, "Please have a look at ")
			e.putToken(fileToken("internal/store/writer.go", 12, 40))
			typeIn(t, e, "and say why it waits. Ask ")
			e.putToken(agentToken("explore"))
			typeIn(t, e, "too:\n")
			e.Paste("one\ntwo\nthree")
			e.Attach("a.png", "image/png", nil)
			typeIn(t, e, "\n\nA-very-long-word-that-does-not-fit-into-a-row-of-forty-cells.\n\tindented")
		},
		"scripts": func(e *Editor) {
			e.PasteText("漢字かな交じり文は空白なしで折り返す。テスト")
			e.PasteText("\nשלום עולם مرحبا بالعالم")
			e.PasteText("\n👍🏽 👨‍👩‍👧 🇩🇪 e\u0301 \u202eturned\u202c")
		},
		"scrolled": func(e *Editor) {
			e.SetPasteSummary(false)
			for i := range 30 {
				e.PasteText(fmt.Sprintf("line %d\n", i+1))
			}
			press(t, e, "up", "up", "up")
		},
		"commands": func(e *Editor) { typeIn(t, e, "/re") },
		"mention": func(e *Editor) {
			typeIn(t, e, "see @e#3-9")
			e.SetFiles("e", []string{"e/", "engine/turn.go", "deep/down/in/a/very/long/path/that/does/not/fit/into/forty/cells/example.go"})
			press(t, e, "down")
		},
	}
}

func TestView_Golden(t *testing.T) {
	t.Parallel()
	th := style.Default(true)
	for name, scene := range scenes(t) {
		for _, width := range []int{20, 40, 80, 120} {
			e := newEditor(t)
			e.View(th, ViewOptions{}, width, 6)
			scene(e)
			rows := e.View(th, ViewOptions{Bar: th.Primary, Placeholder: "What shall be done? Type / for commands, @ for files", Focused: true}, width, 6)
			x, y, _ := e.Cursor()
			all := append(e.Popup(th, width), style.Plain(strings.Repeat("─", width)))
			all = append(all, rows...)
			styletest.CheckWidth(t, all, width)
			styletest.Golden(t, fmt.Sprintf("%s-%d", name, width), style.Text(append(all, style.Plain(fmt.Sprintf("cursor %d,%d", x, y)))))
		}
	}
}

func TestView_Looks(t *testing.T) {
	t.Parallel()
	th := style.Default(true)
	e := newEditor(t)
	view := func() []style.Line {
		return e.View(th, ViewOptions{Bar: th.Accent, Placeholder: "Type"}, 60, 6)
	}
	if got := styletest.Look(t, view(), "Type"); got.FG != th.TextMuted || got.BG != th.BackgroundElement {
		t.Errorf("placeholder %+v", got)
	}
	if _, _, ok := e.Cursor(); ok {
		t.Error("a cursor without focus")
	}
	typeIn(t, e, "plain ")
	e.putToken(fileToken("a.go", 0, 0))
	e.putToken(agentToken("explore"))
	e.Attach("x.png", "image/png", nil)
	typeIn(t, e, "marked")
	press(t, e, "alt+shift+b")
	rows := view()
	for text, want := range map[string]style.Attr{
		"┃":         {FG: th.Accent, BG: th.BackgroundElement},
		"plain":     {FG: th.Text, BG: th.BackgroundElement},
		"@a.go":     {FG: th.Warning, BG: th.BackgroundElement, Bold: true},
		"@explore":  {FG: th.Accent, BG: th.BackgroundElement, Bold: true},
		"[Image 1]": {FG: th.Background, BG: th.Secondary, Bold: true},
		"marked":    {FG: th.SelectedText, BG: th.Primary},
	} {
		if got := styletest.Look(t, rows, text); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	e.Clear()
	typeIn(t, e, "/re")
	popup := e.Popup(th, 60)
	if got := styletest.Look(t, popup, " /rename"); got.BG != th.Primary || got.FG != th.SelectedText {
		t.Errorf("chosen: %+v", got)
	}
	if got := styletest.Look(t, popup, " /review"); got.BG != th.BackgroundMenu || got.FG != th.Text {
		t.Errorf("another: %+v", got)
	}
}

// No text of any kind gets a control character onto the screen or breaks a row.
func TestView_Hostile(t *testing.T) {
	t.Parallel()
	th := style.Default(true)
	texts := map[string]string{
		"escapes": "\x1b]0;title\x07\x1b[2J\x1b[31m\x9b1m", "nul": "a\x00b", "utf8": "\xff\xfe\xc3", "bidi": "\u202eabc\u2066def",
		"marks": "a" + strings.Repeat("\u0301", 5000), "wide": strings.Repeat("漢", 5000), "line": strings.Repeat("x", 1<<20),
		"joiners": strings.Repeat("👨\u200d", 2000), "tabs": strings.Repeat("\t", 300),
	}
	for name, text := range texts {
		for _, width := range []int{1, 2, 3, 4, 20, 81} {
			if width < 20 {
				text = text[:min(len(text), 1<<14)]
			} else {
				text = texts[name]
			}
			e := newEditor(t)
			e.SetPasteSummary(false)
			e.Paste(text)
			e.Attach(text[:min(len(text), 300)], "application/zip", nil)
			for _, l := range append(e.View(th, ViewOptions{Focused: true}, width, 7), e.Popup(th, width)...) {
				if l.Width() > width {
					t.Errorf("%s at %d: a row of %d cells", name, width, l.Width())
				}
				if i := strings.IndexFunc(l.Text(), func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2066 }); i >= 0 {
					t.Errorf("%s at %d: %q", name, width, l.Text())
				}
			}
		}
	}
}

// The prompt grows with its text up to its height, and then scrolls around the cursor.
func TestView_Height(t *testing.T) {
	t.Parallel()
	th := style.Default(true)
	e := newEditor(t)
	for i := 1; i < 12; i++ {
		rows := e.View(th, ViewOptions{Focused: true}, 30, 5)
		if len(rows) != min(i, 5) {
			t.Errorf("%d rows for %d lines", len(rows), i)
		}
		if _, y, _ := e.Cursor(); y != min(i, 5)-1 {
			t.Errorf("the cursor is in row %d of %d lines", y, i)
		}
		typeIn(t, e, fmt.Sprintf("%d\n", i))
	}
	press(t, e, "up", "up", "up", "up", "up", "up")
	rows := e.View(th, ViewOptions{Focused: true}, 30, 5)
	if _, y, _ := e.Cursor(); y != 0 || !strings.Contains(rows[0].Text(), "6") {
		t.Errorf("row %d of\n%s", y, style.Text(rows))
	}
	press(t, e, "end", "ctrl+u", "ctrl+u", "ctrl+u", "ctrl+u", "ctrl+u")
	if rows := e.View(th, ViewOptions{Focused: true}, 30, 20); len(rows) != len(e.buf.lines) || !strings.Contains(rows[0].Text(), "1") {
		t.Errorf("room is wasted:\n%s", style.Text(rows))
	}
}

// A key to its echo: a letter and a frame, in prompts of several sizes.
func BenchmarkKey(b *testing.B) {
	th := style.Default(true)
	for _, tt := range []struct{ name, text string }{
		{"empty", ""},
		{"lines-1MB", strings.Repeat(strings.Repeat("word ", 15)+"\n", 1<<20/76)},
		{"words-1MB", strings.Repeat("word ", 1<<20/5)},
		{"letters-1MB", strings.Repeat("x", 1<<20)},
		{"wide-1MB", strings.Repeat("漢", 1<<20/3)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			e := New(styletest.Keys(b))
			e.SetPasteSummary(false)
			e.Restore(Draft{Input: tt.text, Cursor: len(tt.text) / 2})
			e.View(th, ViewOptions{Focused: true}, 80, 10)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					e.Key(tea.KeyPressMsg{Code: 'y', Text: "y"})
				} else {
					e.Key(tea.KeyPressMsg{Code: tea.KeyBackspace})
				}
				e.View(th, ViewOptions{Focused: true}, 80, 10)
			}
		})
	}
}
