package shell

import (
	"slices"
	"strings"
)

// find runs commands by its actions, and deletes and writes files by itself.
func (a *analyser) find(v invocation, sc *scope) bool {
	for i := 1; i < len(v.words); i++ {
		w := v.words[i]
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(v.words) && v.words[end].Text != ";" && !(v.words[end].Text == "+" && v.words[end-1].Text == "{}") {
				end++
			}
			inner := slices.Clone(v.words[i+1 : end])
			for j := range inner {
				if strings.Contains(inner[j].Text, "{}") {
					inner[j] = Word{Text: inner[j].Text, Why: "it is the name of a file that is found", mask: strings.ReplaceAll(inner[j].Text, "{}", "*"), Among: []string{"."}}
					if j == 0 {
						inner[j].Among = nil
					}
				}
			}
			a.run(invocation{words: inner}, sc.clone())
			i = end
		case "-delete":
			a.emit(invocation{words: []Word{{Text: "rm", Known: true, mask: "rm"}, {Text: "{}", Why: "it is the name of a file that is found", mask: "*"}}}, "")
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(v.words) {
				a.writes(v.words[i+1], sc)
			}
		default:
			if !w.Known && w.bare {
				a.unknown(UnknownCommand, w.Text, "which actions of find they are: "+w.Why)
			}
		}
	}
	for _, w := range v.words[1:] { // the places to look come first
		if strings.HasPrefix(w.Text, "-") || w.Text == "(" || w.Text == "!" {
			break
		}
		a.path(w, sc, false, true)
	}
	a.emit(v, "")
	return true
}

// writes is a file that a program writes because of an option.
func (a *analyser) writes(w Word, sc *scope) {
	if w.Known && isDevice(w.Text) {
		return
	}
	if w.Known {
		a.extra(Writes, "> "+spell(w))
	}
	a.path(w, sc, true, true)
}

// git has settings and options that run code. Those that only say where it works are taken
// off, so that rules see its command.
func (a *analyser) git(v invocation, sc *scope) bool {
	i := 1
	for ; i < len(v.words); i++ {
		w := v.words[i]
		t := w.Text
		if !w.Known {
			break // which command it is is not known: that is said of it
		}
		if !strings.HasPrefix(t, "-") {
			break
		}
		name, joined, has := strings.Cut(t, "=")
		switch name {
		case "-C", "--git-dir", "--work-tree":
			to := Word{Text: joined, Known: true}
			if !has && i+1 < len(v.words) {
				i++
				to = v.words[i]
			}
			a.path(to, sc, false, true)
			if name != "-C" {
				a.extra(Sets, "<git> "+name)
			}
		case "-c", "--config-env":
			if !has && i+1 < len(v.words) {
				i++
				a.gitSetting(v.words[i])
			} else {
				a.gitSetting(Word{Text: joined})
			}
		case "--exec-path", "--namespace", "--super-prefix":
			if has || name != "--exec-path" {
				a.extra(Sets, "<git> "+name)
			}
			if !has && name != "--exec-path" {
				i++
			}
		}
	}
	rest := v
	if i > 1 && i < len(v.words) {
		full, _ := v.spelling()
		rest.words = append([]Word{v.words[0]}, v.words[i:]...)
		rest.also = append(slices.Clip(v.also), full)
	}
	a.gitCommand(&rest, sc)
	a.uncertain("git", rest)
	a.arguments(rest, sc)
	a.emit(rest, "")
	return true
}

func (a *analyser) gitSetting(w Word) {
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

// gitCommand looks at commands of git that run others.
func (a *analyser) gitCommand(v *invocation, sc *scope) {
	if len(v.words) < 2 {
		return
	}
	sub, args := v.words[1].Text, v.words[2:]
	for i, w := range args {
		name, joined, has := strings.Cut(w.Text, "=")
		value := Word{Text: joined, Known: w.Known, Why: w.Why}
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case name == "--output" || name == "-o" && (sub == "format-patch" || sub == "archive"):
			a.writes(value, sc)
		case name == "--upload-pack" || name == "--receive-pack" || name == "--exec" || name == "--extcmd" || name == "-x" && (sub == "rebase" || sub == "difftool") ||
			name == "-u" && (sub == "clone" || sub == "ls-remote"):
			a.snippet("git", []Word{value}, sc)
		case strings.HasSuffix(name, "-filter"):
			a.snippet("git", []Word{value}, sc)
		case name == "--open-files-in-pager" || sub == "grep" && strings.HasPrefix(name, "-O"), name == "--ext-diff", name == "--textconv", strings.HasPrefix(w.Text, "ext::"), name == "--template", name == "--hook-path":
			a.extra(Sets, "<git> "+name)
		}
	}
	switch {
	case sub == "config" && len(args) > 0:
		a.gitConfig(args)
	case sub == "bisect" && len(args) > 1 && args[0].Text == "run":
		a.run(invocation{words: slices.Clone(args[1:])}, sc.clone())
	case sub == "submodule" && len(args) > 1 && slices.ContainsFunc(args, func(w Word) bool { return w.Text == "foreach" }):
		a.snippet("git submodule", args[1:], sc)
	}
}

