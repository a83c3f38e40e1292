package inline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/styletest"
)

const tableText = "Before.\n\n| Tool | Calls | What it *is* for |\n|:---|---:|:---:|\n| `read` | 12 | looks at a file, whole or in part |\n" +
	"| bash \\| sh | 1,234 | runs a **command** |\n| 日本語 | | |\n| short |\n\nAfter.\n| no | table |\nat all"

// A table stands in columns as wide as the screen lets them be, and where it is too narrow for that cell by
// cell.
func TestView_Table(t *testing.T) {
	var got strings.Builder
	for _, width := range []int{80, 40, 20} {
		p := newPainter(width, 40)
		p.AppendText("prt_1", tableText, false)
		p.End()
		fmt.Fprintf(&got, "-- %d --\n%s\n", width, strings.TrimRight(p.paint(), "\n"))
	}
	styletest.Golden(t, "table", strings.TrimSuffix(got.String(), "\n"))
}

// A table grows on the screen and is there once when it is complete, also one that is higher than the screen.
func TestView_TableGrows(t *testing.T) {
	for _, height := range []int{4, 24} {
		p := newPainter(60, height)
		p.AppendText("prt_1", "Before.\n\n| a | b |\n|---|---|\n", false)
		for i := range 20 {
			p.AppendText("prt_1", fmt.Sprintf("| x%d | %s |\n", i, strings.Repeat("w", i)), false)
			p.paint()
		}
		p.AppendText("prt_1", "\nAfter.", false)
		p.End()
		p.paint()
		seen := p.glass.Plain()
		for i := range 20 {
			if n := strings.Count(seen, fmt.Sprintf("x%d ", i)); n != 1 {
				t.Errorf("height %d: row %d is there %d times:\n%s", height, i, n, seen)
			}
		}
	}
}

// Whatever stands between bars, no row is wider than the screen, and no word of a cell is lost.
func TestView_TableAnything(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		var b strings.Builder
		words := 0
		columns := 1 + random.IntN(8)
		for i := range 1 + random.IntN(6) {
			if i == 1 {
				b.WriteString("|" + strings.Repeat("-|", columns) + "\n")
			}
			b.WriteString("|")
			for range random.IntN(columns + 1) { // cells without a column are left out, as GitHub does
				for range random.IntN(4) {
					word := []string{"w ", "w日本 ", "w ", "wlonger-than-most-columns-are "}[random.IntN(4)]
					if i == 0 { // of a column without a cell nothing need be said
						word = strings.ReplaceAll(word, "w", "h")
					} else {
						words++
					}
					b.WriteString(word)
				}
				b.WriteString("|")
			}
			b.WriteString("\n")
		}
		p := newPainter(10+random.IntN(100), 400)
		p.AppendText("prt_1", b.String(), false)
		p.End()
		p.paint()
		for _, r := range p.glass.Rows {
			if len(r) > p.Width() {
				t.Fatalf("seed %d: a row of %d columns on %d:\n%s", seed, len(r), p.Width(), b.String())
			}
		}
		if got := strings.Count(p.glass.Plain(), "w"); got < words {
			t.Fatalf("seed %d: %d of %d words of\n%s\nin\n%s", seed, got, words, b.String(), p.glass.Plain())
		}
	}
}
