package markdown

import (
	"bytes"
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// minColumn is the least width at which a column can be read. Where not all columns get it, the rows become
// records, one below the other.
const minColumn = 6

// maxColumns limits the cost of one line.
const maxColumns = 64

// table is the text of one.
type table struct {
	align []align
	rows  [][][]byte // the first is its head; each has a cell for each column
}

type align uint8

const (
	alignLeft align = iota
	alignCenter
	alignRight
)

// tableIn finds a table in a paragraph, and the text before it.
func tableIn(text []byte) (before []byte, t *table) {
	var head []byte // the line before
	at := 0         // where it begins
	for rest := text; len(rest) > 0; {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		if columns := delimiters(line); columns != nil && len(rest) < len(text) {
			names := cellsOf(head, len(columns)+1)
			if len(names) > len(columns) {
				return nil, nil
			}
			t = &table{align: columns, rows: [][][]byte{fillRow(names, len(columns))}}
			for len(more) > 0 {
				line, more, _ = bytes.Cut(more, []byte("\n"))
				t.rows = append(t.rows, fillRow(cellsOf(line, len(columns)), len(columns)))
			}
			return bytes.TrimRight(text[:at], blanks), t
		}
		head, at = line, len(text)-len(rest)
		rest = more
	}
	return nil, nil
}

// fillRow adds the cells that a row lacks.
func fillRow(row [][]byte, n int) [][]byte { return append(row, make([][]byte, n-len(row))...) }

// delimiters reads the line below the head of a table; nil if it is none.
func delimiters(line []byte) []align {
	line = bytes.Trim(line, blanks)
	if len(line) < 2 || len(bytes.Trim(line, "|:- \t")) > 0 || len(bytes.Trim(line, "-")) == 0 {
		return nil
	}
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("|")), []byte("|"))
	var out []align
	for cell := range bytes.SplitSeq(line, []byte("|")) {
		cell = bytes.Trim(cell, blanks)
		dashes := bytes.TrimSuffix(bytes.TrimPrefix(cell, []byte(":")), []byte(":"))
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return nil
		}
		a := alignLeft
		if cell[len(cell)-1] == ':' {
			a = alignRight
			if cell[0] == ':' {
				a = alignCenter
			}
		}
		out = append(out, a)
	}
	return out
}

// cellsOf splits a row, up to a number of cells. A bar after a backslash is text.
func cellsOf(line []byte, most int) [][]byte {
	line = bytes.TrimPrefix(bytes.Trim(line, blanks), []byte("|"))
	if n := len(line); n > 0 && line[n-1] == '|' && (n == 1 || line[n-2] != '\\') {
		line = line[:n-1]
	}
	var out [][]byte
	begin := 0
	for i := 0; i <= len(line) && len(out) < most; i++ {
		if i == len(line) && begin < i || i < len(line) && line[i] == '|' && (i == 0 || line[i-1] != '\\') {
			out = append(out, bytes.Trim(line[begin:i], blanks))
			begin = i + 1
		}
	}
	return out
}

// table draws a table. A later part of a table continues with the same columns.
func (p *pen) table(t *table, refs []reference, continued bool, width int) []style.Line {
	rows := p.cells(t, refs)
	n := min(len(t.align), maxColumns)
	if n == 0 || len(rows) == 0 {
		return nil
	}
	room := width - 3*(n-1)
	if room < n*minColumn && naturalSum(rows, n) > room {
		return p.records(rows, n, continued, width)
	}
	if !continued || len(p.cols) != n {
		p.cols = fit(natural(rows, n), room)
	}
	var out []style.Line
	for i, row := range rows {
		if i == 0 && continued {
			continue
		}
		out = append(out, p.tableRow(row, t.align)...)
		if i == 0 {
			out = append(out, p.tableRule())
		}
	}
	return out
}

