// Package selection is the text that is selected with the mouse on drawn rows.
//
// Start with Selection.
package selection

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// Selection is a selected text, from one cell to another in reading order or against it.
type Selection struct {
	From, To Point
	Pressed  bool // the button is down
	Moved    bool

	Left, Right int  // the columns of the region where it started
	InChat      bool // it is in the conversation
}

// Point is a cell of the screen.
type Point struct{ X, Y int }

// ordered returns the two ends in reading order.
func (s Selection) ordered() (from, to Point) {
	if s.To.Y < s.From.Y || s.To.Y == s.From.Y && s.To.X < s.From.X {
		return s.To, s.From
	}
	return s.From, s.To
}

// span returns the selected cells of a row.
func (s Selection) span(y, width int) (from, to int, ok bool) {
	a, b := s.ordered()
	if y < a.Y || y > b.Y {
		return 0, 0, false
	}
	from, to = s.Left, min(width, s.Right)
	if y == a.Y {
		from = max(from, a.X)
	}
	if y == b.Y {
		to = min(to, b.X+1)
	}
	return from, to, from < to
}

// Highlight inverts the selected cells.
func (s Selection) Highlight(lines []style.Line) []style.Line {
	if !s.Moved {
		return lines
	}
	out := make([]style.Line, len(lines))
	for y, l := range lines {
		out[y] = l
		if from, to, ok := s.span(y, l.Width()); ok {
			part := l.Cut(from, to).With(func(a style.Attr) style.Attr { a.Invert = !a.Invert; return a })
			out[y] = l.Over(from, part)
		}
	}
	return out
}

// Text is the selected text.
func (s Selection) Text(lines []style.Line) string {
	var b strings.Builder
	for y, l := range lines {
		if from, to, ok := s.span(y, l.Width()); ok {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			row := l.Cut(from, to).Text()
			if s.InChat && from == s.Left {
				row = strings.TrimPrefix(row, "│ ") // the bar left of tool output
			}
			b.WriteString(strings.TrimRight(row, " "))
		}
	}
	return b.String()
}
