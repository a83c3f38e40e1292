package run

import (
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// minColumn is the narrowest column in which a patch can be read.
const minColumn = 38

// printDiffs prints the changes of all tries, file by file: side by side where the terminal is wide enough, else below
// each other.
func printDiffs(a *cli.App, all []*try) {
	var files []string
	heads := make([]string, len(all))
	for i, t := range all {
		heads[i] = t.Name + "  " + t.Model
		for _, d := range t.Diffs {
			if !slices.Contains(files, d.File) {
				files = append(files, d.File)
			}
		}
	}
	width := (a.Width() - 3*(len(all)-1)) / len(all)
	for _, file := range files {
		a.Printf("\n== %s\n", termtext.Plain(file))
		patches := make([]string, len(all))
		for i, t := range all {
			patches[i] = t.patchOf(file)
		}
		if len(all) > 1 && width >= minColumn {
			a.Printf("%s", besideEachOther(heads, patches, width))
			continue
		}
		for i, patch := range patches {
			a.Printf("-- %s\n%s\n", termtext.Plain(heads[i]), termtext.PlainText(patch))
		}
	}
}

// patchOf is what the try changed in a file.
func (t *try) patchOf(file string) string {
	at := slices.IndexFunc(t.Diffs, func(d lathe.FileDiff) bool { return d.File == file })
	switch {
	case at < 0:
		return "(not changed)"
	case t.Diffs[at].Patch == "":
		return "(" + t.Diffs[at].Status + ")" // binary, empty or too large
	default:
		return strings.TrimRight(t.Diffs[at].Patch, "\n")
	}
}

// besideEachOther lays patches out as columns. Lines that are too long continue in the next row.
func besideEachOther(heads, patches []string, width int) string {
	columns, rows := make([][]string, len(patches)), 0
	for i, patch := range patches {
		columns[i] = append(wrapColumn(heads[i], width), strings.Repeat("─", width))
		for line := range strings.Lines(patch) {
			columns[i] = append(columns[i], wrapColumn(strings.TrimRight(line, "\r\n"), width)...)
		}
		rows = max(rows, len(columns[i]))
	}
	var b strings.Builder
	for row := range rows {
		line := make([]string, len(columns))
		for i, c := range columns {
			if row < len(c) {
				line[i] = c[row]
			}
			line[i] = termtext.Pad(line[i], width)
		}
		b.WriteString(strings.TrimRight(strings.Join(line, " │ "), " ") + "\n")
	}
	return b.String()
}

// wrapColumn cuts a line into pieces of a width.
func wrapColumn(line string, width int) (out []string) {
	line = termtext.Plain(strings.ReplaceAll(line, "\t", "    "))
	var piece strings.Builder
	used := 0
	for _, c := range termtext.Clusters(line) {
		if used+c.Width > width && used > 0 {
			out = append(out, piece.String())
			piece.Reset()
			used = 0
		}
		piece.WriteString(c.Text)
		used += c.Width
	}
	return append(out, piece.String())
}
