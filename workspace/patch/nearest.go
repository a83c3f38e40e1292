package patch

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// nearest returns where in a list of lines the ones wanted may have been meant to be: the first
// line, which may lie before the list or run over its end; false if nothing is similar.
//
// Lines that are equal but for white space, capitals and typesetting vote for a place, the long
// and rare ones with more weight. If there are none, the line most like one of those wanted
// decides.
func nearest(lines, want []string, work *budget) (int, bool) {
	wanted := map[string][]int{}
	for j, line := range want {
		if key := squeeze(line); key != "" {
			wanted[key] = append(wanted[key], j)
		}
	}
	found := map[string][]int{}
	var key []byte
	for i, line := range lines {
		if !work.spend(20 + 4*len(line)) {
			break
		}
		key = squeezed(key[:0], line)
		if wanted[string(key)] != nil && len(found[string(key)]) < 100 {
			found[string(key)] = append(found[string(key)], i)
		}
	}
	votes := map[int]float64{}
	for j, line := range want { // sorted: sums of floats depend on the order
		key := squeeze(line)
		at := found[key]
		for _, i := range at {
			votes[i-j] += float64(min(len(key), 40)) / float64(len(at)*len(wanted[key]))
		}
	}
	best, most := 0, 0.0
	for start, weight := range votes {
		if weight > most || weight == most && start < best {
			best, most = start, weight
		}
	}
	if most >= 3 { // more than a bracket that happens to be somewhere
		return best, true
	}
	return mostAlike(lines, want, work)
}

// mostAlike finds the line that has the most in common with one of the longest lines wanted.
func mostAlike(lines, want []string, work *budget) (int, bool) {
	order := make([]int, len(want))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(want[b]) - len(want[a]) })
	best, start, ok := 0.4, 0, false
	var buf []byte
	for _, j := range order[:min(3, len(order))] {
		key := squeeze(want[j])
		if utf8.RuneCountInString(key) < 4 || !work.spend(1<<16) {
			continue
		}
		wanted := newPairs(key)
		for i, line := range lines {
			if !work.spend(20 + 8*len(line)) {
				return start, ok
			}
			buf = squeezed(buf[:0], line)
			if share := wanted.overlap(buf); share > best {
				best, start, ok = share, i-j, true
			}
		}
	}
	return start, ok
}

// pairs counts the neighboring bytes of a text, to compare it with many others.
type pairs struct {
	counts [1 << 16]uint16
	all    int
}

func newPairs(text string) *pairs {
	p := &pairs{all: len(text) - 1}
	for i := range p.all {
		if at := pair(text[i], text[i+1]); p.counts[at] < 1<<16-1 {
			p.counts[at]++
		}
	}
	return p
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// overlap is the share of pairs that the two texts have in common.
func (p *pairs) overlap(text []byte) float64 {
	n := len(text) - 1
	if n < 1 || n > 4*p.all || p.all > 4*n {
		return 0
	}
	var took []int
	var few [256]int
	if n <= len(few) {
		took = few[:0]
	}
	for i := range n {
		if at := pair(text[i], text[i+1]); p.counts[at] > 0 {
			p.counts[at]--
			took = append(took, at)
		}
	}
	for _, at := range took { // as it was, for the next
		p.counts[at]++
	}
	return 2 * float64(len(took)) / float64(p.all+n)
}

// unlike says in words what kind of difference lies between two runs of lines, if it is of one
// kind; "" if not.
func unlike(have, want []string) string {
	equal := func(f func(string) string) bool {
		if len(have) == 1 && len(want) == 1 { // it may be a part of the line
			return strings.Contains(f(have[0]), f(want[0]))
		}
		return slices.EqualFunc(have, want, func(a, b string) bool { return f(a) == f(b) })
	}
	both := func(fs ...func(string) string) func(string) string {
		return func(s string) string {
			for _, f := range fs {
				s = f(s)
			}
			return s
		}
	}
	switch {
	case equal(strings.TrimSpace):
		return "only the white space at the ends of lines differs"
	case equal(collapse):
		return "only white space differs"
	case equal(both(foldPunctuation, collapse)):
		return "only quotes, dashes or spaces differ: " + typeset(have, want)
	case equal(both(strings.ToLower, collapse)):
		return "only upper and lower case differ"
	case equal(both(unescape, collapse)):
		return "only backslash escapes differ"
	case equal(squeeze):
		return "only white space, case or typographic signs differ"
	}
	return ""
}

// typeset names the first sign that is typeset on one side only.
func typeset(have, want []string) string {
	file, given := strings.Join(have, "\n"), strings.Join(want, "\n")
	for _, r := range given {
		if plain := foldRune(r); plain != string(r) && !strings.ContainsRune(file, r) {
			return "oldString has " + sign(r) + " where the file has " + strconv.Quote(plain)
		}
	}
	for _, r := range file {
		if plain := foldRune(r); plain != string(r) && !strings.ContainsRune(given, r) {
			return "the file has " + sign(r) + " where oldString has " + strconv.Quote(plain)
		}
	}
	return "they are typeset in different places"
}
