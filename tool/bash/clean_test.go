package bash

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/tool"
	"pgregory.net/rapid"
)

func cleaned(pieces ...string) string {
	var out bytes.Buffer
	c := cleaner{to: func(p []byte) { out.Write(p) }}
	for _, p := range pieces {
		c.write([]byte(p))
	}
	c.end()
	return out.String()
}

func TestCleaner(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\nb\n", "a\nb\n"},
		{"no last line break", "a\nb", "a\nb"},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;5;12mblue\x1b[m", "red blue"},
		{"a title and a link", "\x1b]0;title\x07a \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "a link"},
		{"character sets", "\x1b(Ba\x1b=b", "ab"},
		{"a sequence that does not end", "\x1b[12\nnext", "\nnext"},
		{"a title that does not end", "\x1b]0;title\nnext", "\nnext"},
		{"progress", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress at the end", "10%\r50%", "50%"},
		{"a carriage return that changes nothing", "done\r", "done"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"overstrike", "N\bNA\bAM\bM", "NAM"},
		{"back over nothing", "\b\bx", "x"},
		{"broken UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
		{"bytes", "\x00\x01\x02\x7fx", "\ufffdx"},
		{"tabs stay", "a\tb", "a\tb"},
		{"three of a kind", "x\nx\nx\ny\n", "x\nx\nx\ny\n"},
		{"four of a kind", "x\nx\nx\nx\ny\n", "x\n[the line above came 4 times in a row]\ny\n"},
		{"for ever", strings.Repeat("y\n", 10000), "y\n[the line above came 10000 times in a row]\n"},
		{"empty lines", "\n\n\n\n\nx", "\n[the line above came 5 times in a row]\nx"},
		{"twice, with another between", "x\ny\nx\n", "x\ny\nx\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleaned(tt.in); got != tt.want {
				t.Errorf("got %q; want %q", got, tt.want)
			}
			if got := cleaned(strings.Split(tt.in, "")...); !strings.Contains(tt.name, "UTF-8") && got != tt.want {
				t.Errorf("in pieces: got %q; want %q", got, tt.want)
			}
		})
	}
}

func TestCleaner_LongLine(t *testing.T) {
	line := strings.Repeat("äö", 5<<20)
	if got := cleaned("x\n", line, "\nx\n"); got != "x\n"+line+"\nx\n" {
		t.Errorf("%d bytes became %d", len(line), len(got))
	}
}

// In which pieces a text comes makes no difference, and what comes out is text.
func TestCleaner_Pieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOf(rapid.SampledFrom([]string{"a", "ab\n", "\n", "\r", "\r\n", "\x1b", "[", "]", "\x07", "m", "\b", "ä", "\xff", "\x00", "\x1b[0m", "same\n"}))
		list := bits.Draw(t, "bits")
		whole := cleaned(strings.Join(list, ""))
		if got := cleaned(list...); got != whole {
			t.Fatalf("%q and %q", got, whole)
		}
		if !utf8.ValidString(whole) || strings.ContainsAny(whole, "\x1b\r\x00\b") {
			t.Fatalf("%q", whole)
		}
	})
}

