package vim

import "strings"

// commandKey takes the commands of normal mode that are neither operators nor motions.
func (m *Machine[P]) commandKey(key string, v view[P]) bool {
	m.goal = 0
	p, n := v.Cursor(), max(m.command.times(), 1)
	if m.insertCommand(key, p, n, v) {
		return true
	}
	switch key {
	case "v":
		m.mode, m.anchor = Visual, p
	case "V":
		m.mode, m.anchor = VisualLine, p
	case "x", "delete":
		m.short("d", p, Pos{p.Line, min(p.Col+n, v.width(p.Line))}, v)
	case "X":
		m.short("d", Pos{p.Line, max(0, p.Col-n)}, p, v)
	case "D":
		m.short("d", p, v.lineEnd(p), v)
	case "C":
		m.short("c", p, v.lineEnd(p), v)
	case "s":
		m.short("c", p, Pos{p.Line, min(p.Col+n, v.width(p.Line))}, v)
	case "S":
		m.command.operator = "c"
		m.apply(m.lines(v), v)
	case "Y":
		m.command.operator = "y"
		m.apply(m.lines(v), v)
	case "~":
		m.short("g~", p, Pos{p.Line, min(p.Col+n, v.width(p.Line))}, v)
		v.MoveTo(Pos{p.Line, p.Col + n})
	case "J":
		m.change(v, func() { v.join(p.Line, max(n-1, 1)) })
	case "p", "P":
		m.change(v, func() { m.put(key == "p", n, v) })
	case "u":
		for range n {
			v.Undo()
		}
	case "ctrl+r":
		for range n {
			v.Redo()
		}
	case ".":
		m.repeat(v)
	default:
		return false
	}
	return true
}

// insertCommand takes the commands that start insert mode.
func (m *Machine[P]) insertCommand(key string, p Pos, n int, v view[P]) bool {
	switch key {
	case "i":
	case "a":
		p.Col = min(p.Col+1, v.width(p.Line))
	case "I":
		p = Pos{p.Line, v.blankPrefix(p.Line)}
	case "A":
		p = v.lineEnd(p)
	case "o", "O":
		v.Group(true)
		if p = v.lineEnd(p); key == "O" {
			p.Col = 0
		}
		end := v.Replace(p, p, v.Piece("\n"))
		if key == "o" {
			p = end
		}
		m.enterInsert(p, v, n)
		return true
	default:
		return false
	}
	v.Group(true)
	m.enterInsert(p, v, n)
	return true
}

// short runs an operator on a range that a single key names. Nothing happens on an empty range, except that c inserts.
func (m *Machine[P]) short(operator string, from, to Pos, v view[P]) {
	if from == to && operator != "c" {
		return
	}
	m.command.operator = operator
	m.operate(from, to, false, v)
}

// change makes an edit one step of undo and of repeat.
func (m *Machine[P]) change(v view[P], edit func()) {
	m.remember()
	v.Group(true)
	defer v.Group(false)
	edit()
}

// join appends the next lines to a line, with a space between them.
func (v view[P]) join(line, times int) {
	for range times {
		if line >= v.last() {
			return
		}
		end := v.lineEnd(Pos{line, 0})
		between := " "
		if end.Col == 0 || classOf(v.char(Pos{line, end.Col - 1}), false) == blank || v.blankPrefix(line+1) == v.width(line+1) {
			between = ""
		}
		v.Replace(end, Pos{line + 1, v.blankPrefix(line + 1)}, v.Piece(between))
		v.MoveTo(end)
	}
}

// replaceChars is r: n characters become this one.
func (m *Machine[P]) replaceChars(char string, n int, v view[P]) {
	if char == "enter" {
		char = "\n"
	}
	if char != "\n" && !isChar(char) {
		return
	}
	p := v.Cursor()
	from, to := p, Pos{p.Line, p.Col + n}
	if m.isVisual() {
		if from, to = m.selection(v); from.Line != to.Line {
			return
		}
		n, m.mode = to.Col-from.Col, Normal
	}
	if to.Col > v.width(p.Line) {
		return
	}
	m.change(v, func() { v.Replace(from, to, v.Piece(strings.Repeat(char, n))) })
	v.MoveTo(Pos{from.Line, from.Col + n - 1})
	if char == "\n" {
		v.MoveTo(Pos{from.Line + 1, 0})
	}
}

// visualKey takes the commands of visual mode.
func (m *Machine[P]) visualKey(key string, v view[P]) bool {
	operator := map[string]string{"x": "d", "delete": "d", "X": "d", "D": "d", "s": "c", "C": "c", "S": "c", "Y": "y", "u": "gu", "U": "gU", "~": "g~"}[key]
	switch {
	case operator != "":
		if strings.Contains("XDCSY", key) {
			m.mode = VisualLine
		}
		m.command.operator = operator
		m.applyVisual(v)
	case key == "o":
		p := v.Cursor()
		v.MoveTo(m.anchor)
		m.anchor = p
	case key == "v" || key == "V":
		to := Visual
		if key == "V" {
			to = VisualLine
		}
		if m.mode == to {
			to = Normal
		}
		m.mode = to
	case key == "J":
		from, to := m.selection(v)
		m.mode = Normal
		m.change(v, func() { v.join(from.Line, max(to.Line-from.Line, 1)) })
	case key == "p" || key == "P":
		m.putOver(v)
	default:
		return false
	}
	return true
}

// putOver replaces the selection by a register.
func (m *Machine[P]) putOver(v view[P]) {
	from, to := m.selection(v)
	lines := m.mode == VisualLine
	name := m.command.register
	if name == 0 {
		name = '"'
	}
	r, ok := m.registers[name]
	m.mode, m.command.register = Normal, 0
	if !ok {
		return
	}
	v.Group(true)
	defer v.Group(false)
	m.save(from, to, lines, false, v)
	switch {
	case lines == r.lines:
		v.Replace(from, to, v.Piece(""))
	case r.lines:
		at := v.Replace(from, to, v.Piece("\n\n"))
		from = Pos{at.Line - 1, 0}
	default:
		v.Replace(from, to, v.Piece(""))
	}
	end := v.insert(from, r.parts)
	v.MoveTo(Pos{end.Line, max(0, end.Col-1)})
}
