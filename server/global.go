package server

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// Instances are the states of directories in use.
type Instances interface {
	// Open returns the place and project of a directory; its error has a code.
	Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error)
	// Dispose drops the state of a directory and notifies its listeners.
	Dispose(dir string)
	// DisposeAll does so for all of them.
	DisposeAll()
}

// globalAPI serves health, and disposes of instances.
type globalAPI struct {
	version   string
	instances Instances
	engine    Engine
	install   func(ctx context.Context, version string) (string, error)
}

func (a globalAPI) routes() []row {
	return []row{
		answer(route("GET /global/health", "global.health", "global", mayRead,
			"Check the server's health and get its version", nil, withoutDirectory), a.health),
		answer(route("POST /global/dispose", "global.dispose", "global", mayAll,
			"Dispose of all instances; the next request creates them again", nil, withoutDirectory), a.disposeAll),
		answer(route("POST /instance/dispose", "instance.dispose", "instance", mayAll,
			"Dispose of the directory's instance; the next request creates it again", nil), inPlace(a.dispose)),
		answer(route("POST /global/upgrade", "global.upgrade", "global", mayAll,
			"Upgrade the program, if it is a standalone binary", nil, withoutDirectory), a.upgrade),
	}
}

type upgradeBody struct {
	Target string `json:"target,omitempty"`
}

type upgradeReply struct {
	Success bool   `json:"success"`
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
}

// upgrade replaces the program of the server, which runs on as it is until its next start.
func (a globalAPI) upgrade(c *call, _ none, in upgradeBody) (upgradeReply, error) {
	if a.install == nil {
		return upgradeReply{Error: "this server cannot upgrade lathe; run `lathe upgrade` on its machine"}, nil
	}
	version, err := a.install(c.Context(), in.Target)
	if err != nil {
		return upgradeReply{Error: err.Error()}, nil
	}
	a.engine.Publish(lathe.Event{Fact: &lathe.UpdateInstalled{Version: version}})
	return upgradeReply{Success: true, Version: version}, nil
}

type healthReply struct {
	Healthy bool   `json:"healthy"`
	Version string `json:"version"`
}

func (a globalAPI) health(*call, none, none) (healthReply, error) {
	return healthReply{Healthy: true, Version: a.version}, nil
}

func (a globalAPI) disposeAll(*call, none, none) (bool, error) {
	a.instances.DisposeAll()
	a.engine.Publish(lathe.Event{Fact: &lathe.GlobalDisposed{}})
	return true, nil
}

func (a globalAPI) dispose(c *call, at workspace.Place, _, _ none) (bool, error) {
	a.instances.Dispose(at.Directory)
	return true, nil
}
