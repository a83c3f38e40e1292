package vim

import "unicode"

// register is what was deleted or yanked.
type register[P any] struct {
	parts []P // more than one after an append; each follows the one before
	lines bool
}

// save stores a range in the register that was named, and in the unnamed one. Yanks are in 0 as well.
func (m *Machine[P]) save(from, to Pos, lines, yank bool, v view[P]) {
	name := m.command.register
	if name == '_' {
		return
	}
	if m.registers == nil {
		m.registers = map[rune]register[P]{}
	}
	r := register[P]{parts: []P{v.Copy(from, to)}, lines: lines}
	switch {
	case unicode.IsUpper(name):
		low := unicode.ToLower(name)
		old := m.registers[low]
		parts := append([]P(nil), old.parts...)
		if len(parts) > 0 && (old.lines || lines) {
			parts = append(parts, v.Piece("\n"))
		}
		r = register[P]{parts: append(parts, r.parts...), lines: old.lines || lines}
		m.registers[low] = r
	case name == '+' || name == '*':
		m.registers['+'], m.registers['*'], m.copied = r, r, r.parts
	case name != 0:
		m.registers[name] = r
	case yank:
		m.registers['0'] = r
	}
	m.registers['"'] = r
}

// TakeCopied returns the pieces that the last command stored in a register of the clipboard, once.
func (m *Machine[P]) TakeCopied() []P {
	parts := m.copied
	m.copied = nil
	return parts
}

// put inserts a register behind the cursor, or before it.
func (m *Machine[P]) put(behind bool, times int, v view[P]) {
	name := m.command.register
	if name == 0 {
		name = '"'
	}
	r, ok := m.registers[unicode.ToLower(name)]
	if !ok {
		return
	}
	p := v.Cursor()
	if r.lines {
		m.putLines(r, p.Line, behind, times, v)
		return
	}
	if behind {
		p.Col = min(p.Col+1, v.width(p.Line))
	}
	end := p
	for range times {
		end = v.insert(end, r.parts)
	}
	v.MoveTo(Pos{end.Line, max(0, end.Col-1)})
}

// putLines inserts whole lines below or above a line. The cursor goes to the first of them.
func (m *Machine[P]) putLines(r register[P], line int, behind bool, times int, v view[P]) {
	for range times {
		if behind {
			end := v.lineEnd(Pos{line, 0})
			v.insert(v.Replace(end, end, v.Piece("\n")), r.parts)
			continue
		}
		end := v.insert(Pos{line, 0}, r.parts)
		v.Replace(end, end, v.Piece("\n"))
	}
	if behind {
		line++
	}
	v.MoveTo(v.indent(line))
}

// insert puts pieces one behind the other and returns the end.
func (v view[P]) insert(at Pos, parts []P) Pos {
	for _, p := range parts {
		at = v.Replace(at, at, p)
	}
	return at
}
