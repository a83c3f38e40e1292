package editor

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
	"github.com/lathe-agent/lathe/tui/vim"
)

func newVim(t *testing.T, text string) *Editor {
	t.Helper()
	e := newEditor(t)
	e.SetVim(true)
	typeIn(t, e, text)
	return e
}

// viPress presses keys that are written one behind the other, with names in angle brackets.
func viPress(t *testing.T, e *Editor, keys string) (out Result) {
	t.Helper()
	for keys != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); keys[0] == '<' && ok && len(name) > 1 {
			out, keys = press(t, e, name), rest
			continue
		}
		r := []rune(keys)[0]
		out, keys = typeIn(t, e, string(r)), keys[len(string(r)):]
	}
	return out
}

// The keys of vi change the text of the prompt. The machine itself is tested in package vim.
func TestVim(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, start, keys, want string }{
		{"insert is first", "one", "x", "onex|"},
		{"the cursor is on a character", "one", "<esc>", "on|e"},
		{"delete words with a count", "one two three", "<esc>02dw", "|three"},
		{"change a word and leave", "one two", "<esc>bcwnew<esc>", "one ne|w"},
		{"the change is one step of undo", "one two", "<esc>bcwnew<esc>u", "one |two"},
		{"redo", "one two", "<esc>bcwnew<esc>u<ctrl+r>", "one ne|w"},
		{"repeat", "a b c", "<esc>0xw.w.", " | "},
		{"visual selection", "one two", "<esc>bved", "one| "},
		{"lines and registers", "one\ntwo", `<esc>"add"ap"ap`, "one\ntwo\n|two"},
		{"a wide character is one", "漢字 é", "<esc>0x", "|字 é"},
		{"an emoji is one", "👨‍👩‍👧x", "<esc>0x", "|x"},
		{"join and split", "one\ntwo", "<esc>kJr<enter>", "one\n|two"},
		{"counts have limits", "x", "<esc>yy9999999p", ""},
		{"arrows", "one\ntwo", "<esc><up><left>x", "o|e\ntwo"},
		{"upper case", "one two", "<esc>0gUw", "|ONE two"},
		{"text object", `say "hello you" now`, "<esc>0fhci\"bye<esc>", `say "by|e" now`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newVim(t, tt.start)
			viPress(t, e, tt.keys)
			if tt.want != "" {
				want(t, e, tt.want)
			}
			if e.buf.size > maxVi+1<<10 {
				t.Errorf("the text has %d bytes", e.buf.size)
			}
		})
	}
}

// A token is one character: it is deleted, copied and put as one, and is still a token.
func TestVim_Tokens(t *testing.T) {
	t.Parallel()
	e := newVim(t, "see ")
	e.Mention("a.go")
	typeIn(t, e, "now")
	viPress(t, e, "<esc>0wxP$p")
	if files := e.Draft().Files(); len(files) != 2 || e.Text() != "see @a.go now@a.go" {
		t.Errorf("%q with the files %v", e.Text(), files)
	}
	viPress(t, e, "gUU") // their names are not text
	if e.Text() != "SEE @a.go NOW@a.go" {
		t.Errorf("%q", e.Text())
	}
}

// Esc leaves insert mode and nothing else; in normal mode it means what it means without vi. Enter sends in all modes.
func TestVim_EscapeAndEnter(t *testing.T) {
	t.Parallel()
	e := newVim(t, "one")
	if out := press(t, e, "esc"); out != (Nothing{}) {
		t.Errorf("esc in insert mode: %#v", out)
	}
	if out := viPress(t, e, "2d<esc>"); out != (Nothing{}) {
		t.Errorf("esc in a command: %#v", out)
	}
	if out := press(t, e, "esc"); out != (NotHandled{}) {
		t.Errorf("esc in normal mode: %#v", out)
	}
	if out, ok := press(t, e, "enter").(Submit); !ok || out.Text != "one" {
		t.Errorf("enter in normal mode: %#v", out)
	}
	if mode, _ := e.VimMode(); mode != vim.Insert {
		t.Errorf("the next prompt begins in %s mode", mode)
	}
	typeIn(t, e, "/mod")
	if !e.Suggesting() {
		t.Error("no suggestions in insert mode")
	}
	if press(t, e, "esc"); e.Suggesting() {
		t.Error("suggestions in normal mode")
	}
	viPress(t, e, "ddi!ls<esc><esc>") // the second one leaves shell mode
	if want(t, e, "l|s"); e.InShell() {
		t.Error("esc does not leave shell mode")
	}
	if out := press(t, e, "ctrl+p"); out != (NotHandled{}) {
		t.Errorf("ctrl+p: %#v", out)
	}
	viPress(t, e, "v<ctrl+c>")
	want(t, e, "l|s")
}

