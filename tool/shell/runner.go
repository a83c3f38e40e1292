package shell

import (
	"slices"
	"strings"
)

// make takes variables among its targets. One that is a program, or whose text make or a shell
// takes apart, runs more than the rules of the project's files.
func (a programs) make(v *invocation, sc *scope) {
	r, _ := a.listed("make", v.words[1:], v, sc)
	for _, w := range r.operands {
		name, text, ok := strings.Cut(w.Text, "=")
		if !ok {
			continue
		}
		shell := strings.HasSuffix(name, "!")
		name = strings.TrimRight(name, ":?+! ")
		switch {
		case shell, !w.Known, strings.Contains(name, " "), strings.Trim(text, safeValue+" ^~") != "", isOne("make-program", name) && !harmlessValue(name, text), changesWhatRuns(name) && !harmlessValue(name, text):
			a.doubt(v, "make "+name+"=", "this variable can change what make runs")
		}
	}
}

// scripts are programs that run the scripts of a package.
func (a programs) scripts(name string, v *invocation, sc *scope) {
	r, _ := a.listed(name, v.words[1:], v, sc)
	if len(r.operands) == 0 {
		return
	}
	sub, rest := r.operands[0], r.operands[1:]
	if !sub.Known {
		return // it is said to be unknown
	}
	if name == "npm" {
		a.npm(sub.Text, rest, v, sc)
		return
	}
	switch sub.Text {
	case "run", "run-script": // up to the name of the script, the rest is the script's
		a.listed(name, rest, v, sc)
	case "install", "i", "add", "remove", "rm", "update", "up", "upgrade", "ci", "list", "ls", "outdated", "why", "audit", "pack", "link", "unlink":
		a.checkOptions(name, readOptions(strings.TrimPrefix(optionRows()[name], "+"), rest, false).options, v, sc)
	case "config", "set", "exec", "dlx", "create", "init", "node", "env", "setup", "publish", "plugin", "policies", "self-update", "patch", "patch-commit":
		v.spelled = name + " " + sub.Text
	}
}

// npm runs scripts; "env" is one that it has itself, and that runs its arguments.
func (a programs) npm(sub string, rest []Word, v *invocation, sc *scope) {
	switch sub {
	case "run", "run-script", "rum", "urn":
		if len(rest) > 1 && rest[0].Text == "env" {
			a.doubt(v, "npm run env", "the script env runs its arguments")
			a.run(invocation{words: slices.Clone(rest[1:])}, sc.clone())
		}
	case "config", "c", "pkg", "cache":
		if len(rest) == 0 || rest[0].Text == "get" || rest[0].Text == "list" || rest[0].Text == "ls" || rest[0].Text == "verify" {
			return
		}
		v.spelled = "npm " + sub
	default:
		if !isOne("npm-command", sub) {
			v.spelled = "npm " + sub
		}
	}
}

// goCommand has its options after its command.
func (a programs) goCommand(v *invocation, sc *scope) {
	args := v.words[1:]
	if len(args) > 1 && args[0].Text == "-C" {
		a.path(args[1], sc, false, true)
		args = args[2:]
	}
	if len(args) == 0 || !args[0].Known {
		return
	}
	sub, rest := args[0].Text, args[1:]
	if sub == "test" {
		if at := slices.IndexFunc(rest, func(w Word) bool { return w.Text == "-args" || w.Text == "--args" }); at >= 0 {
			rest = rest[:at]
		}
	}
	if sub == "mod" || sub == "work" || sub == "tool" {
		if len(rest) == 0 {
			return
		}
		if sub == "tool" {
			a.goTool(rest, v)
			return
		}
		rest = rest[1:]
	}
	r, ok := a.listed("go "+sub, rest, v, sc)
	if !ok && sub != "help" || sub == "run" && len(r.operands) > 0 && strings.Contains(r.operands[0].Text, "@") { // it is fetched and run
		v.spelled = "go " + sub
	}
}

func (a *reader) goTool(args []Word, v *invocation) {
	switch args[0].Text {
	case "cover", "nm", "objdump", "addr2line", "buildid":
		v.listed = true
	default:
		v.spelled = "go tool " + args[0].Text
	}
}

// readNested reads programs with commands that have their own options, after options for all.
func (a programs) readNested(name string, v *invocation, sc *scope) {
	args, key := v.words[1:], name
	switch {
	case name == "podman":
		key = "docker"
	case name == "docker-compose":
		key, args = "docker", append([]Word{{Text: "compose", Known: true, mask: "compose"}}, args...)
	case name == "cargo" && len(args) > 0 && strings.HasPrefix(args[0].Text, "+"):
		if strings.ContainsAny(args[0].Text, "/.\\") {
			a.doubt(v, "cargo +", "this chooses which programs cargo runs")
		}
		args = args[1:]
	}
	r, _ := a.listed(key, args, v, sc)
	if len(r.operands) == 0 || !r.operands[0].Known {
		return
	}
	key, args = key+" "+r.operands[0].Text, r.operands[1:]
	own, ok := a.listed(key, args, v, sc)
	if !ok {
		v.spelled = key
		return
	}
	if key != "docker compose" || len(own.operands) == 0 {
		return
	}
	sub := own.operands[0].Text
	if _, ok := a.listed(key+" "+sub, own.operands[1:], v, sc); ok {
		return
	}
	switch sub {
	case "up", "down", "ps", "logs", "build", "pull", "push", "start", "stop", "restart", "rm", "kill", "create", "images", "top", "config", "ls", "version", "port", "pause", "unpause", "wait":
		a.checkOptions(key, readOptions(strings.TrimPrefix(optionRows()[key], "+"), own.operands[1:], false).options, v, sc)
	default:
		v.spelled = key + " " + sub
	}
}
