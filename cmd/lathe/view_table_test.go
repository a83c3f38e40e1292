package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tableText = "Before.\n\n| Tool | Calls | What it *is* for |\n|:---|---:|:---:|\n| `read` | 12 | looks at a file, whole or in part |\n" +
	"| bash \\| sh | 1,234 | runs a **command** |\n| 日本語 | | |\n| short |\n\nAfter.\n| no | table |\nat all"

// A table stands in columns as wide as the screen lets them be, and where it is too narrow for that cell by
// cell.
func TestView_Table(t *testing.T) {
	var got strings.Builder
	for _, width := range []int{80, 40, 20} {
		p := newPainter(width, 40)
		p.Grow("prt_1", tableText, 0)
		p.End()
		fmt.Fprintf(&got, "-- %d --\n%s\n", width, strings.TrimRight(p.paint(), "\n"))
	}
	golden := filepath.Join("testdata", "view", "table.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

// Until a table is complete a row says that it grows; nothing of it is on the screen before.
func TestView_TableGrows(t *testing.T) {
	p := newPainter(60, 24)
	for _, step := range [][2]string{
		{"Before.\n| a | b", "| a | b"},
		{" |\n", "▦ a table, 1 line so far"},
		{"|---|", "▦ a table, 1 line so far"},
		{"---|\n| 1 | 2 |\n", "▦ a table, 3 lines so far"},
		{"\n", "1 │ 2"},
	} {
		p.Grow("prt_1", step[0], 0)
		p.paint()
		if seen := p.glass.plain(); !strings.Contains(seen, step[1]) || strings.Contains(seen, "1 │ 2") != (step[0] == "\n") {
			t.Errorf("after %q:\n%s", step[0], seen)
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
			for range random.IntN(columns + 3) {
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
		p.Grow("prt_1", b.String(), 0)
		p.End()
		for _, r := range p.Above {
			if r.Width > p.Width() {
				t.Fatalf("seed %d: a row of %d columns on %d:\n%s", seed, r.Width, p.Width(), b.String())
			}
		}
		p.paint()
		if got := strings.Count(p.glass.plain(), "w"); got < words {
			t.Fatalf("seed %d: %d of %d words of\n%s\nin\n%s", seed, got, words, b.String(), p.glass.plain())
		}
	}
}