// gitConfig sees that a setting is written which runs something later.
func (a *analyser) gitConfig(args []Word) {
	var rest []Word
	for _, w := range args {
		switch {
		case w.Text == "--get" || w.Text == "--list" || w.Text == "-l" || w.Text == "--get-all" || w.Text == "--get-regexp" || w.Text == "get" || w.Text == "list":
			return
		case strings.HasPrefix(w.Text, "-") || w.Text == "set":
		default:
			rest = append(rest, w)
		}
	}
	if len(rest) > 1 {
		a.gitSetting(Word{Text: rest[0].Text + "=" + rest[1].Text, Known: rest[0].Known && rest[1].Known})
	}
}

// program looks at arguments of programs by which they run or write more than their name
// says. It returns what runs code that is not in the line.
func (a *analyser) program(name string, v *invocation, sc *scope) (opaque string) {
	args := v.words[1:]
	switch name {
	case "sed", "gsed":
		a.sed(args, sc)
	case "awk", "gawk", "mawk", "nawk":
		a.awk(args)
	case "tar", "gtar", "bsdtar", "sort", "split", "rsync", "scp", "sftp", "rg", "fd", "fdfind", "go", "zip", "man", "gdb", "dd", "curl", "wget", "tcpdump", "ctags":
		a.flags(name, args, sc)
	case "make", "gmake", "npm", "yarn", "pnpm", "bun", "just", "task", "rake", "gradle", "mvn", "ninja", "cmake", "npx", "bunx", "tox", "nox", "poetry", "pre-commit", "./gradlew", "cargo":
		opaque = "it runs what its files say"
	case "python", "python3", "perl", "ruby", "node", "php", "lua", "deno", "osascript", "tclsh", "expect", "Rscript", "julia", "swift":
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

// flags finds options that name a command to run or a file to write.
func (a *analyser) flags(name string, args []Word, sc *scope) {
	for i, w := range args {
		opt, joined, has := strings.Cut(w.Text, "=")
		value := Word{Text: joined, Known: w.Known, Why: w.Why}
		next := Word{Why: "nothing follows", Text: w.Text}
		if i+1 < len(args) {
			next = args[i+1]
		}
		if !has {
			value = next
		}
		switch {
		case runsFlag(name, opt):
			if name == "fd" || name == "fdfind" {
				a.run(invocation{words: slices.Clone(args[i+1:])}, sc.clone())
				return
			}
			if name == "tar" {
				value.Text = strings.TrimPrefix(value.Text, "exec=")
			}
			a.snippet(name, []Word{value}, sc)
		case name == "tar" && w.Known && len(w.Text) > 1 && strings.HasPrefix(w.Text, "-") && w.Text[1] != '-' && strings.ContainsAny(w.Text[:2], "IF"):
			a.unknown(UnknownCommand, w.Text, "tar runs a program")
		case !w.Known && w.bare:
			a.unknown(UnknownCommand, w.Text, "which options of "+name+" they are: "+w.Why)
		case name == "dd" && opt == "of", name == "sort" && (opt == "-o" || opt == "--output"), name == "curl" && (opt == "-o" || opt == "--output"), name == "wget" && (opt == "-O" || opt == "--output-document"):
			a.writes(value, sc)
		}
	}
}

// runsFlag knows options whose value is a command.
func runsFlag(name, opt string) bool {
	switch name {
	case "tar", "gtar", "bsdtar":
		return opt == "--to-command" || opt == "-I" || opt == "--use-compress-program" || opt == "--checkpoint-action" || opt == "-F" || opt == "--info-script" ||
			opt == "--new-volume-script" || opt == "--rmt-command" || opt == "--rsh-command"
	case "sort":
		return opt == "--compress-program"
	case "split":
		return opt == "--filter"
	case "rsync":
		return opt == "-e" || opt == "--rsh" || opt == "--rsync-path"
	case "scp", "sftp":
		return opt == "-S" || opt == "-o" || opt == "-F" || opt == "-D"
	case "rg":
		return opt == "--pre" || opt == "--hostname-bin"
	case "fd", "fdfind":
		return opt == "-x" || opt == "-X" || opt == "--exec" || opt == "--exec-batch"
	case "go":
		return opt == "-exec" || opt == "-toolexec" || opt == "-vettool" || opt == "--exec" || opt == "--toolexec"
	case "zip":
		return opt == "-TT" || opt == "--unzip-command"
	case "man":
		return opt == "-P" || opt == "--pager" || opt == "-H"
	case "gdb":
		return opt == "-ex" || opt == "--eval-command" || opt == "-x"
	case "tcpdump":
		return opt == "-z"
	}
	return false
}
