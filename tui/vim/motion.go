package vim

// kind says what an operator takes between the cursor and the end of a motion.
type kind int

const (
	exclusive kind = iota // up to the place
	inclusive             // with the character at the place
	linewise              // whole lines
)

// target is where a motion leads.
type target struct {
	from, to Pos // from is the cursor, except for text objects
	kind     kind
	failed   bool // nothing to go to: the command is dropped
}

// find is a search for a character in the line.
type find struct {
	key, char string // f, F, t or T
}

// motion finds where a motion leads; count is 0 if none was typed, and the result false if the key is no motion.
func (m *Machine[P]) motion(key string, count int, v view[P]) (target, bool) {
	p := v.Cursor()
	n := max(count, 1)
	if t, ok := m.wordMotion(key, p, n, v); ok {
		return t, true
	}
	to, k := p, exclusive
	switch key {
	case "h", "left", "backspace":
		to.Col = max(0, p.Col-n)
	case "l", "right", " ":
		to.Col = min(v.width(p.Line), p.Col+n)
	case "0", "home":
		to.Col = 0
	case "^":
		to = v.indent(p.Line)
	case "$", "end":
		to, k = v.lineEnd(Pos{min(p.Line+n-1, v.last()), 0}), inclusive
		to.Col = max(0, to.Col-1)
	case "G":
		to, k = v.indent(v.last()), linewise
		if count > 0 {
			to = v.indent(min(count, v.Lines()) - 1)
		}
	case "gg":
		to, k = v.indent(min(n, v.Lines())-1), linewise
	case "{", "}":
		to = v.paragraph(p, n, key == "}")
	case "%":
		at, ok := v.match(p)
		return target{from: p, to: at, kind: inclusive, failed: !ok}, true
	case ";", ",":
		f := m.found
		if key == "," {
			f.key = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[f.key]
		}
		return v.find(p, f, n, true), true
	default:
		return target{}, false
	}
	return target{from: p, to: to, kind: k}, true
}

// wordMotion are w, b, e and ge, small and big.
func (m *Machine[P]) wordMotion(key string, p Pos, n int, v view[P]) (target, bool) {
	step, k := v.wordForward, exclusive
	big := false
	switch key {
	case "w", "W":
		big = key == "W"
	case "b", "B":
		step, big = v.wordBack, key == "B"
	case "e", "E":
		step, k, big = v.wordEnd, inclusive, key == "E"
	case "ge", "gE":
		step, k, big = v.wordEndBack, inclusive, key == "gE"
	default:
		return target{}, false
	}
	to := p
	for range n {
		to = step(to, big)
	}
	if c := m.command.operator; c != "" && (key == "w" || key == "W") {
		to, k = v.operatorWord(p, to, c, big, n)
	}
	return target{from: p, to: to, kind: k}, true
}

// operatorWord bends w for operators as vi does: cw changes to the end of the word, and dw does not join lines.
func (v view[P]) operatorWord(p, to Pos, operator string, big bool, n int) (Pos, kind) {
	if operator == "c" && classOf(v.char(p), big) != blank {
		at := p
		if q, ok := v.next(p); n > 1 || ok && q.Line == p.Line && classOf(v.char(q), big) == classOf(v.char(p), big) {
			for range n {
				at = v.wordEnd(at, big)
			}
		}
		return at, inclusive
	}
	if to.Line > p.Line && to.Col <= v.indent(to.Line).Col {
		return v.lineEnd(Pos{to.Line - 1, 0}), exclusive
	}
	return to, exclusive
}

// wordForward is the start of the next word. An empty line is a word.
func (v view[P]) wordForward(p Pos, big bool) Pos {
	c := classOf(v.char(p), big)
	for c != blank && classOf(v.char(p), big) == c {
		p.Col++
	}
	for classOf(v.char(p), big) == blank {
		if p.Col < v.width(p.Line) {
			p.Col++
			continue
		}
		if p.Line == v.last() {
			return v.end()
		}
		if p = (Pos{p.Line + 1, 0}); v.width(p.Line) == 0 {
			return p
		}
	}
	return p
}

