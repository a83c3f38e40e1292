package acp

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/acp/wire"
)

// hunk is a passage of a file before and after a change.
type hunk struct {
	line     int64 // the first line after the change, from 1
	old, new string
}

// hunks reads the passages of a unified diff. Lines it does not know end a passage.
func hunks(patch string) (out []hunk) {
	var before, after strings.Builder
	var open *hunk
	flush := func() {
		if open != nil && before.String() != after.String() {
			open.old, open.new = before.String(), after.String()
			out = append(out, *open)
		}
		open = nil
		before.Reset()
		after.Reset()
	}
	last := byte(' ')
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "@@") {
			flush()
			open = &hunk{line: newLine(line)}
			continue
		}
		if open == nil {
			continue
		}
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		case ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		case '\\': // the line before has no line end
			trimEnd(&before, last != '+')
			trimEnd(&after, last != '-')
			continue
		default:
			flush()
			continue
		}
		last = line[0]
	}
	flush()
	return out
}

// trimEnd removes the line end of the last line.
func trimEnd(b *strings.Builder, do bool) {
	if !do {
		return
	}
	text := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	b.WriteString(text)
}

// newLine reads the second number of "@@ -1,2 +3,4 @@".
func newLine(head string) int64 {
	_, rest, _ := strings.Cut(head, "+")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return 1
	}
	n, err := strconv.ParseInt(rest[:end], 10, 64)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// fileChange is the change of one file as tools report it.
type fileChange struct {
	path, patch string
	isNew       bool
}

// diffs returns the passages of a change, and where they are in the file.
func (c fileChange) diffs() (content []wire.ToolCallContent, at []wire.ToolCallLocation) {
	for _, h := range hunks(c.patch) {
		d := &wire.Diff{Path: c.path, NewText: h.new}
		if !c.isNew {
			d.OldText = &h.old
		}
		content = append(content, wire.ToolCallContent{Diff: d})
		at = append(at, location(c.path, h.line))
	}
	return content, at
}

// location is a place in a file; a line of 0 is the whole file.
func location(path string, line int64) wire.ToolCallLocation {
	l := wire.ToolCallLocation{Path: path}
	if line > 0 {
		l.Line = &line
	}
	return l
}
