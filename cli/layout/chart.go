package layout

import (
	"io"
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Chart is a table whose rows end in a bar, at most as wide as the screen.
type Chart struct {
	Head []string // of the name, then of the cells
	Rows []Bar
}

// Bar is a row of a chart.
type Bar struct {
	Name  string
	Cells []string // right-aligned; on a narrow screen the last ones are dropped first
	Value float64
}

const (
	ChartWidth = 80 // without a terminal
	MinBar     = 8
	MaxBar     = 40
)

// Write prints the chart; paint colors the bars.
func (c Chart) Write(w io.Writer, screen int, paint func(string) string) error {
	if screen <= 0 {
		screen = ChartWidth
	}
	name, cells, width := c.layout(screen)
	most := 0.0
	for _, r := range c.Rows {
		most = max(most, r.Value)
	}
	var b strings.Builder
	line := func(first string, figures []string, bar string) {
		b.WriteString(strings.TrimRight(termtext.Pad(termtext.Clip(first, name), name)+right(figures, cells), " "))
		b.WriteString(bar + "\n")
	}
	line(c.Head[0], c.Head[1:], "")
	for _, r := range c.Rows {
		drawn := ""
		if most > 0 && width > 0 {
			drawn = blocks(r.Value/most, width)
		}
		if drawn != "" {
			drawn = ColumnGap + paint(drawn)
		}
		line(r.Name, r.Cells, drawn)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// right right-aligns as many cells as there are widths.
func right(figures []string, widths []int) string {
	var b strings.Builder
	for i, n := range widths {
		b.WriteString(ColumnGap + strings.Repeat(" ", max(0, n-termtext.Columns(figures[i]))) + figures[i])
	}
	return b.String()
}

// layout returns the widths of the names, of the cells that fit, and of the bars.
func (c Chart) layout(screen int) (name int, cells []int, bar int) {
	cells = make([]int, len(c.Head)-1)
	name = termtext.Columns(c.Head[0])
	for i := range cells {
		cells[i] = termtext.Columns(c.Head[i+1])
	}
	for _, r := range c.Rows {
		name = max(name, termtext.Columns(r.Name))
		for i, cell := range r.Cells {
			cells[i] = max(cells[i], termtext.Columns(cell))
		}
	}
	gap := len(ColumnGap)
	for {
		rest := screen - gap - MinBar // for names and cells
		for _, n := range cells {
			rest -= gap + n
		}
		if rest >= min(name, MinColumn) {
			name = min(name, rest)
			break
		}
		if len(cells) == 1 {
			name = min(name, max(MinBar, rest+gap+MinBar))
			break
		}
		cells = cells[:len(cells)-1]
	}
	bar = screen - name - gap
	for _, n := range cells {
		bar -= gap + n
	}
	if bar < MinBar {
		bar = 0
	}
	return name, cells, min(bar, MaxBar)
}

// blocks draws a bar with a precision of an eighth of a column. A positive share is always visible.
func blocks(share float64, width int) string {
	const eighths = "▏▎▍▌▋▊▉"
	n := int(share*float64(width)*8 + 0.5)
	if share > 0 {
		n = max(n, 1)
	}
	out := strings.Repeat("█", n/8)
	if rest := n % 8; rest > 0 {
		out += string([]rune(eighths)[rest-1])
	}
	return out
}
