package builtin

import (
	"fmt"
	"math"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// change is the change of a text, as clients show it.
type change struct {
	Diff                 string // unified; without the indentation that all of its lines share
	Additions, Deletions int    // lines
}

// diffBytes is how large a diff may be before further hunks are left out of it. They are
// counted all the same.
const diffBytes = 1 << 20

// diffContext is how many lines that stayed are shown around a change.
const diffContext = 4

// changeOf compares two texts of one file. Marks at their beginning and bytes that are no
// characters do not count.
func changeOf(path, before, after string) change {
	before = strings.ToValidUTF8(strings.TrimPrefix(before, phrase.BOM), "\ufffd")
	after = strings.ToValidUTF8(strings.TrimPrefix(after, phrase.BOM), "\ufffd")
	d := diffRun{old: splitLines(before), new: splitLines(after)}
	d.compare()
	var c change
	var out strings.Builder
	fmt.Fprintf(&out, "Index: %s\n%s\n--- %[1]s\n+++ %[1]s\n", path, strings.Repeat("=", 67))
	shared := d.indentation()
	for _, h := range d.hunks {
		if out.Len() < diffBytes {
			h.write(&out, shared)
		}
		c.Additions += h.added
		c.Deletions += h.removed
	}
	c.Diff = out.String()
	return c
}

// diffRun compares two lists of lines.
type diffRun struct {
	old, new []string // each line with its end
	hunks    []*hunk
}

// hunk is some lines of both texts with what differs.
type hunk struct {
	from, to       int // first lines, counted from 0
	lines          []diffLine
	added, removed int
}

type diffLine struct {
	mark byte // ' ', '+' or '-'
	text string
}

func (d *diffRun) compare() {
	var h *hunk
	last := 0  // the first old line that is not in h
	shift := 0 // how many lines further down the new text is
	for _, s := range spans(d.old, d.new) {
		if h == nil || s.from-last > 2*diffContext {
			d.close(h, last)
			last = max(s.from-diffContext, 0)
			h = &hunk{from: last, to: last + shift}
			d.hunks = append(d.hunks, h)
		}
		h.put(' ', d.old[last:s.from])
		h.put('-', d.old[s.from:s.to])
		h.put('+', d.new[s.newFrom:s.newTo])
		h.removed += s.to - s.from
		h.added += s.newTo - s.newFrom
		shift += (s.newTo - s.newFrom) - (s.to - s.from)
		last = s.to
	}
	d.close(h, last)
}

// close adds the lines that follow the last change of a hunk.
func (d *diffRun) close(h *hunk, last int) {
	if h == nil {
		return
	}
	h.put(' ', d.old[last:min(last+diffContext, len(d.old))])
}

func (h *hunk) put(mark byte, lines []string) {
	for _, l := range lines {
		h.lines = append(h.lines, diffLine{mark, l})
	}
}

// indentation is how many bytes of white space all lines begin with, blank ones aside.
func (d *diffRun) indentation() int {
	least := math.MaxInt
	for _, h := range d.hunks {
		for _, l := range h.lines {
			body := strings.TrimLeft(l.text, " \t")
			if strings.TrimSpace(body) != "" {
				least = min(least, len(l.text)-len(body))
			}
		}
	}
	if least == math.MaxInt {
		return 0
	}
	return least
}

func (h *hunk) write(out *strings.Builder, shared int) {
	unchanged := len(h.lines) - h.added - h.removed
	from, to := h.from+1, h.to+1
	if unchanged+h.removed == 0 { // nothing of the old text is shown, so the line before is named
		from--
	}
	if unchanged+h.added == 0 {
		to--
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", from, unchanged+h.removed, to, unchanged+h.added)
	for _, l := range h.lines {
		text, ended := strings.CutSuffix(l.text, "\n")
		out.WriteByte(l.mark)
		out.WriteString(text[min(shared, len(text)):])
		out.WriteByte('\n')
		if !ended {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// splitLines splits a text into lines that keep their ends.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
