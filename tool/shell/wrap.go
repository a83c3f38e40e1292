package shell

import (
	"slices"
	"strings"
)

// starter is a program that starts another with the rest of its arguments.
type starter struct {
	valued string // single letters of options that take a value
	long   string // long options that take one in the next word, " --x --y "
	skip   int    // arguments before the command
	own    bool   // it does more than to start it: rules must allow it too
	vars   bool   // name=value may be before the command
}

// starterOf knows those that only differ in their options.
func starterOf(name string) (starter, bool) {
	switch name {
	case "command", "builtin", "nohup", "setsid", "catchsegv", "busybox", "toybox", "then", "noglob", "nocorrect":
		return starter{}, true
	case "exec":
		return starter{valued: "a"}, true
	case "env":
		return starter{valued: "uC", long: " --unset --chdir ", vars: true}, true
	case "nice":
		return starter{valued: "n", long: " --adjustment "}, true
	case "ionice":
		return starter{valued: "cn", long: " --class --classdata "}, true
	case "stdbuf":
		return starter{valued: "ioe", long: " --input --output --error "}, true
	case "timeout", "gtimeout":
		return starter{valued: "ks", long: " --kill-after --signal ", skip: 1}, true
	case "time":
		return starter{valued: "fo", long: " --format --output "}, true
	case "caffeinate":
		return starter{valued: "tw"}, true
	case "taskset", "chrt", "repeat":
		return starter{skip: 1}, true
	case "sudo", "doas":
		return starter{valued: "ugpCDRTrth", long: " --user --group --prompt --chdir --chroot --host ", own: true, vars: true}, true
	case "strace", "ltrace", "gdbserver":
		return starter{valued: "eoOpsSuEPIbaX", own: true}, true
	case "xargs", "gxargs":
		return starter{valued: "InPLdEsa", long: " --max-args --max-procs --max-lines --delimiter --arg-file --max-chars ", own: true}, true
	case "chroot", "gosu", "su-exec", "poetry", "uv", "pipenv", "bundle": // run or exec is the first of the last four
		return starter{skip: 1, own: true}, true
	case "unshare", "nsenter", "systemd-run", "firejail", "xvfb-run", "proot", "fakeroot", "faketime", "bwrap", "runuser", "dbus-run-session", "valgrind", "perf",
		"pkexec", "unbuffer", "rlwrap", "chronic", "setarch", "linux32", "linux64", "entr":
		return starter{own: true}, true
	}
	return starter{}, false
}

// chdir goes where the options of env or sudo say.
func (a *reader) chdir(name string, v invocation, in *scope) *scope {
	for _, o := range v.read.options {
		if o.name == "--chdir" || name == "env" && o.name == "-C" || name == "sudo" && o.name == "-D" {
			in = a.elsewhere(in, o.value)
		}
	}
	return in
}

// wrapper takes off what is before a command. false is its own command.
func (a programs) wrapper(name string, v invocation, sc *scope) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "fish", "csh", "tcsh":
		return a.interpreter(name, v, sc)
	case "watch", "ssh", "su", "script", "flock", "parallel":
		return a.runner(name, v, sc)
	case "find", "gfind":
		return a.find(v, sc)
	case "git":
		return a.git(v, sc)
	}
	st, ok := starterOf(name)
	if !ok {
		return false
	}
	if name == "command" && len(v.words) > 1 && (v.words[1].Text == "-v" || v.words[1].Text == "-V") {
		a.emit(v, "")
		return true
	}
	n := a.wrapped(name, st, &v, sc)
	a.prefixes(name, v.words[:min(n, len(v.words))], sc)
	inner := sc
	if st.vars {
		if inner = sc.clone(); n > 1 || st.own { // arguments from the environment are not followed
			inner.forgetAll()
		}
		for ; n < len(v.words) && strings.Contains(v.words[n].Text, "="); n++ {
			a.setting(v.words[n], inner)
		}
	}
	inner = a.chdir(name, v, inner)
	if st.own || n >= len(v.words) {
		a.arguments(invocation{words: v.words[:min(n, len(v.words))]}, sc)
		a.emit(v, "")
	}
	if n < len(v.words) {
		a.start(name, st, v, n, inner)
	}
	return true
}

// elsewhere is the scope of a command that is started in another directory.
func (a *reader) elsewhere(sc *scope, dir Word) *scope {
	sc = sc.clone()
	a.plan.ChangesDir = true
	if !dir.Known {
		sc.dirs = nil
		return sc
	}
	before := sc.dirs
	a.moveTo(dir.Text, sc)
	sc.dirs = withoutOld(before, sc.dirs)
	return sc
}

