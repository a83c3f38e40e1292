package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/workspace/patch"
)

// large is a text of 5 MB whose lines all differ.
func large() string {
	var out strings.Builder
	for i := 0; out.Len() < 5<<20; i++ {
		fmt.Fprintf(&out, "\tvalue%d := compute(%d, \"text of line %d\")\n", i, i*7, i)
	}
	return out.String()
}

// BenchmarkReplace has a file of 5 MB: an exact match must stay under 100 ms, giving up under 2
// s.
func BenchmarkReplace(b *testing.B) {
	text := large()
	for _, bb := range []struct {
		name, content, old string
		found              bool
	}{
		{"exact", text, "value60000 := compute(420000,", true},
		{"exact, CRLF", strings.ReplaceAll(text, "\n", "\r\n"), "value60000 := compute(420000,", true},
		{"trimmed", text, "value60000 := compute(420000, \"text of line 60000\")  \nvalue60001 := compute(420007, \"text of line 60001\")", true},
		{"missing", text, "value60000 := compute(1,\n\tvalue := nothing()\n\treturn", false},
		{"equal lines", strings.Repeat("a\n", 5<<19), strings.Repeat("a\n", 5000) + "b\n", false},
		{"equal anchors", strings.Repeat("{\n", 5<<19), "{\n" + strings.Repeat("x", 5000) + "\n{ \n", false},
		{"one line", strings.Repeat("ab ", 5<<20/3), strings.Repeat("ab  ", 10000) + "x", false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.content)))
			for b.Loop() {
				if _, err := patch.Replace(bb.content, bb.old, "x", false); (err == nil) != bb.found {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	files := tree{"f": large()}
	var body strings.Builder
	body.WriteString("*** Update File: f\n")
	for i := range 100 {
		fmt.Fprintf(&body, "@@\n \tvalue%d := compute(%d, \"text of line %d\")\n+\tnew()\n", i*500, i*500*7, i*500)
	}
	for b.Loop() {
		if _, err := apply(files, body.String()); err != nil {
			b.Fatal(err)
		}
	}
}
