package snapshot

import (
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe/workspace/search"
)

// excluded are the files that say what is ignored in a whole work tree.
type excluded struct {
	own, user stat
	path      string // of the user's
}

// rootRules returns what is ignored in the whole work tree; the same value as long as the exclude files
// stay as they are.
func (t *worktree) rootRules() *search.GitRules {
	var now excluded
	if t.project.common != "" {
		if info, err := os.Stat(filepath.Join(t.project.common, "info", "exclude")); err == nil {
			now.own = statOf(info)
		}
		if t.store.o.Excludes != nil {
			now.path = t.store.o.Excludes()
		}
		if info, err := os.Stat(now.path); err == nil {
			now.user = statOf(info)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rules == nil || t.exclude != now {
		t.rules, t.exclude = search.NewGitRules(t.root, now.path), now
	}
	return t.rules
}
