package sandbox

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// seatbelt writes a profile in the language of macOS's sandbox-exec. Of the rules that match, the last
// counts. All paths must be real ones: the kernel holds them against files, not against names that lead
// there.
//
// Everything is denied that is not listed: Apple events and requests to start programs elsewhere are ways
// out of the sandbox. Names that do not exist are held as well as others, so nothing stands in for them.
func seatbelt(p Profile) string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	seatbeltNetwork(&b, p)
	b.WriteString("\n; files\n(allow file-read*)\n")
	for _, e := range placesOf(p) {
		e.write(&b, p)
	}
	b.WriteString("\n; protected names, in any case, and the folders that lead there\n")
	names := slices.Concat(p.Protect, p.Files, p.Watch, p.Busy)
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		fmt.Fprintf(&b, "(deny file-write* %s)\n", anyCase(rootOf(p, name), name))
	}
	for _, folder := range leading(p, names) {
		fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", quoted(folder))
		fmt.Fprintf(&b, "(deny file-write-create (require-all (literal %s) (vnode-type SYMLINK)))\n", quoted(folder))
	}
	return b.String()
}

// seatbeltBase allows what programs need besides files and the network. The services look up
// users, certificates and the time; none of them starts a process.
//
//go:embed seatbelt.sb
var seatbeltBase string

// seatbeltNetwork lets a command reach what its profile says. Sockets of other programs are reached in
// listed places only.
func seatbeltNetwork(b *strings.Builder, p Profile) {
	b.WriteString("\n; network\n(allow system-socket (socket-domain AF_UNIX))\n")
	if !p.Network.Limited {
		b.WriteString("(allow system-socket)\n(allow network* (local ip) (remote ip))\n" +
			"(allow network-outbound (remote unix-socket (path-literal \"/private/var/run/mDNSResponder\")))\n")
	}
	for _, place := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Write, p.Sockets)))) {
		fmt.Fprintf(b, "(allow network-bind (local unix-socket (subpath %s)))\n", quoted(place))
	}
	for _, place := range slices.Compact(slices.Sorted(slices.Values(p.Sockets))) { // in /tmp are those of others
		fmt.Fprintf(b, "(allow network-outbound (remote unix-socket (subpath %s)))\n", quoted(place))
	}
}

// seatbeltPlace is a folder or file with its own rule.
type seatbeltPlace struct {
	path string
	kind int
}

const (
	hiddenPlace = iota // before the others, of places of the same depth
	shownPlace
	writtenPlace
)

// placesOf orders places so that those inside others come later and count.
func placesOf(p Profile) (out []seatbeltPlace) {
	for kind, list := range [][]string{p.Hide, p.Show, p.Write} {
		for _, name := range list {
			out = append(out, seatbeltPlace{name, kind})
		}
	}
	depth := func(name string) int { return strings.Count(strings.TrimSuffix(name, "/"), "/") }
	slices.SortFunc(out, func(a, b seatbeltPlace) int {
		return cmp.Or(cmp.Compare(depth(a.path), depth(b.path)), cmp.Compare(a.kind, b.kind), cmp.Compare(a.path, b.path))
	})
	return slices.Compact(out)
}

func (e seatbeltPlace) write(b *strings.Builder, p Profile) {
	name := quoted(e.path)
	below := rootOf(p, e.path) != ""
	switch {
	case e.kind == hiddenPlace:
		fmt.Fprintf(b, "(deny file-read* file-write* (subpath %s))\n", name)
		fmt.Fprintf(b, "(allow file-read-metadata (literal %s))\n", name)
	case e.kind == writtenPlace || below:
		fmt.Fprintf(b, "(allow file-read* file-write* (subpath %s))\n", name)
	default:
		fmt.Fprintf(b, "(allow file-read* (subpath %s))\n", name)
	}
}

// leading are the folders between what may be written and protected names. A command that could
// move one, or replace it by a link, would reach the name under another.
func leading(p Profile, names []string) (out []string) {
	for _, name := range names {
		root := rootOf(p, name)
		for dir := path.Dir(name); root != "" && dir != root && isBelow(root, dir); dir = path.Dir(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rootOf is the writable folder that a name lies in; "" means none.
func rootOf(p Profile, name string) (root string) {
	for _, dir := range p.Write {
		if isBelow(dir, name) && len(dir) > len(root) {
			root = dir
		}
	}
	return root
}

// isBelow is within for paths of macOS, on every system.
func isBelow(folder, name string) bool {
	return folder == name || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// quoted is a string of the language of profiles.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// anyCase matches a name and all below it, however its part below a writable folder is written: most
// disks of macOS take .GIT for .git.
func anyCase(root, name string) string {
	if root == "" || strings.ContainsAny(name, "\"\n") { // nobody writes it, or no expression can hold it
		return "(subpath " + quoted(name) + ")"
	}
	return `(regex #"^` + regexp.QuoteMeta(root) + foldCase(name[len(root):]) + `(/|$)")`
}

func foldCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch upper, lower := unicode.ToUpper(r), unicode.ToLower(r); {
		case upper == lower || r > unicode.MaxASCII:
			b.WriteString(regexp.QuoteMeta(string(r)))
		default:
			fmt.Fprintf(&b, "[%c%c]", lower, upper)
		}
	}
	return b.String()
}

// realProfile is a profile whose paths lead through no links, as far as they exist. What is protected or
// hidden is so under its own name too.
func realProfile(p Profile) Profile {
	for _, list := range []*[]string{&p.Write, &p.Show, &p.Sockets} {
		*list = realPaths(*list, false)
	}
	for _, list := range []*[]string{&p.Protect, &p.Files, &p.Watch, &p.Busy, &p.Hide} {
		*list = realPaths(*list, true)
	}
	return p
}

func realPaths(list []string, names bool) (out []string) {
	for _, path := range list {
		path = filepath.Clean(path)
		out = append(out, realPath(path))
		if own := filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path)); names && !slices.Contains(out, own) {
			out = append(out, own)
		}
	}
	return out
}

// realPath follows the links of the part of a path that exists.
func realPath(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 { // it leads nowhere
			return path
		}
	}
}
