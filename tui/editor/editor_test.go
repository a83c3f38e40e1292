package editor

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// newEditor makes one as wide as a small terminal.
func newEditor(t *testing.T) *Editor {
	t.Helper()
	e := New(styletest.Keys(t))
	e.SetDir("/code/app")
	e.SetCommands([]Command{
		{Name: "new", Aliases: []string{"clear"}, Description: "Start a new session", Local: true},
		{Name: "rename", Description: "Rename the session", Local: true, Arguments: true},
		{Name: "models", Aliases: []string{"mo"}, Description: "Choose a model", Local: true},
		{Name: "review", Description: "Look at the changes", Arguments: true},
		{Name: "init", Description: "Write down how to work here", Arguments: true},
	})
	e.SetAgents([]Agent{{"general", "Does anything"}, {"explore", "Looks around"}})
	e.View(style.Default(true), ViewOptions{Focused: true}, 40, 6)
	return e
}

// press presses keys by name, one behind the other, and returns what came of the last.
func press(t *testing.T, e *Editor, names ...string) Result {
	t.Helper()
	var out Result
	for _, name := range names {
		out = e.Key(styletest.Press(name))
	}
	return out
}

// typeIn types a text letter by letter.
func typeIn(t *testing.T, e *Editor, text string) Result {
	t.Helper()
	var out Result = Nothing{}
	for _, r := range text {
		if r == '\n' {
			out = press(t, e, "ctrl+j")
			continue
		}
		out = e.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return out
}

// shown writes the text with | for the cursor and brackets around tokens and the selection.
func shown(e *Editor) string {
	var b strings.Builder
	from, to := e.selection()
	for n, l := range e.buf.lines {
		if n > 0 {
			b.WriteByte('\n')
		}
		for off := 0; off <= len(l.text); off++ {
			if p := (pos{n, off}); e.hasSelection && (p == from || p == to) {
				b.WriteByte('^')
			}
			for _, p := range l.toks {
				if p.end() == off {
					b.WriteByte('}')
				}
			}
			if e.cursor == (pos{n, off}) {
				b.WriteByte('|')
			}
			for _, p := range l.toks {
				if p.at == off {
					b.WriteByte('{')
				}
			}
			if off < len(l.text) {
				b.WriteByte(l.text[off])
			}
		}
	}
	return b.String()
}

func want(t *testing.T, e *Editor, text string) {
	t.Helper()
	if got := shown(e); got != text {
		t.Errorf("%q, not %q", got, text)
	}
}

func same(t *testing.T, got, wanted any) {
	t.Helper()
	if d := cmp.Diff(wanted, got); d != "" {
		t.Error(d)
	}
}

func TestKey_Editing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, start, keys, want string }{
		{"word left", "one two", "alt+b", "one |two"},
		{"word right", "one two", "home alt+f", "one| two"},
		{"over punctuation", "a.b, c", "alt+b alt+b", "a.|b, c"},
		{"over lines", "one\ntwo", "alt+b alt+b", "|one\ntwo"},
		{"delete word", "one two", "ctrl+w", "one |"},
		{"delete word with backspace", "one two ", "alt+backspace", "one |"},
		{"delete word forwards", "one two", "home alt+d", "| two"},
		{"to the end", "one two", "home alt+f ctrl+k", "one|"},
		{"the break", "one\ntwo", "home ctrl+e ctrl+k", "one|two"},
		{"to the start", "one two", "ctrl+u", "|"},
		{"the break before", "one\ntwo", "ctrl+a ctrl+u", "one|two"},
		{"the line", "one\ntwo\nthree", "up ctrl+shift+d", "one\n|three"},
		{"the last line", "one\ntwo", "ctrl+shift+d", "one|"},
		{"undo by words", "", "o n e space t w o ctrl+- ", "one |"},
		{"undo and redo", "", "o n e ctrl+- ctrl+.", "one|"},
		{"typing ends redo", "", "o ctrl+- x ctrl+.", "x|"},
		{"select and type", "one two", "alt+shift+b x", "one x|"},
		{"select and delete", "one two", "shift+left shift+left delete", "one t|"},
		{"select all", "one\ntwo", "super+a x", "x|"},
		{"left ends a selection", "one", "shift+left shift+left left", "o|ne"},
		{"right ends a selection", "one", "shift+left shift+left right", "one|"},
		{"column is kept", "long line\na\nlong line", "up up", "long line|\na\nlong line"},
		{"letters with marks", "e\u0301x", "left left delete", "|x"},
		{"a family goes at once", "a👨‍👩‍👧", "backspace", "a|"},
		{"a tab", "\ta", "home delete", "|a"},
		{"newline after a backslash", `a\`, "enter b", "a\nb|"},
		{"two backslashes are text", `a\\`, "enter", "|"},
		{"newline after a backslash in the middle", `a\b`, "left enter", "|"},
		{"newlines", "a", "alt+enter b shift+enter c ctrl+enter d ctrl+j", "a\nb\nc\nd\n|"},
	} {
		e := newEditor(t)
		e.Restore(Draft{Input: tt.start, Cursor: len(tt.start)})
		for _, k := range strings.Fields(tt.keys) {
			if k == "space" {
				k = " "
			}
			press(t, e, k)
		}
		t.Run(tt.name, func(t *testing.T) { want(t, e, tt.want) })
	}
}

func TestKey_Rows(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.View(style.Default(true), ViewOptions{}, 13, 6) // ten cells of text
	e.Restore(Draft{Input: "aaaa bbbb cccc dddd", Cursor: 2})
	press(t, e, "down")
	want(t, e, "aaaa bbbb cc|cc dddd")
	press(t, e, "alt+a")
	want(t, e, "aaaa bbbb |cccc dddd")
	press(t, e, "alt+e")
	want(t, e, "aaaa bbbb cccc dddd|")
	press(t, e, "home", "alt+e")
	want(t, e, "aaaa bbbb| cccc dddd")
	press(t, e, "shift+down")
	want(t, e, "aaaa bbbb^ cccc dddd^|")
}

// Keys that mean nothing in an empty prompt are left for others.
func TestKey_NotHandled(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	for _, k := range []string{"home", "end", "left", "right", "up", "down", "tab", "esc", "ctrl+p", "ctrl+k", "delete", "f"} {
		if k == "f" {
			k = "ctrl+alt+f"
		}
		if out := press(t, e, k); out != (NotHandled{}) {
			t.Errorf("%s: %#v", k, out)
		}
	}
	typeIn(t, e, "x")
	for _, k := range []string{"tab", "esc", "ctrl+p", "ctrl+t"} {
		if out := press(t, e, k); out != (NotHandled{}) {
			t.Errorf("%s: %#v", k, out)
		}
	}
}

// Characters of AltGr are typed, with whatever modifiers a terminal tells them.
func TestKey_Composed(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.Key(tea.KeyPressMsg{Code: 'q', Text: "@", Mod: tea.ModCtrl | tea.ModAlt})
	e.Key(tea.KeyPressMsg{Code: 'a', Text: "A", Mod: tea.ModCapsLock})
	e.Key(tea.KeyPressMsg{Code: 'x', Text: "x", Mod: tea.ModAlt})
	want(t, e, "@A|")
}

func TestKey_Leaving(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	same(t, press(t, e, "ctrl+c"), Quit{})
	same(t, press(t, e, "ctrl+d"), Quit{})
	typeIn(t, e, "short")
	same(t, press(t, e, "ctrl+d"), Nothing{})
	same(t, press(t, e, "ctrl+c"), SaveDiscarded{Draft{Input: "short", Cursor: 5}})
	want(t, e, "|")
	press(t, e, "up")
	want(t, e, "short|")
	e.Clear()
	typeIn(t, e, "  ")
	same(t, press(t, e, "ctrl+c"), Nothing{})
	typeIn(t, e, "a text that took some work")
	same(t, press(t, e, "ctrl+c"), SaveDiscarded{Draft{Input: "a text that took some work", Cursor: 26}})
	press(t, e, "up")
	want(t, e, "a text that took some work|")
	for _, word := range []string{"exit", "quit", ":q", " exit "} {
		e.Clear()
		typeIn(t, e, word)
		same(t, press(t, e, "enter"), Quit{})
	}
	typeIn(t, e, "exit now")
	if _, ok := press(t, e, "enter").(Submit); !ok {
		t.Error("a sentence with an exit word is not sent")
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "!ls @x")
	if !e.InShell() || e.Suggesting() {
		t.Error("not in the shell")
	}
	want(t, e, "ls @x|")
	same(t, press(t, e, "enter"), Shell{"ls @x", Draft{Input: "ls @x", Mode: "shell", Cursor: 5}})
	if e.InShell() {
		t.Error("still in the shell")
	}
	press(t, e, "up")
	if !e.InShell() {
		t.Error("the history forgot the mode")
	}
	press(t, e, "esc")
	want(t, e, "ls @x|")
	if e.InShell() {
		t.Error("esc does not leave")
	}
	press(t, e, "home", "!")
	if !e.InShell() {
		t.Error("! before a text")
	}
	press(t, e, "right", "backspace", "backspace")
	want(t, e, "|s @x")
	if e.InShell() {
		t.Error("backspace does not leave")
	}
	e.Clear()
	press(t, e, "!")
	same(t, press(t, e, "ctrl+c"), Nothing{})
	if e.InShell() || !e.IsEmpty() {
		t.Error("ctrl+c does not leave")
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.SetHistory([]Draft{{Input: "first"}, {Input: "second\nof two lines"}})
	typeIn(t, e, "now")
	press(t, e, "up")
	want(t, e, "second|\nof two lines")
	press(t, e, "up")
	want(t, e, "first|")
	press(t, e, "up")
	want(t, e, "|first")
	press(t, e, "down")
	want(t, e, "second\nof two lines|")
	press(t, e, "down")
	want(t, e, "now|")
	press(t, e, "up", "x", "ctrl+-", "ctrl+-")
	want(t, e, "now|")
	for range 60 {
		typeIn(t, e, "many")
		press(t, e, "enter")
	}
	if len(e.hist.all) != 4 { // what undo brought back was sent with the first
		t.Errorf("%d kept", len(e.hist.all))
	}
	for i := range MaxHistory + 10 {
		typeIn(t, e, strconv.Itoa(i))
		press(t, e, "enter")
	}
	if len(e.hist.all) != MaxHistory {
		t.Errorf("%d kept", len(e.hist.all))
	}
}

func TestStash(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "later")
	d, ok := e.Stash()
	if !ok || d.Input != "later" || !e.IsEmpty() {
		t.Errorf("%v %v", d, ok)
	}
	if _, ok := e.Stash(); ok {
		t.Error("nothing was stashed")
	}
	e.Restore(d)
	want(t, e, "later|")
}

// A draft comes back from JSON as it was, with its tokens.
func TestDraft(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "see\n")
	e.Attach("a.png", "image/png", []byte{1, 2})
	e.Paste("one\ntwo\nthree")
	typeIn(t, e, "end")
	press(t, e, "left")
	data, err := json.Marshal(e.Draft())
	if err != nil {
		t.Fatal(err)
	}
	var d Draft
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	other := newEditor(t)
	other.Restore(d)
	want(t, other, "see\n{[Image 1]} {[Pasted ~3 lines]} en|d")
	same(t, other.Draft(), e.Draft())
	if light := d.WithoutLarge(5); len(light.Parts) != 1 || light.Input != d.Input {
		t.Errorf("%+v", light)
	}
}

// Drafts come from files that anybody may have written.
func TestRestore_Hostile(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	tok := Token{Kind: KindFile, Text: "@a", Path: "a"}
	for input, d := range map[string]Draft{
		"x|":        {Input: "x", Cursor: 99, Parts: []DraftToken{{7, tok}, {-3, tok}}},
		"|@a@a":     {Input: "@a@a", Parts: []DraftToken{{0, Token{Kind: "other", Text: "@a"}}, {1, tok}}, Cursor: -1},
		"|{@a}@a":   {Input: "@a@a", Parts: []DraftToken{{0, tok}, {1, tok}, {0, tok}}},
		"{@a}|b":    {Input: "@ab", Parts: []DraftToken{{0, tok}}, Cursor: 1},
		"|a\nb":     {Input: "a\r\nb\x1b[2J", Parts: []DraftToken{{0, tok}}},
		"|x\n{@a}y": {Input: "x\n@ay", Parts: []DraftToken{{2, tok}}},
	} {
		e.Restore(d)
		want(t, e, input)
	}
}

func TestEditorOutside(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "see ")
	e.Attach("a.png", "image/png", []byte{1})
	e.Paste("1\n2\n3")
	same(t, e.Text(), "see [Image 1] [Pasted ~3 lines] ")
	e.SetEdited("look at [Image 1]\nand [Pasted ~3 lines], and again [Image 1]\n")
	want(t, e, "look at {[Image 1]}\nand {[Pasted ~3 lines]}, and again [Image 1]|")
	press(t, e, "ctrl+-")
	want(t, e, "see {[Image 1]} {[Pasted ~3 lines]} |")
}

func TestClick(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.Restore(Draft{Input: "one 漢字\ntwo"})
	e.View(style.Default(true), ViewOptions{Focused: true}, 40, 6)
	for _, tt := range []struct {
		x, y int
		want string
	}{{2, 0, "|one 漢字\ntwo"}, {4, 0, "on|e 漢字\ntwo"}, {8, 0, "one 漢|字\ntwo"}, {39, 0, "one 漢字|\ntwo"}, {3, 1, "one 漢字\nt|wo"}, {0, 9, "one 漢字\n|two"}} {
		e.Click(tt.x, tt.y)
		want(t, e, tt.want)
	}
}

func TestDraftOf(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "😀 ask @exp")
	press(t, e, "enter")
	typeIn(t, e, "and @main.go#3-9")
	e.SetFiles("main.go", []string{"cmd/main.go"})
	press(t, e, "enter")
	e.Attach("a.pdf", "application/pdf", []byte("%PDF"))
	d := e.Draft()
	out, ok := e.Submit().(Submit)
	if !ok {
		t.Fatal("not sent")
	}
	parts := append([]lathe.Part{{Body: &lathe.Text{Text: "hidden", Synthetic: lathe.Yes}}}, out.Parts...)
	got := DraftOf(parts)
	d.Input, d.Cursor = strings.TrimSpace(d.Input), got.Cursor
	same(t, got, d)
}

// What can be undone is bounded in number and in size.
func TestUndo_Bounds(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.SetPasteSummary(false)
	for range 3 * mostChanges {
		e.PasteText("x")
		if len(e.undoLog.done) > mostChanges {
			t.Fatalf("%d changes", len(e.undoLog.done))
		}
	}
	for range 2 * mostChanges {
		e.undo()
	}
	if n := e.buf.size; n < 2*mostChanges || n > 3*mostChanges-mostChanges/2 {
		t.Errorf("%d letters are left", n)
	}
	e.Clear()
	for range 20 {
		e.PasteText(strings.Repeat("y", 1<<20))
	}
	if len(e.undoLog.done) > 8 || e.undoLog.weight > mostUndo {
		t.Errorf("%d changes of %d bytes", len(e.undoLog.done), e.undoLog.weight)
	}
	weight := 0
	for _, c := range e.undoLog.done {
		weight += c.weight()
	}
	if weight != e.undoLog.weight {
		t.Errorf("%d bytes, not %d", weight, e.undoLog.weight)
	}
}
