package harness

import (
	"context"
	"io"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/trees"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// backend is the engine with all that an HTTP server needs.
type backend struct {
	*engine.Engine
	app   *Host
	setup *Harness
	at    datadir.Folders

	logins    logins // logins in progress
	terminals io.Closer

	mu       sync.Mutex      // guards the fields below
	dirs     map[string]bool // directories that were opened
	lastSeen map[string]configVersion
}

// Backend returns the backend of an HTTP server. The caller closes it after the server.
func (s *Harness) Backend() (server.Backend, io.Closer) {
	e, b := s.Engine, s.newServed()
	all := b.withFiles(server.Backend{Engine: e, Instances: b, Config: b, Providers: b, ToolServers: b, Watcher: b, Reports: b.reports(), Usage: b.reports(), Languages: languageSource{b}, Worktrees: trees.Trees{Engine: e}, Untils: Repeats(s), Node: nodeOf(s)})
	b.terminals = all.Terminals
	return all, b
}

func (s *Harness) newServed() *backend {
	return &backend{Engine: s.Engine, app: s.app, setup: s, at: s.Folders, dirs: map[string]bool{}, lastSeen: map[string]configVersion{}}
}

// Close ends terminals and the logins still in progress.
func (b *backend) Close() error {
	err := b.terminals.Close()
	b.logins.close()
	return err
}

// Open returns the project and the worktree of a directory.
func (b *backend) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	inst, err := b.Instance(ctx, dir)
	if err == nil {
		b.mu.Lock()
		b.dirs[inst.Place.Directory] = true
		b.mu.Unlock()
	}
	return inst.Place, inst.Project, err
}

// Dispose drops the state of a directory, its config included.
func (b *backend) Dispose(dir string) {
	b.setup.forget(dir)
	b.Engine.Dispose(dir)
}

// DisposeAll drops the state of all directories that were opened.
func (b *backend) DisposeAll() {
	b.mu.Lock()
	dirs := b.dirs
	b.dirs = map[string]bool{}
	b.mu.Unlock()
	for dir := range dirs {
		b.Dispose(dir)
	}
}
