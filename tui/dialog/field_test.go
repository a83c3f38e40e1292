package dialog_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func TestField_Edits(t *testing.T) {
	m := styletest.Keys(t)
	for _, c := range []struct{ keys, want string }{
		{"a b c", "abc"},
		{"a b left x", "axb"},
		{"a b ctrl+a x ctrl+e y", "xaby"},
		{"a b left delete", "a"},
		{"a b left backspace", "b"},
		{"a space b c ctrl+w x", "a x"},
		{"a space b alt+b alt+d", "a "},
		{"a space b home alt+f x", "ax b"},
		{"a b c left ctrl+k x", "abx"},
		{"a b c left ctrl+u x", "xc"},
		{"e \u0301 backspace", ""}, // one character, as seen
		{"日 本 left backspace", "本"},
		{"👍 x left left y", "y👍x"},
	} {
		var f dialog.Field
		for _, k := range strings.Fields(c.keys) {
			f.Key(m, styletest.Press(k))
		}
		if f.Text() != c.want {
			t.Errorf("%s gives %q, want %q", c.keys, f.Text(), c.want)
		}
	}
	var f dialog.Field
	if k := (tea.KeyPressMsg{Code: 'q', Text: "@", Mod: tea.ModCtrl | tea.ModAlt}); !f.Key(m, k) || f.Text() != "@" {
		t.Errorf("AltGr writes %q", f.Text())
	}
	if f.Key(m, styletest.Press("f5")) || f.Key(m, styletest.Press("enter")) {
		t.Error("takes keys that are not its own")
	}
	f.Paste(strings.Repeat("日", 1<<20))
	if n := len(f.Text()); n > 1<<16 || !utf8.ValidString(f.Text()) {
		t.Errorf("holds %d bytes", n)
	}
}

// Against a simple model: typing and deleting plain letters.
func TestField_Model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := styletest.Keys(t)
		var f dialog.Field
		var text []rune
		at := 0
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				f.Key(m, styletest.Press("left"))
				at = max(0, at-1)
			case 1:
				f.Key(m, styletest.Press("right"))
				at = min(len(text), at+1)
			case 2:
				f.Key(m, styletest.Press("backspace"))
				if at > 0 {
					text = append(text[:at-1:at-1], text[at:]...)
					at--
				}
			case 3:
				f.Key(m, styletest.Press("delete"))
				if at < len(text) {
					text = append(text[:at:at], text[at+1:]...)
				}
			default:
				r := rapid.SampledFrom([]rune("abc 日本é")).Draw(t, "letter")
				f.Key(m, tea.KeyPressMsg{Code: r, Text: string(r)})
				text = append(text[:at:at], append([]rune{r}, text[at:]...)...)
				at++
			}
			if f.Text() != string(text) {
				t.Fatalf("holds %q, want %q", f.Text(), string(text))
			}
			width := rapid.IntRange(1, 12).Draw(t, "width")
			line, cursor := f.View(style.Attr{}, width)
			if line.Width() > width || cursor < 0 || cursor >= max(width, 1) {
				t.Fatalf("drawn %d wide with the cursor at %d, of %d", line.Width(), cursor, width)
			}
		}
	})
}

// What was typed and not entered is kept for its author, unless it is a secret or of no use later.
func TestInput_Typed(t *testing.T) {
	keys := styletest.Keys(t)
	for want, in := range map[string]*dialog.Input{
		"a name": dialog.NewInput(keys, dialog.InputOptions{Title: "Rename"}),
		"":       dialog.NewInput(keys, dialog.InputOptions{Title: "Key", Secret: true}),
	} {
		in.Paste("a name")
		if got := in.Typed(); got != want {
			t.Errorf("%q would be kept, not %q", got, want)
		}
	}
	if got := dialog.NewInput(keys, dialog.InputOptions{Text: "as it was"}).Typed(); got != "" {
		t.Errorf("%q was not typed", got)
	}
}
