package vim

import "strings"

// normalKey takes a key in normal and visual mode; done says that the command is complete or was dropped.
func (m *Machine[P]) normalKey(key string, v view[P]) (result Result, done bool) {
	c := &m.command
	if c.prefix != "" {
		return m.prefixed(key, v)
	}
	switch {
	case key == `"` || key == "g" || key == "r" || strings.Contains("fFtT", key) && len(key) == 1:
		c.prefix = key
		return Handled, false
	case (key == "i" || key == "a") && (c.operator != "" || m.isVisual()):
		c.prefix = key
		return Handled, false
	case len(key) == 1 && (key >= "1" && key <= "9" || key == "0" && c.motion > 0):
		c.motion = min(c.motion*10+int(key[0]-'0'), 10_000)
		return Handled, false
	}
	return m.simple(key, v)
}

// prefixed takes the key after g, f, r, " and before a text object.
func (m *Machine[P]) prefixed(key string, v view[P]) (Result, bool) {
	c := &m.command
	prefix := c.prefix
	c.prefix = ""
	n := max(c.times(), 1)
	switch prefix {
	case `"`:
		c.register = []rune(key)[0]
		return Handled, !isChar(key)
	case "g":
		return m.simple("g"+key, v)
	case "r":
		m.replaceChars(key, n, v)
		return Handled, true
	case "i", "a":
		t := m.object(key, prefix == "a", v)
		if !m.isVisual() || t.failed {
			return m.apply(t, v), true
		}
		m.anchor = t.from
		if t.kind == linewise {
			m.mode = VisualLine
			v.MoveTo(t.to)
		} else if p, ok := v.prev(t.to); ok {
			v.MoveTo(p)
		}
		return Handled, true
	default: // f, F, t, T
		m.found = find{prefix, key}
		return m.apply(v.find(v.Cursor(), m.found, n, false), v), true
	}
}

// simple takes a whole key: an operator, a motion or a command.
func (m *Machine[P]) simple(key string, v view[P]) (Result, bool) {
	c := &m.command
	switch key {
	case "d", "c", "y", ">", "<", "gu", "gU", "g~":
		return m.operatorKey(key, v)
	case "j", "k", "down", "up", "ctrl+n", "ctrl+p":
		return m.vertical(key, v), true
	}
	if c.operator != "" && strings.HasSuffix(c.operator, key) { // guu
		return m.apply(m.lines(v), v), true
	}
	if m.isVisual() {
		if m.visualKey(key, v) {
			return Handled, true
		}
	} else if c.operator == "" && m.commandKey(key, v) {
		return Handled, true
	}
	if t, ok := m.motion(key, c.times(), v); ok {
		return m.apply(t, v), true
	}
	if isChar(key) || strings.HasPrefix(key, "g") && len(key) > 1 && key[1] < 'a' {
		return Handled, true
	}
	return Pass, true
}

func (m *Machine[P]) isVisual() bool { return m.mode == Visual || m.mode == VisualLine }

// operatorKey starts an operator, applies it to lines when it is typed twice, or to the visual selection.
func (m *Machine[P]) operatorKey(key string, v view[P]) (Result, bool) {
	c := &m.command
	switch {
	case m.isVisual():
		c.operator = key
		m.applyVisual(v)
		return Handled, true
	case c.operator == key:
		return m.apply(m.lines(v), v), true
	case c.operator != "":
		return Handled, true
	default:
		c.operator, c.count, c.motion = key, c.motion, 0
		return Handled, false
	}
}

// lines is the target of a doubled operator.
func (m *Machine[P]) lines(v view[P]) target {
	p := v.Cursor()
	return target{from: p, to: Pos{min(p.Line+max(m.command.times(), 1)-1, v.last()), 0}, kind: linewise}
}

// vertical moves by lines and keeps the column. At the edge the caller may show an older or newer prompt.
func (m *Machine[P]) vertical(key string, v view[P]) Result {
	p := v.Cursor()
	n := max(m.command.times(), 1)
	edge := Newer
	if key == "k" || key == "up" || key == "ctrl+p" {
		n, edge = -n, Older
	}
	line := min(max(p.Line+n, 0), v.last())
	if m.command.operator != "" {
		return m.apply(target{from: p, to: Pos{line, 0}, kind: linewise, failed: line == p.Line}, v)
	}
	if line == p.Line {
		if m.isVisual() {
			return Handled
		}
		return edge
	}
	goal := m.goal
	if goal == 0 {
		goal = p.Col + 1
	}
	v.MoveTo(v.clamp(Pos{line, goal - 1}))
	m.goal = goal
	return Handled
}

