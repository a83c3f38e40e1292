package markdown

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func sample(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func drawn(text string, o Options) []style.Line {
	var d Doc
	d.Set(text)
	return d.Lines(o)
}

func look(width int) Options { return Options{Theme: style.Default(true), Width: width, Conceal: true} }

func TestDoc_Golden(t *testing.T) {
	for _, width := range []int{20, 40, 80, 120} {
		styletest.Golden(t, fmt.Sprintf("sample-%d", width), style.Text(drawn(sample(t), look(width))))
	}
	o := look(80)
	o.Conceal = false
	styletest.Golden(t, "marks-80", style.Text(drawn(sample(t), o)))
}

// pieces of text that mean something to the parser.
func pieces() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"# ", "## head\n", "- ", "* ", "+ x\n", "1. ", "2) ", "10. ten\n", "> ", ">", "\n", "\n\n", "  ", "    ", "\t", "   ",
		"```", "```go\n", "~~~\n", "```\n", "`", "``", "**", "*", "_", "~~", "[", "]", "](", ")", "![", "[a]: http://b.c\n", "[a]",
		"| a | b |\n", "|---|:-:|\n", "| 1 | 2 |\n", "|", "---\n", "===\n", "***\n", "<div>", "</div>\n", "<p>\n\n<p>\n\n", "    code\n\n", "<!-- ", "-->", "<br>", "<b>",
		"word ", "two words ", "漢字", "é", "👩‍👩‍👧", "مرحبا ", "\x1b[31m", "\u202e", "\x00", "\xff", "\r\n", "\\", "&amp;",
		"http://example.com/x ", "func f() {\n", "/* ", " */", "\"", "- [ ] task\n", "- [x] ", strings.Repeat("long ", 60),
		strings.Repeat("x", 300), strings.Repeat("line of text\n", 30),
	})
}

func texts(t *rapid.T) string {
	s := strings.Join(rapid.SliceOfN(pieces(), 0, 60).Draw(t, "pieces"), "")
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		s = strings.Repeat(s, 30)
	}
	return s
}

// How a text arrives in pieces does not change what is shown, and a Doc that has been shown at another width
// shows the same as a new one.
func TestDoc_PiecesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts(t)
		o := look(rapid.IntRange(10, 100).Draw(t, "width"))
		o.Conceal, o.Growing = rapid.Bool().Draw(t, "conceal"), rapid.Bool().Draw(t, "growing")
		var d Doc
		for at := 0; at < len(text); {
			at = min(len(text), at+rapid.IntRange(1, 50+len(text)/20).Draw(t, "piece"))
			d.Set(text[:at])
			if rapid.Bool().Draw(t, "show") {
				other := o
				if rapid.IntRange(0, 5).Draw(t, "turn") == 0 {
					other.Width += 7
				}
				d.Lines(other)
			}
		}
		got, want := d.Lines(o), drawn(text, o)
		if !reflect.DeepEqual(norm(got), norm(want)) {
			t.Fatalf("in pieces:\n%s\nat once:\n%s", style.Text(got), style.Text(want))
		}
		styletest.CheckWidth(t, got, o.Width)
	})
}

// norm makes nil and empty lines alike.
func norm(lines []style.Line) []style.Line {
	out := make([]style.Line, len(lines))
	for i, l := range lines {
		out[i] = append(style.Line{}, l...)
	}
	return out
}
