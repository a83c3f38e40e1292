// Package styletest is what the tests of regions have in common: frames that are compared with files, checks that
// hold for whatever is drawn, texts that try to do harm, and keys by their names. Start with Frames.
package styletest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/tui/style"
)

// update belongs to the tests that link this package.
var update = flag.Bool("update", false, "rewrite the golden files")

// TB is the common part of testing.T and rapid.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Frames compares the text of a view with testdata/<name>-<width>.txt, at the three widths that count.
func Frames(t *testing.T, name string, view func(width int) []style.Line) {
	t.Helper()
	for _, width := range []int{40, 80, 120} {
		lines := view(width)
		CheckWidth(t, lines, width)
		Golden(t, fmt.Sprintf("%s-%d", name, width), style.Text(lines))
	}
}

// Golden compares a picture of the screen with testdata/<name>.txt, and makes that with -update.
func Golden(t *testing.T, name, text string) {
	t.Helper()
	path, got := filepath.Join("testdata", name+".txt"), text+"\n"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is right, run with -update:\n%s", path, diff)
	}
}

// CheckWidth fails where a row is wider than asked.
func CheckWidth(t TB, rows []style.Line, width int) {
	t.Helper()
	for i, row := range rows {
		if w := row.Width(); w > width {
			t.Fatalf("row %d is %d wide, asked for %d: %q", i, w, width, row.Text())
		}
	}
}

// CheckClean fails where a row has something that a terminal obeys or that turns the order of letters.
func CheckClean(t TB, rows []style.Line) {
	t.Helper()
	for i, row := range rows {
		for _, s := range row {
			if style.Clean(s.Text) != s.Text {
				t.Fatalf("row %d is not clean: %q", i, s.Text)
			}
		}
	}
}

// CheckCursor fails if a cursor is outside the view.
func CheckCursor(t TB, rows []style.Line, width, x, y int) {
	t.Helper()
	if y < 0 || y >= len(rows) || x < 0 || x >= width {
		t.Fatalf("the cursor is at %d,%d, outside of %d×%d:\n%s", x, y, width, len(rows), style.Text(rows))
	}
}

// Look finds the looks of the first piece that has this text in it.
func Look(t TB, rows []style.Line, text string) style.Attr {
	t.Helper()
	for _, row := range rows {
		for _, s := range row {
			if strings.Contains(s.Text, text) {
				return s.Attr
			}
		}
	}
	t.Fatalf("%q is not there:\n%s", text, style.Text(rows))
	return style.Attr{}
}
