package main

import (
	"context"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// served is an engine as a server wants it.
type served struct {
	*engine.Engine
	app   *hostEnv
	setup *agentSetup
	at    datadir.Folders

	logins logins // those that were begun

	mu   sync.Mutex      // guards the fields below
	dirs map[string]bool // those that were opened
	told map[string]stamp
}

// serveBy makes what a server stands on, and its families. The caller closes the first.
func (a *hostEnv) serveBy(e *engine.Engine, s *agentSetup, at datadir.Folders) (*served, server.Backend) {
	b := &served{Engine: e, app: a, setup: s, at: at, dirs: map[string]bool{}, told: map[string]stamp{}}
	return b, b.withFiles(server.Backend{Feed: e, Instances: b, Sessions: b, Messages: b, Turns: b, Commands: b, Own: b, Meters: e, Asks: b, Settings: b, Providers: b, ToolServers: b, Watched: b})
}

// close ends logins that nobody has ended.
func (b *served) close() { b.logins.close() }

// Open returns where a directory belongs.
func (b *served) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	inst, err := b.Instance(ctx, dir)
	if err == nil {
		b.mu.Lock()
		b.dirs[inst.Place.Directory] = true
		b.mu.Unlock()
	}
	return inst.Place, inst.Project, err
}

// Dispose lets go of a directory, settings included.
func (b *served) Dispose(dir string) {
	b.setup.forget(dir)
	b.Engine.Dispose(dir)
}

// DisposeAll lets go of all directories that were opened.
func (b *served) DisposeAll() {
	b.mu.Lock()
	dirs := b.dirs
	b.dirs = map[string]bool{}
	b.mu.Unlock()
	for dir := range dirs {
		b.Dispose(dir)
	}
}

// Messages returns a page of a history.
func (b *served) Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) ([]lathe.Message, lathe.Opt[lathe.Place], error) {
	page, err := b.Engine.Messages(ctx, id, before, limit)
	return page.Messages, lathe.Opt[lathe.Place]{Set: page.More, Value: page.Next}, err
}

// UpdatePart writes a part.
func (b *served) UpdatePart(ctx context.Context, p lathe.Part) (lathe.Part, error) {
	return b.Engine.UpdatePart(ctx, p, "")
}
