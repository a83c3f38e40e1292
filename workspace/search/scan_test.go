package search

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustRegexp(t testing.TB, expr string, fold Fold) *Regexp {
	t.Helper()
	re, err := ParseRegexp(expr, fold)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// scanText runs a scanner that begins with a buffer of the given size.
func scanText(re *Regexp, r io.Reader, buffer int) ([]Line, int, error) {
	var stop atomic.Bool
	s := newScanner(re, &stop)
	s.buf = make([]byte, buffer)
	s.remaining = func() int { return 1 << 30 }
	err := s.file(r, -1)
	return s.lines, s.count, err
}

// numbers is the simplest search there is: the numbers of the lines that the standard library says
// match.
func numbers(expr string, fold Fold, text string) []int {
	if fold {
		expr = "(?i)" + expr
	}
	re := regexp.MustCompile(expr)
	var out []int
	n := 0
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		n++
		if re.MatchString(strings.TrimSuffix(line, "\r")) {
			out = append(out, n)
		}
		text = rest
	}
	return out
}

var exprPieces = []string{
	"a", "b", "foo", "bar", "Foo", "k", "s", "ks", "K", "ä", "Ä", "ß", ".", ".*", "x", "=", " ", "\\s", "\\s*", "\\w+", "\\d", "\\b", "\\B", "^", "$", "[a-c]", "[^a]", "[fF]oo", "(foo|bar)", "(?:foo|bar|baz|x1|y2)", "(a|)", "o+", "o*", "o?", "colou?r", "b{2}", "b{1,3}", "a{0}", "(?i:foo)", "(?i:KS)", "(?i)s", "\\.", "\\(", "[[:alpha:]]", "\\pL", "(?s:.)", "\\x{212a}", "ſ", "\\A", "\\z", "[0-9]{2}", "(fo)+", "(?:)", "[aA][bB]", "\\t", "\\r", "\uFFFD", "[\\x{80}-\\x{10ffff}]",
}

var textPieces = []string{
	"a", "b", "foo", "bar", "FOO", "Foo", "k", "s", "K", "ks", "ſ", "\u212a", "ä", "Ä", "ß", "x", "x1", "=", " ", "\t", "12", "color", "colour", "ab", "AB", "bb", "_", ".", "(", "\n", "\n", "\n", "\r\n", "\r", "\xff", "\xc3", "\uFFFD", "世", "fofo",
}

func drawExpr(t *rapid.T) string {
	sub := func(name string) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(exprPieces), 1, 4).Draw(t, name), "")
	}
	if rapid.IntRange(0, 3).Draw(t, "alternatives") == 0 {
		return sub("one") + "|" + sub("two")
	}
	return sub("expr")
}

// The automaton, the needles, the blocks and the buffer give what the standard library gives line by line.
func TestScan_LikeRegexp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		expr := drawExpr(rt)
		fold := Fold(rapid.Bool().Draw(rt, "fold"))
		re, err := ParseRegexp(expr, fold)
		if err != nil {
			rt.Skip("not an expression")
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(textPieces), 0, 40).Draw(rt, "text"), "")
		text = strings.TrimPrefix(text, "\ufeff")
		buffer := rapid.IntRange(1, 64).Draw(rt, "buffer")
		var r io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(rt, "one byte at a time") {
			r = iotest.OneByteReader(r)
		}
		lines, count, err := scanText(re, r, buffer)
		if err != nil {
			rt.Fatal(err)
		}
		var got []int
		for _, l := range lines {
			got = append(got, l.Number)
			if line, _, _ := strings.Cut(text[l.Offset:], "\n"); l.Text != strings.TrimSuffix(line, "\r") {
				rt.Fatalf("line %d is %q at its offset, and %q", l.Number, line, l.Text)
			}
		}
		if diff := cmp.Diff(numbers(expr, fold, text), got); diff != "" || count != len(got) {
			rt.Fatalf("%q in %q (-want +got), count %d:\n%s", expr, text, count, diff)
		}
	})
}

