// Package insight makes the reports of package api: the contents of the context window, the cost of a session, the
// settings of a directory, health checks, and the instruction files that apply. It computes them when they are asked
// for and keeps nothing. Only ChangeSetting and EditMemory write files: the user's config, and one of the listed
// instruction files.
//
// A Reports is safe for use by many goroutines. Start with Source.
package insight

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// Source is what reports are made of. harness provides it.
type Source interface {
	engine.Environment
	// Open returns the place of a directory.
	Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error)
	// Config returns the effective config, with secrets.
	Config(ctx context.Context, at workspace.Place) (*config.Loaded, error)
	// ApplyUserConfig merges a change into the user's config file, for all directories.
	ApplyUserConfig(ctx context.Context, change json.RawMessage) error
	// LanguageServers returns the installed language servers of a directory.
	LanguageServers(at workspace.Place) ([]LanguageServer, error)
	// ToolServers returns the MCP servers of a directory.
	ToolServers(ctx context.Context, dir string) ([]lathe.ToolServer, error)
	// WaitServers waits until they have connected or failed, at most until ctx ends.
	WaitServers(ctx context.Context, dir string)
	// Endpoints returns the addresses of the usable providers by name.
	Endpoints(at workspace.Place) ([]Endpoint, error)
	// Kernel returns the abilities of this system's sandbox.
	Kernel() sandbox.Kernel
}

// Endpoint is the address of a provider, or why it cannot be used.
type Endpoint struct {
	Name, URL string
	Err       error
}

// Reports makes reports.
type Reports struct {
	Engine  *engine.Engine
	Source  Source
	Now     func() time.Time // in the zone whose midnight begins a day
	UserDir string           // the folder of the user's config
	Home    string
	DataDir string // the folder of the database
	Server  string // the address of the database instead, without its password
	Path    string // where programs are looked up
}

var _ api.Reports = (*Reports)(nil)
