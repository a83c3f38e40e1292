package vim

import "strings"

// Mode is what keys mean.
type Mode string

// The modes; their values are what people see.
const (
	Insert     Mode = "INSERT"
	Normal     Mode = "NORMAL"
	Visual     Mode = "VISUAL"
	VisualLine Mode = "V-LINE"
)

// Result says what the caller has to do with a key.
type Result int

// The results.
const (
	Handled Result = iota
	Pass           // the key is not ours: handle it as without vi
	Older          // the cursor was on the first line and had to go up
	Newer          // the cursor was on the last line and had to go down
)

// Machine is the state between keys. The zero value is in insert mode, with no registers.
type Machine[P any] struct {
	mode      Mode
	registers map[rune]register[P]
	copied    []P  // by the last command into a register of the clipboard
	found     find // last f, F, t or T
	anchor    Pos  // other end of a visual selection
	goal      int  // column for j and k, plus one; 0 is the cursor's

	command   command
	last      []string // keys of the last change
	lastTyped string   // text that it inserted
	typed     []string // since insert mode began
	replaying bool
	times     int // how often the typed text is inserted
}

// command is what was typed of a command that is not complete.
type command struct {
	keys     []string
	register rune
	operator string // "d", "c", "y", ">", "<", "gu", "gU", "g~", "" for none
	count    int    // before the operator
	motion   int    // count before the motion
	prefix   string // "g", "f", "r", "i", … that needs one more key
}

// times multiplies the counts; 0 means that none was typed.
func (c *command) times() int {
	if c.count == 0 && c.motion == 0 {
		return 0
	}
	return min(max(c.count, 1)*max(c.motion, 1), 10_000)
}

// Mode returns the mode.
func (m *Machine[P]) Mode() Mode {
	if m.mode == "" {
		return Insert
	}
	return m.mode
}

// Pending returns the keys of a command that is not complete.
func (m *Machine[P]) Pending() string { return strings.Join(m.command.keys, "") }

// Reset goes back to insert mode, for a new prompt.
func (m *Machine[P]) Reset() { m.mode, m.command, m.typed, m.goal = Insert, command{}, nil, 0 }

// Key takes a key.
func (m *Machine[P]) Key(key string, t Text[P]) Result {
	v := view[P]{t}
	if m.Mode() == Insert {
		return m.insertKey(key, v)
	}
	if key == "esc" || key == "ctrl+[" || key == "ctrl+c" && (m.Mode() != Normal || len(m.command.keys) > 0) {
		return m.escape(v)
	}
	m.command.keys = append(m.command.keys, key)
	result, done := m.normalKey(key, v)
	if done {
		m.finish(v)
	}
	return result
}

// escape drops an incomplete command, or leaves visual mode. In normal mode the key has another meaning for the caller.
func (m *Machine[P]) escape(v view[P]) Result {
	idle := m.Mode() == Normal && len(m.command.keys) == 0
	m.mode, m.command = Normal, command{}
	m.finish(v)
	if idle {
		return Pass
	}
	return Handled
}

// finish ends a command: the cursor is on a character again and the selection is drawn.
func (m *Machine[P]) finish(v view[P]) {
	m.command = command{}
	at := v.Cursor()
	switch m.Mode() {
	case Insert:
		v.Select(at, at)
	case Normal:
		v.Select(at, at)
		v.MoveTo(v.clamp(at))
	default:
		from, to := m.selection(v)
		v.Select(from, to)
	}
}

// insertKey watches what is typed, for repeat.
func (m *Machine[P]) insertKey(key string, v view[P]) Result {
	switch key {
	case "esc", "ctrl+[":
		m.leaveInsert(v)
		return Handled
	case "backspace":
		m.typed = m.typed[:max(0, len(m.typed)-1)]
	case "enter", "shift+enter", "alt+enter", "ctrl+j":
		m.typed = append(m.typed, "\n")
	default:
		if isChar(key) {
			m.typed = append(m.typed, key)
		} else {
			m.typed = nil
		}
	}
	return Pass
}

// NotePaste notes a text that the caller inserted at once, for repeat.
func (m *Machine[P]) NotePaste(text string) {
	if m.Mode() == Insert {
		m.typed = append(m.typed, text)
	}
}

// leaveInsert returns to normal mode; a count before the command repeats what was typed.
func (m *Machine[P]) leaveInsert(v view[P]) {
	text := strings.Join(m.typed, "")
	for ; m.times > 1 && text != ""; m.times-- {
		v.MoveTo(v.Replace(v.Cursor(), v.Cursor(), v.Piece(text)))
	}
	if !m.replaying {
		m.lastTyped = text
	}
	m.mode, m.typed, m.times = Normal, nil, 0
	v.Group(false)
	at := v.Cursor()
	v.MoveTo(Pos{at.Line, max(0, at.Col-1)})
	m.finish(v)
}

// enterInsert starts insert mode at a place. The group of undo stays open until it ends.
func (m *Machine[P]) enterInsert(at Pos, v view[P], times int) {
	m.remember()
	m.mode, m.typed, m.times = Insert, nil, times
	v.MoveTo(at)
}

// remember makes the present command the one that "." repeats.
func (m *Machine[P]) remember() {
	if !m.replaying && m.Mode() == Normal {
		m.last, m.lastTyped = m.command.keys, ""
	}
}

// repeat runs the last change again at the cursor.
func (m *Machine[P]) repeat(v view[P]) {
	keys, text := m.last, m.lastTyped
	if len(keys) == 0 || m.replaying {
		return
	}
	m.replaying, m.command = true, command{}
	defer func() { m.replaying = false }()
	for _, k := range keys {
		m.Key(k, v.Text)
	}
	if m.Mode() == Insert {
		v.MoveTo(v.Replace(v.Cursor(), v.Cursor(), v.Piece(text)))
		m.leaveInsert(v)
	}
}

// selection is the visual selection, from its first place to the one behind its last.
func (m *Machine[P]) selection(v view[P]) (from, to Pos) {
	from, to = m.anchor, v.Cursor()
	if to.before(from) {
		from, to = to, from
	}
	if m.Mode() == VisualLine {
		return Pos{from.Line, 0}, v.lineEnd(to)
	}
	return from, Pos{to.Line, min(to.Col+1, v.width(to.Line))}
}

// isChar reports whether a key is a typed character and not a name.
func isChar(key string) bool {
	return key == " " || len(key) == 1 || len(key) > 1 && key[0] >= 0x80
}
