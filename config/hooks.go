package config

import (
	"path/filepath"
	"slices"

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
		l.checkMatchers(s)
	}
}

// checkMatchers warns about matchers that match everything because they cannot be compiled.
func (l *loading) checkMatchers(s *source) {
	for _, event := range s.root.membersOf("hooks") {
		for _, group := range event.val.items {
			matcher := group.get("matcher")
			if matcher == nil {
				continue
			}
			if err := claudecode.CheckMatcher(matcher.text); err != nil {
				l.warn(problemAt(matcher.at, []string{"hooks", event.key, "matcher"}, "matches everything: "+err.Error()))
			}
		}
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
		var groups []claudecode.HookGroup
		if decode(event.val, &groups) != nil {
			continue // it was checked
		}
		for _, g := range groups {
			for _, h := range g.Hooks {
				for _, path := range h.Programs(l.root()) {
					if !seen[path] && within(l.root(), path) && l.disk.isFile(path) {
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

// HasProjectHooks reports whether hooks of the project count.
func (l *Loaded) HasProjectHooks() bool {
	return slices.ContainsFunc(l.Sources, func(s Source) bool { return s.Layer == Project && slices.Contains(s.Keys, "hooks") })
}

// hookNodes are all hooks of a source, whatever their event.
func hookNodes(root *node) (out []*node) {
	for _, event := range root.membersOf("hooks") {
		for _, group := range event.val.items {
			out = append(out, group.itemsOf("hooks")...)
		}
	}
	return out
}