// Esc and the next key arrive as one key with Alt on a slow connection.
func TestVim_EscapeAndKeyAtOnce(t *testing.T) {
	t.Parallel()
	e := newVim(t, "one two")
	viPress(t, e, "<alt+b>dw")
	want(t, e, "one| ")
	if mode, _ := e.VimMode(); mode != vim.Normal {
		t.Errorf("the mode is %s", mode)
	}
}

// The history, the search and a paste work as without vi.
func TestVim_History(t *testing.T) {
	t.Parallel()
	e := newVim(t, "")
	e.SetHistory([]Draft{{Input: "first"}, {Input: "second"}})
	typeIn(t, e, "draft")
	viPress(t, e, "<esc>k")
	want(t, e, "secon|d")
	viPress(t, e, "k")
	want(t, e, "firs|t")
	viPress(t, e, "jj")
	want(t, e, "draf|t")
	viPress(t, e, "i<ctrl+r>fir<enter><esc>")
	want(t, e, "firs|t")
	e.SetPasteSummary(false)
	viPress(t, e, "v0")
	e.Paste("pasted\n")
	want(t, e, "pasted\n|first")
	if mode, _ := e.VimMode(); mode != vim.Normal {
		t.Errorf("a paste leaves %s mode", mode)
	}
	viPress(t, e, "u")
	want(t, e, "|first")
}

// The registers + and * are the clipboard.
func TestVim_Clipboard(t *testing.T) {
	t.Parallel()
	e := newVim(t, "one two")
	if out := viPress(t, e, `<esc>"+yiw`); out != (CopyText{"two"}) {
		t.Errorf("%#v", out)
	}
	if out := viPress(t, e, `"+p`); out != (Nothing{}) || e.Text() != "one ttwowo" {
		t.Errorf("%#v and %q", out, e.Text())
	}
}

// A visual selection is shown, and the mode with its pending keys.
func TestVim_Shows(t *testing.T) {
	t.Parallel()
	e := newVim(t, "one two")
	viPress(t, e, "<esc>v3h")
	th := style.Default(true)
	rows := e.View(th, ViewOptions{Focused: true}, 40, 6)
	if got := styletest.Look(t, rows, " two").BG; got != th.Primary {
		t.Errorf("the selection is on %v", got)
	}
	mode, _ := e.VimMode()
	viPress(t, e, "<esc>2d")
	if _, pending := e.VimMode(); mode != vim.Visual || pending != "2d" {
		t.Errorf("%s %s", mode, pending)
	}
	e.SetVim(false)
	if mode, _ := e.VimMode(); mode != "" {
		t.Errorf("mode %q", mode)
	}
}

// Whatever is pressed, undo brings the whole text back.
func TestVim_NothingIsLost(t *testing.T) {
	t.Parallel()
	keys := strings.Split("hjklwbeWBE0^$GxXDCsSYJpProOiaIAvV~.;,%{}dcy<>123\"fFtTg()[] éq漢", "")
	rapid.Check(t, func(t *rapid.T) {
		e := New(styletest.Keys(t))
		e.SetVim(true)
		e.Paste(drawText(t, "text"))
		e.Attach("pic.png", "image/png", []byte("x"))
		e.Key(named(tea.KeyEscape, 0))
		before, steps := e.Text(), len(e.undoLog.done)
		for _, k := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 60).Draw(t, "keys") {
			if e.Key(tea.KeyPressMsg{Code: []rune(k)[0], Text: k}); k == "q" {
				e.Key(named(tea.KeyEscape, 0))
			}
			sane(t, e)
		}
		e.Key(named(tea.KeyEscape, 0))
		e.Key(named(tea.KeyEscape, 0))
		for len(e.undoLog.done) > 0 {
			e.Key(tea.KeyPressMsg{Code: 'u', Text: "u"})
		}
		for range steps {
			e.redo()
		}
		if e.Text() != before {
			t.Fatalf("%q became %q", before, e.Text())
		}
	})
}
