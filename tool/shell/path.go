package shell

import (
	"path/filepath"
	"slices"
	"strings"
)

// path remembers a file or directory that a word names. One that the line does not tell is
// judged as unknown where it is certain to be a path.
func (a *recorder) path(w Word, sc *scope, write, certain bool) {
	if a.far {
		return
	}
	switch {
	case w.Known && w.Glob:
		a.place(w.extra().glob, sc, Path{Write: write, Glob: true, Certain: certain})
	case w.Known:
		a.place(w.Text, sc, Path{Write: write, Certain: certain})
	case w.among() != nil:
		for _, name := range w.among() {
			a.place(name, sc, Path{Write: write, Glob: w.more.wild, Certain: certain})
		}
	default: // the known beginning is useful
		if known, _, _ := strings.Cut(w.mask, "*"); strings.HasPrefix(known, "/") {
			a.place(known, sc, Path{Write: write, Certain: certain})
		}
		if certain && w.why() != "it is a pipe to a command" {
			a.unknown(UnknownFile, w.Text, "which file it is: "+w.why())
		}
	}
}

// place resolves a name from each directory that the line may be in.
func (a *recorder) place(name string, sc *scope, p Path) {
	if name == "" || isDevice(name) || len(name) > 4096 {
		return
	}
	if filepath.IsAbs(name) {
		a.addPath(clean(name, p.Glob), p)
		return
	}
	if sc.dirs == nil {
		if p.Certain || strings.Contains(name, "..") {
			a.unknown(UnknownDirectory, name, "in which directory it lies is not known")
		}
		return
	}
	for _, dir := range sc.dirs {
		if p.Glob {
			dir = escape(dir)
		}
		a.addPath(clean(dir+string(filepath.Separator)+name, p.Glob), p)
	}
}

// clean keeps a/../ as it is: the shell follows a link before it goes up.
func clean(name string, glob bool) string {
	if glob || strings.Contains(name, "..") {
		return name
	}
	return filepath.Clean(name)
}

func (a *recorder) addPath(name string, p Path) {
	p.Name, p.Removed, p.Reads = name, a.removes, a.reads && !p.Write
	if !slices.Contains(a.plan.Paths, p) {
		a.plan.Paths = append(a.plan.Paths, p)
	}
}

// globs finds the paths that patterns stand for.
func (a *recorder) globs(words []Word, sc *scope) {
	for _, w := range words {
		if w.Glob && w.Known {
			a.path(w, sc, false, false)
		}
	}
}

// argumentOption finds paths in an option, and reports whether it takes the place of a text that would come first.
func (a *recorder) argumentOption(name string, w Word, sc *scope) bool {
	texts := isOne("takes-texts", name)
	if !texts || !strings.HasPrefix(w.Text, "-e") {
		a.option(w, sc)
	}
	return texts && (w.Text == "-e" || w.Text == "-f")
}

// arguments finds paths among the arguments of a command.
func (a *recorder) arguments(v invocation, sc *scope) {
	name := v.words[0].Text
	if isOne("prints", name) {
		a.globs(v.words[1:], sc)
		return
	}
	a.reads = isOne("reads-contents", name)
	defer func() { a.reads = false }()
	write := isOne("writes-paths", name)
	certain := write || isOne("reads-paths", name)
	skip, flags, target := textsFirst(name), true, -1
	if copies(name) || name == "mv" {
		target = lastOperand(v.words)
	}
	for i, w := range v.words[1:] {
		switch {
		case flags && w.Known && w.Text == "--":
			flags = false
		case flags && strings.HasPrefix(w.Text, "-"):
			if a.argumentOption(name, w, sc) {
				skip = 0
			}
		case skip > 0:
			skip--
			a.perhaps(w, sc)
		case name == "chmod" && strings.HasPrefix(w.Text, "+"):
		default:
			a.removes = slices.Contains([]string{"rm", "rmdir", "unlink", "shred", "mv"}, name) && target != i+1 // of mv the last stays
			a.argument(w, sc, write && (target < 0 || target == i+1 || !copies(name)), certain)
			a.removes = false
		}
	}
}

// copies knows commands that read all their arguments but the last, which they write.
func copies(name string) bool {
	return name == "cp" || name == "ln" || name == "link" || name == "install"
}

