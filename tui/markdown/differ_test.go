package markdown

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/style"
)

// leavesOf are the pieces of a text that have words in them.
func leavesOf(src string) []leaf {
	var s scanner
	for line := range strings.SplitSeq(src, "\n") {
		s.line(line)
	}
	s.flush()
	return slices.DeleteFunc(s.out, func(l leaf) bool { return l.kind != leafPara && l.kind != leafHeading })
}

func spell(lines []style.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			b.WriteString("{" + s.Text)
			for _, f := range []struct {
				on   bool
				name string
			}{{s.Attr.Bold, " B"}, {s.Attr.Italic, " I"}, {s.Attr.Strike, " S"}, {s.Attr.Underline, " U"}, {s.Attr.BG != style.Color{}, " C"}} {
				if f.on {
					b.WriteString(f.name)
				}
			}
			if s.Attr.Link != "" {
				b.WriteString(" →" + s.Attr.Link)
			}
			b.WriteString("}")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The texts of the goldens, and the documents of the project, look as the other reader sees them.
func TestWords_AsTheOtherReader(t *testing.T) {
	files, _ := filepath.Glob("../../docs/*.md")
	more, _ := filepath.Glob("../../*.md")
	p, seen := otherParser(), 0
	for _, path := range append(append(files, more...), "testdata/sample.md") {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leavesOf(string(src)) {
			if oddText.Match(l.text) {
				continue
			}
			seen++
			for _, conceal := range []bool{true, false} {
				o := Options{Theme: style.Default(true), Width: 80, Conceal: conceal}
				if a, b := ours(l.text, l.kind, o), theirs(p, l.text, o); !same(a, b) {
					t.Errorf("%s: %q\nours\n%stheirs\n%s", path, l.text, spell(a), spell(b))
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d pieces were compared", seen)
	}
}

func TestWords_HardCases(t *testing.T) {
	p := otherParser()
	for _, src := range hardCases {
		differs(t, p, src, false)
	}
	for _, c := range knownDifferences {
		differs(t, p, c.text, true)
		if got := style.Text(ours([]byte(c.text), leafPara, look(80))); got != c.want {
			t.Errorf("%q reads %q, want %q: %s", c.text, got, c.want, c.why)
		}
	}
}

// Texts made of marks look the same to both, but for what the table of known differences has.
func TestWords_AnyMarks(t *testing.T) {
	p := otherParser()
	marks := []string{
		"*", "**", "***", "_", "__", "~~", "~", "`", "``", "a", "b c", " ", " ", "é", "漢", "!", ".", ",", "\n", "[a](b)", "<b>", "</b>", "\"",
		"<http://a.b>", "http://a.b/c ", "\\*", "&lt;", "(", ")", "x@y.zz", "`c`", "[r]", "[t][r]", "![i](u)", "[", "]", "[", "](u)", "](u \"t\")",
		"![", "][r]", "<a", "<a b=\"", "<!--", "-->", ">", "www.x.yz", "https://x.yz:1/p?q=(1)", "\\", "  \n", "\\\n", "&amp;", "&#42;", "#", "=", "-", "“",
	}
	inText := rapid.SampledFrom(append([]string{"|", "\n===\n"}, marks...))
	inTable := rapid.SampledFrom(append([]string{"|", "|", "\n|-|\n", "\n|:-:|-:|\n", "\n|", "\\|"}, marks...))
	rapid.Check(t, func(t *rapid.T) {
		from := inText
		if rapid.Bool().Draw(t, "table") {
			from = inTable
		}
		src := "w" + strings.Join(rapid.SliceOfN(from, 1, 14).Draw(t, "marks"), "") + "e"
		if rapid.Bool().Draw(t, "defined") {
			src = "[r]: http://r.s\n" + src
		}
		if oddText.MatchString(src) {
			return
		}
		for _, l := range leavesOf(src) {
			differs(t, p, string(l.text), false)
		}
	})
}
