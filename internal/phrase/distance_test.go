package phrase_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/internal/phrase"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"kitten", "sitting", 3},
		{"grep", "gerp", 2},
		{"hello.sh", "helo.sh", 1},
		{"ä", "a", 1},
		{"read_file", "read", 5},
	} {
		if got := phrase.Distance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("%q to %q is %d, not %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// It is a distance: the same both ways, nothing only between equals, and no way round is shorter.
func TestDistance_Prop(t *testing.T) {
	t.Parallel()
	word := rapid.SliceOfN(rapid.ByteRange('a', 'd'), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab, ba, bc, ac := phrase.Distance(a, b), phrase.Distance(b, a), phrase.Distance(b, c), phrase.Distance(a, c)
		if ab != ba || ac > ab+bc || (ab == 0) != (string(a) == string(b)) || ab > max(len(a), len(b)) {
			t.Fatalf("%s %s %s: %d %d %d %d", a, b, c, ab, ba, bc, ac)
		}
	})
}
