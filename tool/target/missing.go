package target

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
	"github.com/lathe-agent/lathe/workspace"
)

// NotFound says that a file a tool needs is not there, and what is there instead.
func NotFound(t Target, name string) error {
	parent, shown := filepath.Dir(t.Path), filepath.Dir(t.Shown)
	names, err := Siblings(parent)
	if err != nil {
		for err != nil && filepath.Dir(parent) != parent {
			parent, shown = filepath.Dir(parent), filepath.Dir(shown)
			_, err = Siblings(parent)
		}
		return tool.Failf("File not found: %s. Its directory does not exist either; the last one on the way that does is %s. Call read with that to see what is in it, or glob with \"**/%s\" to look everywhere.",
			t.Shown, shown, filepath.Base(t.Shown))
	}
	for _, n := range names {
		if !utf8.ValidString(n) && strings.ToValidUTF8(n, "\ufffd") == filepath.Base(t.Path) {
			return tool.Failf("File not found: %s. There is a file whose name is not UTF-8 and looks like this; no call can spell it. Use bash with a pattern for it, such as %q, to read or rename it.",
				t.Shown, strings.ReplaceAll(filepath.Base(t.Path), "\ufffd", "?"))
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !utf8.ValidString(n) })
	near := Similar(filepath.Base(t.Path), names)
	if len(near) == 0 {
		return tool.Failf("File not found: %s. Its directory exists, with nothing of a similar name. Call glob with \"**/%s\" to look elsewhere, or read with %s to see what is there.",
			t.Shown, filepath.Base(t.Shown), shown)
	}
	for i, n := range near {
		near[i] = filepath.Join(shown, n)
	}
	return tool.Failf("File not found: %s. Did you mean one of these? Call %s with it:\n%s", t.Shown, name, strings.Join(near, "\n"))
}

// Siblings returns some names of a directory, enough to find a misspelled one.
func Siblings(dir string) ([]string, error) {
	entries, err := workspace.File{Path: dir}.ReadDir(5000)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, err
}

// Similar returns up to 3 names: first those that contain the one that was asked for or are
// contained in it, then those that differ in a few letters.
func Similar(name string, names []string) []string {
	var out []string
	low := strings.ToLower(name)
	for _, n := range names {
		have := strings.ToLower(n)
		if strings.Contains(have, low) || strings.Contains(low, have) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { // the nearest in length is the likeliest
		return max(len(a)-len(name), len(name)-len(a)) - max(len(b)-len(name), len(name)-len(b))
	})
	for _, n := range args.Nearest(name, names) {
		few := phrase.Distance([]rune(strings.ToLower(n)), []rune(low)) <= max(2, len(low)/4)
		if few && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out[:min(len(out), 3)]
}
