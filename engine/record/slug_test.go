package record

import (
	"regexp"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestSlug(t *testing.T) {
	t.Parallel()
	ids := lathe.NewIDs()
	form := regexp.MustCompile(`^[a-z]+-[a-z]+$`)
	seen := map[string]int{}
	for range 5000 {
		s := slug(ids)
		if !form.MatchString(s) {
			t.Fatalf("%q is not two words in lower case", s)
		}
		seen[s]++
	}
	if len(seen) < 600 { // of 26 × 26
		t.Errorf("5000 slugs are only %d different ones", len(seen))
	}
	for s, n := range seen {
		if n > 60 {
			t.Errorf("%s comes %d times in 5000", s, n)
		}
	}
}
