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
}

func (a globalAPI) routes() []row {
	return []row{
		answer(route("GET /global/health", "global.health", "global",
			"Check the server's health and get its version", nil, withoutDirectory), a.health),
		answer(route("POST /global/dispose", "global.dispose", "global",
			"Dispose of all instances; the next request creates them again", nil, withoutDirectory), a.disposeAll),
		answer(route("POST /instance/dispose", "instance.dispose", "instance",
			"Dispose of the directory's instance; the next request creates it again", nil), inPlace(a.dispose)),
		answer(route("POST /global/upgrade", "global.upgrade", "global",
			"Upgrade the program; not supported", nil, withoutDirectory), a.upgrade),
	}
}

type upgradeBody struct {
	Target string `json:"target,omitempty"`
}

type upgradeReply struct {
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"`
}

func (a globalAPI) upgrade(*call, none, upgradeBody) (upgradeReply, error) {
	return upgradeReply{Error: "lathe does not upgrade itself; install the new version and restart the server"}, nil
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
