package editor

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// bits are what random texts are made of: all that has a width, a joint or a meaning of its own.
var bits = []string{
	"a", "b", "word", " ", "  ", "\n", "\t", "x_1", "漢", "字", "é", "e\u0301", "👍", "👍🏽", "👨‍👩‍👧", "🇩🇪", "\u200d", "\u0301",
	"שלום", "مرحبا", "@", "/", "!", "#12-40", "\x1b[31m", "\u202e", "\x00", "\xff", "long-word-without-any-space-at-all", ".", "ﬁ",
}

func drawText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 12).Draw(t, name), "")
}

func named(code rune, mod tea.KeyMod) tea.KeyPressMsg { return tea.KeyPressMsg{Code: code, Mod: mod} }

// keysOfEditing are keys that mean something to the editor.
func keysOfEditing() []tea.KeyPressMsg {
	var out []tea.KeyPressMsg
	for _, code := range []rune{
		tea.KeyLeft, tea.KeyRight, tea.KeyUp, tea.KeyDown, tea.KeyHome, tea.KeyEnd, tea.KeyBackspace, tea.KeyDelete,
		tea.KeyEnter, tea.KeyTab, tea.KeyEscape, 'a', 'b', 'd', 'e', 'f', 'k', 'u', 'w', 'z', 'p', 'n', 'j', 'c', '-', '.', 'v', 'r',
	} {
		for _, mod := range []tea.KeyMod{
			0, tea.ModShift, tea.ModCtrl, tea.ModAlt, tea.ModCtrl | tea.ModShift, tea.ModAlt | tea.ModShift, tea.ModSuper,
			tea.ModSuper | tea.ModShift,
		} {
			k := named(code, mod)
			if code > ' ' && code < utf8.RuneSelf && mod == 0 {
				k.Text = string(code)
			}
			out = append(out, k)
		}
	}
	return out
}

// sane checks all that must hold between two keys.
func sane(t *rapid.T, e *Editor) {
	if len(e.buf.lines) == 0 || e.buf.size != len(e.buf.text()) {
		t.Fatalf("size %d of %q", e.buf.size, e.buf.text())
	}
	for n, l := range e.buf.lines {
		if strings.Contains(l.text, "\n") || !utf8.ValidString(l.text) {
			t.Fatalf("line %q", l.text)
		}
		at := 0
		for _, p := range l.toks {
			if p.at < at || p.end() > len(l.text) || l.text[p.at:p.end()] != p.tok.Text {
				t.Fatalf("token %q at %d in %q", p.tok.Text, p.at, l.text)
			}
			at = p.end()
		}
		if l.width != 0 {
			if fresh := (&line{text: l.text, toks: l.toks}).wrapped(l.width); !slices.Equal(fresh, l.rows) {
				t.Fatalf("line %d %q at %d: rows %v, should be %v", n, l.text, l.width, l.rows, fresh)
			}
		}
	}
	for _, p := range []pos{e.cursor, e.anchor} {
		if !e.hasSelection && p == e.anchor {
			continue
		}
		l := e.buf.lines[p.line]
		if p.off < 0 || p.off > len(l.text) || l.snap(p.off) != p.off {
			t.Fatalf("a cursor at %v in %q, tokens %v", p, l.text, l.toks)
		}
	}
}

func checkView(t *rapid.T, e *Editor, th *style.Theme, width, height int) {
	rows := e.View(th, ViewOptions{Bar: th.Primary, Focused: true}, width, height)
	if len(rows) < 1 || len(rows) > height {
		t.Fatalf("%d rows of %d", len(rows), height)
	}
	for _, r := range rows {
		if r.Width() != width {
			t.Fatalf("a row of %d cells, not %d: %q", r.Width(), width, r.Text())
		}
	}
	if x, y, ok := e.Cursor(); !ok || x < 0 || x >= width || y < 0 || y >= len(rows) {
		t.Fatalf("cursor at %d,%d in %dx%d %q", x, y, width, len(rows), style.Text(rows))
	}
	for _, r := range e.Popup(th, width) {
		if r.Width() > width {
			t.Fatalf("a suggestion of %d cells", r.Width())
		}
	}
}