// cells draws the cells of a table; the first row is its head.
func (p *pen) cells(t *table, refs []reference) [][]style.Line {
	out := make([][]style.Line, 0, len(t.rows))
	for i, cells := range t.rows {
		a := style.Fg(p.look.Theme.MarkdownText)
		if i == 0 {
			a = style.Bold(p.look.Theme.MarkdownHeading)
		}
		row := make([]style.Line, 0, len(cells))
		for _, text := range cells[:min(len(cells), maxColumns)] {
			w := p.inline(refs)
			w.cell, w.lines = true, []style.Line{nil}
			w.text(text, a)
			cell := w.lines[0]
			for _, more := range w.lines[1:] {
				cell = join(cell.Add(" ", a), more)
			}
			row = append(row, cell)
		}
		out = append(out, row)
	}
	return out
}

// natural is the width of each column without wrapping.
func natural(rows [][]style.Line, n int) []int {
	out := make([]int, n)
	for _, row := range rows {
		for i, c := range row[:min(n, len(row))] {
			out[i] = max(out[i], c.Width(), 1)
		}
	}
	return out
}

func naturalSum(rows [][]style.Line, n int) (sum int) {
	for _, w := range natural(rows, n) {
		sum += w
	}
	return sum
}

// fit gives columns their natural width where that is less than their share, and the others the rest.
func fit(want []int, room int) []int {
	out := make([]int, len(want))
	left, open := room, len(want)
	for changed := true; changed && open > 0; {
		changed = false
		share := left / open
		for i, w := range want {
			if out[i] == 0 && w <= share {
				out[i], left, open, changed = w, left-w, open-1, true
			}
		}
	}
	for i := range out {
		if out[i] == 0 {
			out[i] = max(left/open, 1)
			left, open = left-out[i], open-1
		}
	}
	return out
}

// tableRow draws one row; its cells may be of several rows of the screen.
func (p *pen) tableRow(row []style.Line, align []align) []style.Line {
	wrapped := make([][]style.Line, len(p.cols))
	height := 1
	for i, w := range p.cols {
		if i < len(row) {
			wrapped[i] = row[i].Wrap(w, nil)
			height = max(height, len(wrapped[i]))
		}
	}
	border := style.Span{Text: " │ ", Attr: style.Fg(p.look.Theme.Border)}
	out := make([]style.Line, height)
	for y := range out {
		for i, w := range p.cols {
			var cell style.Line
			if y < len(wrapped[i]) {
				cell = wrapped[i][y]
			}
			if i > 0 {
				out[y] = append(out[y], border)
			}
			out[y] = append(out[y], aligned(cell, w, align[i])...)
		}
	}
	return out
}

// aligned pads a cell to the width of its column.
func aligned(cell style.Line, width int, a align) style.Line {
	free := max(width-cell.Width(), 0)
	left := 0
	switch a {
	case alignRight:
		left = free
	case alignCenter:
		left = free / 2
	}
	if left > 0 {
		cell = append(style.Line{{Text: strings.Repeat(" ", left)}}, cell...)
	}
	return cell.Fit(width, style.Attr{})
}

func (p *pen) tableRule() style.Line {
	var b strings.Builder
	for i, w := range p.cols {
		if i > 0 {
			b.WriteString("─┼─")
		}
		b.WriteString(strings.Repeat("─", w))
	}
	return style.Line{{Text: b.String(), Attr: style.Fg(p.look.Theme.Border)}}
}

// records draws each row as lines of their own, each with the name of its column.
func (p *pen) records(rows [][]style.Line, n int, continued bool, width int) []style.Line {
	var out []style.Line
	muted := style.Fg(p.look.Theme.Border)
	for i, row := range rows[1:] {
		if i > 0 || continued {
			out = append(out, style.Line{{Text: strings.Repeat("─", min(width, 12)), Attr: muted}})
		}
		for k, cell := range row[:min(n, len(row))] {
			line := join(rows[0][min(k, len(rows[0])-1)], style.Line{{Text: ": ", Attr: muted}})
			out = append(out, join(line, cell).Wrap(width, style.Line{{Text: "  "}})...)
		}
	}
	if len(rows) == 1 && !continued {
		for _, cell := range rows[0] {
			out = append(out, cell.Wrap(width, nil)...)
		}
	}
	return out
}
