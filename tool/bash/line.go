package bash

import (
	"slices"
	"strings"

	sh "github.com/lathe-agent/lathe/tool/shell"
)

// Line describes a command line before it is confined.
type Line struct {
	Dir      string // where it runs
	Commands []LineCommand
	// Complete says that the commands are all it does: the shell itself writes no file, sets nothing
	// that changes what runs, nothing is unknown, and no option is known to run or write something.
	Complete bool
	// ReadsOnly says that its programs write nothing. The shell may, to files that are known.
	ReadsOnly bool
}

// LineCommand is one command of a line, in the spelling that rules see, and in others.
type LineCommand struct {
	Text string
	Also []string
	// Doubts are its options that are not known to be harmless.
	Doubts []string
	// RequiredPrefix is what a pattern must begin with to mean it; "" is nothing.
	RequiredPrefix string
}

func newLine(plan sh.Plan) Line {
	known := plan.Unparsed == "" && len(plan.Functions)+len(plan.Aliases) == 0
	l := Line{Complete: known && len(plan.Unknown) == 0, ReadsOnly: known && len(plan.Commands) > 0}
	for _, e := range plan.Extra {
		l.Complete = l.Complete && e.Kind == sh.Reads
		l.ReadsOnly = l.ReadsOnly && (e.Kind == sh.Reads || e.Kind == sh.Writes)
	}
	for _, c := range plan.Commands {
		l.Commands = append(l.Commands, LineCommand{c.Text, c.Also, c.Doubts, c.RequiredPrefix})
		l.ReadsOnly = l.ReadsOnly && c.Opaque == "" && onlyReads(c)
	}
	return l
}

// onlyReads knows commands that write to their output and nowhere else: most with any
// arguments, some unless an option says otherwise.
func onlyReads(c sh.Command) bool {
	words := strings.Fields(c.Text)
	if len(words) == 0 {
		return false
	}
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.Trim(w, `'"`), p) })
		})
	}
	switch words[0] {
	case "ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "echo", "printf", "pwd", "cd", "true", "false", "test", "[", "stat", "du", "df",
		"which", "type", "basename", "dirname", "readlink", "realpath", "date", "uname", "whoami", "id", "cut", "tr", "nl", "od", "cmp", "diff", "comm", "jq":
		return true
	}
	if c.Maybe != "" {
		return false
	}
	switch words[0] {
	case "sort", "rg":
		return len(c.Doubts) == 0 // output may be a file, and programs may be run
	case "find":
		return !has("-exec", "-ok", "-delete", "-fprint", "-fls")
	case "git":
		return len(words) > 1 && slices.Contains([]string{"status", "log", "show", "diff", "rev-parse", "ls-files", "blame"}, words[1]) && len(c.Doubts) == 0 && !has("-O")
	}
	return false
}
