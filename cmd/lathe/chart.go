package main

import (
	"io"
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// chart is a table whose rows end in a bar. It takes the width of the screen, at most.
type chart struct {
	head []string // the name's, then those of the figures
	rows []bar
}

// bar is a row of a chart.
type bar struct {
	name  string
	cells []string // to the right of their columns; the last ones go first where there is no room
	value float64
}

const (
	chartWidth = 80 // where there is no screen
	leastBar   = 8
	mostBar    = 40
)

// write prints the chart; paint colours the bars.
func (c chart) write(w io.Writer, screen int, paint func(string) string) error {
	if screen <= 0 {
		screen = chartWidth
	}
	name, cells, width := c.layout(screen)
	most := 0.0
	for _, r := range c.rows {
		most = max(most, r.value)
	}
	var b strings.Builder
	line := func(first string, figures []string, bar string) {
		b.WriteString(strings.TrimRight(termtext.Pad(termtext.Clip(first, name), name)+right(figures, cells), " "))
		b.WriteString(bar + "\n")
	}
	line(c.head[0], c.head[1:], "")
	for _, r := range c.rows {
		drawn := ""
		if most > 0 && width > 0 {
			drawn = blocks(r.value/most, width)
		}
		if drawn != "" {
			drawn = columnGap + paint(drawn)
		}
		line(r.name, r.cells, drawn)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// right sets figures to the right of their columns, as many as there are widths.
func right(figures []string, widths []int) string {
	var b strings.Builder
	for i, n := range widths {
		b.WriteString(columnGap + strings.Repeat(" ", max(0, n-termtext.Columns(figures[i]))) + figures[i])
	}
	return b.String()
}

// layout is the width of the names, of the figures that have room, and of the bars.
func (c chart) layout(screen int) (name int, cells []int, bar int) {
	cells = make([]int, len(c.head)-1)
	name = termtext.Columns(c.head[0])
	for i := range cells {
		cells[i] = termtext.Columns(c.head[i+1])
	}
	for _, r := range c.rows {
		name = max(name, termtext.Columns(r.name))
		for i, cell := range r.cells {
			cells[i] = max(cells[i], termtext.Columns(cell))
		}
	}
	gap := len(columnGap)
	for {
		rest := screen - gap - leastBar // for names and figures
		for _, n := range cells {
			rest -= gap + n
		}
		if rest >= min(name, leastColumn) {
			name = min(name, rest)
			break
		}
		if len(cells) == 1 {
			name = min(name, max(leastBar, rest+gap+leastBar))
			break
		}
		cells = cells[:len(cells)-1]
	}
	bar = screen - name - gap
	for _, n := range cells {
		bar -= gap + n
	}
	if bar < leastBar {
		bar = 0
	}
	return name, cells, min(bar, mostBar)
}

// blocks draws a share of so many columns, to an eighth of one. What is more than nothing shows.
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
