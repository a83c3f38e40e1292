package key

import (
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// press holds all chords that a key from a terminal may mean.
type press struct {
	sure  [3]chord // the reported key, in its possible spellings
	n     int
	alias [2]chord // other keys that send the same in an old terminal
	m     int
}

func (p *press) add(c chord) {
	for _, have := range p.sure[:p.n] {
		if have == c {
			return
		}
	}
	if p.n < len(p.sure) {
		p.sure[p.n], p.n = c, p.n+1
	}
}

// read brings a key to our form. afterLeader also takes letters of another alphabet by where they are on the
// keyboard, as keys with modifiers always do.
func read(k tea.KeyPressMsg, afterLeader bool) press {
	var p press
	first := chord{mod: k.Mod &^ (tea.ModCapsLock | tea.ModNumLock | tea.ModScrollLock), code: mainField(k.Code), leader: afterLeader}
	if first.mod.Contains(tea.ModMeta) {
		first.mod = first.mod&^tea.ModMeta | tea.ModAlt
	}
	first = first.plain()
	p.add(first)
	if first.mod.Contains(tea.ModShift) && !unicode.IsLetter(first.code) {
		for _, r := range [...]rune{shifted(k), typed(k)} {
			if r != 0 && r != first.code {
				p.add(chord{mod: first.mod &^ tea.ModShift, code: r, leader: afterLeader})
			}
		}
	}
	if k.BaseCode != 0 && first.code > unicode.MaxASCII && first.code < tea.KeyExtended && (afterLeader || first.mod&^tea.ModShift != 0) {
		p.add(chord{mod: first.mod, code: k.BaseCode, leader: afterLeader}.plain())
	}
	p.addAliases(first)
	return p
}

// addAliases adds the keys that an old terminal cannot tell from this one.
func (p *press) addAliases(c chord) {
	other := func(code rune) {
		p.alias[p.m] = chord{mod: c.mod, code: code, leader: c.leader}
		p.m++
	}
	if !c.mod.Contains(tea.ModCtrl) {
		return
	}
	switch c.code {
	case '_': // one byte for three keys
		other('-')
		other('/')
	case 'h':
		other(tea.KeyBackspace)
	case tea.KeySpace:
		other('@')
	case '^':
		other('6')
	default:
	}
}

// shifted is the shifted character of a key, if the terminal reports it; otherwise it repeats the base key.
func shifted(k tea.KeyPressMsg) rune {
	if k.ShiftedCode == k.BaseCode {
		return 0
	}
	return k.ShiftedCode
}

// IsTyped reports whether a key writes something.
func IsTyped(k tea.KeyPressMsg) bool {
	if k.Text == "" || k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper|tea.ModHyper) != 0 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(k.Text)
	return !unicode.IsControl(r)
}

// IsComposed reports whether a key was made with AltGr, which some terminals tell as ctrl and alt. It writes
// something if it has no other meaning.
func IsComposed(k tea.KeyPressMsg) bool {
	both := tea.ModCtrl | tea.ModAlt
	k.Mod, both = k.Mod&^both, k.Mod&both^both
	return both == 0 && IsTyped(k)
}

// typed is the one character that a key typed.
func typed(k tea.KeyPressMsg) rune {
	r, n := utf8.DecodeRuneInString(k.Text)
	if n == 0 || n != len(k.Text) || r == utf8.RuneError {
		return 0
	}
	return r
}

// keypad has the key of the main field for each of the keypad that is no digit.
var keypad = [...]struct{ pad, main rune }{
	{tea.KeyKpEnter, tea.KeyEnter},
	{tea.KeyKpEqual, '='},
	{tea.KeyKpMultiply, '*'},
	{tea.KeyKpPlus, '+'},
	{tea.KeyKpComma, ','},
	{tea.KeyKpSep, ','},
	{tea.KeyKpMinus, '-'},
	{tea.KeyKpDecimal, '.'},
	{tea.KeyKpDivide, '/'},
	{tea.KeyKpUp, tea.KeyUp},
	{tea.KeyKpDown, tea.KeyDown},
	{tea.KeyKpLeft, tea.KeyLeft},
	{tea.KeyKpRight, tea.KeyRight},
	{tea.KeyKpPgUp, tea.KeyPgUp},
	{tea.KeyKpPgDown, tea.KeyPgDown},
	{tea.KeyKpHome, tea.KeyHome},
	{tea.KeyFind, tea.KeyHome},
	{tea.KeyKpEnd, tea.KeyEnd},
	{tea.KeySelect, tea.KeyEnd},
	{tea.KeyKpInsert, tea.KeyInsert},
	{tea.KeyKpDelete, tea.KeyDelete},
}

// mainField gives the key of the main field for one of the keypad.
func mainField(code rune) rune {
	if code < tea.KeyExtended {
		return code
	}
	if code >= tea.KeyKp0 && code <= tea.KeyKp9 {
		return '0' + code - tea.KeyKp0
	}
	for _, k := range keypad {
		if k.pad == code {
			return k.main
		}
	}
	return code
}