// What the prefilter asks for is in every text that matches.
func TestRequired_IsInEveryMatch(t *testing.T) {
	filtered := 0
	rapid.Check(t, func(rt *rapid.T) {
		expr := drawExpr(rt)
		re, err := ParseRegexp(expr, Fold(rapid.Bool().Draw(rt, "fold")))
		if err != nil || re.finder == nil {
			rt.Skip("no needles")
		}
		filtered++
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(textPieces), 1, 12).Draw(rt, "line"), "")
		line = strings.NewReplacer("\n", "", "\r", "").Replace(line)
		var c cursor
		c.reset(re.finder, []byte(line))
		found := c.find(0) >= 0 || re.finder.blind([]byte(line))
		match := re.re.MatchString(line)
		if match && !found {
			rt.Fatalf("%q matches %q, but no needle of %+v is there", expr, line, re.finder)
		}
		if re.sure && found && !match && !re.finder.blind([]byte(line)) {
			rt.Fatalf("%q does not match %q, but a needle of %+v is enough", expr, line, re.finder)
		}
	})
	if filtered == 0 {
		t.Fatal("no expression had a needle")
	}
}

func TestRequired(t *testing.T) {
	tests := []struct {
		expr    string
		needles string
		sure    bool
	}{
		{`foo`, "foo", true},
		{`\bfoo\(`, "foo(", false},
		{`foo.*barbaz`, "barbaz", false},
		{`(?i)Needle`, "needle (fold)", true},
		{`colou?r`, "colour color", true},
		{`(get|set)Name`, "getName setName", true},
		{`foo|bar`, "foo bar", true},
		{`(foo)+`, "foo", false},
		{`[fF]oo`, "foo (fold)", false},
		{`a|b|c|d|ee|ff`, "", false},
		{`\w+\s*=`, "", false},
		{`x*`, "", false},
		{`(?i)straße`, "stra (fold)", false},
		{`a{3}`, "", false},
		{`(ab){3}`, "ab", false},
		{`@`, "@", true},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			re := mustRegexp(t, tt.expr, false)
			got := ""
			if re.finder != nil {
				var all []string
				for _, n := range re.finder.needles {
					all = append(all, n.text)
				}
				if got = strings.Join(all, " "); re.finder.fold {
					got += " (fold)"
				}
			}
			if got != tt.needles || re.sure != tt.sure {
				t.Fatalf("needles %q, sure %t; want %q, %t", got, re.sure, tt.needles, tt.sure)
			}
		})
	}
}

func TestScan_Texts(t *testing.T) {
	wide := func(order string) string {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeffone\r\nNädel 😀\n")) {
			if order == "little" {
				b = append(b, byte(u), byte(u>>8))
			} else {
				b = append(b, byte(u>>8), byte(u))
			}
		}
		return string(b)
	}
	tests := []struct {
		name, expr, text string
		want             []Line
	}{
		{"no final line break", "b$", "a\nb", []Line{{Number: 2, Offset: 2, Text: "b", End: 1}}},
		{"line breaks of Windows", "^b$", "a\r\nb\r\n", []Line{{Number: 2, Offset: 3, Text: "b", End: 1}}},
		{"mark of UTF-8", "^a", "\xef\xbb\xbfa\n", []Line{{Number: 1, Offset: 3, Text: "a", End: 1}}},
		{"UTF-16, little end first", "^Nädel", wide("little"), []Line{{Number: 2, Offset: 5, Text: "Nädel 😀", End: 6}}},
		{"UTF-16, big end first", "😀$", wide("big"), []Line{{Number: 2, Offset: 5, Text: "Nädel 😀", Start: 7, End: 11}}},
		{"broken UTF-8", "b", "a\xffb\n", []Line{{Number: 1, Text: "a\xffb", Start: 2, End: 3}}},
		{"empty lines", "^$", "\n\na\n\n", []Line{{Number: 1}, {Number: 2, Offset: 1}, {Number: 4, Offset: 4}}},
		{"empty file", "^$", "", nil},
		{"several lines", `a\nb`, "x\na\nb\na\r\nb\n", []Line{{Number: 2, Offset: 2, Text: "a\nb", End: 3}, {Number: 4, Offset: 6, Text: "a\nb", End: 3}}},
		{"several lines, anchored", `^a$\n^b`, "xa\nb\na\nbc", []Line{{Number: 3, Offset: 5, Text: "a\nbc", End: 3}}},
		{"a class is no wish for a line break", `a[^x]b`, "a\nb\n", nil},
		{"white space is none either", `a\s+b`, "a\nb\na b", []Line{{Number: 3, Offset: 4, Text: "a b", End: 3}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := scanText(mustRegexp(t, tt.expr, false), strings.NewReader(tt.text), smallBuffer)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Fatal(err, diff)
			}
		})
	}
}

func TestScan_Binary(t *testing.T) {
	re := mustRegexp(t, "a", false)
	if _, _, err := scanText(re, strings.NewReader("a\x00"), smallBuffer); !errors.Is(err, errBinary) {
		t.Fatal(err)
	}
	late := "a\n" + strings.Repeat("x", sniffed) + "\x00a\n"
	if _, n, err := scanText(re, strings.NewReader(late), smallBuffer); n != 2 || err != nil {
		t.Fatal(n, err)
	}
}

