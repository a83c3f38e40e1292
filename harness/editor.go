package harness

import (
	"context"
	"errors"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/extension"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// maxSessionServers limits the MCP servers that a client may give for one session.
const maxSessionServers = 32

// Editor holds what the editor of a session adds to it: MCP servers for single sessions, and unsaved files.
type Editor struct {
	setup   *Harness
	buffers builtin.Buffers // nil has none

	mu     sync.Mutex // guards the fields below
	sets   map[lathe.SessionID]*sessionSet
	closed bool
	ending sync.WaitGroup
	err    error
}

// sessionSet is the servers of one session. The first step waits for them, because the user gave them for it.
type sessionSet struct {
	*extension.Set
	ready sync.Once
}

// AddSessionServers starts MCP servers for a session and its subagents, in place of those it had. The servers need no
// trust in the project: the caller's user gave them. They run confined like those of the config.
func (e *Editor) AddSessionServers(ctx context.Context, id lathe.SessionID, dir string, servers []mcp.Server) error {
	if len(servers) > maxSessionServers {
		return lathe.Errorf(lathe.Invalid, "%d MCP servers for one session, more than %d", len(servers), maxSessionServers)
	}
	s := e.setup
	inst, err := s.Engine.Instance(ctx, dir)
	if err != nil {
		return err
	}
	k, err := s.ConfigFor(inst.Place)
	if err != nil {
		return err
	}
	s.extensionSets.mu.Lock()
	o := s.extensionOptions(ctx, k, inst.Place)
	s.extensionSets.mu.Unlock()
	o.Plugins, o.Tools, o.Servers = nil, nil, servers
	set := &sessionSet{Set: extension.Open(o)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errors.Join(lathe.Errorf(lathe.Canceled, "the program is closing"), set.Close())
	}
	if e.sets == nil {
		e.sets = map[lathe.SessionID]*sessionSet{}
	}
	e.remove(id)
	e.sets[id] = set
	set.Servers().Start()
	return nil
}

// RemoveSessionServers ends the servers of a session.
func (e *Editor) RemoveSessionServers(id lathe.SessionID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(id)
}

// remove closes a set in the background. The mutex is held.
func (e *Editor) remove(id lathe.SessionID) {
	set := e.sets[id]
	if set == nil {
		return
	}
	delete(e.sets, id)
	e.ending.Go(func() {
		if err := set.Close(); err != nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.err = errors.Join(e.err, err)
		}
	})
}

func (e *Editor) closeServers() error {
	e.mu.Lock()
	e.closed = true
	for id := range e.sets {
		e.remove(id)
	}
	e.mu.Unlock()
	e.ending.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// sessionSet returns the servers of a session or of the nearest session above it, nil if there are none.
func (e *Editor) sessionSet(ctx context.Context, id lathe.SessionID) (*sessionSet, error) {
	const deepest = 32 // more than sessions nest
	for range deepest {
		e.mu.Lock()
		set, some := e.sets[id], len(e.sets) > 0
		e.mu.Unlock()
		if set != nil || !some {
			return set, nil
		}
		rec, err := e.setup.Engine.Get(ctx, id)
		if err != nil || rec.Parent == "" {
			return nil, err
		}
		id = rec.Parent
	}
	return nil, nil
}

// SessionSettings adds the MCP servers of a session to the settings of its directory.
func (e *Editor) SessionSettings(ctx context.Context, id lathe.SessionID, of *engine.StepSettings) (*engine.StepSettings, error) {
	set, err := e.sessionSet(ctx, id)
	if err != nil || set == nil {
		return of, err
	}
	set.ready.Do(func() {
		ctx, stop := context.WithTimeout(ctx, serverWait)
		defer stop()
		set.Servers().WaitReady(ctx)
	})
	return set.Apply(ctx, of)
}