// wordBack is the start of this word, or of the one before it.
func (v view[P]) wordBack(p Pos, big bool) Pos {
	p, ok := v.prev(p)
	for ok && classOf(v.char(p), big) == blank && v.width(p.Line) > 0 {
		p, ok = v.prev(p)
	}
	c := classOf(v.char(p), big)
	for p.Col > 0 && classOf(v.char(Pos{p.Line, p.Col - 1}), big) == c {
		p.Col--
	}
	return p
}

// wordEnd is the last character of this word, or of the next if the cursor is on it.
func (v view[P]) wordEnd(p Pos, big bool) Pos {
	p, ok := v.next(p)
	for ok && classOf(v.char(p), big) == blank {
		p, ok = v.next(p)
	}
	c := classOf(v.char(p), big)
	for classOf(v.char(Pos{p.Line, p.Col + 1}), big) == c && c != blank {
		p.Col++
	}
	return v.clamp(p)
}

// wordEndBack is the last character of the word before.
func (v view[P]) wordEndBack(p Pos, big bool) Pos {
	c := classOf(v.char(p), big)
	p, ok := v.prev(p)
	for ok && c != blank && classOf(v.char(p), big) == c && p.Col < v.width(p.Line)-1 {
		p, ok = v.prev(p)
	}
	for ok && classOf(v.char(p), big) == blank && v.width(p.Line) > 0 {
		p, ok = v.prev(p)
	}
	return p
}

// paragraph is the next empty line, or the end of the text.
func (v view[P]) paragraph(p Pos, n int, down bool) Pos {
	step, line := -1, p.Line
	if down {
		step = 1
	}
	for range n {
		for line >= 0 && line <= v.last() && v.width(line) == 0 {
			line += step
		}
		for line >= 0 && line <= v.last() && v.width(line) > 0 {
			line += step
		}
	}
	switch {
	case line < 0:
		return Pos{}
	case line > v.last():
		return v.end()
	default:
		return Pos{line, 0}
	}
}

// find looks for a character in the line; t and T stop before it.
func (v view[P]) find(p Pos, f find, n int, again bool) target {
	line := v.Line(p.Line)
	forward, till := f.key == "f" || f.key == "t", f.key == "t" || f.key == "T"
	step := -1
	if forward {
		step = 1
	}
	at := p.Col
	if till && again {
		at += step // else it would stay where it is
	}
	for at += step; at >= 0 && at < len(line); at += step {
		if line[at] != f.char {
			continue
		}
		if n--; n > 0 {
			continue
		}
		if till {
			at -= step
		}
		if forward {
			return target{from: p, to: Pos{p.Line, at}, kind: inclusive}
		}
		return target{from: p, to: Pos{p.Line, at}}
	}
	return target{failed: true}
}

// match is the bracket that belongs to the first one at or behind p in its line.
func (v view[P]) match(p Pos) (Pos, bool) {
	const open, closing = "([{", ")]}"
	for ; p.Col < v.width(p.Line); p.Col++ {
		c := v.char(p)
		for i := range len(open) {
			switch c {
			case open[i : i+1]:
				return v.balance(p, open[i:i+1], closing[i:i+1], v.next)
			case closing[i : i+1]:
				return v.balance(p, closing[i:i+1], open[i:i+1], v.prev)
			}
		}
	}
	return p, false
}

// balance walks from a bracket at p to its partner.
func (v view[P]) balance(p Pos, this, other string, step func(Pos) (Pos, bool)) (Pos, bool) {
	depth, ok := 1, true
	for depth > 0 {
		if p, ok = step(p); !ok {
			return p, false
		}
		switch v.char(p) {
		case this:
			depth++
		case other:
			depth--
		}
	}
	return p, true
}
