package builtin

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/tool"
)

// maxEntries is how many entries of a directory are looked at.
const maxEntries = 100_000

// dirDisplay is what clients show of a directory.
type dirDisplay struct {
	Type         string   `json:"type"`
	Path         string   `json:"path"`
	Entries      []string `json:"entries"`
	Offset       int      `json:"offset"`
	TotalEntries int      `json:"totalEntries"`
	Truncated    bool     `json:"truncated"`
}

// directory lists entries.
func (r readRun) directory() (tool.Result, error) {
	all, err := r.target.ReadDir(maxEntries + 1)
	if err != nil {
		return tool.Result{}, tool.Failf("Cannot list %s: %w.", r.target.Shown, err)
	}
	sortEntries(all)
	total := min(len(all), maxEntries)
	most := ""
	if len(all) > maxEntries {
		most = "more than "
	}
	if r.first > max(total, 1) {
		return tool.Result{}, tool.Failf("Offset %d is past the end of %s: it has %s. Call read with an offset from 1 to %d.",
			r.first, r.target.Shown, entryWords(total), max(total, 1))
	}
	shown := []string{}
	size := 0
	for _, e := range all[min(r.first-1, total):total] {
		name := r.entry(e)
		if size += len(name) + 1; len(shown) == r.limit || size > readBytes {
			break
		}
		shown = append(shown, name)
	}
	next := r.first + len(shown)
	truncated := next <= total || most != ""
	closing := entryWords(total)
	if truncated {
		closing = fmt.Sprintf("Showing %d of %s%s. Use offset=%d to continue.", len(shown), most, entryWords(total), next)
	}
	out := fmt.Sprintf("<path>%s</path>\n<type>directory</type>\n<entries>\n%s\n\n(%s)\n</entries>",
		r.target.Shown, strings.Join(shown, "\n"), closing)
	return r.result(out, readMeta{
		Preview: strings.Join(shown[:min(len(shown), previewSize)], "\n"), Truncated: truncated,
		Display: dirDisplay{
			Type: "directory", Path: r.target.Shown, Entries: shown, Offset: r.first,
			TotalEntries: total, Truncated: truncated,
		},
	}, nil)
}

// entry is how a name is shown: directories, also behind a symlink, end in a slash, and what
// would break the list is quoted.
func (r readRun) entry(e fs.DirEntry) string {
	name := e.Name()
	dir := e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := os.Stat(filepath.Join(r.target.Path, name)) // only its kind is shown
		dir = err == nil && info.IsDir()
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		name = strconv.Quote(name)
	}
	if dir {
		name += "/"
	}
	return name
}

// sortEntries sorts as people do: letters before their case.
func sortEntries(list []fs.DirEntry) {
	slices.SortFunc(list, func(a, b fs.DirEntry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name()), strings.ToLower(b.Name())), strings.Compare(a.Name(), b.Name()))
	})
}

func entryWords(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
