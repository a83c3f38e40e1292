package key

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"

	tea "charm.land/bubbletea/v2"
)

// chord is a key with its modifiers, in the one form that settings and terminals are brought to: small letters,
// with shift for large ones; alt for meta; Enter and digits of the keypad are those of the main field.
type chord struct {
	mod    tea.KeyMod
	code   rune
	leader bool // comes after the leader
}

// leaderMark stands before a key that follows the leader.
const leaderMark = "<leader>"

// parseChord reads one key as settings write it.
func parseChord(s string) (chord, error) {
	var c chord
	rest := strings.TrimSpace(s)
	if len(rest) >= len(leaderMark) && strings.EqualFold(rest[:len(leaderMark)], leaderMark) {
		c.leader = true
		if rest = strings.TrimSpace(rest[len(leaderMark):]); len(rest) > 1 {
			rest = strings.TrimPrefix(rest, "+")
		}
	}
	if rest == "" {
		return chord{}, fmt.Errorf("%q is not a key; write it like %q or %q", s, "ctrl+k", leaderMark+"k")
	}
	for {
		head, tail, ok := strings.Cut(rest, "+")
		if !ok || head == "" || tail == "" {
			break
		}
		mod, ok := modOf(strings.TrimSpace(head))
		if !ok {
			return chord{}, fmt.Errorf("%q has an unknown modifier %q; use ctrl, alt, shift, super, meta or hyper", s, head)
		}
		c.mod |= mod
		rest = strings.TrimSpace(tail)
	}
	code, err := codeOf(rest)
	if err != nil {
		return chord{}, fmt.Errorf("%q: %w", s, err)
	}
	if c.code = code; c.mod != 0 && code < tea.KeyExtended {
		c.code = unicode.ToLower(code) // Ctrl+K is a way to write ctrl+k
	}
	return c.plain(), nil
}

// plain writes a large letter as a small one with shift.
func (c chord) plain() chord {
	if c.code < tea.KeyExtended && unicode.IsUpper(c.code) {
		if low := unicode.ToLower(c.code); unicode.ToUpper(low) == c.code {
			c.code, c.mod = low, c.mod|tea.ModShift
		}
	}
	return c
}

// modOf returns the modifier with this name. It accepts the names of other programs too.
func modOf(s string) (tea.KeyMod, bool) {
	switch strings.ToLower(s) {
	case "ctrl", "control":
		return tea.ModCtrl, true
	case "alt", "meta", "option", "opt":
		return tea.ModAlt, true
	case "shift":
		return tea.ModShift, true
	case "super", "cmd", "command", "win":
		return tea.ModSuper, true
	case "hyper":
		return tea.ModHyper, true
	default:
		return 0, false
	}
}

// named are the keys that have a name, each under the one we write first.
var named = [...]struct {
	code  rune
	names string
}{
	{tea.KeyEnter, "enter return linefeed"},
	{tea.KeyEscape, "esc escape"},
	{tea.KeyTab, "tab"},
	{tea.KeySpace, "space"},
	{tea.KeyBackspace, "backspace"},
	{tea.KeyDelete, "delete del"},
	{tea.KeyInsert, "insert ins"},
	{tea.KeyUp, "up"},
	{tea.KeyDown, "down"},
	{tea.KeyLeft, "left"},
	{tea.KeyRight, "right"},
	{tea.KeyHome, "home"},
	{tea.KeyEnd, "end"},
	{tea.KeyPgUp, "pgup pageup"},
	{tea.KeyPgDown, "pgdn pagedown pgdown"},
	{tea.KeyMenu, "menu"},
	{tea.KeyPause, "pause"},
	{tea.KeyPrintScreen, "printscreen"},
	{'+', "+ plus"},
	{'-', "- minus"},
	{',', ", comma"},
	{'.', ". period"},
	{'/', "/ slash"},
	{'\\', "\\ backslash"},
}

// codeOf finds a key by its name or its character.
func codeOf(s string) (rune, error) {
	if r, n := utf8.DecodeRuneInString(s); n == len(s) && r != utf8.RuneError && unicode.IsPrint(r) {
		return r, nil
	}
	low := strings.ToLower(s)
	for _, k := range named {
		for name := range strings.FieldsSeq(k.names) {
			if name == low {
				return k.code, nil
			}
		}
	}
	var f rune
	if n, err := fmt.Sscanf(low, "f%d", &f); err == nil && n == 1 && f >= 1 && f <= 63 && low == fmt.Sprintf("f%d", f) {
		return tea.KeyF1 + f - 1, nil
	}
	return 0, unknownKey(low)
}

// unknownKey is the error for a key name that does not exist, with the nearest name if there is one.
func unknownKey(low string) error {
	var known []string
	for _, k := range named {
		for name := range strings.FieldsSeq(k.names) {
			if len(name) > 1 {
				known = append(known, name)
			}
		}
	}
	if near := phrase.Nearest(low, known); near != "" {
		return fmt.Errorf("unknown key %q; did you mean %q?", low, near)
	}
	return fmt.Errorf("unknown key %q; use a character, f1 to f63, or a name such as enter, esc, tab, space, up, pgdn", low)
}

// label writes a key for people, without its leader.
func (c chord) label() string {
	var b strings.Builder
	mod := c.mod
	if mod == tea.ModShift && unicode.IsLower(c.code) && c.code < tea.KeyExtended {
		b.WriteRune(unicode.ToUpper(c.code))
		return b.String()
	}
	for _, m := range [...]struct {
		mod  tea.KeyMod
		name string
	}{{tea.ModCtrl, "ctrl+"}, {tea.ModAlt, "alt+"}, {tea.ModShift, "shift+"}, {tea.ModSuper, "super+"}, {tea.ModHyper, "hyper+"}} {
		if mod.Contains(m.mod) {
			b.WriteString(m.name)
		}
	}
	for _, k := range named {
		if k.code == c.code {
			name, _, _ := strings.Cut(k.names, " ")
			b.WriteString(name)
			return b.String()
		}
	}
	if c.code >= tea.KeyF1 && c.code <= tea.KeyF63 {
		fmt.Fprintf(&b, "f%d", c.code-tea.KeyF1+1)
		return b.String()
	}
	b.WriteRune(c.code)
	return b.String()
}
