package whichkey_test

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

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what a view says with testdata/<name>-<width>.txt, at the three widths that count.
func golden(t *testing.T, name string, view func(width int) []style.Line) {
	t.Helper()
	for _, width := range []int{40, 80, 120} {
		lines := view(width)
		checkWidth(t, lines, width)
		got := style.Text(lines) + "\n"
		path := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, width))
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
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs (-want +got); if that is right, run with -update:\n%s", path, diff)
		}
	}
}

// checkWidth fails where a row is wider than asked.
func checkWidth(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, rows []style.Line, width int,
) {
	t.Helper()
	for i, row := range rows {
		if w := row.Width(); w > width {
			t.Fatalf("row %d is %d wide, asked for %d: %q", i, w, width, row.Text())
		}
	}
}

// colorOf finds the looks of the first piece that has this text in it.
func colorOf(t *testing.T, rows []style.Line, text string) style.Attr {
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

// hostile are texts that must do no harm.
var hostile = []string{
	"", "\x1b[2J\x1b]0;x\x07", "\u202egnp.exe\u202c", "\x00\xff", strings.Repeat("x", 1<<20), "日本語の長い名前がここにある", "e\u0301\u0302 שלום مرحبا 👩‍👩‍👧",
	"two\nlines\r\n\tand more",
}
