package args

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// Nearest returns up to three of the names, the most similar first.
func Nearest(name string, names []string) []string {
	const longest = 64 // no tool has a longer name, and a model may send anything
	wanted := []rune(Normalize(phrase.Clip(name)))
	wanted = wanted[:min(len(wanted), longest)]
	type candidate struct {
		name string
		cost int
	}
	var all []candidate
	for _, c := range names {
		have := []rune(Normalize(phrase.Clip(c)))
		cost := phrase.Distance(wanted, have)
		if len(wanted) > 2 && len(have) > 2 &&
			(strings.Contains(string(have), string(wanted)) || strings.Contains(string(wanted), string(have))) {
			cost = min(cost, 1) // grep in grep_search is nearer than any other word
		}
		all = append(all, candidate{c, cost})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range all[:min(3, len(all))] {
		out = append(out, c.name)
	}
	return out
}
