package shell

import (
	"slices"
	"strings"
)

// git has settings and options that run code. Those that only say where it works are taken
// off, so that rules see its command.
func (a programs) git(v invocation, sc *scope) bool {
	i, in := a.gitGlobals(&v, sc)
	rest := v
	if i > 1 && i < len(v.words) {
		full, _ := v.spelling()
		rest.words = append([]Word{v.words[0]}, v.words[i:]...)
		rest.also = append(slices.Clip(v.also), full)
		rest.written = append(slices.Clip(v.written), full)
	}
	a.repository(in)
	a.gitCommand(&rest, sc)
	a.uncertain("git", rest)
	a.arguments(rest, sc)
	a.emit(rest, "")
	return true
}

// gitMove goes where -C says, if that is known.
func (a *reader) gitMove(to Word, in *scope) {
	if to.Known {
		before := in.dirs
		a.moveTo(to.Text, in)
		in.dirs = withoutOld(before, in.dirs)
	}
}

// joinedValue takes an option apart, and reports whether it has its value in the same word.
func joinedValue(words []Word) (name string, value Word, joined bool) {
	name, text, joined := strings.Cut(words[0].Text, "=")
	if !joined && len(words) > 1 {
		return name, words[1], false
	}
	return name, Word{Text: text, Known: true, mask: text}, joined
}

// gitGlobals reads what is before the command of git. It returns where that is, and the scope
// in which git runs.
func (a *reader) gitGlobals(v *invocation, sc *scope) (int, *scope) {
	in, i := sc, 1
	for ; i < len(v.words); i++ {
		w := v.words[i]
		if !w.Known || !strings.HasPrefix(w.Text, "-") { // an unknown command is reported later
			break
		}
		name, value, has := joinedValue(v.words[i:])
		switch name {
		case "-C", "--git-dir", "--work-tree":
			a.path(value, sc, false, true)
			if name != "-C" {
				a.extra(Sets, "<git> "+name)
				break
			}
			if in == sc {
				in = sc.clone()
			}
			a.gitMove(value, in)
		case "-c", "--config-env":
			a.gitSetting(value)
		case "--exec-path", "--namespace", "--super-prefix", "--attr-source", "--bare":
			if has || name != "--exec-path" {
				a.extra(Sets, "<git> "+name)
			}
			has = has || name == "--exec-path" || name == "--bare"
		default:
			if !isOne("git-option", name) {
				a.doubt(v, "git "+name, "unknown option")
			}
			has = true
		}
		if !has {
			i++
		}
	}
	return i, in
}

// repository remembers where git runs: a repository that lies there has settings that run
// programs, and may have come with the files of the project.
func (a *reader) repository(sc *scope) {
	switch {
	case a.far:
	case sc.dirs == nil:
		a.strayed = true
	default:
		for _, dir := range sc.dirs {
			a.addRepository(dir)
		}
	}
}

func (a *reader) addRepository(dir string) {
	if !slices.Contains(a.plan.Repositories, dir) {
		a.plan.Repositories = append(a.plan.Repositories, dir)
	}
}

func (a *reader) gitSetting(w Word) {
	key, text, _ := strings.Cut(w.Text, "=")
	if w.Known && harmlessGitSetting(key, text) {
		return
	}
	if w.Known && strings.Trim(w.Text, safeValue) == "" {
		a.extra(Sets, "<git -c> "+w.Text)
		return
	}
	a.note(w.Text, "a setting of git can run commands")
	a.extra(Sets, "<git -c> <unknown>")
}

// gitCommand looks at what a command of git does besides what its name says.
func (a programs) gitCommand(v *invocation, sc *scope) {
	if len(v.words) < 2 || !v.words[1].Known {
		v.listed = len(v.words) < 2
		return
	}
	sub, args := v.words[1].Text, v.words[2:]
	key, own := "git "+sub, args
	if at := slices.IndexFunc(args, func(w Word) bool { return w.Text == "foreach" }); sub == "submodule" && at >= 0 {
		a.gitForeach(args[at+1:], sc)
		own = args[:at]
	} else if sub == "bisect" && len(args) > 1 && args[0].Text == "run" {
		a.run(invocation{words: slices.Clone(args[1:])}, sc.clone())
		own = nil
	}
	r, ok := a.listed(key, own, v, sc)
	if !ok {
		if sub != "help" {
			v.spelled = key
		}
		a.gitFilters(args, sc)
		return
	}
	switch sub {
	case "clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule", "archive":
		a.gitAddresses(key, r, v)
	case "config":
		a.gitConfig(r, v, sc)
	case "bundle":
		a.gitBundle(r.operands, v, sc)
	case "bisect":
		if len(args) > 0 && (args[0].Text == "visualize" || args[0].Text == "view" || args[0].Text == "replay") {
			v.spelled = key + " " + args[0].Text
		}
	}
}

// gitFilters are commands among the options of git filter-branch and its like.
func (a programs) gitFilters(args []Word, sc *scope) {
	for i, w := range args {
		name, joined, has := strings.Cut(w.Text, "=")
		value := w.piece(joined)
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		if strings.HasSuffix(name, "-filter") || name == "--exec" || name == "--upload-pack" || name == "--receive-pack" {
			a.snippet("git", []Word{value}, sc)
		}
	}
}

// gitForeach is code that is run in each submodule.
func (a programs) gitForeach(args []Word, sc *scope) {
	for len(args) > 0 && (args[0].Text == "--recursive" || args[0].Text == "--quiet" || args[0].Text == "-q") {
		args = args[1:]
	}
	if len(args) > 0 {
		a.snippet("git submodule", args, sc)
	}
}

// gitAddresses finds addresses of repositories that git reaches by running a program.
func (a *reader) gitAddresses(key string, r optionReading, v *invocation) {
	words := r.operands
	for _, o := range r.options {
		words = append(words, o.value)
	}
	for _, w := range words {
		if !w.Known {
			continue
		}
		helper, _, ok := strings.Cut(w.Text, "::")
		scheme, _, isURL := strings.Cut(w.Text, "://")
		if ok && helper != "" && strings.Trim(helper, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-") == "" || isURL && !isOne("git-scheme", scheme) {
			a.doubt(v, key+" "+w.Text, "git runs a program to reach this address")
		}
	}
}

// gitConfig sees that a setting is written which runs something later.
func (a *reader) gitConfig(r optionReading, v *invocation, sc *scope) {
	var file *Word
	for i, o := range r.options {
		switch o.name {
		case "--get", "--list", "-l", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool":
			return
		case "-f", "--file":
			file = &r.options[i].value
		}
	}
	rest := r.operands
	if len(rest) > 0 {
		switch rest[0].Text {
		case "get", "list", "get-all":
			return
		case "edit":
			v.spelled = "git config edit"
			return
		case "set", "unset":
			rest = rest[1:]
		}
	}
	if len(rest) < 2 {
		return
	}
	if file != nil {
		a.writes(*file, sc)
	}
	a.gitSetting(Word{Text: rest[0].Text + "=" + rest[1].Text, Known: rest[0].Known && rest[1].Known})
}

// gitBundle writes a file.
func (a *reader) gitBundle(args []Word, v *invocation, sc *scope) {
	switch {
	case len(args) == 0 || args[0].Text == "verify" || args[0].Text == "list-heads":
	case args[0].Text == "create" && len(args) > 1:
		a.writes(args[1], sc)
	default:
		v.spelled = "git bundle " + args[0].Text
	}
}
