package builtin

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// span is lines of an old text that became other lines.
type span struct{ from, to, newFrom, newTo int }

// spans compares two lists of lines. The library finds the best way only as long as there are
// few changes, and gives up for the whole rest after that; so what lies between two lines
// that each text has exactly once is compared by itself.
func spans(before, after []string) []span {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	before, after = before[:len(before)-tail], after[:len(after)-tail]
	var out []span
	at := pair{head, head}
	for _, p := range append(anchors(before, after, head), pair{len(before), len(after)}) {
		out = append(out, between(before, after, at, p)...)
		at = pair{p.old + 1, p.new + 1}
	}
	return out
}

// between compares the lines from one pair up to another.
func between(before, after []string, a, b pair) []span {
	if a.old >= b.old && a.new >= b.new {
		return nil
	}
	if a.old == b.old || a.new == b.new {
		return []span{{a.old, b.old, a.new, b.new}}
	}
	var out []span
	for _, d := range lcs.DiffLines(before[a.old:b.old], after[a.new:b.new]) {
		out = append(out, span{a.old + d.Start, a.old + d.End, a.new + d.ReplStart, a.new + d.ReplEnd})
	}
	return out
}

// pair is a line that both texts have.
type pair struct{ old, new int }

// anchors returns lines that are in each text once, as many as are in the same order.
func anchors(before, after []string, head int) []pair {
	const twice = -1
	where := map[string]int{}
	for i, line := range after[head:] {
		if _, ok := where[line]; ok {
			where[line] = twice
		} else {
			where[line] = head + i
		}
	}
	first := map[string]int{}
	for i, line := range before[head:] {
		if _, ok := first[line]; ok {
			where[line] = twice
		} else {
			first[line] = head + i
		}
	}
	var pairs []pair
	for i, line := range before[head:] {
		if at, ok := where[line]; ok && at != twice {
			pairs = append(pairs, pair{head + i, at})
		}
	}
	return rising(pairs)
}

// rising returns the longest run of pairs whose new lines rise as their old ones do.
func rising(pairs []pair) []pair {
	prev := make([]int, len(pairs)) // of each pair, the one before it in its run; -1 for none
	var ends []int                  // of the runs of each length, the pair with the smallest new line
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.new, func(e, line int) int { return pairs[e].new - line })
		prev[i] = -1
		if n > 0 {
			prev[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([]pair, len(ends))
	for i, n := ends[len(ends)-1], len(out)-1; n >= 0; i, n = prev[i], n-1 {
		out[n] = pairs[i]
	}
	return out
}
