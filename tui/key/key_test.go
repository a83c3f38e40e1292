package key_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func newMap(t *testing.T, settings string) *key.Map {
	t.Helper()
	m, err := key.New(settingsOf(t, settings))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func settingsOf(t *testing.T, settings string) map[string]json.RawMessage {
	t.Helper()
	over := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(settings), &over); err != nil {
		t.Fatal(err)
	}
	return over
}

// sent decodes what a terminal sends for one key.
func sent(t *testing.T, bytes string) tea.KeyPressMsg {
	t.Helper()
	var d uv.EventDecoder
	n, e := d.Decode([]byte(bytes))
	k, ok := e.(uv.KeyPressEvent)
	if !ok || n != len(bytes) {
		t.Fatalf("%q is %T of %d bytes", bytes, e, n)
	}
	return tea.KeyPressMsg(k)
}

// The same keys as terminals of both kinds send them.
func TestMatch_Terminals(t *testing.T) {
	t.Parallel()
	m := newMap(t, `{}`)
	for _, tt := range []struct {
		bytes string
		name  key.Name
	}{
		{"\r", key.InputSubmit},
		{"\x1bOM", key.InputSubmit}, // of the keypad
		{"\n", key.InputNewline},
		{"\x1b\r", key.InputNewline},
		{"\x1b[13;2u", key.InputNewline},
		{"\x1b[13;3u", key.InputNewline},
		{"\x1b[13;5u", key.InputNewline},
		{"\x1b[27;2;13~", key.InputNewline},
		{"\x1b", key.SessionInterrupt},
		{"\x1b[27u", key.SessionInterrupt},
		{"\x03", key.AppExit},
		{"\x1b[99;5u", key.AppExit},
		{"\x1b[99;133u", key.AppExit},          // with num lock
		{"\x1b[1089::99;5u", key.AppExit},      // the same key of a Russian keyboard
		{"\x1f", key.InputUndo},                // ctrl+- of an old terminal
		{"\x1b[45;5u", key.InputUndo},          // and of a new one
		{"\x1b[122;9u", key.InputUndo},         // super+z
		{"\x1b[46;5u", key.InputRedo},          // ctrl+.
		{"\x1b[122;10u", key.InputRedo},        // super+shift+z
		{"\x1b[Z", key.PermissionModeCycle},    // shift+tab
		{"\x1b[9;2u", key.PermissionModeCycle}, //
		{"\x1bF", key.InputSelectWordForward},  // alt+shift+f
		{"\x1b[102;4u", key.InputSelectWordForward},
		{"\x1bf", key.InputWordForward},
		{"\x1b[1;5C", key.InputWordForward},
		{"\x1b[1;3C", key.InputWordForward},
		{"\x1bb", key.InputWordBackward},
		{"\x08", key.InputDeleteWordBackward}, // ctrl+backspace of an old terminal
		{"\x1b\x7f", key.InputDeleteWordBackward},
		{"\x1b[127;5u", key.InputDeleteWordBackward},
		{"\x7f", key.InputBackspace},
		{"\x1b[127;2u", key.InputBackspace},
		{"\x1b[3~", key.InputDelete},
		{"E", key.DiffExpandAll},
		{"\x1b[101;2u", key.DiffExpandAll},
		{"?", key.DiffHelp},
		{"\x1b[47:63;2u", key.DiffHelp},
		{"]", key.DiffNextHunk},
		{" ", key.DiffToggle},
		{"\x1b\x19", key.MessagesLineUp}, // ctrl+alt+y
		{"\x1b[121;7u", key.MessagesLineUp},
		{"\x1b[1;2Q", key.ModelCycleRecentReverse},
		{"\x1b[107;8u", key.WhichKeyLayoutToggle},
		{"\x1b[5~", key.MessagesPageUp},
	} {
		if k := sent(t, tt.bytes); !m.Match(k, tt.name) {
			t.Errorf("%q (%s) is not %s", tt.bytes, k.Keystroke(), tt.name)
		}
	}
}

func TestMatch_Not(t *testing.T) {
	t.Parallel()
	m := newMap(t, `{}`)
	for _, tt := range []struct {
		bytes string
		name  key.Name
	}{
		{"\r", key.InputNewline},
		{"\n", key.InputSubmit},
		{"\x1b\r", key.InputSubmit},
		{"e", key.DiffExpandAll},
		{"n", key.SessionNew}, // only after the leader
		{"/", key.DiffHelp},
		{"c", key.AppExit},
		{"\x1b[1089::99u", key.DiffNextFile},
		{"x", key.HelpShow}, // has no key
		{"x", "unknown action"},
	} {
		if k := sent(t, tt.bytes); m.Match(k, tt.name) {
			t.Errorf("%q is %s", tt.bytes, tt.name)
		}
	}
}

