package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// keyPress makes a key of its name.
func keyPress(t *testing.T, name string) tea.KeyPressMsg {
	t.Helper()
	k := tea.KeyPressMsg{}
	words := strings.Split(name, "+")
	for _, m := range words[:len(words)-1] {
		switch m {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		default:
			t.Fatalf("%s: %s is no modifier", name, m)
		}
	}
	last := words[len(words)-1]
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f2": tea.KeyF2,
	}
	if code, ok := named[last]; ok {
		if k.Code = code; code == tea.KeySpace && k.Mod == 0 {
			k.Text = " "
		}
		return k
	}
	if r := []rune(last); len(r) == 1 {
		if k.Code = r[0]; k.Mod&^tea.ModShift == 0 {
			k.Text = last
		}
		return k
	}
	t.Fatalf("%s is no key", name)
	return k
}
