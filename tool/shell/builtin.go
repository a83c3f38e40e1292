package shell

import (
	"path/filepath"
	"strings"
)

// builtin reads the commands of the shell itself that change it. false is any other.
func (a *analyzer) builtin(name string, v invocation, sc *scope) bool {
	args := v.words[1:]
	switch name {
	case "cd", "chdir", "pushd", "popd":
		a.move(name, v, sc)
	case "eval":
		a.eval(v, sc)
	case "source", ".":
		a.source(v, sc)
	case "trap":
		a.trap(v, sc)
	case "alias":
		a.alias(v, sc)
	case "export", "readonly", "declare", "typeset", "local":
		for _, w := range args {
			a.setting(w, sc)
		}
		a.emit(v, "")
	case "let":
		a.unknown(UnknownCommand, "let", "its calculations stand in quotes")
		sc.forgetAll()
		a.emit(v, "")
	case "read", "mapfile", "readarray", "getopts", "unset", "printf", "wait":
		a.sets(name, v, sc)
	case "set", "shift":
		sc.args = true
		a.emit(v, "")
	case "hash", "enable", "bind", "complete":
		for _, w := range args {
			if !w.Known || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "pfxCF") {
				a.extra(Sets, "<shell> "+name)
			}
		}
		a.emit(v, "")
	default:
		return false
	}
	return true
}

// move follows a change of directory.
func (a *reader) move(name string, v invocation, sc *scope) {
	a.plan.ChangesDir = true
	if len(v.redirs) > 0 { // they are all of it that rules are asked about
		a.noteRedirects(v)
	}
	var to []Word
	options := true
	for _, w := range v.words[1:] {
		switch {
		case options && w.Text == "--":
			options = false
		case options && w.Known && len(w.Text) > 1 && w.Text[0] == '-':
		default:
			to = append(to, w)
		}
	}
	switch {
	case a.far:
	case name == "popd" || len(to) == 0 && name == "pushd":
		sc.dirs = nil
	case len(to) == 0:
		if home := a.lookup("HOME", sc); home.known {
			a.moveTo(home.text, sc)
		} else {
			sc.dirs = nil
		}
	case len(to) > 1 || !to[0].Known || to[0].Glob || to[0].Text == "-" || strings.HasPrefix(to[0].Text, "+"):
		a.unknown(UnknownDirectory, spell(to[0]), "where it leads is not known")
		sc.dirs = nil
	case a.searched(to[0].Text, sc):
		a.unknown(UnknownDirectory, to[0].Text, "it is looked for in CDPATH")
		sc.dirs = nil
	default:
		a.path(to[0], sc, false, true)
		a.moveTo(to[0].Text, sc)
	}
}

func (a *reader) noteRedirects(v invocation) {
	for _, r := range v.redirs {
		kind := Writes
		if strings.HasPrefix(r, "<") {
			kind = Reads
		}
		a.extra(kind, r)
	}
}

// searched reports whether a directory may be another than it says.
func (a *reader) searched(dir string, sc *scope) bool {
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, ".") {
		return false
	}
	v := a.lookup("CDPATH", sc)
	set := sc.vars["CDPATH"] != nil
	return v.known && v.text != "" || !v.known && set
}

// moveTo adds where a move leads. The move may fail, so where it began stays.
func (a *reader) moveTo(dir string, sc *scope) {
	if filepath.IsAbs(dir) {
		sc.dirs = union(sc.dirs, []string{filepath.Clean(dir)})
		return
	}
	var next []string
	for _, d := range sc.dirs {
		next = append(next, filepath.Join(d, dir))
	}
	sc.dirs = union(sc.dirs, next)
}

// eval joins its words and reads them again.
func (a *analyzer) eval(v invocation, sc *scope) {
	var texts []string
	for _, w := range v.words[1:] {
		if !w.Known || w.Glob {
			a.unknown(UnknownCommand, w.Text, "unknown eval code: "+because(w))
			sc.forgetAll()
			sc.dirs = nil
			a.emit(v, "")
			return
		}
		texts = append(texts, w.Text)
	}
	a.inside(v, func() { a.code(strings.Join(texts, " "), sc) })
}

// inside reads code that a command runs, with the command's own spelling for rules that
// deny it.
func (a *reader) inside(v invocation, read func()) {
	text, _ := v.spelling()
	before := len(a.plan.Commands)
	via := a.via
	a.via = nil
	read()
	a.via = via
	spelt := []string{text}
	for i := len(via) - 1; i >= 0; i-- {
		w := via[i]
		if !strings.HasSuffix(w, "/") {
			w += " "
		}
		spelt = append(spelt, w+spelt[len(spelt)-1])
	}
	if len(a.plan.Commands) == before { // nothing in it is a command
		a.plan.Commands = append(a.plan.Commands, Command{Words: v.words, Text: text, Also: spelt[1:]})
		return
	}
	a.plan.Commands[before].Also = append(a.plan.Commands[before].Also, spelt...)
}

