package styletest_test

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// noter notes what a check has to say.
type noter struct{ said string }

func (n *noter) Helper() {}

func (n *noter) Fatalf(format string, args ...any) { n.said = fmt.Sprintf(format, args...) }

func TestChecks_SayWhatIsWrong(t *testing.T) {
	good := []style.Line{style.Plain("ab"), style.Plain("cdef")}
	for _, c := range []struct {
		what  string
		check func(styletest.TB)
		fails bool
	}{
		{"a row as wide as asked", func(t styletest.TB) { styletest.CheckWidth(t, good, 4) }, false},
		{"a row that is wider", func(t styletest.TB) { styletest.CheckWidth(t, good, 3) }, true},
		{"a clean text", func(t styletest.TB) { styletest.CheckClean(t, good) }, false},
		{"an escape", func(t styletest.TB) { styletest.CheckClean(t, []style.Line{{{Text: "\x1b[2J"}}}) }, true},
		{"a cursor in the last cell", func(t styletest.TB) { styletest.CheckCursor(t, good, 4, 3, 1) }, false},
		{"a cursor below", func(t styletest.TB) { styletest.CheckCursor(t, good, 4, 0, 2) }, true},
		{"a cursor at the right", func(t styletest.TB) { styletest.CheckCursor(t, good, 4, 4, 0) }, true},
		{"a text that is there", func(t styletest.TB) { styletest.Look(t, good, "de") }, false},
		{"a text that is not", func(t styletest.TB) { styletest.Look(t, good, "x") }, true},
	} {
		var n noter
		if c.check(&n); (n.said != "") != c.fails {
			t.Errorf("%s: %q", c.what, n.said)
		}
	}
}

func TestPress(t *testing.T) {
	for name, want := range map[string]tea.KeyPressMsg{
		"x": {Code: 'x', Text: "x"}, "日": {Code: '日', Text: "日"}, "+": {Code: '+', Text: "+"}, "space": {Code: tea.KeySpace, Text: " "},
		"ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl++": {Code: '+', Mod: tea.ModCtrl}, "ctrl+alt+up": {Code: tea.KeyUp, Mod: tea.ModCtrl | tea.ModAlt},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "super+z": {Code: 'z', Mod: tea.ModSuper},
	} {
		if got := styletest.Press(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

// A list of hostile texts without any would prove nothing.
func TestHostile_IsHostile(t *testing.T) {
	n := 0
	for _, s := range styletest.Hostile() {
		if style.Clean(s) != s {
			n++
		}
	}
	if n < 8 {
		t.Errorf("only %d texts need cleaning", n)
	}
}