// Whatever is pressed, pasted, clicked and brought: nothing panics, no token is torn, the cursor is at a place and shows.
func TestEditor_Random(t *testing.T) {
	t.Parallel()
	th, all := style.Default(true), keysOfEditing()
	rapid.Check(t, func(t *rapid.T) {
		e := New(styletest.Keys(t))
		e.SetDir("/work")
		e.SetCommands([]Command{{Name: "new", Local: true}, {Name: "review", Arguments: true}})
		e.SetAgents([]Agent{{Name: "general"}})
		e.SetHistory([]Draft{{Input: "one\ntwo"}, {Input: "@a b", Parts: []DraftToken{{0, Token{Kind: KindFile, Text: "@a", Path: "a"}}}}})
		width, height := 20, 4
		e.SetVim(rapid.Bool().Draw(t, "vim"))
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { sane(t, e) },
			"key": func(t *rapid.T) {
				if out := e.Key(rapid.SampledFrom(all).Draw(t, "key")); out == nil {
					t.Fatal("no answer")
				}
			},
			"type": func(t *rapid.T) {
				e.Key(tea.KeyPressMsg{Code: tea.KeyExtended, Text: rapid.SampledFrom(bits).Draw(t, "bit")})
			},
			"vi": func(t *rapid.T) {
				k := rapid.SampledFrom(strings.Split("hjklwbe0$GxDcdyvVpPuorJ.2gf\"", "")).Draw(t, "vi")
				e.Key(tea.KeyPressMsg{Code: []rune(k)[0], Text: k})
			},
			"paste": func(t *rapid.T) { e.Paste(drawText(t, "paste")) },
			"token": func(t *rapid.T) { e.Attach("pic.png", "image/png", []byte("x")) },
			"files": func(t *rapid.T) { e.SetFiles(e.sug.fileQuery(), []string{"dir/", "dir/漢.go", "a b/", "w\x1b.go"}) },
			"view": func(t *rapid.T) {
				width, height = rapid.IntRange(4, 60).Draw(t, "width"), rapid.IntRange(1, 8).Draw(t, "height")
				checkView(t, e, th, width, height)
			},
			"click":  func(t *rapid.T) { e.Click(rapid.IntRange(-1, 60).Draw(t, "x"), rapid.IntRange(-1, 9).Draw(t, "y")) },
			"wheel":  func(t *rapid.T) { e.Wheel(rapid.IntRange(-3, 3).Draw(t, "rows")) },
			"draft":  func(t *rapid.T) { e.Restore(e.Draft()) },
			"editor": func(t *rapid.T) { e.SetEdited(e.Text() + drawText(t, "more")) },
		})
	})
}

// model is the simplest editor there is: a text and a place in it.
type model struct {
	text string
	at   int
}

func (m *model) edges() []int {
	out := []int{0}
	at := 0
	for at < len(m.text) {
		n := 1
		if m.text[at] != '\n' {
			end := strings.IndexByte(m.text[at:], '\n')
			if end < 0 {
				end = len(m.text) - at
			}
			c, _ := ansi.FirstGraphemeCluster(m.text[at:at+end], ansi.WcWidth)
			n = len(c)
		}
		at += n
		out = append(out, at)
	}
	return out
}

func (m *model) step(n int) int {
	all := m.edges()
	i := slices.Index(all, m.at)
	return all[max(0, min(len(all)-1, i+n))]
}

func (m *model) put(text string) {
	m.text = m.text[:m.at] + text + m.text[m.at:]
	m.at += len(text)
	for _, edge := range m.edges() { // what was put in may have joined with what follows
		if edge >= m.at {
			m.at = edge
			break
		}
	}
}

func (m *model) cut(from, to int) {
	m.text, m.at = m.text[:from]+m.text[to:], from
	m.put("")
}

