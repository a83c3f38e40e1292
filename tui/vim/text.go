package vim

import (
	"unicode"
	"unicode/utf8"
)

// Pos is a place in a text: a line, and how many characters of it come before.
type Pos struct{ Line, Col int }

// before reports whether p comes first in the text.
func (p Pos) before(q Pos) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// Text is what a Machine edits. P is a piece of text as the implementation stores it, with its tokens.
type Text[P any] interface {
	// Lines counts the lines; there is always one.
	Lines() int
	// Line returns the characters of a line, without its break.
	Line(n int) []string
	Cursor() Pos
	MoveTo(Pos)
	// Select shows a selection; none if from and to are equal.
	Select(from, to Pos)
	Copy(from, to Pos) P
	// Replace puts a piece in place of a range and returns the end of the piece.
	Replace(from, to Pos, with P) Pos
	// Piece makes a piece of plain text.
	Piece(text string) P
	// Group makes the edits between Group(true) and Group(false) one step of undo.
	Group(open bool)
	Undo()
	Redo()
}

// view reads a text during one key.
type view[P any] struct{ Text[P] }

// last is the number of the last line, width the number of characters of a line.
func (v view[P]) last() int         { return v.Lines() - 1 }
func (v view[P]) width(n int) int   { return len(v.Line(n)) }
func (v view[P]) end() Pos          { return Pos{v.last(), v.width(v.last())} }
func (v view[P]) lineEnd(p Pos) Pos { return Pos{p.Line, v.width(p.Line)} }

// char returns the character at a place; "" behind the end of the line.
func (v view[P]) char(p Pos) string {
	if line := v.Line(p.Line); p.Col < len(line) {
		return line[p.Col]
	}
	return ""
}

// next is the place after p, over line breaks; false at the end.
func (v view[P]) next(p Pos) (Pos, bool) {
	switch {
	case p.Col < v.width(p.Line)-1 || p.Col < v.width(p.Line) && p.Line == v.last():
		return Pos{p.Line, p.Col + 1}, true
	case p.Line < v.last():
		return Pos{p.Line + 1, 0}, true
	default:
		return p, false
	}
}

// prev is the place before p, over line breaks; false at the start.
func (v view[P]) prev(p Pos) (Pos, bool) {
	switch {
	case p.Col > 0:
		return Pos{p.Line, p.Col - 1}, true
	case p.Line > 0:
		return Pos{p.Line - 1, max(0, v.width(p.Line-1)-1)}, true
	default:
		return p, false
	}
}

// indent is the first character of a line that is not blank.
func (v view[P]) indent(n int) Pos {
	line := v.Line(n)
	for i, c := range line {
		if classOf(c, false) != blank {
			return Pos{n, i}
		}
	}
	return Pos{n, max(0, len(line)-1)}
}

// clamp moves a place onto a character, as normal mode has its cursor.
func (v view[P]) clamp(p Pos) Pos {
	p.Line = min(max(p.Line, 0), v.last())
	p.Col = min(max(p.Col, 0), max(0, v.width(p.Line)-1))
	return p
}

// class tells words, punctuation and blanks apart.
type class int

const (
	blank class = iota
	word
	punctuation
)

// classOf is the class of a character. In big words, punctuation belongs to the word.
func classOf(char string, big bool) class {
	r, _ := utf8.DecodeRuneInString(char)
	switch {
	case char == "" || unicode.IsSpace(r):
		return blank
	case big || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return word
	default:
		return punctuation
	}
}