// apply moves to a target, or runs the operator up to it.
func (m *Machine[P]) apply(t target, v view[P]) Result {
	m.goal = 0
	if t.failed {
		return Handled
	}
	if m.command.operator == "" {
		if keys := m.command.keys; len(keys) > 0 && keys[len(keys)-1] == "$" {
			m.goalEnd()
		}
		v.MoveTo(v.clamp(t.to))
		return Handled
	}
	from, to := t.from, t.to
	if to.before(from) {
		from, to = to, from
	}
	if t.kind == inclusive {
		to.Col = min(to.Col+1, v.width(to.Line))
	}
	m.operate(from, to, t.kind == linewise, v)
	return Handled
}

// goalEnd makes j and k stay at the end of lines.
func (m *Machine[P]) goalEnd() { m.goal = 1 << 30 }

// applyVisual runs the operator on the selection and leaves visual mode.
func (m *Machine[P]) applyVisual(v view[P]) {
	from, to := m.selection(v)
	lines := m.mode == VisualLine
	m.mode = Normal
	m.command.keys = nil // "." repeats commands, not selections
	m.operate(from, to, lines, v)
}

// operate runs the operator on a range.
func (m *Machine[P]) operate(from, to Pos, lines bool, v view[P]) {
	if lines {
		from, to = Pos{from.Line, 0}, v.lineEnd(to)
	}
	switch op := m.command.operator; op {
	case "y":
		m.save(from, to, lines, true, v)
		if at := v.Cursor(); !lines || from.Line < at.Line {
			v.MoveTo(Pos{from.Line, map[bool]int{true: at.Col, false: from.Col}[lines]})
		}
		return
	case "c":
		m.save(from, to, lines, false, v)
		v.Group(true)
		if lines { // the indentation stays
			from = Pos{from.Line, v.blankPrefix(from.Line)}
		}
		v.Replace(from, to, v.Piece(""))
		m.enterInsert(from, v, 0)
		return
	}
	m.remember()
	v.Group(true)
	defer v.Group(false)
	switch m.command.operator {
	case "d":
		m.save(from, to, lines, false, v)
		m.remove(from, to, lines, v)
	case ">", "<": // always whole lines
		v.shift(from.Line, to.Line, m.command.operator == ">")
	default: // gu, gU and g~
		v.changeCase(from, to, m.command.operator)
		v.MoveTo(from)
	}
}

// remove deletes a range, or whole lines with a break.
func (m *Machine[P]) remove(from, to Pos, lines bool, v view[P]) {
	if !lines {
		v.Replace(from, to, v.Piece(""))
		v.MoveTo(from)
		return
	}
	switch { // take the break behind the lines, or at the end of the text the one before them
	case to.Line < v.last():
		to = Pos{to.Line + 1, 0}
	case from.Line > 0:
		from = v.lineEnd(Pos{from.Line - 1, 0})
	}
	v.Replace(from, to, v.Piece(""))
	v.MoveTo(v.indent(min(from.Line+map[bool]int{true: 1}[from.Col > 0 && from.Line < v.last()], v.last())))
}

// blankPrefix counts the blanks at the start of a line.
func (v view[P]) blankPrefix(n int) int {
	for i, c := range v.Line(n) {
		if classOf(c, false) != blank {
			return i
		}
	}
	return v.width(n)
}

// shiftWidth is the number of spaces of > and <. A prompt has no setting for it.
const shiftWidth = 2

// shift indents lines or takes indentation away.
func (v view[P]) shift(from, to int, right bool) {
	for n := from; n <= to; n++ {
		start := Pos{n, 0}
		switch {
		case right && v.width(n) > 0:
			v.Replace(start, start, v.Piece(strings.Repeat(" ", shiftWidth)))
		case !right:
			v.Replace(start, Pos{n, min(shiftWidth, v.blankPrefix(n))}, v.Piece(""))
		}
	}
	v.MoveTo(v.indent(from))
}

// changeCase changes letters; characters that stand for more, such as tokens, stay.
func (v view[P]) changeCase(from, to Pos, operator string) {
	for n := from.Line; n <= to.Line; n++ {
		line := v.Line(n)
		first, end := 0, len(line)
		if n == from.Line {
			first = from.Col
		}
		if n == to.Line {
			end = min(end, to.Col)
		}
		for i := first; i < end; i++ {
			var changed strings.Builder
			at := i
			for ; i < end && len([]rune(line[i])) == 1; i++ {
				changed.WriteString(caseOf(line[i], operator))
			}
			if changed.String() != strings.Join(line[at:i], "") { // all at once: letter by letter would be slow
				v.Replace(Pos{n, at}, Pos{n, i}, v.Piece(changed.String()))
			}
		}
	}
}

// caseOf is a letter in the case that the operator makes.
func caseOf(letter, operator string) string {
	if upper := strings.ToUpper(letter); operator == "gU" || operator == "g~" && upper != letter {
		if len([]rune(upper)) == 1 { // not one that becomes two
			return upper
		}
		return letter
	}
	if lower := strings.ToLower(letter); len([]rune(lower)) == 1 {
		return lower
	}
	return letter
}
