package vim

import "strings"

// object finds a text object around the cursor: key is w, W, p, a quote or a bracket, and around adds what surrounds it.
func (m *Machine[P]) object(key string, around bool, v view[P]) target {
	p := v.Cursor()
	switch key {
	case "w", "W":
		return v.wordObject(p, key == "W", around)
	case "p":
		return v.paragraphObject(p, around)
	case `"`, "'", "`":
		return v.quoted(p, key, around)
	}
	for _, pair := range []string{"()b", "[]", "{}B", "<>"} {
		if strings.Contains(pair, key) {
			return v.bracketed(p, pair[:1], pair[1:2], around)
		}
	}
	return target{failed: true}
}

// wordObject is the word or the blanks at the cursor, never more than a line.
func (v view[P]) wordObject(p Pos, big, around bool) target {
	line := v.Line(p.Line)
	if len(line) == 0 {
		return target{from: p, to: p}
	}
	p.Col = min(p.Col, len(line)-1)
	c := classOf(line[p.Col], big)
	from, to := p.Col, p.Col+1
	for from > 0 && classOf(line[from-1], big) == c {
		from--
	}
	for to < len(line) && classOf(line[to], big) == c {
		to++
	}
	if around {
		from, to = widen(line, from, to, big)
	}
	return target{from: Pos{p.Line, from}, to: Pos{p.Line, to}}
}

// widen takes the blanks behind a word with it, or those before it if none follow.
func widen(line []string, from, to int, big bool) (int, int) {
	end := to
	if classOf(line[from], big) == blank { // the cursor was on blanks: take the word behind them
		for c := classOf(at(line, end), big); end < len(line) && classOf(line[end], big) == c; {
			end++
		}
		return from, end
	}
	for end < len(line) && classOf(line[end], big) == blank {
		end++
	}
	if end == to {
		for from > 0 && classOf(line[from-1], big) == blank {
			from--
		}
	}
	return from, end
}

// at is a character of a line, "" behind its end.
func at(line []string, i int) string {
	if i < len(line) {
		return line[i]
	}
	return ""
}

// paragraphObject is the lines up to an empty one, or the empty lines at the cursor.
func (v view[P]) paragraphObject(p Pos, around bool) target {
	empty := v.width(p.Line) == 0
	from, to := p.Line, p.Line
	for from > 0 && (v.width(from-1) == 0) == empty {
		from--
	}
	for to < v.last() && (v.width(to+1) == 0) == empty {
		to++
	}
	for around && to < v.last() && (v.width(to+1) == 0) != empty {
		to++
	}
	return target{from: Pos{from, 0}, to: Pos{to, 0}, kind: linewise}
}

// quoted is the text in quotes at or behind the cursor in its line.
func (v view[P]) quoted(p Pos, quote string, around bool) target {
	line, start := v.Line(p.Line), -1
	for i, c := range line {
		switch {
		case c != quote || i > 0 && line[i-1] == `\`:
		case start < 0:
			start = i
		case i < p.Col:
			start = -1
		default:
			if around {
				return target{from: Pos{p.Line, start}, to: Pos{p.Line, i + 1}}
			}
			return target{from: Pos{p.Line, start + 1}, to: Pos{p.Line, i}}
		}
	}
	return target{failed: true}
}

// bracketed is the text between the innermost brackets around the cursor.
func (v view[P]) bracketed(p Pos, open, closing string, around bool) target {
	from, ok := p, true
	if v.char(p) != open {
		if from, ok = v.balance(p, closing, open, v.prev); !ok {
			return target{failed: true}
		}
	}
	to, ok := v.balance(from, open, closing, v.next)
	if !ok {
		return target{failed: true}
	}
	if around {
		return target{from: from, to: Pos{to.Line, to.Col + 1}}
	}
	return target{from: Pos{from.Line, from.Col + 1}, to: to}
}
