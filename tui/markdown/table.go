package markdown

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"github.com/lathe-agent/lathe/tui/style"
)

// minColumn is the least width at which a column can be read. Where not all columns get it, the rows become
// records, one below the other.
const minColumn = 6

// maxColumns bounds what one line can cost.
const maxColumns = 64

// table draws a table. One of which an earlier part has been drawn goes on with the same columns.
func (p *pen) table(t *east.Table, src []byte, goesOn bool, width int) []style.Line {
	rows := p.cells(t, src)
	n := min(len(t.Alignments), maxColumns)
	if n == 0 || len(rows) == 0 {
		return nil
	}
	room := width - 3*(n-1)
	if room < n*minColumn && naturalSum(rows, n) > room {
		return p.records(rows, n, goesOn, width)
	}
	if !goesOn || len(p.cols) != n {
		p.cols = fit(natural(rows, n), room)
	}
	var out []style.Line
	for i, row := range rows {
		if i == 0 && goesOn {
			continue
		}
		out = append(out, p.tableRow(row, t.Alignments)...)
		if i == 0 {
			out = append(out, p.tableRule())
		}
	}
	return out
}

// cells reads what stands in a table; the first row is its head.
func (p *pen) cells(t *east.Table, src []byte) [][]style.Line {
	var out [][]style.Line
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		a := style.Fg(p.look.Theme.MarkdownText)
		if len(out) == 0 {
			a = style.Bold(p.look.Theme.MarkdownHeading)
		}
		var row []style.Line
		for c := r.FirstChild(); c != nil && len(row) < maxColumns; c = c.NextSibling() {
			w := inline{th: p.look.Theme, conceal: p.look.Conceal, src: src, lines: []style.Line{nil}}
			w.children(c, a)
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
func (p *pen) tableRow(row []style.Line, align []east.Alignment) []style.Line {
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

func aligned(cell style.Line, width int, a east.Alignment) style.Line {
	free := max(width-cell.Width(), 0)
	left := 0
	switch a {
	case east.AlignRight:
		left = free
	case east.AlignCenter:
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
func (p *pen) records(rows [][]style.Line, n int, goesOn bool, width int) []style.Line {
	var out []style.Line
	muted := style.Fg(p.look.Theme.Border)
	for i, row := range rows[1:] {
		if i > 0 || goesOn {
			out = append(out, style.Line{{Text: strings.Repeat("─", min(width, 12)), Attr: muted}})
		}
		for k, cell := range row[:min(n, len(row))] {
			line := join(rows[0][min(k, len(rows[0])-1)], style.Line{{Text: ": ", Attr: muted}})
			out = append(out, join(line, cell).Wrap(width, style.Line{{Text: "  "}})...)
		}
	}
	if len(rows) == 1 && !goesOn {
		for _, cell := range rows[0] {
			out = append(out, cell.Wrap(width, nil)...)
		}
	}
	return out
}