// source reads a file as code of this shell, which only the file tells.
func (a *reader) source(v invocation, sc *scope) {
	if len(v.words) > 1 {
		w := v.words[1]
		if !w.Known || w.Glob || strings.HasPrefix(w.Text, "/dev/") || strings.HasPrefix(w.Text, "/proc/") {
			a.unknown(UnknownCommand, w.Text, "unknown sourced file: "+because(w))
		}
		a.reads = true
		a.path(w, sc, false, true)
		a.reads = false
	}
	sc.forgetAll()
	sc.dirs = nil
	a.emit(v, "the file is run as part of this shell")
}

func (a *analyzer) trap(v invocation, sc *scope) {
	args := v.words[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) < 2 || args[0].Known && (args[0].Text == "-" || args[0].Text == "" || strings.HasPrefix(args[0].Text, "-")) {
		a.emit(v, "")
		return
	}
	if !args[0].Known {
		a.unknown(UnknownCommand, args[0].Text, "unknown trap code: "+args[0].why())
		a.emit(v, "")
		return
	}
	later := sc.clone()
	later.forgetAll()
	later.dirs = nil
	a.inside(v, func() { a.code(args[0].Text, later) })
}

// alias reads what a name will stand for as if it ran.
func (a *analyzer) alias(v invocation, sc *scope) {
	for _, w := range v.words[1:] {
		name, text, ok := strings.Cut(w.Text, "=")
		switch {
		case strings.HasPrefix(w.Text, "-"):
		case !w.Known:
			a.unknown(UnknownCommand, w.Text, "unknown alias: "+w.why())
		case ok:
			a.plan.Aliases = append(a.plan.Aliases, name)
			later := sc.clone()
			later.forgetAll()
			a.code(text, later)
		}
	}
	a.emit(v, "")
}

// setting is a word name=value that a builtin takes.
func (a *reader) setting(w Word, sc *scope) {
	name, text, ok := strings.Cut(w.Text, "=")
	if !w.Known && (!ok || !isName(name)) {
		a.unknown(UnknownSetting, w.Text, "which variable is set is not known")
		sc.forgetAll()
		return
	}
	if strings.HasPrefix(w.Text, "-") || !ok {
		if strings.HasPrefix(w.Text, "-") {
			sc.forgetAll()
		}
		return
	}
	name = strings.TrimSuffix(name, "+")
	a.noteAssignment(name, w.piece(text))
	sc.set(name, value{})
}

// sets reads the builtins that put something into variables.
func (a *reader) sets(name string, v invocation, sc *scope) {
	into := false
	for i, w := range v.words[1:] {
		switch {
		case !w.Known && (name != "printf" || i == 0 || into):
			a.unknown(UnknownSetting, w.Text, "which variable is set is not known")
			sc.forgetAll()
		case name == "printf" || name == "wait":
			if into {
				a.target(w.Text, sc)
			}
			into = w.Text == "-v" || w.Text == "-p" && name == "wait"
			if rest, ok := strings.CutPrefix(w.Text, "-v"); ok && rest != "" && i == 0 {
				a.target(rest, sc)
			}
		case strings.HasPrefix(w.Text, "-") && len(w.Text) > 2:
			sc.forgetAll() // -ra and its like: the name may be joined
		default:
			a.target(w.Text, sc)
		}
	}
	sc.set("REPLY", value{})
	if name == "mapfile" || name == "readarray" || name == "unset" {
		a.callback(v)
		sc.forgetAll()
	}
	a.arguments(v, sc)
	a.emit(v, "")
}

// target is the name of a variable, whose subscript is calculated.
func (a *reader) target(name string, sc *scope) {
	head, index, ok := strings.Cut(name, "[")
	if ok && strings.ContainsAny(index, "$`") {
		a.unknown(UnknownCommand, name, "the subscript is calculated, which could run commands")
	}
	if isName(head) {
		a.noteAssignment(head, unknownWord("", "", "it is read from elsewhere"))
		sc.set(head, value{})
	}
}

func (a *reader) callback(v invocation) {
	for _, w := range v.words[1:] {
		if w.Known && strings.HasPrefix(w.Text, "-C") {
			a.unknown(UnknownCommand, w.Text, "a command is run for lines that are read")
		}
	}
}
