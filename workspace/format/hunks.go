package format

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
)

// hunk replaces the lines [from, to) of a text.
type hunk struct {
	from, to int
	with     []string
}

// keepOverlapping returns the edited text with those changes of the formatter that overlap the edit.
func keepOverlapping(before, edited, formatted string) string {
	touched := editedLines(before, edited)
	lines := splitLines(edited)
	var out []string
	at := 0
	for _, h := range hunks(lines, splitLines(formatted)) {
		out = append(out, lines[at:h.from]...)
		if touched(h.from, h.to) {
			out = append(out, h.with...)
		} else {
			out = append(out, lines[h.from:h.to]...)
		}
		at = h.to
	}
	return strings.Join(append(out, lines[at:]...), "")
}

// editedLines returns a function that reports whether a range of lines of the edited text overlaps the edit.
func editedLines(before, edited string) func(from, to int) bool {
	var spans [][2]int
	for _, h := range lineDiff(splitLines(before), splitLines(edited), func(s string) string { return s }) {
		spans = append(spans, [2]int{h.newFrom, h.newTo})
	}
	return func(from, to int) bool {
		for _, s := range spans {
			// An empty range touches the lines on both sides of it.
			if from < s[1] && s[0] < to || from == to && s[0] <= from && from <= s[1] || s[0] == s[1] && from <= s[0] && s[0] <= to {
				return true
			}
		}
		return false
	}
}

// hunks returns the differences between two texts in the smallest parts: lines that differ only in layout are paired, each
// is a hunk of its own.
func hunks(a, b []string) (out []hunk) {
	i, j := 0, 0
	pairs := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			if a[i] != b[j] {
				out = append(out, hunk{i, i + 1, b[j : j+1]})
			}
		}
	}
	for _, d := range lineDiff(a, b, layoutFree) {
		if d.oldTo-d.oldFrom == d.newTo-d.newFrom { // line by line; a wrong guess does not pass the second run
			pairs(d.oldTo)
			continue
		}
		pairs(d.oldFrom)
		out = append(out, hunk{d.oldFrom, d.oldTo, b[d.newFrom:d.newTo]})
		i, j = d.oldTo, d.newTo
	}
	pairs(len(a))
	return out
}

// layoutFree is a line without the characters that formatters change freely.
func layoutFree(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("'\"`,;()", r) {
			return -1
		}
		return r
	}, line)
}

// difference is a part of two lists of lines that differs.
type difference struct{ oldFrom, oldTo, newFrom, newTo int }

// lineDiff compares two lists of lines by a key of each.
func lineDiff(a, b []string, key func(string) string) (out []difference) {
	text := func(lines []string) string {
		var s strings.Builder
		for _, line := range lines {
			s.WriteString(strings.ReplaceAll(key(line), "\n", ""))
			s.WriteByte('\n')
		}
		return s.String()
	}
	before, after := text(a), text(b)
	shift := 0
	for _, e := range udiff.Lines(before, after) {
		d := difference{oldFrom: strings.Count(before[:e.Start], "\n"), oldTo: strings.Count(before[:e.End], "\n")}
		d.newFrom = d.oldFrom + shift
		d.newTo = d.newFrom + strings.Count(e.New, "\n")
		shift += d.newTo - d.newFrom - (d.oldTo - d.oldFrom)
		out = append(out, d)
	}
	return out
}

// changedSpans returns the lines of a text that differ from another.
func changedSpans(before, after string) (out []Span) {
	for _, d := range lineDiff(splitLines(before), splitLines(after), func(s string) string { return s }) {
		out = append(out, Span{d.newFrom + 1, d.newTo})
	}
	return out
}

// splitLines splits a text into lines with their ends.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}
