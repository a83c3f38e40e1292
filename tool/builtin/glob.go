package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/search"
)

//go:embed glob.md
var globText string

const (
	searchLimit = 100 // files or lines that are shown
	// searchAgain is how long a search that found nothing may look for the reason.
	searchAgain = time.Second
	noFiles     = "No files found"
)

type globInput struct {
	Pattern string `json:"pattern" jsonschema:"the glob: src/**/*.go"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search, the project's if absent: /repo/src"`
}

// Glob returns the tool that finds files by their names.
func Glob(files FilesConfig) tool.Tool {
	spec := tool.Spec{Name: "glob", Description: strings.TrimSpace(globText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in globInput) (tool.Result, error) {
		name, glob := globPlace(c, in)
		pattern, err := search.ParsePattern(glob)
		if err != nil {
			return tool.Result{}, badGlob("pattern", err)
		}
		t, err := searched(ctx, c, "glob", name, in.Pattern, in)
		if err != nil {
			return tool.Result{}, err
		}
		if !t.IsDir() {
			return tool.Result{}, tool.Failf("path must be a directory, and %s is a file. Call glob with path %q, or read the file.", t.Shown, filepath.Dir(t.Shown))
		}
		return globRun{files: files, target: t, glob: glob, pattern: pattern}.run(ctx)
	})
}

// searched is where a search begins, once it was asked for.
func searched(ctx context.Context, c *tool.Call, name, place, pattern string, in any) (target.Target, error) {
	t, err := target.Locate(c, place)
	if err == nil {
		err = target.AskRead(ctx, c, t)
	}
	if err != nil {
		return t, err
	}
	meta, err := json.Marshal(in)
	if err == nil {
		err = c.Host.Ask(ctx, tool.Permission{Name: name, Patterns: []string{pattern}, Always: []string{"*"}, Metadata: meta})
	}
	if err == nil && t.Info == nil {
		err = target.NotFound(t, name)
	}
	return t, err
}

