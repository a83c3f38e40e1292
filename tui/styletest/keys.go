package styletest

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
)

// Keys are the default keybinds.
func Keys(t TB) *key.Map {
	t.Helper()
	m, err := key.New(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

// Press makes a key of its name, as a terminal would send it: "x", "ctrl+w", "shift+tab".
func Press(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || mod == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift, "super": tea.ModSuper}[mod]
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
	if k.Mod&^tea.ModShift == 0 {
		k.Text = name
	}
	return k
}
