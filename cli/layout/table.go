// Package layout prints results: tables, charts and pairs in columns, relative times, and JSON that is safe for a
// terminal.
package layout

import (
	"io"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Table prints aligned columns below a header and a rule.
type Table struct {
	Head []string
	Rows [][]string
	// Flexible columns shrink in this order, down to MinColumn each, if the table is wider than the screen.
	Flexible []int
	Paths    int // the column that is shortened on the left, or -1
}

const (
	MinColumn = 12
	ColumnGap = "  "
)

// Write prints the table within a screen width; 0 has no limit. On a narrow screen each cell gets its own line.
func (t Table) Write(w io.Writer, screen int) error {
	widths := t.widths(screen)
	total := len(ColumnGap) * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	if screen > 0 && total > screen {
		_, err := io.WriteString(w, t.stacked(screen))
		return err
	}
	var b strings.Builder
	t.line(&b, t.Head, widths)
	b.WriteString(strings.Repeat("─", total) + "\n")
	for _, row := range t.Rows {
		t.line(&b, row, widths)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// stacked prints one cell per line. It never shortens the first cell, which identifies the row.
func (t Table) stacked(screen int) string {
	var b strings.Builder
	for _, row := range t.Rows {
		for i, cell := range row {
			switch {
			case i == 0:
				b.WriteString(cell + "\n")
			case cell == "":
			case i == t.Paths:
				b.WriteString(ColumnGap + termtext.ClipLeft(cell, max(MinColumn, screen-len(ColumnGap))) + "\n")
			default:
				b.WriteString(ColumnGap + termtext.Clip(cell, max(MinColumn, screen-len(ColumnGap))) + "\n")
			}
		}
	}
	return b.String()
}

// widths fits the table to the screen by shrinking the flexible columns, in their order.
func (t Table) widths(screen int) []int {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], termtext.Columns(cell))
		}
	}
	if screen <= 0 {
		return widths
	}
	over := len(ColumnGap)*(len(widths)-1) - screen
	for _, n := range widths {
		over += n
	}
	for _, i := range t.Flexible {
		least := max(MinColumn, termtext.Columns(t.Head[i]))
		if give := min(over, widths[i]-least); give > 0 {
			widths[i] -= give
			over -= give
		}
	}
	return widths
}

// line writes a row. Paths are cut on the left, because their end tells more.
func (t Table) line(b *strings.Builder, row []string, widths []int) {
	var line strings.Builder
	for i, cell := range row {
		if i > 0 {
			line.WriteString(ColumnGap)
		}
		if i == t.Paths {
			cell = termtext.ClipLeft(cell, widths[i])
		}
		line.WriteString(termtext.Pad(termtext.Clip(cell, widths[i]), widths[i]))
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// Pairs prints names and their values in two columns.
func Pairs(w io.Writer, rows [][2]string) error {
	widest := 0
	for _, r := range rows {
		widest = max(widest, termtext.Columns(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.TrimRight(termtext.Pad(r[0], widest)+ColumnGap+r[1], " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WrapWords breaks a line between words.
func WrapWords(line string, width int) (out []string) {
	for _, w := range strings.Fields(line) {
		if last := len(out) - 1; last >= 0 && termtext.Columns(out[last])+1+termtext.Columns(w) <= width {
			out[last] += " " + w
		} else {
			out = append(out, w)
		}
	}
	return out
}

// FormatAge formats a recent time by its age, and an older one by its date.
func FormatAge(at lathe.Time, now time.Time) string {
	t := at.Std()
	if t.IsZero() {
		return "never"
	}
	t = t.In(now.Location())
	past := now.Sub(t)
	switch {
	case past > -time.Minute && past < time.Minute:
		return "just now"
	case past < 0:
		return FormatTime(at, now)
	case past < time.Hour:
		return termtext.Plural(int(past.Minutes()), "minute") + " ago"
	case sameDay(t, now):
		return termtext.Plural(int(past.Hours()), "hour") + " ago"
	case sameDay(t, now.AddDate(0, 0, -1)):
		return "yesterday " + t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	default:
		return t.Format("2 Jan 2006")
	}
}

// FormatTime formats a date with its time.
func FormatTime(at lathe.Time, now time.Time) string {
	t := at.Std()
	if t.IsZero() {
		return "never"
	}
	return t.In(now.Location()).Format("2 Jan 2006 15:04")
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Date()
	by, bm, bd := b.Date()
	return ay == by && am == bm && ad == bd
}

// FormatSpan formats a duration.
func FormatSpan(from, to lathe.Time) string {
	d := time.Duration(float64(to-from) * float64(time.Millisecond))
	switch {
	case from == 0 || to == 0 || d < 0:
		return ""
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
