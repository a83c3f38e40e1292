package fuzzy

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func scoreOf(query, title string, others ...string) (int, bool) {
	var m Matcher
	h := NewText(title, others...)
	return m.Score(NewQuery(query), &h)
}

func TestFuzzy_Order(t *testing.T) {
	for _, c := range []struct{ query, better, worse string }{
		{"gs", "git status", "bugs"},
		{"mod", "models", "command"},
		{"mod", "Switch model", "mxoxd"},
		{"sn", "SessionNew", "asian"},
		{"42", "large 42", "4x2"},
		{"new", "new", "newer"},
		{"re", "re", "ret"},
		{"mo", "models", "commodore"},
		{"sn", "session_new", "season"},
		{"gc", "goClient", "magic"},
		{"new session", "New session", "session renewal"},
		{"äp", "Äpfel", "ä sauce p"},
	} {
		a, okA := scoreOf(c.query, c.better)
		b, okB := scoreOf(c.query, c.worse)
		if !okA || okB && b >= a {
			t.Errorf("%q: %q has %d (%v), %q has %d (%v)", c.query, c.better, a, okA, c.worse, b, okB)
		}
	}
}

func TestFuzzy_Finds(t *testing.T) {
	for _, c := range []struct {
		query, title, other string
		want                bool
	}{
		{"", "anything", "", true},
		{"ab", "ba", "", false},
		{"ÉT", "été", "", true},
		{"cafe", "cafe\u0301", "", true},
		{"日本", "日の本", "", true},
		{"word", "title", "in other words", true},
		{"wrd", "title", "in other words", false}, // beside the title only whole pieces count
		{"tit word", "title", "word", true},
		{"tit x", "title", "word", false},
		{"\x00\xff", "x", "", false},
		{"x", "", "", false},
		{strings.Repeat("a", 100), strings.Repeat("ab", 100), "", true},
		{strings.Repeat("a", 100) + "c", strings.Repeat("ab", 100), "", false}, // not only what counts must be there
	} {
		if _, ok := scoreOf(c.query, c.title, c.other); ok != c.want {
			t.Errorf("%q in %q, %q: %v", c.query, c.title, c.other, ok)
		}
	}
}

// A word is found exactly where its letters stand in their order, and what is shown as found is there.
func TestFuzzy_Property(t *testing.T) {
	letter := rapid.SampledFrom([]rune("abAB1 -_/äÄ日"))
	rapid.Check(t, func(t *rapid.T) {
		title := string(rapid.SliceOfN(letter, 0, 30).Draw(t, "title"))
		query := strings.ReplaceAll(string(rapid.SliceOfN(letter, 1, 5).Draw(t, "query")), " ", "a")
		rest := []rune(strings.ToLower(title))
		ok := true
		for _, r := range strings.ToLower(query) {
			i := 0
			for i < len(rest) && rest[i] != r {
				i++
			}
			if i == len(rest) {
				ok = false
				break
			}
			rest = rest[i+1:]
		}
		s, got := scoreOf(query, title)
		if got != ok || got && s <= 0 {
			t.Fatalf("%q in %q: %v with %d, want %v", query, title, got, s, ok)
		}
		n := 0
		for _, at := range Positions(NewQuery(query), title) {
			r, _ := utf8.DecodeRuneInString(title[at:])
			if !strings.ContainsRune(strings.ToLower(query), unicode.ToLower(r)) {
				t.Fatalf("%q at %d of %q is not of %q", r, at, title, query)
			}
			n++
		}
		if got && n == 0 {
			t.Fatalf("%q in %q: nothing to show", query, title)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("gs", "git status", "other")
	f.Add("\xff", "\xff\u0301", "")
	f.Fuzz(func(t *testing.T, query, title, other string) {
		scoreOf(query, title, other)
		for _, at := range Positions(NewQuery(query), title) {
			if at < 0 || at >= len(title) {
				t.Fatalf("found at %d of %q", at, title)
			}
		}
	})
}

func BenchmarkFuzzy_TenThousand(b *testing.B) {
	var texts []Text
	for i := range 10_000 {
		texts = append(texts, NewText(fmt.Sprintf("Fix the %d. thing in package number %x of many", i, i*2654435761)))
	}
	for _, query := range []string{"p", "pack", "fix many", "qqq"} {
		n := NewQuery(query)
		var m Matcher
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				for i := range texts {
					m.Score(n, &texts[i])
				}
			}
		})
	}
}
