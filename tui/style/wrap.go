package style

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a line into rows of at most width cells: between words where it can, inside of them where it
// must. Rows after the first begin with hang, which counts into the width.
func (l Line) Wrap(width int, hang Line) []Line {
	width = max(width, 1)
	if l.Width() <= width {
		return []Line{l}
	}
	w := wrapper{line: l, width: width, hang: hang, open: nowhere}
	if w.hangWidth = hang.Width(); w.hangWidth > width-2 { // a wide character needs two cells
		w.hang, w.hangWidth = nil, 0
	}
	for i, s := range l {
		for from := 0; from < len(s.Text); {
			to := from + wordEnd(s.Text[from:])
			w.word(piece{i, from, to})
			from = to
		}
	}
	w.flushWord()
	return append(w.rows, w.row)
}

// piece is a part of a span of the line that is wrapped. Rows are made of parts of its texts, without copies.
type piece struct{ span, from, to int }

// nowhere marks text that is not from the line.
var nowhere = piece{span: -1}

// wrapper holds a row that is being filled and a word that may be of several looks.
type wrapper struct {
	line             Line
	width, hangWidth int
	hang             Line
	rows             []Line
	row              Line
	open             piece // where the last span of the row is from
	used             int
	pending          []piece // the word that is not placed yet
	pendingWidth     int
}

func (w *wrapper) text(p piece) string { return w.line[p.span].Text[p.from:p.to] }

// word takes a run of spaces or of other characters.
func (w *wrapper) word(p piece) {
	text := w.text(p)
	if text[0] != ' ' {
		wide := isWide(text)
		if wide {
			w.flushWord()
		}
		w.pending = append(w.pending, p)
		w.pendingWidth += Width(text)
		if wide {
			w.flushWord()
		}
		return
	}
	w.flushWord()
	n := min(len(text), w.width-w.used) // spaces at the end of a row go away
	if n > 0 && (w.used > 0 || len(w.rows) == 0) {
		w.put(piece{p.span, p.from, p.from + n}, n)
	}
}

// flushWord places the pending word: in this row, in the next one, or broken if it is too long.
func (w *wrapper) flushWord() {
	if len(w.pending) == 0 {
		return
	}
	fits := w.used+w.pendingWidth <= w.width
	if !fits && w.used > 0 && w.hangWidth+w.pendingWidth <= w.width {
		w.newRow()
		fits = true
	}
	for _, p := range w.pending {
		if fits {
			w.put(p, Width(w.text(p)))
		} else {
			w.long(p)
		}
	}
	w.pending, w.pendingWidth = w.pending[:0], 0
}

// long places a piece, breaking it where the row is full. It looks at every character once, however long the
// piece is.
func (w *wrapper) long(p piece) {
	for p.from < p.to {
		head, used := takeCells(w.text(p), w.width-w.used)
		switch {
		case head != "":
			w.put(piece{p.span, p.from, p.from + len(head)}, used)
			p.from += len(head)
		case w.used <= w.hangWidth: // the next character is wider than a row
			p.from += w.force(p)
		}
		if p.from < p.to {
			w.newRow()
		}
	}
}

// force places the first rune of a character that is wider than a row, or a sign for it where even that is
// too wide, and tells how many bytes that took.
func (w *wrapper) force(p piece) int {
	_, size := utf8.DecodeRuneInString(w.text(p))
	head := piece{p.span, p.from, p.from + size}
	if n := Width(w.text(head)); w.used+n <= w.width {
		w.put(head, n)
	} else {
		w.row, w.open = append(w.row, Span{"…", w.line[p.span].Attr}), nowhere
		w.used++
	}
	return size
}

// put appends a piece of n cells to the row.
func (w *wrapper) put(p piece, n int) {
	s := w.line[p.span]
	if k := len(w.row) - 1; k >= 0 && w.open.span == p.span && w.open.to == p.from {
		w.open.to = p.to
		w.row[k].Text = s.Text[w.open.from:p.to]
	} else {
		w.row, w.open = append(w.row, Span{s.Text[p.from:p.to], s.Attr}), p
	}
	w.used += n
}

func (w *wrapper) newRow() {
	w.rows = append(w.rows, trimRight(w.row))
	w.row = append(make(Line, 0, len(w.hang)+1), w.hang...)
	w.used, w.open = w.hangWidth, nowhere
}

// trimRight takes spaces without a background off the end.
func trimRight(l Line) Line {
	for len(l) > 0 {
		k := len(l) - 1
		t := strings.TrimRight(l[k].Text, " ")
		if l[k].Attr.BG.IsSet() || t == l[k].Text {
			break
		}
		if t != "" {
			l[k].Text = t
			break
		}
		l = l[:k]
	}
	return l
}

// takeCells returns the longest beginning of at most n cells.
func takeCells(text string, n int) (head string, used int) {
	at := 0
	for rest := text; rest != ""; {
		c, w, r := Next(rest)
		if used+w > n {
			break
		}
		used, at, rest = used+w, at+len(c), r
	}
	return text[:at], used
}

// wordEnd is where a run of spaces, a run of other narrow characters, or one wide character ends: texts of
// scripts without spaces may break anywhere.
func wordEnd(s string) int {
	i := 0
	if s[0] == ' ' {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		return i
	}
	for i < len(s) && s[i] != ' ' {
		if s[i] < 0x80 && (i+1 == len(s) || s[i+1] < 0x80) {
			i++
			continue
		}
		c, n, _ := Next(s[i:])
		if n > 1 && i > 0 {
			break
		}
		if i += len(c); n > 1 {
			break
		}
	}
	return i
}

// isWide reports whether a word is one wide character.
func isWide(word string) bool {
	_, n, rest := Next(word)
	return n > 1 && rest == ""
}

// WrapAll wraps each of the lines.
func WrapAll(lines []Line, width int) []Line {
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		out = append(out, l.Wrap(width, nil)...)
	}
	return out
}
