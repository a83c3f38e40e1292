package find_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tui/find"
)

func TestAll(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          []string
	}{
		{"error", "An Error, an ERROR and an error.", []string{"Error", "ERROR", "error"}},
		{"Error", "An Error, an ERROR and an error.", []string{"Error"}},
		{"aa", "aaaaa", []string{"aa", "aa"}},
		{"foo bar", "foo\nbar foo bar foobar", []string{"foo\nbar", "foo bar"}},
		{"über", "Über über ÜBER uber", []string{"Über", "über", "ÜBER"}},
		{"日本", "これは日本語", []string{"日本"}},
		{"x", "", nil},
		{"", "text", nil},
		{"  ", "a   b", nil},
		{"kz", "akKZk kz", []string{"KZ", "kz"}},
		{"é", "e\u0301 é", []string{"é"}},
		{"end", "the en", nil},
	} {
		var got []string
		for from, to := range find.New(c.pattern).All(c.text) {
			got = append(got, c.text[from:to])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
}

// A text without the longest word has no match of the whole, so that most texts need no closer look.
func TestWord(t *testing.T) {
	p := find.New("in main.go now")
	if w := p.Word(); w.Text() != "main.go" || !w.In("MAIN.GO") {
		t.Errorf("the word of %q is %q", p.Text(), w.Text())
	}
	if w := find.New("In main.go").Word(); w.In("MAIN.GO") {
		t.Error("a pattern with upper case has a word that ignores case")
	}
}

func FuzzAll(f *testing.F) {
	f.Add("ab", "xABab")
	f.Add("é ", "É\ne ")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, last := find.New(pattern), 0
		for from, to := range p.All(text) {
			if from < last || to <= from || to > len(text) {
				t.Fatalf("match %d to %d after %d", from, to, last)
			}
			last = to
		}
		if !p.IsEmpty() && !p.In(text+p.Text()) {
			t.Fatalf("%q is not found in a text that ends with it", pattern)
		}
	})
}

// BenchmarkCount searches a megabyte.
func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("func (w *walk) before(s blockPos) (blockPos, bool) { return x } // An error.\n", 1<<20/78)
	for _, word := range []string{"error", "needle", "e"} {
		b.Run(word, func(b *testing.B) {
			p := find.New(word)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p.Count(text)
			}
		})
	}
}