func TestIsTyped(t *testing.T) {
	for _, c := range []struct {
		key             tea.KeyPressMsg
		typed, composed bool
	}{
		{tea.KeyPressMsg{Code: 'a', Text: "a"}, true, false},
		{tea.KeyPressMsg{Code: 'a', Text: "A", Mod: tea.ModShift}, true, false},
		{tea.KeyPressMsg{Code: 'a', Text: "A", Mod: tea.ModShift | tea.ModCapsLock}, true, false},
		{tea.KeyPressMsg{Code: tea.KeyEnter}, false, false},
		{tea.KeyPressMsg{Code: tea.KeyEnter, Text: "\r"}, false, false},
		{tea.KeyPressMsg{Code: 'a', Text: "a", Mod: tea.ModAlt}, false, false},
		{tea.KeyPressMsg{Code: 'q', Text: "@", Mod: tea.ModCtrl | tea.ModAlt}, false, true},
		{tea.KeyPressMsg{Code: 'q', Mod: tea.ModCtrl | tea.ModAlt}, false, false},
	} {
		if typed, composed := key.IsTyped(c.key), key.IsComposed(c.key); typed != c.typed || composed != c.composed {
			t.Errorf("%+v: typed %v, composed %v", c.key, typed, composed)
		}
	}
}

func TestAfterLeader(t *testing.T) {
	t.Parallel()
	m := newMap(t, `{}`)
	names := []key.Name{key.SessionQueuedPrompts, key.AppExit, key.ModelList, key.SessionChildFirst}
	for bytes, want := range map[string]key.Name{
		"q": key.SessionQueuedPrompts, "m": key.ModelList, "\x1b[B": key.SessionChildFirst, "\x1b[1100::109u": key.ModelList,
	} {
		if got, ok := m.AfterLeader(sent(t, bytes), names...); !ok || got != want {
			t.Errorf("%q is %q", bytes, got)
		}
	}
	if got, ok := m.AfterLeader(sent(t, "\x03"), names...); ok {
		t.Errorf("ctrl+c after the leader is %q", got)
	}
	if !m.Leader(sent(t, "\x18")) || m.Leader(sent(t, "x")) {
		t.Error("the leader is ctrl+x")
	}
	if got, ok := m.First(sent(t, "\x04"), key.HelpShow, key.SessionDelete, key.AppExit); !ok || got != key.SessionDelete {
		t.Errorf("ctrl+d is %q", got)
	}
}

// A key that a setting names is not taken for another one.
func TestMatch_AliasYields(t *testing.T) {
	t.Parallel()
	m := newMap(t, `{"help_show": "ctrl+h", "app_debug": "ctrl+/"}`)
	if k := sent(t, "\x08"); !m.Match(k, key.HelpShow) || m.Match(k, key.InputDeleteWordBackward) {
		t.Error("ctrl+h is help and nothing else")
	}
	if !m.Match(sent(t, "\x1f"), "app_debug") {
		t.Error("an old terminal sends ctrl+/ as ctrl+_")
	}
}

func TestNew_Forms(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		`"f5"`:                       {"f5"},
		`" Ctrl+K , F5 "`:            {"ctrl+k", "f5"},
		`"none"`:                     nil,
		`false`:                      nil,
		`[]`:                         nil,
		`{"key": "ctrl+alt+return"}`: {"ctrl+alt+enter"},
		`{"key":"a","event":"press","preventDefault":true,"fallthrough":false}`: {"a"},
		`["a", {"key": "b,c"}, "a", false]`:                                     {"a", "b", "c"},
		`"meta+escape,option+x"`:                                                {"alt+esc", "alt+x"},
		`"shift+e,E"`:                                                           {"E"},
		`"<leader>m,<leader>+,<leader>,"`:                                       {"ctrl+x m", "ctrl+x +", "ctrl+x ,"},
		`"<Leader>ctrl+m,<leader>+k"`:                                           {"ctrl+x ctrl+m", "ctrl+x k"},
		`"ctrl++,ctrl+,,+,,"`:                                                   {"ctrl++", "ctrl+,", "+", ","},
		`"alt+>,ü,cmd+shift+z,hyper+pageup"`:                                    {"alt+>", "ü", "shift+super+z", "hyper+pgup"},
		`"ctrl+comma,plus"`:                                                     {"ctrl+,", "+"},
	} {
		m := newMap(t, `{"help_show": `+value+`}`)
		if got := m.Labels(key.HelpShow); !slices.Equal(got, want) {
			t.Errorf("%s: %q", value, got)
		}
	}
}

