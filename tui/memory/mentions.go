package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/lathe-agent/lathe"
)

// mostMentions is how many files are remembered.
const mostMentions = 1000

// mention is how often and when a file was mentioned.
type mention struct {
	Path  string     `json:"path"`
	Count int        `json:"frequency"`
	Last  lathe.Time `json:"lastOpen"`
}

// Mentions is how often and how lately files were mentioned. The zero value knows none.
type Mentions struct{ by map[string]mention }

// Mentions reads which files were mentioned.
func (m *Memory) Mentions() (Mentions, error) {
	data, err := m.read(mentionsFile)
	f, _ := mentionsOf(data)
	return f, err
}

// mentionsOf parses the mentions file, in which a path may occur several times.
func mentionsOf(data []byte) (f Mentions, broken int) {
	all, broken := parseLines(data, func(f mention) bool { return f.Path != "" && f.Count > 0 })
	by := make(map[string]mention, len(all))
	for _, one := range all {
		// Two processes may have counted at the same time; take the higher count.
		was := by[one.Path]
		by[one.Path] = mention{one.Path, max(one.Count, was.Count), max(one.Last, was.Last)}
	}
	return Mentions{by}, broken
}

// Add counts a mention. Paths are whatever the caller calls the files by, best from their root on.
func (f Mentions) Add(path string, now lathe.Time) Mentions {
	by := make(map[string]mention, len(f.by)+1)
	maps.Copy(by, f.by)
	by[path] = mention{path, f.by[path].Count + 1, now}
	return Mentions{by}
}

// SaveMention saves a mention; f must include it.
func (m *Memory) SaveMention(ctx context.Context, f Mentions, path string) error {
	v, ok := f.by[path]
	if !ok {
		return nil
	}
	return appendLine(ctx, m, mentionsFile, v, mostMentions, func(data []byte) ([]byte, int, error) {
		known, broken := mentionsOf(data)
		all := make([]mention, 0, len(known.by))
		for _, v := range known.by {
			all = append(all, v)
		}
		slices.SortFunc(all, func(a, b mention) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Path, b.Path)) })
		kept, err := encodeLines(latest(all, mostMentions))
		return kept, broken, err
	})
}

// day is the time after which a count is worth half.
const day = 24 * 60 * 60 * 1000

// score is the relevance of a file: by frequency, and more by recency.
func (f Mentions) score(path string, now lathe.Time) float64 {
	v, ok := f.by[path]
	if !ok {
		return 0
	}
	return float64(v.Count) / (1 + max(0, float64(now-v.Last))/day)
}

// Sort puts those first that were mentioned often and lately; the others keep their order. name tells how an entry of
// the list is called in f.
func Sort[T any](f Mentions, list []T, now lathe.Time, name func(T) string) []T {
	if len(f.by) == 0 {
		return list
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b T) int { return cmp.Compare(f.score(name(b), now), f.score(name(a), now)) })
	return out
}
