// Package secret knows the locations of a user's credentials: private keys, tokens of
// command-line tools, browser profiles, password stores, shell histories.
//
// It is one table (places.txt) with a reason for each place, which the sandbox hides from commands and
// the file tools ask about. It opens nothing by itself and reads no environment: callers pass both
// the home folder and the variables.
//
// Start reading at [Find]; [Places.Of] answers for one path.
package secret

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Location is a file or a folder with credentials. It need not be there.
type Location struct {
	Path   string // absolute
	Reason string // a few words: "SSH private keys"
	Tool   string // the program whose lines may see it when sandbox.credentials names it; "" means none
	// Redact is not empty for a file whose other lines programs need.
	Redact Format

	show []string // patterns of names directly in it that are no secrets
}

// Locations are those of one user.
type Locations []Location

// Find lists the places of a user. The variables move some of them; env may be nil.
func Find(home string, env func(string) string) Locations {
	if env == nil {
		env = func(string) string { return "" }
	}
	roots := map[base]string{}
	if home != "" {
		roots = map[base]string{"~": home, config: filepath.Join(home, ".config"), data: filepath.Join(home, ".local", "share")}
	}
	moved := map[base]string{config: env("XDG_CONFIG_HOME"), data: env("XDG_DATA_HOME")}
	var out Locations
	seen := map[string]bool{}
	add := func(r row, path string) {
		path = filepath.Clean(path)
		// A folder that contains the home folder is never hidden, whatever a variable says.
		if !filepath.IsAbs(path) || seen[path] || within(path, home) {
			return
		}
		seen[path] = true
		out = append(out, Location{Path: path, Reason: r.reason, Tool: r.tool, Redact: r.redact, show: r.show})
	}
	for _, r := range rows() {
		for _, root := range []string{roots[r.base], moved[r.base]} {
			if filepath.IsAbs(root) {
				add(r, filepath.Join(root, filepath.FromSlash(r.path)))
			}
		}
		if runtime.GOOS == "darwin" && r.base == config && home != "" {
			add(r, filepath.Join(home, "Library", "Application Support", filepath.FromSlash(r.path)))
		}
		if r.env != "" {
			for _, path := range filepath.SplitList(env(r.env)) {
				add(r, filepath.Join(path, r.below))
			}
		}
	}
	return out
}

// Containing returns the place that a path is, or is in. Names in a folder that are no secrets, as
// ~/.ssh/known_hosts, are in none.
func (ps Locations) Containing(path string) (Location, bool) {
	path = filepath.Clean(path)
	for _, p := range ps {
		if p.holds(path) {
			return p, true
		}
	}
	return Location{}, false
}

func (p Location) holds(path string) bool {
	place := fold(p.Path)
	path = fold(path)
	if strings.ContainsRune(filepath.Base(place), '*') {
		return filepath.Dir(path) == filepath.Dir(place) && matches(filepath.Base(place), filepath.Base(path))
	}
	if !within(place, path) {
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(path, place), string(filepath.Separator))
	name, _, _ := strings.Cut(rest, string(filepath.Separator))
	return name == "" || !p.shows(name)
}

func (p Location) shows(name string) bool {
	return slices.ContainsFunc(p.show, func(pattern string) bool { return matches(fold(pattern), name) })
}

// Existing returns what of the place exists, and the names in it that are no secrets.
func (p Location) Existing() (hide, show []string) {
	if strings.ContainsRune(filepath.Base(p.Path), '*') {
		hide, _ = filepath.Glob(p.Path) // the pattern is ours
		return hide, nil
	}
	if _, err := os.Stat(p.Path); err != nil {
		return nil, nil
	}
	if len(p.show) > 0 {
		entries, _ := os.ReadDir(p.Path) // an unreadable folder shows nothing
		for _, e := range entries {
			// A link could lead to a key.
			if e.Type()&os.ModeSymlink == 0 && p.shows(fold(e.Name())) {
				show = append(show, filepath.Join(p.Path, e.Name()))
			}
		}
	}
	return []string{p.Path}, show
}

// Tools are the names that sandbox.credentials knows.
func Tools() []string {
	var out []string
	for _, r := range rows() {
		if r.tool != "" {
			out = append(out, r.tool)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func matches(pattern, name string) bool {
	ok, _ := filepath.Match(pattern, name) // the patterns are ours
	return ok
}

// fold makes names equal that the file systems of this system take for one.
func fold(path string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(path)
	}
	return path
}

// within reports whether a path is a folder or below it.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator || folder == string(filepath.Separator))
}
