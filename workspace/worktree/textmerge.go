package worktree

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// region is a change of one side: lines [from, to) of the base become text.
type region struct {
	from, to int
	text     []string
}

// Both sides are compared with the base, which gives two lists of regions. Regions of different sides that neither
// overlap nor meet are independent, and both are applied. The others are joined into clusters. A cluster in which both
// sides end up with the same text is no conflict: two agents often make the same small correction. Regions that only
// meet are taken for a conflict, as git does, because the order of two insertions at one place is a decision.
//
// The result has the line endings of the side that a line came from. A last line without an end gets one only inside of
// a conflict, where a marker must follow it.

// mergeText merges two changes of a text line by line. Where both changed the same lines in different ways
// the result has both versions between markers; conflicts counts those places.
func mergeText(base, our, their, ourName, theirName string) (merged string, conflicts int) {
	lines := splitLines(base)
	a, b := regions(base, lines, our), regions(base, lines, their)
	var out strings.Builder
	at := 0
	copyTo := func(line int) {
		for ; at < line; at++ {
			out.WriteString(lines[at])
		}
	}
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && !touches(a[0], b[0]) && before(a[0], b[0]) {
			copyTo(a[0].from)
			out.WriteString(strings.Join(a[0].text, ""))
			at, a = a[0].to, a[1:]
			continue
		}
		if len(a) == 0 || !touches(a[0], b[0]) {
			copyTo(b[0].from)
			out.WriteString(strings.Join(b[0].text, ""))
			at, b = b[0].to, b[1:]
			continue
		}
		var x, y []region
		x, y, a, b = cluster(a, b)
		from, to := min(x[0].from, y[0].from), max(x[len(x)-1].to, y[len(y)-1].to)
		copyTo(from)
		one, two := apply(lines, x, from, to), apply(lines, y, from, to)
		at = to
		if one == two {
			out.WriteString(one)
			continue
		}
		conflicts++
		out.WriteString("<<<<<<< " + ourName + "\n" + endLine(one) + "=======\n" + endLine(two) + ">>>>>>> " + theirName + "\n")
	}
	copyTo(len(lines))
	return out.String(), conflicts
}

// endLine keeps a marker from standing behind the last line of a text.
func endLine(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}

// before orders two changes that do not touch.
func before(a, b region) bool { return a.from < b.from || a.from == b.from && a.to <= b.to }

// touches reports whether two changes overlap or meet, so that their order would matter.
func touches(a, b region) bool { return a.from <= b.to && b.from <= a.to }

// cluster takes the regions of both sides that overlap each other, directly or through others.
func cluster(a, b []region) (x, y, restA, restB []region) {
	x, y, a, b = a[:1], b[:1], a[1:], b[1:]
	for {
		end := max(x[len(x)-1].to, y[len(y)-1].to)
		switch {
		case len(a) > 0 && a[0].from <= end && touches(region{from: min(x[0].from, y[0].from), to: end}, a[0]):
			x, a = x[:len(x)+1], a[1:]
		case len(b) > 0 && b[0].from <= end && touches(region{from: min(x[0].from, y[0].from), to: end}, b[0]):
			y, b = y[:len(y)+1], b[1:]
		default:
			return x, y, a, b
		}
	}
}

// apply returns the lines [from, to) of the base with the changes of one side.
func apply(lines []string, changes []region, from, to int) string {
	var out strings.Builder
	at := from
	for _, c := range changes {
		for ; at < c.from; at++ {
			out.WriteString(lines[at])
		}
		out.WriteString(strings.Join(c.text, ""))
		at = c.to
	}
	for ; at < to; at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

// regions compares a text with the base, in whole lines.
func regions(base string, lines []string, now string) (out []region) {
	if base == now {
		return nil
	}
	starts := make(map[int]int, len(lines)+1) // offset of a line to its number
	offset := 0
	for i, l := range lines {
		starts[offset] = i
		offset += len(l)
	}
	starts[offset] = len(lines)
	for _, e := range udiff.Lines(base, now) {
		from, ok := starts[e.Start]
		to, ok2 := starts[e.End]
		if !ok || !ok2 { // not whole lines: everything is one change
			return []region{{to: len(lines), text: []string{now}}}
		}
		out = append(out, region{from: from, to: to, text: []string{e.New}})
	}
	return out
}

// splitLines keeps the line endings, so that texts can be joined again.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
