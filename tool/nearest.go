package tool

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns up to n of the names, the most similar first.
func nearest(name string, names []string, n int) []string {
	const longest = 64 // no tool has a longer name, and a model may send anything
	wanted := []rune(folded(clip(name)))
	wanted = wanted[:min(len(wanted), longest)]
	type candidate struct {
		name string
		cost int
	}
	var all []candidate
	for _, c := range names {
		have := []rune(folded(clip(c)))
		cost := distance(wanted, have)
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
	for _, c := range all[:min(n, len(all))] {
		out = append(out, c.name)
	}
	return out
}

// distance is how many characters must be changed, added or removed to make b of a.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal = row[j+1]
			row[j+1] = cost
		}
	}
	return row[len(b)]
}