// wrapped counts the words of a wrapper before its command, and judges its options.
func (a programs) wrapped(name string, st starter, v *invocation, sc *scope) int {
	n := a.options(st, v.words)
	r, ok := a.listed(strings.TrimPrefix(name, "g"), v.words[1:], v, sc)
	if !ok {
		return n
	}
	for _, o := range r.options {
		if o.name == "-S" || o.name == "--split-string" {
			a.unknown(UnknownCommand, name+" "+o.name, "env takes the command apart itself")
		}
	}
	return 1 + r.end + st.skip
}

// start continues with the command behind a wrapper.
func (a programs) start(name string, st starter, v invocation, n int, sc *scope) {
	head, _ := invocation{words: v.words[:n]}.spelling()
	inner := invocation{words: slices.Clone(v.words[n:]), stdin: v.stdin}
	if !st.own {
		inner.redirs = v.redirs
		a.via = append(slices.Clip(a.via), head)
	}
	if name == "xargs" || name == "gxargs" {
		placeholders(v.words[1:n], inner.words)
		inner.words = append(inner.words, Word{Text: "{}", mask: "*", bare: true, more: &more{why: "it is read from elsewhere"}})
		inner.stdin = nil
		if isShell(inner.words[0].Text) && !slices.ContainsFunc(inner.words, func(w Word) bool { return codeFlag(w.Text) }) {
			a.unknown(UnknownCommand, "xargs "+inner.words[0].Text, "the shell reads its code from elsewhere")
		}
	}
	if !slices.Contains([]string{"command", "builtin", "exec", "time", "noglob", "nocorrect", "then"}, name) {
		sc = sc.clone() // another process
	}
	a.run(inner, sc)
}

// placeholders makes the words unknown in which xargs puts what it reads.
func placeholders(options, words []Word) {
	mark := ""
	for i, w := range options {
		switch t := w.Text; {
		case (t == "-I" || t == "--replace") && i+1 < len(options):
			mark = options[i+1].Text
		case strings.HasPrefix(t, "-I"):
			mark = t[2:]
		case t == "-i" || t == "--replace":
			mark = "{}"
		case strings.HasPrefix(t, "--replace="):
			mark = strings.TrimPrefix(t, "--replace=")
		}
	}
	for i, w := range words {
		if mark != "" && strings.Contains(w.Text, mark) {
			words[i] = unknownWord(w.Text, strings.ReplaceAll(w.Text, mark, "*"), "it is read from elsewhere")
		}
	}
}

// options counts the words of a wrapper before its command.
func (a *reader) options(st starter, words []Word) int {
	n, skip := 1, st.skip
	for n < len(words) {
		w := words[n]
		if !w.Known && w.bare && w.why() != "it is a number" && w.why() != "it is the result of a calculation" {
			a.unknown(UnknownCommand, w.Text, "where the command begins is not known: "+w.why())
		}
		switch t := w.Text; {
		case t == "-":
			n++
		case t == "--":
			n++
			return n + skip
		case len(t) > 2 && strings.HasPrefix(t, "--"):
			n++
			if !strings.Contains(t, "=") && strings.Contains(st.long, " "+t+" ") {
				n++
			}
		case len(t) > 1 && t[0] == '-':
			n++
			if at := strings.IndexAny(t[1:], st.valued); st.valued != "" && at == len(t)-2 {
				n++
			}
		case skip > 0:
			skip--
			n++
		default:
			return n
		}
	}
	return n
}

// prefixes looks at options of wrappers that name directories or hold commands.
func (a *reader) prefixes(name string, words []Word, sc *scope) {
	for i, w := range words[1:] {
		t := w.Text
		if name == "env" && (t == "-C" || t == "--chdir") && i+2 < len(words) {
			a.path(words[i+2], sc, false, true)
		}
		if (name == "env" || name == "sudo") && strings.HasPrefix(t, "--chdir=") {
			a.path(w.piece(strings.TrimPrefix(t, "--chdir=")), sc, false, true)
		}
		a.option(w, sc)
	}
}

func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"}, name[strings.LastIndexByte(name, '/')+1:])
}

// codeFlag reports whether an option of a shell says that code follows.
func codeFlag(s string) bool {
	return len(s) > 1 && (s[0] == '-' || s[0] == '+') && s[1] != '-' && strings.ContainsRune(s, 'c') && !strings.ContainsRune(s, '=')
}

// readsOwnFiles reports whether a shell with this option may read files of the user's before its code.
func readsOwnFiles(option string) bool {
	return strings.HasPrefix(option, "--") && option != "--norc" && option != "--noprofile" && option != "--posix" || strings.ContainsAny(option, "lis")
}

