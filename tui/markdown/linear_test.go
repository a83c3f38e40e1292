package markdown

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/style"
)

// texts on which a careless reader takes a time that grows with the square of their length.
func nasty() map[string]string {
	return map[string]string{
		"brackets":       "[",
		"images":         "![",
		"closed":         "[a]",
		"nested":         "[[]",
		"half links":     "[a](b",
		"half titles":    "[a](b \"",
		"half angles":    "[a](<b",
		"half labels":    "[a][b",
		"parentheses":    "[a]((((",
		"images in them": "![a]()![",
		"links in them":  "[a [b](c) ",
		"stars":          "*",
		"words in stars": "*a ",
		"both sides":     "*a",
		"mixed stars":    "*a_b~c",
		"closing":        "a** ",
		"three":          "a***b*c",
		"backticks":      "`",
		"ticks in words": "`a``b```c",
		"angles":         "<",
		"tags":           "<a b='",
		"two quotes":     "<a x='<a x=\"",
		"comments":       "<!-- ",
		"instructions":   "<? ",
		"entities":       "&a",
		"addresses":      "http://",
		"hosts":          "www.a",
		"mailboxes":      "a@",
		"backslashes":    "\\",
		"bars":           "|",
		"definitions":    "[a]: b\n",
		"rows":           "|-\n",
		"underlined":     "a\n=\n",
		"spaces":         " \t",
	}
}

func grown(unit string, size int) []byte {
	return []byte(strings.Repeat(unit, size/len(unit)+1)[:size])
}

// ticking backticks all differ in length, so that none closes another.
func ticking(size int) []byte {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteString("a" + strings.Repeat("`", n))
	}
	return []byte(b.String()[:size])
}

func readAll(src []byte) int {
	p := pen{look: Options{Theme: style.Default(true), Width: 80, Conceal: true}, refs: []reference{{"a", "b"}}}
	found, n := parse(src, leafPara), 0
	for _, b := range found.blocks {
		w := p.inline(found.refs)
		w.lines = []style.Line{nil}
		w.block(b)
		n += len(w.lines)
	}
	return n
}

func BenchmarkWords(b *testing.B) {
	for name, unit := range nasty() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			src := grown(unit, 100_000)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				readAll(src)
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	for _, src := range hardCases {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, kind := range []leafKind{leafPara, leafHeading} {
			if kind == leafHeading && !isHeading(src) {
				continue
			}
			for _, conceal := range []bool{true, false} {
				o := Options{Theme: style.Default(true), Width: 20, Conceal: conceal}
				ours([]byte(src), kind, o)
				p := pen{look: o}
				for _, l := range p.words(&leaf{kind: kind, text: []byte(src)}, nil, 20) {
					if l.Width() > 20 {
						t.Fatalf("a row is %d wide: %q", l.Width(), l.Text())
					}
				}
			}
		}
	})
}
