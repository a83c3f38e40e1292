package patch

import (
	"slices"
	"strings"
)

// passes are the ways two lines may be equal, the strictest first.
func passes() []func(string) string {
	trimEnd := func(s string) string { return strings.TrimRight(s, " \t\r\n\v\f\u00a0") }
	return []func(string) string{
		func(s string) string { return s },
		trimEnd,
		strings.TrimSpace,
		func(s string) string { return strings.TrimSpace(foldPunctuation(s)) },
	}
}

// seeker finds lines in a file.
type seeker struct {
	lines []string // without the empty one after the last \n
	keys  [][]string
	work  *budget
}

// key returns the lines as a pass compares them.
func (k *seeker) key(pass int) []string {
	if k.keys[pass] == nil {
		k.keys[pass] = make([]string, len(k.lines))
		for i, line := range k.lines {
			k.work.spend(4 + len(line))
			k.keys[pass][i] = passes()[pass](line)
		}
	}
	return k.keys[pass]
}

// find returns where the lines wanted are, at or after from, by the first pass that finds any. At
// the end of the file is the only place if that was said and they are there.
func (k *seeker) find(want []string, from int, end bool) []int {
	for pass, f := range passes() {
		keys := k.key(pass)
		folded := make([]string, len(want))
		for i, line := range want {
			folded[i] = f(line)
		}
		if tail := len(keys) - len(want); end && tail >= from && slices.Equal(keys[tail:], folded) {
			return []int{tail}
		}
		if out := runs(keys, folded, from, maxHits, k.work); len(out) > 0 || k.work.spent() {
			return out
		}
	}
	return nil
}

// runs returns where the keys wanted stand in a row, at or after from; nil where the work is too much.
func runs(keys, want []string, from, most int, work *budget) []int {
	var out []int
	for i := from; i+len(want) <= len(keys) && len(out) < most; i++ {
		n := 0
		for n < len(want) && keys[i+n] == want[n] {
			n++
		}
		if !work.spend(2 + 8*n) {
			return nil
		}
		if n == len(want) {
			out = append(out, i)
		}
	}
	return out
}

// anchors returns the places below each line that an anchor may be, at or after from. Where no
// line is the anchor, a single one that begins with it will do.
func (k *seeker) anchors(text string, from int) []int {
	out := k.find([]string{text}, from, false)
	if len(out) == 0 {
		head := strings.TrimSpace(foldPunctuation(text))
		for i, line := range k.key(len(passes()) - 1)[min(from, len(k.lines)):] {
			if k.work.spend(4) && strings.HasPrefix(line, head) && !insideWord(line, span{0, len(head)}) {
				out = append(out, from+i)
			}
		}
		if len(out) > 1 {
			return nil
		}
	}
	below := make([]int, len(out))
	for i, at := range out {
		below[i] = at + 1
	}
	return below
}

// place is where a hunk goes, and how its lines were read.
type place struct {
	at    int
	lines []Line
}

// seek finds the place of a hunk at or after a line. All of its places are returned where nothing
// tells them apart.
func (k *seeker) seek(h *Hunk, from int) []place {
	if len(quoted(h.Lines)) == 0 {
		return []place{{at: len(k.lines), lines: h.Lines}}
	}
	starts := []int{from}
	for i, text := range h.Anchors {
		starts = k.anchors(text, starts[0])
		if len(starts) == 0 {
			return nil
		}
		if len(h.Anchors) > 1 || i > 0 {
			starts = starts[:1] // an inner anchor is the first one below the outer
		}
	}
	for _, lines := range h.variants() {
		want := quoted(lines)
		var out []place
		found := k.below
		if len(h.Anchors) == 0 {
			found = func(want []string, starts []int, end bool) []int { return k.find(want, starts[0], end) }
		}
		for _, at := range found(want, starts, h.End) {
			out = append(out, place{at, lines})
		}
		if len(out) > 0 || k.work.spent() {
			return out
		}
	}
	return nil
}

// below returns, for each start, the first place after it where the lines are; or the start's own
// line, which models repeat below the anchor.
func (k *seeker) below(want []string, starts []int, end bool) []int {
	var out []int
	for _, start := range starts[:min(len(starts), 100)] {
		found := k.find(want, start, end)
		if own := k.find(want, start-1, false); len(own) > 0 && own[0] == start-1 {
			found = own
		}
		if len(found) > 0 && !slices.Contains(out, found[0]) {
			out = append(out, found[0])
		}
		if k.work.spent() {
			return nil
		}
	}
	return out
}
