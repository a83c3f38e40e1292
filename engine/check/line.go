package check

import (
	"slices"
	"strings"
)

// clause is one command of a line, with what is between it and the next.
type clause struct {
	text  string
	words []string
	next  string // && || ; | & ( ) or "" at the end
}

// clauses splits a command line at the operators of the shell that are outside of quotes. A
// document below the line (<<) is taken for commands, so that such a line is nothing we know.
func clauses(line string) (out []clause) {
	var quote byte
	start := 0
	add := func(end, size int, op string) {
		p := clause{text: strings.TrimSpace(line[start:end]), next: op}
		start = end + size
		p.words = strings.Fields(p.text)
		for len(p.words) > 0 && isAssignment(p.words[0]) {
			p.words = p.words[1:]
		}
		if p.text != "" || op == "(" || op == ")" {
			out = append(out, p)
		}
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '&' && isRedirect(line, i):
		case strings.ContainsRune("&|;\n()", rune(c)):
			op, size := operatorAt(line, i)
			add(i, size, op)
			i += size - 1
		}
	}
	add(len(line), 0, "")
	return out
}

// isRedirect reports whether an ampersand belongs to a redirection: 2>&1, &>all.
func isRedirect(line string, at int) bool {
	return at > 0 && (line[at-1] == '>' || line[at-1] == '<') || at+1 < len(line) && line[at+1] == '>'
}

// operatorAt is the operator at a place, and how long it is. The end of a line is a semicolon.
func operatorAt(line string, at int) (op string, size int) {
	rest := line[at:]
	switch {
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		return rest[:2], 2
	case strings.HasPrefix(rest, "|&"):
		return "|", 2
	case rest[0] == '\n':
		return ";", 1
	}
	return rest[:1], 1
}

// isPlain reports whether a line is commands one after the other and nothing else.
func isPlain(all []clause) bool {
	return !slices.ContainsFunc(all, func(p clause) bool {
		return p.next == "(" || p.next == ")" || len(p.words) > 0 && inList("compound", p.words[0])
	})
}

// isQuiet reports whether a command says nothing about a project by how it ends.
func isQuiet(p clause) bool { return len(p.words) == 0 || inList("quiet", p.words[0]) }

// shellOptions are those a line sets for what comes behind them.
type shellOptions struct{ errexit, pipefail bool }

func (o *shellOptions) read(p clause) {
	if len(p.words) == 0 || p.words[0] != "set" {
		return
	}
	for _, w := range p.words[1:] {
		o.pipefail = o.pipefail || w == "pipefail"
		o.errexit = o.errexit || w == "errexit" || strings.HasPrefix(w, "-") && strings.Contains(w, "e")
	}
}

// ExitOf derives the exit code of the sought commands from the exit code of their line. It is -1
// if the line's code says nothing about them. The code of a pipe is that of its last command, unless
// pipefail is set.
func ExitOf(line string, exit int, sought func(words []string) bool) int {
	all := clauses(line)
	if exit < 0 || !isPlain(all) {
		return -1
	}
	found := false
	var options shellOptions
	for i, p := range all {
		options.read(p)
		if !sought(p.words) {
			continue
		}
		if found = true; !exitSurvivesBefore(all[:i], exit, sought) || !exitSurvivesAfter(all[i:], options, exit, sought) {
			return -1
		}
	}
	if !found {
		return -1
	}
	return exit
}

// exitSurvivesBefore reports whether what is before a command leaves the exit code to it.
func exitSurvivesBefore(before []clause, exit int, sought func([]string) bool) bool {
	for _, p := range slices.Backward(before) {
		switch p.next {
		case "||":
			return false // it may not have run
		case "&&":
			if exit != 0 && !isQuiet(p) && !sought(p.words) {
				return false // that one may have failed
			}
		case "|":
		default:
			return true
		}
	}
	return true
}

// exitSurvivesAfter reports whether what is after a command, the first of the clauses, leaves
// the exit code to it.
func exitSurvivesAfter(from []clause, options shellOptions, exit int, sought func([]string) bool) bool {
	piped := false
	for i, p := range from {
		if i == len(from)-1 {
			return p.next != "&" && (!piped || options.pipefail)
		}
		rest := from[i+1:]
		switch {
		case p.next == "|":
			piped = piped || i == 0
			if piped && !options.pipefail {
				return false
			}
		case p.next == "||":
			return len(rest) == 1 && len(rest[0].words) > 0 && slices.Contains([]string{"exit", "false", "return"}, rest[0].words[0])
		case p.next == "&&", p.next == ";" && options.errexit:
			if exit != 0 && !isQuiet(rest[0]) && !sought(rest[0].words) {
				return false // that one may have failed
			}
		default:
			return false
		}
	}
	return true
}

// TestCommand is the part of a command line to store: its tests and their folder. It drops
// variables, which may be secrets, and commands that only read the output.
func TestCommand(line string) string {
	const most = 300
	all := clauses(line)
	if strings.Contains(line, "<") || !isPlain(all) || slices.ContainsFunc(all, assigns) {
		return ""
	}
	var kept []string
	tested := false
	for i, p := range all {
		chained := i == 0 || all[i-1].next == "&&"
		switch {
		case IsTest(p.words):
			text, ok := withoutRedirects(p.text)
			if !ok || tested && !chained {
				return ""
			}
			if !chained {
				kept = nil
			}
			tested, kept = true, append(kept, text)
		case tested:
		case len(p.words) > 0 && p.words[0] == "cd" && p.next == "&&":
			kept = append(kept, p.text)
		default:
			kept = nil
		}
	}
	command := strings.Join(kept, " && ")
	if !tested || len(command) > most {
		return ""
	}
	return command
}

// assigns reports whether a command sets a variable.
func assigns(p clause) bool { return slices.ContainsFunc(strings.Fields(p.text), isAssignment) }

// withoutRedirects is a command without redirections of its output at its end.
func withoutRedirects(text string) (string, bool) {
	at := strings.IndexByte(text, '>')
	if at < 0 {
		return text, true
	}
	if strings.ContainsAny(text[:at], "'\"`\\") {
		return "", false // it may be a word
	}
	head := strings.TrimRight(text[:at], "0123456789&")
	target := false
	for w := range strings.FieldsSeq(text[len(head):]) {
		bare := strings.TrimLeft(w, "0123456789&")
		isOne := strings.HasPrefix(bare, ">")
		if !isOne && !target {
			return "", false // an argument behind it
		}
		target = isOne && strings.Trim(bare, ">|") == ""
	}
	return strings.TrimSpace(head), true
}
