package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/config/claudecode"
)

// limitHooks lets a project disable its own hooks only, and takes out the variables of env that no config
// may set.
func (l *loading) limitHooks() {
	off := slices.ContainsFunc(l.sources, func(s *source) bool {
		v := s.root.get("disable_hooks")
		return s.layer == Project && v != nil && v.text == "true"
	})
	for _, s := range l.sources {
		if s.layer == Project {
			s.root.drop("disable_hooks")
			if off {
				s.root.drop("hooks")
			}
		}
		if s.table != settings() {
			continue
		}
		l.drop(s, "env", claudecode.BlockedVariable)
		l.drop(s, "hooks", func(event string) string {
			if slices.Contains(claudecode.HookEvents(), event) {
				return ""
			}
			return "it is not an event of lathe"
		})
	}
}

// drop takes members out of an object, with the reason.
func (l *loading) drop(s *source, key string, reason func(name string) string) {
	n := s.root.get(key)
	if n == nil {
		return
	}
	n.keep(func(m member) bool {
		why := reason(m.key)
		if why != "" {
			p := problemAt(m.at, []string{key, m.key}, "is ignored: "+why)
			p.Important = true
			l.warn(p)
		}
		return why == ""
	})
}

// hookRisks are the files of the project that its hooks run: trust is bound to them, so that a change asks
// again. Files that hooks only read are not among them, because the model changes those.
func (l riskFinder) hookRisks(s *source) (out []Risk) {
	seen := map[string]bool{}
	for _, event := range s.root.membersOf("hooks") {
		for _, group := range event.val.items {
			for _, h := range group.itemsOf("hooks") {
				for _, path := range l.hookPrograms(s, h) {
					if !seen[path] {
						seen[path] = true
						out = append(out, l.programRisk(path))
					}
				}
			}
		}
	}
	return out
}

// programRisk is that of a script, or of its folder where that holds nothing but Claude Code's files.
func (l riskFinder) programRisk(path string) Risk {
	if dir := filepath.Dir(path); filepath.Base(filepath.Dir(dir)) == ".claude" {
		return l.folderRisk(dir)
	}
	return l.fileRisk(path)
}

// interpreters run the file that is their first argument.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "fish", "python", "python3", "uv", "node", "deno", "bun", "bunx", "npx", "tsx", "ts-node", "ruby", "perl", "php", "lua", "pwsh", "powershell",
	"env", "exec", "source", ".", "timeout", "time", "nice", "command", "run",
}

// hookPrograms are the files that a hook runs, as far as its text shows: the first word of each command, the
// files behind an interpreter, and every file below .claude.
func (l riskFinder) hookPrograms(s *source, h *node) (out []string) {
	command := h.get("command")
	if command == nil {
		return nil
	}
	dir := l.root()
	if own := h.get("dir"); own != nil {
		dir = own.text
	}
	lines := hookWords(command.text, dir)
	if args := h.get("args"); args != nil {
		line := []string{hookPath(command.text, dir)}
		for _, a := range args.items {
			line = append(line, hookPath(a.text, dir))
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
			if (runs || isOwn) && within(l.root(), path) && l.disk.isFile(path) {
				out = append(out, path)
			}
			isOption := strings.HasPrefix(word, "-") || strings.Contains(word, "=")
			runs = runs && (isOption || slices.Contains(interpreters, filepath.Base(word)))
		}
	}
	return out
}

// hookWords splits a command line into commands and their words, roughly: quotes are taken off.
func hookWords(text, dir string) (out [][]string) {
	var line []string
	for _, f := range strings.Fields(strings.NewReplacer("&&", " ; ", "||", " ; ", "|", " ; ", "&", " ; ", ";", " ; ", "\n", " ; ", "(", " ; ", ")", " ; ").Replace(text)) {
		if f == ";" {
			out, line = append(out, line), nil
			continue
		}
		line = append(line, hookPath(strings.NewReplacer(`"`, "", "'", "", "`", "").Replace(f), dir))
	}
	return append(out, line)
}

// hookPath puts the folder of the project into a word.
func hookPath(word, dir string) string {
	return strings.NewReplacer("${CLAUDE_PROJECT_DIR}", dir, "$CLAUDE_PROJECT_DIR", dir).Replace(word)
}
