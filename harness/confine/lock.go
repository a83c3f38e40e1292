package confine

import (
	"slices"
	"sync"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool/bash"
)

// locks are files that no command and no tool may write for a while. They are in memory only, so that none outlives the
// process that wanted it, however it ends.
type locks struct {
	mu    sync.Mutex // guards the field below
	paths []string   // one that several callers locked is in it several times
}

// Lock keeps files from all commands and tools until release is called, also those that do not exist yet.
func (f *Policy) Lock(paths []string) (release func()) {
	l := &f.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths = append(l.paths, paths...)
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, path := range paths {
			if i := slices.Index(l.paths, path); i >= 0 {
				l.paths = slices.Delete(l.paths, i, i+1)
			}
		}
	})
}

// has reports whether a file is locked, by its real path or by the name that was locked.
func (l *locks) has(path string) bool {
	l.mu.Lock()
	paths := slices.Clone(l.paths)
	l.mu.Unlock()
	return slices.ContainsFunc(paths, func(p string) bool { return p == path || bash.FollowLinks(p) == path })
}

// protect adds the locked files to a profile.
func (l *locks) protect(p *sandbox.Profile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range l.paths {
		if exists(path) {
			p.Protect = append(p.Protect, path)
		} else {
			p.Watch = append(p.Watch, path) // programs would take a stand-in for the file
		}
	}
}