// Typing, deleting and moving do what they do to a plain string.
func TestEditor_Model(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, m := New(styletest.Keys(t)), &model{}
		e.SetPasteSummary(false)
		e.View(style.Default(true), ViewOptions{}, 20, 5)
		press := func(code rune, mod tea.KeyMod) { e.Key(named(code, mod)) }
		home := func() int { return strings.LastIndexByte(m.text[:m.at], '\n') + 1 }
		end := func() int {
			if i := strings.IndexByte(m.text[m.at:], '\n'); i >= 0 {
				return m.at + i
			}
			return len(m.text)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				sane(t, e)
				if e.Text() != m.text || e.buf.offset(e.cursor) != m.at {
					t.Fatalf("%q at %d, should be %q at %d", e.Text(), e.buf.offset(e.cursor), m.text, m.at)
				}
			},
			"type": func(t *rapid.T) {
				s := sanitize(drawText(t, "text"))
				e.PasteText(s)
				m.put(s)
			},
			"newline":   func(*rapid.T) { press('j', tea.ModCtrl); m.put("\n") },
			"left":      func(*rapid.T) { press(tea.KeyLeft, 0); m.at = m.step(-1) },
			"right":     func(*rapid.T) { press(tea.KeyRight, 0); m.at = m.step(1) },
			"backspace": func(*rapid.T) { press(tea.KeyBackspace, 0); m.cut(m.step(-1), m.at) },
			"delete":    func(*rapid.T) { press(tea.KeyDelete, 0); m.cut(m.at, m.step(1)) },
			"home":      func(*rapid.T) { press('a', tea.ModCtrl); m.at = home() },
			"end":       func(*rapid.T) { press('e', tea.ModCtrl); m.at = end() },
			"first":     func(*rapid.T) { press(tea.KeyHome, 0); m.at = 0 },
			"last":      func(*rapid.T) { press(tea.KeyEnd, 0); m.at = len(m.text) },
			"kill": func(*rapid.T) {
				press('k', tea.ModCtrl)
				if to := end(); to > m.at {
					m.cut(m.at, to)
				} else {
					m.cut(m.at, m.step(1))
				}
			},
			"killback": func(*rapid.T) {
				press('u', tea.ModCtrl)
				if from := home(); from < m.at {
					m.cut(from, m.at)
				} else {
					m.cut(m.step(-1), m.at)
				}
			},
			"replace": func(t *rapid.T) {
				n := rapid.IntRange(0, 5).Draw(t, "n")
				from := m.at
				for range n {
					press(tea.KeyLeft, tea.ModShift)
					m.at = m.step(-1)
				}
				e.Key(tea.KeyPressMsg{Code: 'q', Text: "q"})
				m.text = m.text[:m.at] + m.text[from:]
				m.put("q")
			},
		})
	})
}

// All that was done can be undone, back to the start, and done again.
func TestEditor_UndoAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := New(styletest.Keys(t))
		e.View(style.Default(true), ViewOptions{}, 20, 5)
		start := drawText(t, "start")
		e.Restore(Draft{Input: start})
		start = e.Text()
		for i := range rapid.IntRange(1, 20).Draw(t, "edits") {
			switch rapid.IntRange(0, 5).Draw(t, "edit") {
			case 0:
				e.Paste(drawText(t, "paste"))
			case 1:
				e.Key(named('w', tea.ModCtrl))
			case 2:
				e.Key(named(tea.KeyLeft, tea.ModAlt|tea.ModShift))
			case 3:
				e.Attach("x", "image/png", []byte{byte(i)})
			case 4:
				e.Key(named('d', tea.ModCtrl|tea.ModShift))
			default:
				e.Key(tea.KeyPressMsg{Code: 'y', Text: "y"})
			}
		}
		end, done := e.Draft(), len(e.undoLog.done)
		for range done {
			e.Key(named('-', tea.ModCtrl))
			sane(t, e)
		}
		if e.Text() != start {
			t.Fatalf("undone to %q, not to %q", e.Text(), start)
		}
		for range done {
			e.Key(named('.', tea.ModCtrl))
			sane(t, e)
		}
		if got := e.Draft(); got.Input != end.Input || len(got.Parts) != len(end.Parts) {
			t.Fatalf("done again to %q, not to %q", got.Input, end.Input)
		}
	})
}