// Both ends of a text are there, in the limits, with all that is between them counted.
func TestEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tool.Limits{Lines: rapid.IntRange(1, 30).Draw(t, "lines"), Bytes: rapid.IntRange(8, 300).Draw(t, "bytes")}
		list := rapid.SliceOf(rapid.StringOfN(rapid.SampledFrom([]rune("ab\nä€😀")), 0, 40, -1)).Draw(t, "pieces")
		all := strings.Join(list, "")
		e := ends{limits: l}
		for _, p := range list {
			e.write([]byte(p))
		}
		lines := strings.Count(all, "\n")
		if !strings.HasSuffix(all, "\n") && all != "" {
			lines++
		}
		got := e.text(func(_, n int) string { return strings.Repeat("#", n) })
		if len(all) <= l.Bytes && lines <= l.Lines {
			if got != all {
				t.Fatalf("got %q; want all of %q", got, all)
			}
			return
		}
		if got == all && len(all) == l.Bytes+1 { // only the last line break is too much
			return
		}
		first, rest, ok := strings.Cut(got, "\n\n#")
		last := strings.TrimPrefix(strings.TrimLeft(rest, "#"), "\n\n")
		if !ok || !utf8.ValidString(got) || !strings.HasPrefix(all, first) || !strings.HasSuffix(all, last) {
			t.Fatalf("%q of %q", got, all)
		}
		if left := strings.Count(got, "#"); len(first)+len(last)+left != len(all) || len(first)+len(last) > l.Bytes+1 {
			t.Fatalf("%d + %d + %d of %d", len(first), left, len(last), len(all))
		}
	})
}

// Nothing is said to be left out where nothing is.
func TestEnds_LastLineBreak(t *testing.T) {
	e := ends{limits: tool.Limits{Lines: 1, Bytes: 19}}
	e.write([]byte("aa€ää€€😀\n"))
	if got := e.text(func(int, int) string { return "#" }); got != "aa€ää€€😀\n" {
		t.Errorf("%q", got)
	}
}

func TestRecent(t *testing.T) {
	var r recent
	if got := r.text(); got != "" {
		t.Errorf("%q", got)
	}
	r.write([]byte("a\xc3"))
	if got := r.text(); got != "a" {
		t.Errorf("half a character is shown: %q", got)
	}
	r.write([]byte("\xa4\x00\xff"))
	if got := r.text(); got != "aä\ufffd\ufffd" {
		t.Errorf("%q", got)
	}
	r = recent{}
	for range 70_000 {
		r.write([]byte("ä"))
	}
	if want := "...\n\n" + strings.Repeat("ä", shownChars); r.text() != want {
		t.Errorf("%d characters", utf8.RuneCountInString(r.text()))
	}
	if cap(r.tail) > 4*shownChars*utf8.UTFMax {
		t.Errorf("%d bytes are held", cap(r.tail))
	}
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	count := func() int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	few := spool{output: tool.Output{Dir: dir}, most: 10, limit: 100}
	few.write([]byte("0123456789"))
	if few.finish(false) != "" || count() != 0 {
		t.Error("a short output was written")
	}
	many := spool{output: tool.Output{Dir: dir}, most: 10, limit: 25}
	for range 4 {
		many.write([]byte("0123456789"))
	}
	path := many.finish(true)
	if b, err := os.ReadFile(path); string(b) != "0123456789012345678901234" || many.stored != 25 || many.size != 40 {
		t.Errorf("%q, %v, kept %d of %d", b, err, many.stored, many.size)
	}
	given := spool{output: tool.Output{Dir: dir}, most: 1, limit: 25}
	given.write([]byte("0123456789"))
	if given.finish(false) != "" || count() != 1 {
		t.Error("a file that was not wanted is there")
	}
	broken := spool{output: tool.Output{Dir: path}, most: 1, limit: 25}
	broken.write([]byte("0123456789"))
	broken.write([]byte("0123456789"))
	if broken.finish(true) != "" || broken.err == nil {
		t.Error("where no file can be made there is one")
	}
}

func BenchmarkCleaner(b *testing.B) {
	for name, text := range map[string]string{
		"log":    strings.Repeat("2026-01-01 12:00:00 INFO something happened somewhere in the program %d\n", 100),
		"colour": strings.Repeat("\x1b[32mok\x1b[0m  package/of/a/project  0.123s\nnext\n", 100),
		"zero":   strings.Repeat("\x00", 8000),
		"yes":    strings.Repeat("y\n", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			c := cleaner{to: func([]byte) {}}
			b.SetBytes(int64(len(text)))
			p := []byte(text)
			for b.Loop() {
				c.write(p)
			}
		})
	}
}
