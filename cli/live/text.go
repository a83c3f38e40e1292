package live

import (
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Style is how characters look. Its values can be joined.
type Style uint8

const (
	Bold Style = 1 << iota
	Dim
	italic
	underlined
	struck
	cyan
	green
	red
)

// codes are the terminal's numbers of the styles, in the order of their bits.
func (s Style) codes() string {
	var on []string
	for i, code := range []string{"1", "2", "3", "4", "9", "36", "32", "31"} {
		if s&(1<<i) != 0 {
			on = append(on, code)
		}
	}
	return strings.Join(on, ";")
}

// cell is what a terminal draws as one, in its style.
type cell struct {
	termtext.Cluster
	style Style
}

// Row is one line of the screen: what is written, and how many columns that takes. It leaves no style
// behind.
type Row struct {
	Text  string
	Width int
}

// tabStop is how wide a tab is drawn; that of the terminal would not be known here.
const tabStop = 4

func Cells(s string, look Style) []cell {
	all := termtext.Clusters(strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabStop)))
	out := make([]cell, len(all))
	for i, c := range all {
		out[i] = cell{c, look}
	}
	return out
}

func joined(parts ...[]cell) (out []cell) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func widthOf(line []cell) (n int) {
	for _, c := range line {
		n += c.Width
	}
	return n
}

// drawn makes a row of cells.
func drawn(line []cell) Row {
	var b strings.Builder
	var now Style
	for _, c := range line {
		if c.style != now {
			if now != 0 {
				b.WriteString("\x1b[0m")
			}
			if c.style != 0 {
				b.WriteString("\x1b[" + c.style.codes() + "m")
			}
			now = c.style
		}
		b.WriteString(c.Text)
	}
	if now != 0 {
		b.WriteString("\x1b[0m")
	}
	return Row{b.String(), widthOf(line)}
}

// leastText is how few columns a text gets, however narrow the screen and deep the indent.
const leastText = 8

// Wrapped breaks a line into rows, between words where that can be. The first row begins with first,
// the others with rest.
func Wrapped(text, first, rest []cell, width int) (out []Row) {
	prefix := first
	for _, line := range broken(text, max(leastText, width-widthOf(first)), max(leastText, width-widthOf(rest))) {
		out = append(out, drawn(joined(prefix, line)))
		prefix = rest
	}
	return out
}

// broken breaks cells at spaces, behind wide characters, and else where the width ends.
func broken(all []cell, first, rest int) (lines [][]cell) {
	start, place, n, width := 0, -1, 0, first
	for i := 0; i < len(all); i++ {
		c := all[i]
		if n+c.Width > width && i > start {
			end, next := i, i
			switch {
			case c.Text == " ":
				next = i + 1
			case place > start:
				end, next = place, place
			}
			lines = append(lines, withoutSpace(all[start:end]))
			start, place, width = next, -1, rest
			n = widthOf(all[min(start, i):i])
			if next > i {
				n = 0
				continue
			}
		}
		n += c.Width
		if c.Text == " " || c.Width == 2 {
			place = i + 1
		}
	}
	return append(lines, withoutSpace(all[min(start, len(all)):]))
}

// withoutSpace leaves out the spaces at the end.
func withoutSpace(line []cell) []cell {
	for len(line) > 0 && line[len(line)-1].Text == " " {
		line = line[:len(line)-1]
	}
	return line
}
