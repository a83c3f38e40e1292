package phrase

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Similar returns up to three ids that are like the wanted one, best first.
func Similar(want string, ids []string) []string {
	want = strings.ToLower(want)
	far := map[string]int{}
	for _, id := range ids {
		low := strings.ToLower(id)
		d := Distance([]byte(want), []byte(low))
		if want != "" && (strings.Contains(low, want) || strings.Contains(want, low)) {
			d = min(d, 2)
		}
		if limit := max(2, min(len(want), len(low))/3); d <= limit {
			far[id] = d
		}
	}
	out := slices.SortedFunc(maps.Keys(far), func(a, b string) int { return cmp.Or(far[a]-far[b], cmp.Compare(a, b)) })
	return out[:min(3, len(out))]
}

// DidYouMean ends a sentence with a question, or only ends it.
func DidYouMean(ids []string) string {
	switch len(ids) {
	case 0:
		return ";"
	case 1:
		return ", did you mean " + ids[0] + "?"
	}
	last := len(ids) - 1
	return ", did you mean " + strings.Join(ids[:last], ", ") + " or " + ids[last] + "?"
}