func TestNew_Wrong(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		`{"sesion_new": "a"}`:                               `did you mean "session_new"?`,
		`{"zzzzzzzzzzzz": "a"}`:                             "unknown action",
		`{"help_show": "ctrl+retrun"}`:                      `did you mean "return"?`,
		`{"help_show": "crtl+a"}`:                           `modifier "crtl"`,
		`{"help_show": ""}`:                                 "is not a key",
		`{"help_show": "a,"}`:                               "is not a key",
		`{"help_show": "<leader>"}`:                         "is not a key",
		`{"help_show": "f64"}`:                              "f1 to f63",
		`{"help_show": 3}`:                                  "write keys as",
		`{"help_show": true}`:                               "write keys as",
		`{"help_show": null}`:                               "write keys as",
		`{"help_show": {"event": "press"}}`:                 `needs "key"`,
		`{"help_show": {"key": "a", "x": 1}}`:               `needs "key"`,
		`{"help_show": {"key": "a", "event": "release"}}`:   "release",
		`{"help_show": [["a"]]}`:                            "another list",
		`{"leader": "<leader>x"}`:                           "leader key cannot",
		`{"help_show": "nothing at all", "theme_list": ""}`: "theme_list",
	} {
		m, err := key.New(settingsOf(t, settings))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
		if m == nil || m.Label(key.ThemeList) != "ctrl+x t" || m.Label(key.HelpShow) != "" {
			t.Errorf("%s: the defaults do not stand", settings)
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	m := newMap(t, `{"leader": "ctrl+o", "help_show": "none"}`)
	for name, want := range map[key.Name]string{
		key.ModelList: "ctrl+o m", key.InputSubmit: "enter", key.SessionInterrupt: "esc", key.HelpShow: "",
		key.InputUndo: "ctrl+-", key.DiffExpandAll: "E", key.MessagesPageUp: "pgup", key.SessionChildFirst: "ctrl+o down",
		key.WhichKeyGroupPrevious: "ctrl+alt+left",
	} {
		if got := m.Label(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := m.NextLabels(key.AppExit); !slices.Equal(got, []string{"q"}) {
		t.Errorf("after the leader: %q", got)
	}
	if got := newMap(t, `{"leader": false}`).Labels(key.AppExit); !slices.Equal(got, []string{"ctrl+c", "ctrl+d"}) {
		t.Errorf("without a leader: %q", got)
	}
}

// A default of ours yields to a key that the config gives to a name of OpenCode.
func TestNew_OwnDefaultsYield(t *testing.T) {
	t.Parallel()
	ctrlR := styletest.Press("ctrl+r")
	if m := newMap(t, `{}`); !m.Match(ctrlR, key.HistorySearch) || !m.Match(ctrlR, key.SessionRename) {
		t.Error("the defaults are others")
	}
	if m := newMap(t, `{"session_rename": "ctrl+r"}`); m.Match(ctrlR, key.HistorySearch) {
		t.Error("a default of ours wins against the config")
	}
	if m := newMap(t, `{"session_rename": "ctrl+r", "history_search": "ctrl+r,f4"}`); !m.Match(ctrlR, key.HistorySearch) {
		t.Error("what the config says yields")
	}
}

// Every name is spelled as a setting, stands once, and says what it does in a line.
func TestAll(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z0-9_.]+$`)
	seen, does, own := map[key.Name]bool{}, map[string]key.Name{}, 0
	for _, e := range key.All() {
		if !form.MatchString(string(e.Name)) || seen[e.Name] || e.Group == "" || e.Does == "" || utf8.RuneCountInString(e.Does) > 50 {
			t.Errorf("%+v", e)
		}
		if other := does[e.Does]; other != "" {
			t.Errorf("%s and %s both say %q", e.Name, other, e.Does)
		}
		seen[e.Name], does[e.Does] = true, e.Name
		if e.Own {
			own++
		}
	}
	if n := len(seen) - own; n != 184 {
		t.Errorf("%d names of OpenCode; names that it does not have begin with + in keys.txt", n)
	}
	source, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`= "(.*)"`).FindAllStringSubmatch(string(source), -1) {
		if !seen[key.Name(found[1])] {
			t.Errorf("%s is not in the table", found[1])
		}
	}
}

// Whatever a setting says, it is read or refused; what was read reads the same from its label.
func FuzzNew(f *testing.F) {
	for _, s := range []string{`"ctrl+k,<leader>x"`, `[{"key":"a"},false]`, `",,"`, `"ctrl++"`, `{"key":"<leader>+"}`, `"shift+É"`, `"<leader>,,<leader>f63"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		m, err := key.New(map[string]json.RawMessage{"help_show": json.RawMessage(value)})
		if m == nil {
			t.Fatal("no map")
		}
		if err != nil {
			return
		}
		labels := m.Labels(key.HelpShow)
		again, err := json.Marshal(strings.ReplaceAll(strings.Join(labels, ","), "ctrl+x ", "<leader>"))
		if err != nil {
			t.Fatal(err)
		}
		if len(labels) == 0 {
			return
		}
		m, err = key.New(map[string]json.RawMessage{"help_show": again})
		if err != nil || !slices.Equal(m.Labels(key.HelpShow), labels) {
			t.Fatalf("%s: %q, then %s: %v %q", value, labels, again, err, m.Labels(key.HelpShow))
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	m, err := key.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	k := tea.KeyPressMsg{Code: 'q', Text: "q"}
	b.ReportAllocs()
	for b.Loop() {
		if m.Match(k, key.InputDeleteWordBackward) {
			b.Fatal("q")
		}
	}
}