// interpreter is a shell: its code is in the line, comes by its input, or is a file.
func (a programs) interpreter(name string, v invocation, sc *scope) bool {
	own, i := false, 1
	for ; i < len(v.words); i++ {
		w := v.words[i]
		if !w.Known || w.Glob {
			a.unknown(UnknownCommand, w.Text, "what "+name+" runs: "+because(w))
			a.emit(v, "")
			return true
		}
		t := w.Text
		if codeFlag(t) {
			own = own || strings.ContainsAny(t, "li")
			return a.shellCode(v, i+1, own, sc)
		}
		if t == "" || t[0] != '-' && t[0] != '+' {
			break
		}
		own = own || readsOwnFiles(t)
		if t == "-o" || t == "+o" || t == "-O" || t == "+O" || t == "--rcfile" || t == "--init-file" {
			i++
		}
	}
	if i < len(v.words) && v.words[i].Text != "-" && !strings.HasPrefix(v.words[i].Text, "/dev/") {
		a.path(v.words[i], sc, false, true)
		a.emit(v, "a script is run")
		return true
	}
	if v.stdin != nil && v.stdin.Known {
		a.code(v.stdin.Text, sc.clone())
		a.emit(v, "")
		return true
	}
	a.unknown(UnknownCommand, name, "the shell reads its code from stdin")
	a.emit(v, "")
	return true
}

// shellCode is the code after -c.
func (a programs) shellCode(v invocation, at int, own bool, sc *scope) bool {
	for at < len(v.words) && v.words[at].Known && (strings.HasPrefix(v.words[at].Text, "-") || strings.HasPrefix(v.words[at].Text, "+")) { // more options
		own = own || strings.ContainsAny(v.words[at].Text, "li")
		if strings.ContainsAny(v.words[at].Text, "oO") {
			at++
		}
		at++
	}
	if at >= len(v.words) {
		a.emit(v, "")
		return true
	}
	w := v.words[at]
	if !w.Known || w.Glob {
		a.unknown(UnknownCommand, w.Text, "unknown shell code: "+because(w))
		a.emit(v, "")
		return true
	}
	inner := sc.clone()
	inner.own()
	for name, val := range inner.vars { // only what is exported gets there, and some of it may be
		if val.known {
			inner.vars[name] = &value{}
		}
	}
	clear(inner.funcs)
	if own {
		a.emit(v, "")
	}
	a.inside(v, func() { a.code(w.Text, inner) })
	return true
}

// runner are programs that run code in their own ways.
func (a programs) runner(name string, v invocation, sc *scope) bool {
	a.emit(v, "")
	st := starter{}
	switch name {
	case "watch":
		st.valued, st.long = "nq", " --interval "
	case "ssh":
		st.skip = 1
		a.sshOptions(v)
	case "flock":
		st.valued, st.long, st.skip = "wE", " --timeout --conflict-exit-code ", 1
	}
	if name == "su" || name == "script" || name == "flock" {
		for i, w := range v.words {
			if codeFlag(w.Text) && i+1 < len(v.words) {
				a.snippet(name, v.words[i+1:i+2], sc)
				return true
			}
			if rest, ok := strings.CutPrefix(w.Text, "--command="); ok {
				a.snippet(name, []Word{w.piece(rest)}, sc)
				return true
			}
		}
	}
	if name == "parallel" {
		a.unknown(UnknownCommand, "parallel", "it makes its commands itself")
		return true
	}
	if name == "su" || name == "script" {
		a.unknown(UnknownCommand, name, "it starts a shell, which reads its commands from its input")
		return true
	}
	n := a.options(st, v.words)
	if r, ok := a.listed(name, v.words[1:], &v, sc); ok {
		n = 1 + r.end + st.skip
	}
	switch {
	case n >= len(v.words):
	case name == "flock":
		a.run(invocation{words: slices.Clone(v.words[n:])}, sc.clone())
	default:
		far := a.far
		a.far = far || name == "ssh"
		a.snippet(name, v.words[n:], sc)
		a.far = far
	}
	return true
}

// snippet is code that a program hands to a shell.
func (a programs) snippet(name string, words []Word, sc *scope) {
	var texts []string
	for _, w := range words {
		if !w.Known || w.Glob {
			a.unknown(UnknownCommand, w.Text, "what "+name+" runs: "+because(w))
			return
		}
		texts = append(texts, w.Text)
	}
	inner := sc.clone()
	inner.forgetAll()
	via := a.via
	a.via = nil
	a.code(strings.Join(texts, " "), inner)
	a.via = via
}

func (a *reader) sshOptions(v invocation) {
	for _, w := range v.words[1:] {
		if t := strings.ToLower(w.Text); strings.Contains(t, "proxycommand") || strings.Contains(t, "localcommand") || strings.Contains(t, "knownhostscommand") || strings.HasPrefix(w.Text, "-F") {
			a.unknown(UnknownCommand, w.Text, "ssh runs a command from its config")
		}
	}
}