// globPlace takes the directories out of a pattern that names them from the root of the file
// system or upwards: a glob is matched from where the search begins, and could not match.
func globPlace(c *tool.Call, in globInput) (dir, glob string) {
	dir, glob = in.Path, filepath.ToSlash(in.Pattern)
	for strings.HasPrefix(glob, "../") {
		dir, glob = filepath.Join(orDir(c, dir), ".."), strings.TrimLeft(glob[3:], "/")
	}
	if !filepath.IsAbs(in.Pattern) {
		return dir, glob
	}
	parts := strings.Split(glob, "/")
	n := 1
	for n < len(parts)-1 && !strings.ContainsAny(parts[n], `*?[]{}\`) {
		n++
	}
	if n == 1 {
		return dir, glob
	}
	place := filepath.FromSlash(strings.Join(parts[:n], "/"))
	if f, err := workspace.Resolve(c.Dir, place); err != nil || !f.IsDir() {
		return dir, glob // the slash only says that it begins at the top
	}
	return place, strings.Join(parts[n:], "/")
}

func orDir(c *tool.Call, dir string) string {
	switch {
	case dir == "":
		return c.Dir
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(c.Dir, dir)
}

// badGlob says what is wrong with a glob.
func badGlob(member string, err error) error {
	text := err.Error()
	if known, ok := errors.AsType[*lathe.Error](err); ok {
		text = known.Message
	}
	return tool.Failf("%s cannot be used: %s. Globs look like this: \"src/**/*.go\", \"*.{ts,tsx}\".", member, text)
}

// FilesConfig is how files are found.
type FilesConfig struct {
	// Excludes is the file of what the user's git ignores in all repositories. It is called
	// with every search; nil means none.
	Excludes func() string
}

func (c FilesConfig) excludes() string {
	if c.Excludes == nil {
		return ""
	}
	return c.Excludes()
}

// globRun is one search.
type globRun struct {
	files   FilesConfig
	target  target.Target
	glob    string
	pattern *search.Pattern
}

// run lists the matching files by name, and where most of them are if there are too many.
func (g globRun) run(ctx context.Context) (tool.Result, error) {
	found, err := search.Glob(ctx, search.Query{Root: g.target.Path, Limit: searchLimit, ExcludesFile: g.files.excludes()}, g.pattern)
	if err != nil {
		return tool.Result{}, searchError(ctx, err)
	}
	var out strings.Builder
	for _, p := range found.Paths {
		out.WriteString(shownPath(g.target, p) + "\n")
	}
	switch {
	case found.Total == 0:
		out.WriteString(noFiles + "\n" + g.why(ctx))
	case found.Total > len(found.Paths):
		fmt.Fprintf(&out, "\n(%d files match, the first %d by name are shown. Most are in: %s. Narrow the pattern, or give path.)\n",
			found.Total, len(found.Paths), g.most(found.Dirs))
	}
	out.WriteString(unreadable(found.Unreadable))
	meta, err := json.Marshal(struct {
		Count     int  `json:"count"`
		Truncated bool `json:"truncated"`
	}{len(found.Paths), found.Total > len(found.Paths)})
	return tool.Result{Title: searchTitle(g.target), Output: strings.TrimSuffix(out.String(), "\n"), Metadata: meta}, err
}

// most names the three fullest directories.
func (g globRun) most(dirs []search.DirCount) string {
	var out []string
	for _, d := range dirs[:min(3, len(dirs))] {
		out = append(out, fmt.Sprintf("%s (%d)", shownPath(g.target, d.Dir), d.Count))
	}
	return strings.Join(out, ", ")
}

// why says what may be the reason that nothing was found: the pattern begins in a directory
// that does not exist, names a directory, or names what is ignored.
func (g globRun) why(ctx context.Context) string {
	at := ""
	for _, dir := range g.pattern.Dirs() {
		names, err := target.Siblings(filepath.Join(g.target.Path, filepath.FromSlash(at)))
		if err != nil {
			break
		}
		next := path.Join(at, dir)
		if f, err := workspace.Resolve(g.target.Path, next); err == nil && f.Info != nil {
			at = next
			continue
		}
		hint := fmt.Sprintf("\n%s does not exist; the deepest existing directory is %s.", shownPath(g.target, next), shownPath(g.target, at))
		if near := target.Similar(dir, names); len(near) > 0 {
			hint += " It has: " + strings.Join(near, ", ") + "."
		}
		return hint + "\n"
	}
	if !strings.ContainsAny(g.glob, `*?[]{}\`) {
		if f, err := workspace.Resolve(g.target.Path, strings.TrimLeft(g.glob, "/")); err == nil && f.IsDir() {
			return fmt.Sprintf("\n%s is a directory. Call glob with pattern %q for what is in it.\n", shownPath(g.target, strings.Trim(g.glob, "/")), strings.TrimSuffix(g.glob, "/")+"/**")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, searchAgain)
	defer cancel()
	all, err := search.Glob(ctx, search.Query{Root: g.target.Path, Limit: 3, Hidden: true, All: true}, g.pattern)
	if err != nil || all.Total == 0 {
		return ""
	}
	var names []string
	for _, p := range all.Paths {
		names = append(names, shownPath(g.target, p))
	}
	return fmt.Sprintf("\nAmong what is ignored or hidden, the pattern fits %s: %s.\n", phrase.Count(all.Total, "file"), strings.Join(names, ", "))
}

// searchTitle is the directory that is searched, as clients show it: "" at the top.
func searchTitle(t target.Target) string {
	if t.Rel == "." {
		return ""
	}
	return t.Rel
}

// shownPath is a path below the place that is searched, as a model can use it. A name that would
// look like several lines is quoted.
func shownPath(t target.Target, below string) string {
	full := filepath.Join(t.Shown, filepath.FromSlash(below))
	if strings.ContainsAny(full, "\n\r") {
		return strconv.Quote(full)
	}
	return strings.ToValidUTF8(full, "\uFFFD")
}

func unreadable(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n(%s or directories could not be read and were left out.)\n", phrase.Count(n, "file"))
}

// searchError passes a cancellation on, and explains the rest to the model.
func searchError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if errors.Is(err, syscall.ELOOP) { // the search follows no link
		return tool.Failf("The directory was replaced by a symlink while it was searched: %w. Look at it and search again.", err)
	}
	return tool.Failf("%w", err)
}