func TestScan_LongLines(t *testing.T) {
	fill := strings.Repeat("x", 3*maxBuffer/2)
	tests := []struct {
		name, expr, text string
		want             string // numbers of lines
	}{
		{"far behind", "needle", fill + "needle" + fill + "\nneedle\n", "1 2"},
		{"over the edge of a piece", "needle", strings.Repeat("x", maxBuffer-3) + "needle" + fill + "\n", "1"},
		{"at the end", "needle$", fill + "needle\nb", "1"},
		{"at the end of the file", "needle$", fill + "needle", "1"},
		{"not at the end", "needle$", fill + "needle" + fill, ""},
		{"an edge is no end", "needle$", strings.Repeat("x", maxBuffer-6) + "needle" + fill, ""},
		{"an edge is no beginning", "^x+needle", fill + fill + "xxneedle\n", ""},
		{"no literal", `[a-w]{6}`, fill + "needle" + fill, "1"},
		{"to the end", "needle.*", fill + "needle" + fill, "1"},
		{"lines after it count", "b", fill + fill + fill + "\na\nb\n" + fill + fill + "\nb", "3 5"},
		{"once a line", "x", fill + fill + "\n", "1"},
		{"two", "needle", fill + fill + "needle\n" + fill + fill + "\n" + fill + "needle", "1 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, _, err := scanText(mustRegexp(t, tt.expr, false), strings.NewReader(tt.text), smallBuffer)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range lines {
				got = append(got, string(rune('0'+l.Number)))
				if n := len(l.Text); n > maxText {
					t.Errorf("the text has %d characters", n)
				}
				if strings.Contains(tt.expr, "needle") && !strings.HasPrefix(l.Text[l.Start:l.End], "needle") {
					t.Errorf("the match is %.20q", l.Text[l.Start:l.End])
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Fatalf("lines %q; want %q", s, tt.want)
			}
		})
	}
}

func TestScan_SeveralLinesInLargeFile(t *testing.T) {
	text := strings.Repeat("a line of text\n", maxBuffer/10) + "needle\nthread\n" + strings.Repeat("a line of text\r\n", maxBuffer/10) + "needle\r\nthread"
	lines, count, err := scanText(mustRegexp(t, `needle\nthread`, false), strings.NewReader(text), smallBuffer)
	if err != nil || count != 2 {
		t.Fatal(count, err)
	}
	for i, want := range []int{maxBuffer/10 + 1, 2*(maxBuffer/10) + 3} {
		if lines[i].Number != want || lines[i].Text != "needle\nthread" {
			t.Errorf("line %d, %q; want %d", lines[i].Number, lines[i].Text, want)
		}
	}
}

func TestCut(t *testing.T) {
	long := []byte(strings.Repeat("ä", 5000))
	copy(long[9000:], "needle")
	l := cut(Line{Start: 9000, End: 9006}, long)
	if l.Text[l.Start:l.End] != "needle" || !l.Before || l.After || !strings.HasPrefix(l.Text, "ä") {
		t.Fatalf("%+v", l)
	}
	l = cut(Line{Start: 0, End: 10000}, long)
	if n := len([]rune(l.Text)); n != maxText || l.Before || !l.After || l.End != len(l.Text) {
		t.Fatalf("%d characters, %d to %d", n, l.Start, l.End)
	}
}

// An expression whose automaton has more states than we keep is still answered, and rightly.
func TestDFA_ManyStates(t *testing.T) {
	expr := `[ab]*a[ab]{14}c`
	re := mustRegexp(t, expr, false)
	var text bytes.Buffer
	for i := range 40000 {
		for bit := range 17 {
			text.WriteByte("ab"[(i*7919)>>bit&1])
		}
		text.WriteString([]string{"c\n", "\n"}[i%2])
	}
	_, count, err := scanText(re, bytes.NewReader(text.Bytes()), smallBuffer)
	if want := len(numbers(expr, false, text.String())); err != nil || count != want || want == 0 {
		t.Fatal(count, want, err)
	}
	var stop atomic.Bool
	s := newScanner(re, &stop)
	s.remaining = func() int { return 0 }
	if err := s.file(&text, -1); err != nil || s.dfa.resets == 0 {
		t.Fatalf("the automaton was never full (%v): the test shows nothing", err)
	}
}
