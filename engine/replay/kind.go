package replay

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Kind is how far a call reaches.
type Kind string

// The kinds. The empty one stays in the project. Those of Kinds can be opened for a replay, one by one.
const (
	Local   Kind = ""
	Network Kind = "network"  // a command that reaches other machines
	Git     Kind = "git"      // a command line of git alone that reaches a remote
	Web     Kind = "webfetch" // webfetch and websearch
	MCP     Kind = "mcp"      // a tool of an MCP server; plugins, whose tools look the same, never start
	Closed  Kind = "closed"   // never runs again: subagents, questions
)

// Kinds lists the kinds that can be opened.
func Kinds() []Kind { return []Kind{Network, Git, Web, MCP} }

// ParseKinds reads the kinds to open.
func ParseKinds(names []string) (out []Kind, err error) {
	for _, name := range names {
		if !slices.Contains(Kinds(), Kind(name)) {
			return nil, lathe.Errorf(lathe.Invalid, "%.60q is nothing that a replay can open: use network, git, webfetch or mcp", name)
		}
		out = append(out, Kind(name))
	}
	return out, nil
}

// localTools have effects only in the project, or none.
func localTools() []string {
	return []string{"apply_patch", "bash", "edit", "glob", "grep", "read", "skill", "todowrite", "write"}
}

// closedTools are lathe's own tools that ask a person or another agent, or change the session.
func closedTools() []string {
	return []string{"ask_parent", "batch", "invalid", "lsp", "plan_enter", "plan_exit", "question", "task", "todoread", "StructuredOutput"}
}

// kindOf says how far a call reaches. A command is judged by the programs that it names: the sandbox keeps those that
// are not known here from the network too.
func kindOf(tool string, input json.RawMessage) Kind {
	switch {
	case tool == "webfetch" || tool == "websearch":
		return Web
	case tool == "bash":
		var in struct{ Command string }
		_ = json.Unmarshal(input, &in) // it has none, so nothing is reached
		return kindOfCommand(in.Command)
	case slices.Contains(localTools(), tool):
		return Local
	case slices.Contains(closedTools(), tool) || strings.HasPrefix(tool, "bash_") || strings.HasPrefix(tool, "task_"):
		return Closed
	}
	return MCP
}

// kindOfCommand finds the programs of a command line that reach other machines. Quotes are read as spaces, so that
// commands in commands count too. The network opens for a whole line, so git beside a program that could use it, or
// with settings that could run one, counts as network.
func kindOfCommand(command string) Kind {
	isStart, remote, alone := true, false, true
	words := wordsOf(command)
	for i, w := range words {
		switch {
		case isSeparator(w):
			isStart = true
			continue
		case !isStart:
			continue
		case strings.Contains(w, "="):
			alone = false
			continue
		}
		switch name := path.Base(w); {
		case slices.Contains(prefixWords(), name) || strings.Trim(w, "0123456789.smh") == "":
			continue // the next word is the program
		case slices.Contains([]string{"curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet", "ftp", "ping", "dig", "nslookup", "host", "gh", "glab", "aria2c"}, name):
			return Network
		case w == "git":
			remote = remote || reachesRemote(words[i+1:])
			alone = alone && !runsPrograms(words[i+1:])
		default:
			remote = remote || name == "git" && reachesRemote(words[i+1:])
			alone = alone && slices.Contains(quietPrograms(), w)
		}
		isStart = false
	}
	switch {
	case !remote:
		return Local
	case alone && !strings.ContainsAny(command, "<$`"):
		return Git
	}
	return Network
}

// prefixWords stand before the program that a line runs.
func prefixWords() []string {
	return []string{"sudo", "env", "time", "exec", "nohup", "command", "timeout", "xargs", "sh", "bash", "zsh", "-c", "-lc", "if", "then", "do", "else", "while", "!"}
}

// quietPrograms run no other program and reach no other machine. They are often seen beside git.
func quietPrograms() []string {
	return []string{"cd", "echo", "printf", "true", "false", "test", "[", "pwd", "cat", "head", "tail", "grep", "sort", "uniq", "wc", "fi", "done", "exit"}
}

// runsPrograms reports whether the words after "git" could let it run a program that they name. All that is not known
// to be harmless counts, because git accepts abbreviated options.
func runsPrograms(words []string) bool {
	subcommand := ""
	for i, w := range words {
		if w == "-C" || i > 0 && words[i-1] == "-C" {
			continue // a folder
		}
		name, _, _ := strings.Cut(w, "=")
		switch {
		case isSeparator(w):
			return !slices.Contains(plainSubcommands(), subcommand)
		case strings.HasPrefix(w, "-"):
			if !slices.Contains([]string{"-q", "-v", "-f", "-p", "-m", "-a", "-qm", "-am", "--quiet", "--verbose", "--force", "--all", "--tags", "--heads", "--prune", "--depth", "--ff-only", "--rebase", "--no-rebase", "--force-with-lease", "--porcelain", "--short", "--oneline", "--stat"}, name) {
				return true
			}
		case strings.Contains(w, "::"):
			return true // a remote helper
		case subcommand == "":
			subcommand = w
		}
	}
	return !slices.Contains(plainSubcommands(), subcommand)
}

// plainSubcommands run no program that their arguments name.
func plainSubcommands() []string {
	return []string{"add", "branch", "checkout", "clone", "commit", "diff", "fetch", "log", "ls-remote", "merge", "pull", "push", "remote", "rev-parse", "show", "status", "switch", "tag"}
}

// reachesRemote reports whether the words after "git" name a subcommand that reaches a remote.
func reachesRemote(words []string) bool {
	for i := 0; i < len(words) && !isSeparator(words[i]); i++ {
		switch w := words[i]; {
		case slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, w):
			i++
		case strings.HasPrefix(w, "-"):
		case w == "remote":
			return i+1 < len(words) && slices.Contains([]string{"update", "show", "prune", "set-head"}, words[i+1])
		case w == "submodule":
			return slices.Contains(words[i:], "update") || slices.Contains(words[i:], "add")
		default:
			return slices.Contains([]string{"clone", "fetch", "ls-remote", "lfs", "pull", "push", "fetch-pack", "send-pack", "send-email", "archive-remote"}, w)
		}
	}
	return false
}

func isSeparator(w string) bool { return slices.Contains([]string{";", "&", "|", "(", "\n"}, w) }

// wordsOf splits a command line into words and separators.
func wordsOf(command string) []string {
	spaced := strings.NewReplacer(
		"\\\n", " ", "\n", " ; ", ";", " ; ", "&", " & ", "|", " | ", "$(", " ( ", "(", " ( ", ")", " ; ", "`", " ; ", "{", " ( ", "}", " ; ",
		"'", " ", `"`, " ", `\`, "",
	).Replace(command)
	return strings.Fields(spaced)
}
