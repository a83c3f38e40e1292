package claudecode

import (
	"path/filepath"
	"slices"
	"strings"
)

// HookSettings are hooks, and the variables that they share with commands and MCP servers.
type HookSettings struct {
	Hooks        map[string][]HookGroup `json:"hooks,omitempty"` // by event
	DisableHooks bool                   `json:"disable_hooks,omitempty"`
	Env          map[string]string      `json:"env,omitempty"`
}

// HookGroup is a list of hooks with one condition. The config of lathe has the same format.
type HookGroup struct {
	Matcher string        `json:"matcher,omitempty"` // of tools, or of what caused the event; "" matches all
	Hooks   []HookCommand `json:"hooks"`
}

// HookCommand is one hook. With Args, even empty, Command is a program and no shell runs it.
type HookCommand struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitzero"`
	Timeout float64  `json:"timeout,omitempty"` // seconds; 0 is the default of the event
	Dir     string   `json:"dir,omitempty"`     // CLAUDE_PROJECT_DIR; "" is the top of the checkout
}

// hookEvents are the events that lathe has.
var hookEvents = []string{
	"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "SessionStart", "SessionEnd", "PreCompact", "Notification",
}

// HookEvents returns the events for which hooks can run.
func HookEvents() []string { return slices.Clone(hookEvents) }

// interpreters run the file that is their first argument.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "fish", "python", "python3", "uv", "node", "deno", "bun", "bunx", "npx", "tsx", "ts-node", "ruby", "perl", "php", "lua", "pwsh", "powershell",
	"env", "exec", "source", ".", "timeout", "time", "nice", "command", "run",
}

// Programs returns the paths that a hook may run, as far as its text shows: the first word of each command, the
// words behind an interpreter, and every path below .claude. They need not exist. Files that a hook
// only reads are not among them. dir is the project's folder, where relative paths begin.
func (h HookCommand) Programs(dir string) (out []string) {
	if h.Dir != "" {
		dir = h.Dir
	}
	lines := shellWords(h.Command, dir)
	if h.Args != nil { // no shell reads it
		line := []string{projectPath(h.Command, dir)}
		for _, a := range h.Args {
			line = append(line, projectPath(a, dir))
		}
		lines = [][]string{line}
	}
	for _, words := range lines {
		runs := true
		for _, word := range words {
			path := word
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			isOwn := strings.Contains(filepath.ToSlash(path), "/.claude/")
			if (runs || isOwn) && !slices.Contains(out, path) {
				out = append(out, path)
			}
			isOption := strings.HasPrefix(word, "-") || strings.Contains(word, "=")
			runs = runs && (isOption || slices.Contains(interpreters, filepath.Base(word)))
		}
	}
	return out
}

// shellWords splits a command line into commands and their words, roughly: quotes are taken off. It need not be
// exact, because a word that is no path finds no file.
func shellWords(text, dir string) (out [][]string) {
	var line []string
	for _, f := range strings.Fields(strings.NewReplacer("&&", " ; ", "||", " ; ", "|", " ; ", "&", " ; ", ";", " ; ", "\n", " ; ", "(", " ; ", ")", " ; ").Replace(text)) {
		if f == ";" {
			out, line = append(out, line), nil
			continue
		}
		line = append(line, projectPath(strings.NewReplacer(`"`, "", "'", "", "`", "").Replace(f), dir))
	}
	return append(out, line)
}

// projectPath puts the folder of the project into a word.
func projectPath(word, dir string) string {
	return strings.NewReplacer("${CLAUDE_PROJECT_DIR}", dir, "$CLAUDE_PROJECT_DIR", dir).Replace(word)
}