// lastOperand finds the last argument that is no option. It is -1 where it may not be what is
// written: an option says so, or something is unknown.
func lastOperand(words []Word) int {
	last, flags := -1, true
	for i, w := range words[1:] {
		switch {
		case w.bare || w.Glob:
			return -1
		case flags && w.Text == "--":
			flags = false
		case flags && len(w.Text) > 1 && w.Text[0] == '-':
			if !w.Known || strings.HasPrefix(w.Text, "--t") || w.Text[1] != '-' && strings.ContainsAny(w.Text, "dDt") {
				return -1
			}
		default:
			last = i + 1
		}
	}
	return last
}

// perhaps is a word that is a text, unless an option before it made it a path.
func (a *recorder) perhaps(w Word, sc *scope) {
	if w.Known && !w.Glob && !a.far && (filepath.IsAbs(w.Text) || strings.Contains(w.Text, "..")) {
		a.place(w.Text, sc, Path{IfExists: true})
	}
}

// argument is a word that may be a path, or hold one.
func (a *recorder) argument(w Word, sc *scope, write, certain bool) {
	if !w.Known {
		a.path(w, sc, write, certain)
		return
	}
	if rest, ok := strings.CutPrefix(w.Text, "file://"); ok {
		a.path(Word{Text: rest, Known: true}, sc, write, true)
		return
	}
	if strings.Contains(w.Text, "://") {
		return
	}
	a.path(w, sc, write, certain)
	if !certain {
		a.within(w.Text, sc)
	}
}

// within finds paths that are part of a word: of=/x, -I/x, @/x, /x:/y.
func (a *recorder) within(text string, sc *scope) {
	for i := 1; i < len(text) && i < 1024; i++ {
		if c := text[i-1]; (c == '=' || c == ':' || c == '@' || c == ',') && (text[i] == '/' || text[i] == '~' || text[i] == '.') {
			part := text[i:]
			if end := strings.IndexAny(part, ":,"); end >= 0 {
				part = part[:end]
			}
			if rest, ok := strings.CutPrefix(part, "~/"); ok && a.in.Home != "" {
				part = filepath.Join(a.in.Home, rest)
			}
			if strings.HasPrefix(part, "//") { // an address
				continue
			}
			a.path(Word{Text: part, Known: true}, sc, false, false)
		}
	}
}

// option is a word that begins with a dash; a path may be joined to it.
func (a *recorder) option(w Word, sc *scope) {
	if !w.Known {
		return
	}
	a.within(w.Text, sc)
	if len(w.Text) > 2 && w.Text[1] != '-' {
		if at := strings.IndexAny(w.Text, "/~"); at >= 2 && at <= 8 && w.Text[at-1] != '=' {
			a.path(Word{Text: w.Text[at:], Known: true}, sc, false, false)
		} else if at := strings.Index(w.Text, ".."); at == 2 {
			a.path(Word{Text: w.Text[2:], Known: true}, sc, false, false)
		}
	}
}

// textsFirst is how many arguments of a command come before its paths, and are texts.
func textsFirst(name string) int {
	if isOne("takes-texts", name) {
		return 1
	}
	switch name {
	case "chmod", "chown", "chgrp", "git", "go", "npm", "cargo":
		return 1
	case "tr":
		return 2
	}
	return 0
}

// follow remembers directories that a command goes through with links followed.
func (a *recorder) follow(words []Word, sc *scope) {
	before := a.plan.Paths
	a.plan.Paths = nil
	if len(words) == 0 {
		words = []Word{{Text: ".", Known: true, mask: "."}}
	}
	for _, w := range words {
		a.path(w, sc, false, false)
	}
	a.plan.FollowedDirs = append(a.plan.FollowedDirs, a.plan.Paths...)
	a.plan.Paths = before
}

// placesOf are the operands of a command that are places. The first of those that search is what
// they search for, unless an option has that.
func placesOf(name string, r optionReading) []Word {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "fd", "fdfind":
	default:
		return r.operands
	}
	for _, o := range r.options {
		switch o.name {
		case "-e", "--regexp", "-f", "--file", "--files":
			return r.operands
		}
	}
	return r.operands[min(1, len(r.operands)):]
}

// follows reports whether a command goes through directories and follows the links in them. Where the
// table has no options for one of the two it does so without.
func follows(name string, r optionReading) bool {
	given := func(list string) bool {
		names, ok := wordLists()[list][name]
		return !ok || slices.ContainsFunc(r.options, func(o option) bool { return slices.Contains(strings.Split(names, ","), o.name) })
	}
	if !isOne("follows-links", name) && !isOne("goes-down", name) || name == "zip" && given("keeps-links") {
		return false
	}
	return given("follows-links") && given("goes-down")
}
