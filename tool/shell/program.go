package shell

import (
	"cmp"
	"slices"
	"strings"
)

// find runs commands by its actions, and deletes and writes files by itself.
func (a programs) find(v invocation, sc *scope) bool {
	for i := 1; i < len(v.words); i++ {
		w := v.words[i]
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			i = a.findExec(v, sc, i)
		case "-delete":
			a.emit(invocation{words: []Word{{Text: "rm", Known: true, mask: "rm"}, unknownWord("{}", "*", "it is the name of a file that is found")}}, "")
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(v.words) {
				a.writes(v.words[i+1], sc)
			}
		default:
			switch {
			case !w.Known && w.bare:
				a.unknown(UnknownCommand, w.Text, "which actions of find they are: "+w.why())
			case w.Known && strings.HasPrefix(w.Text, "-") && !isFindTest(w.Text):
				a.doubt(&v, "find "+w.Text, "unknown expression")
			}
		}
	}
	v.listed = true
	places := a.findPlaces(v, sc)
	if slices.ContainsFunc(v.words, func(w Word) bool { return w.Text == "-L" || w.Text == "-follow" }) {
		a.follow(places, sc)
	}
	a.emit(v, "")
	return true
}

// findExec runs the command of the action at i, and returns where it ends.
func (a programs) findExec(v invocation, sc *scope, i int) int {
	end := i + 1
	for end < len(v.words) && v.words[end].Text != ";" && !(v.words[end].Text == "+" && v.words[end-1].Text == "{}") {
		end++
	}
	inner := slices.Clone(v.words[i+1 : end])
	for j := range inner {
		if !strings.Contains(inner[j].Text, "{}") {
			continue
		}
		inner[j] = unknownWord(inner[j].Text, strings.ReplaceAll(inner[j].Text, "{}", "*"), "it is the name of a file that is found")
		if j > 0 {
			inner[j].more.among = []string{"."}
		} else {
			inner[j].more.among = nil
		}
	}
	in := sc.clone()
	if strings.HasSuffix(v.words[i].Text, "dir") { // it runs where the file is found
		in.dirs, a.plan.ChangesDir = nil, true
	}
	a.run(invocation{words: inner}, in)
	return end
}

// findPlaces are the places to look, which come first.
func (a *reader) findPlaces(v invocation, sc *scope) (places []Word) {
	for _, w := range v.words[1:] {
		if w.Text == "-L" || w.Text == "-H" || w.Text == "-P" || strings.HasPrefix(w.Text, "-O") {
			continue
		}
		if strings.HasPrefix(w.Text, "-") || w.Text == "(" || w.Text == "!" {
			break
		}
		places = append(places, w)
		a.path(w, sc, false, true)
	}
	return places
}

// isFindTest knows what find only looks at. A value that begins with a dash, as of -mtime, is a
// number.
func isFindTest(s string) bool {
	return isOne("find-test", s) || strings.HasPrefix(s, "-newer") || strings.Trim(s, "-0123456789.cwbkMGu/rxXsoga,=+") == ""
}

// writes is a file that a program writes because of an option.
func (a *recorder) writes(w Word, sc *scope) {
	if w.Known && isDevice(w.Text) {
		return
	}
	if w.Known {
		a.extra(Writes, "> "+spell(w))
	}
	a.path(w, sc, true, true)
}

// program looks at arguments of programs by which they run or write more than their name
// says. It returns what runs code that is not in the line.
func (a programs) program(name string, v *invocation, sc *scope) (opaque string) {
	args := v.words[1:]
	switch name {
	case "sed", "gsed":
		a.sed(v, sc)
	case "awk", "gawk", "mawk", "nawk":
		a.awk(v, sc)
	case "make", "gmake":
		a.make(v, sc)
	case "npm", "pnpm", "yarn":
		a.scripts(name, v, sc)
	case "go":
		a.goCommand(v, sc)
	case "cargo", "docker", "docker-compose", "podman":
		a.readNested(name, v, sc)
	case "tar", "gtar", "bsdtar":
		a.tar(v, sc)
	case "fd", "fdfind":
		a.listed("fd", args, v, sc)
		a.each(v, sc)
	case "vim", "vi", "nvim", "view", "vimdiff", "less":
		a.viewer(name, v, sc)
	case "dd":
		for _, w := range args {
			if rest, ok := strings.CutPrefix(w.Text, "of="); ok {
				a.writes(w.piece(rest), sc)
			}
		}
	case "ex", "ed", "gdb", "tcpdump", "ctags":
		if len(args) > 0 || v.stdin != nil {
			a.doubt(v, name+" <unknown>", "this program runs commands that it is given")
		}
	default:
		a.listed(cmp.Or(wordLists()["same-options"][name], name), args, v, sc)
	}
	return opaqueness(name, args, &a.recorder)
}

// opaqueness says what runs code that is not in the line.
func opaqueness(name string, args []Word, a *recorder) (opaque string) {
	switch {
	case isOne("runs-files", name):
		opaque = "it runs what its files say"
	case isOne("runs-programs", name):
		opaque = "it runs a program of another language"
		for _, w := range args {
			if strings.HasPrefix(w.Text, "-i") && name == "perl" {
				a.extra(Sets, "<perl -i>")
			}
		}
	}
	if strings.Contains(name, "/") {
		opaque = "it is a program of its own"
	}
	return opaque
}

// each is fd, which runs a command for what it finds.
func (a programs) each(v *invocation, sc *scope) {
	for i, w := range v.words {
		if t := w.Text; t == "-x" || t == "-X" || strings.HasPrefix(t, "--exec") {
			a.run(invocation{words: slices.Clone(v.words[i+1:])}, sc.clone())
			return
		}
	}
}

// viewer is a program that shows files, and runs what is after a plus sign.
func (a programs) viewer(name string, v *invocation, sc *scope) {
	row := "vim"
	if name == "less" {
		row = name
	}
	r, _ := a.listed(row, v.words[1:], v, sc)
	for _, w := range r.operands {
		if rest, ok := strings.CutPrefix(w.Text, "+"); ok && strings.Trim(rest, "0123456789GF") != "" {
			a.doubt(v, row+" +", "this is a command of "+row+", which can run programs")
		}
	}
}

// tar may have its options in the first word without a dash; their values follow in their order.
func (a programs) tar(v *invocation, sc *scope) {
	args := v.words[1:]
	row := optionRows()["tar"]
	if len(args) > 0 && args[0].Known && args[0].Text != "" && args[0].Text[0] != '-' {
		words, rest := []Word(nil), args[1:]
		for _, c := range args[0].Text {
			name := "-" + string(c)
			words = append(words, Word{Text: name, Known: true, mask: name})
			if e, _ := exact(row, name); e.value && len(rest) > 0 {
				words, rest = append(words, rest[0]), rest[1:]
			}
		}
		args = append(words, rest...)
	}
	r, _ := a.listed("tar", args, v, sc)
	for _, o := range r.options {
		if o.name == "-C" || o.name == "--directory" {
			a.path(o.value, sc, false, true)
		}
	}
}
