package live

import (
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

const (
	mostTable   = 500 // lines of a table that are held; what is longer is shown as it came
	leastCell   = 8   // columns of a cell; where there is less room, cells stand below each other
	betweenCell = " │ "
)

// holds reports whether a line may belong to a table, which is drawn only when all of it is there: how
// wide its columns are is not known before.
func (m *markdown) holds(text string) bool {
	return m.look == 0 && m.fence == "" && !m.more && strings.HasPrefix(strings.TrimLeft(text, " "), "|")
}

// hold keeps a line back. Without a line of dashes below the first there is no table.
func (m *markdown) hold(text string, width int) []Row {
	m.table = append(m.table, text)
	if len(m.table) == 2 && !isDelimiter(text) || len(m.table) > mostTable {
		return m.release(width)
	}
	return nil
}

// release draws what was held back.
func (m *markdown) release(width int) (out []Row) {
	held := m.table
	if m.table = nil; len(held) == 0 {
		return nil
	}
	if len(held) < 2 || len(held) > mostTable || !isDelimiter(held[1]) {
		for _, text := range held {
			out = append(out, m.drawLine(text, width)...)
		}
		return out
	}
	if m.blank && m.began {
		out = append(out, Row{})
	}
	m.blank, m.began = false, true
	return append(out, drawTable(held, width)...)
}

// holding is a row that stands for a table until that is there.
func (m *markdown) holding() Row {
	return drawn(Cells("▦ a table, "+termtext.Several(len(m.table), "line")+" so far", Dim))
}

// isDelimiter reports whether a line is one of dashes and colons between the bars.
func isDelimiter(text string) bool {
	all := tableCells(text)
	for _, c := range all {
		if c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"); c == "" || strings.Trim(c, "-") != "" {
			return false
		}
	}
	return len(all) > 0
}

// tableCells are the texts between the bars of a line. A bar behind a backslash is a character.
func tableCells(text string) (out []string) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "|")
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '|':
			out = append(out, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// grid is a table whose lines have as many cells as its head.
type grid struct {
	cells  [][][]cell // lines, the head first; cells; what they show
	aligns []string   // of columns: "", right or center
	widths []int
}

// drawTable draws a table in columns, or, where there is no room for them, line by line.
func drawTable(lines []string, width int) (out []Row) {
	g := readGrid(lines)
	if room := width - len([]rune(betweenCell))*(len(g.aligns)-1); !g.fit(room) {
		return g.stacked(width)
	}
	for i, line := range g.cells {
		out = append(out, g.row(line)...)
		if i == 0 {
			var parts []string
			for _, w := range g.widths {
				parts = append(parts, strings.Repeat("─", w))
			}
			out = append(out, drawn(Cells(strings.Join(parts, "─┼─"), Dim)))
		}
	}
	return out
}

func readGrid(lines []string) (g grid) {
	head := tableCells(lines[0])
	for _, mark := range tableCells(lines[1]) {
		align := ""
		switch left, right := strings.HasPrefix(mark, ":"), strings.HasSuffix(mark, ":"); {
		case left && right:
			align = "center"
		case right:
			align = "right"
		}
		g.aligns = append(g.aligns, align)
	}
	for len(g.aligns) < len(head) {
		g.aligns = append(g.aligns, "")
	}
	g.widths = make([]int, len(g.aligns))
	for i, line := range append([]string{lines[0]}, lines[2:]...) {
		texts := tableCells(line)
		if n := len(g.aligns); len(texts) > n { // what has no column goes with the last one
			texts = append(texts[:n-1], strings.Join(texts[n-1:], " | "))
		}
		shown, look := make([][]cell, len(g.aligns)), Style(0)
		if i == 0 {
			look = Bold
		}
		for j, text := range texts {
			shown[j] = inline(text, look)
			g.widths[j] = max(g.widths[j], widthOf(shown[j]))
		}
		g.cells = append(g.cells, shown)
	}
	return g
}

// fit makes the widest columns narrower until all have room together, and reports whether they have.
func (g *grid) fit(room int) bool {
	if room < leastCell*len(g.widths) {
		sum := 0
		for _, w := range g.widths {
			sum += w
		}
		return sum <= room
	}
	for most := room; ; most-- {
		sum := 0
		for _, w := range g.widths {
			sum += min(w, most)
		}
		if sum <= room {
			for i, w := range g.widths {
				g.widths[i] = min(w, most)
			}
			return true
		}
	}
}

// row draws one line of the table, in as many rows as its highest cell needs.
func (g *grid) row(line [][]cell) (out []Row) {
	pieces, high := make([][][]cell, len(line)), 0
	for i, c := range line {
		pieces[i] = broken(c, max(1, g.widths[i]), max(1, g.widths[i]))
		high = max(high, len(pieces[i]))
	}
	for n := range high {
		var shown []cell
		for i, p := range pieces {
			if i > 0 {
				shown = append(shown, Cells(betweenCell, Dim)...)
			}
			var text []cell
			if n < len(p) {
				text = p[n]
			}
			shown = append(shown, aligned(text, g.widths[i], g.aligns[i])...)
		}
		out = append(out, drawn(withoutSpace(shown)))
	}
	return out
}

func aligned(text []cell, width int, align string) []cell {
	gap, left := max(0, width-widthOf(text)), 0
	switch align {
	case "right":
		left = gap
	case "center":
		left = gap / 2
	}
	return joined(Cells(strings.Repeat(" ", left), 0), text, Cells(strings.Repeat(" ", gap-left), 0))
}

// stacked draws each cell below the other, behind the name of its column.
func (g *grid) stacked(width int) (out []Row) {
	for _, line := range g.cells[1:] {
		if n := len(out); n > 0 && out[n-1] != (Row{}) {
			out = append(out, Row{})
		}
		for j, c := range line {
			name := g.cells[0][j]
			switch {
			case len(c) == 0:
				continue
			case len(name) > 0:
				name = joined(name, Cells(": ", 0))
			}
			out = append(out, Wrapped(joined(name, c), nil, Cells("  ", 0), width)...)
		}
	}
	if len(g.cells) == 1 {
		for _, c := range g.cells[0] {
			out = append(out, Wrapped(c, nil, nil, width)...)
		}
	}
	return out
}
