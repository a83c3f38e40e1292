package snapshot

import (
	"bytes"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/lathe-agent/lathe"
)

const (
	// maxDiff is the largest text that is compared line by line.
	maxDiff = 8 << 20
	// binaryHead is how many bytes git reads to tell text from binary.
	binaryHead = 8000
	// textContext is the number of context lines in a diff for people.
	textContext = 3
)

// Diffs shows the changes of steps, for each file from before the first step to after the last. It
// leaves out what a person edited between two steps.
func (w *Worktree) Diffs(ctx context.Context, steps []StepRef) ([]lathe.FileDiff, error) {
	files, _, err := w.t.histories(ctx, steps)
	if err != nil {
		return nil, err
	}
	var out []lathe.FileDiff
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if d, ok := w.t.fileDiff(rel, netChanges(files[rel].changes), math.MaxInt32); ok {
			out = append(out, d)
		}
	}
	return out, nil
}

// fileDiff shows the changes of one file. It reports false if it has none.
func (t *sharedTree) fileDiff(rel string, spans []fileChange, context int) (lathe.FileDiff, bool) {
	d := lathe.FileDiff{File: rel}
	if len(spans) == 0 {
		return d, false
	}
	first, last := spans[0].Before, spans[len(spans)-1].After
	switch {
	case first.absent() && last.absent():
		return d, false
	case first.absent():
		d.Status = "added"
	case last.absent():
		d.Status = "deleted"
	default:
		d.Status = "modified"
	}
	for _, s := range spans {
		before, ok := t.text(s.Before)
		after, ok2 := t.text(s.After)
		if !ok || !ok2 {
			return lathe.FileDiff{File: rel, Status: d.Status}, true
		}
		patch, added, deleted := unified(rel, before, after, context)
		d.Patch += patch
		d.Additions += added
		d.Deletions += deleted
	}
	return d, true
}

// text returns a content as text. It reports false for binary, too large or missing contents.
func (t *sharedTree) text(s state) (string, bool) {
	if s.absent() {
		return "", true
	}
	id, ok := parseOID(s.ID)
	if !ok {
		return "", false
	}
	data, err := t.objects.blob(id)
	if err != nil || len(data) > maxDiff || bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0 {
		return "", false
	}
	return string(data), true
}

// unified compares two texts and counts added and removed lines.
func unified(rel, before, after string, context int) (patch string, added, deleted int) {
	if before == after {
		return "", 0, 0
	}
	context = min(context, 1+strings.Count(before, "\n")) // it counts them one by one
	u, err := udiff.ToUnifiedDiff("a/"+rel, "b/"+rel, before, udiff.Lines(before, after), context)
	if err != nil {
		return "", 0, 0
	}
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				deleted++
			case udiff.Equal:
			}
		}
	}
	return u.String(), added, deleted
}

// diffText formats changes for people: a header for each file, and the changed lines with some context.
func (t *sharedTree) diffText(files []fileTrace) string {
	var b strings.Builder
	for _, f := range files {
		spans := netChanges(f.Changes)
		d, ok := t.fileDiff(f.Path, spans, textContext)
		if !ok {
			continue
		}
		first, last := spans[0].Before, spans[len(spans)-1].After
		b.WriteString("diff --git a/" + f.Path + " b/" + f.Path + "\n")
		b.WriteString(modeLines(first, last))
		_, okFirst := t.text(first)
		_, okLast := t.text(last)
		if !okFirst || !okLast {
			b.WriteString("Binary files differ\n")
			continue
		}
		b.WriteString(d.Patch)
	}
	return strings.TrimSpace(b.String())
}

func modeLines(before, after state) string {
	switch {
	case before.absent():
		return "new file mode " + octal(after.Mode) + "\n"
	case after.absent():
		return "deleted file mode " + octal(before.Mode) + "\n"
	case before.Mode != after.Mode:
		return "old mode " + octal(before.Mode) + "\nnew mode " + octal(after.Mode) + "\n"
	}
	return ""
}
