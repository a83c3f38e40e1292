package harness

import (
	"cmp"
	"context"
	"slices"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/harness/repeat"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// ConfineServer returns the sandbox profile of each MCP server of a directory.
func (s *Harness) ConfineServer(c config.Config, place workspace.Place) func(mcp.Server) (sandbox.Profile, error) {
	return func(server mcp.Server) (sandbox.Profile, error) {
		known := c.MCP[server.Name]
		if !slices.Equal(known.Command, server.Command) { // a client added it under the same name
			known = config.MCPServer{}
		}
		return s.Confine.Service(c, place, known.Sandbox, server.Command)
	}
}

// ConfinePlugins returns the sandbox profile of the plugins of a directory.
func (s *Harness) ConfinePlugins(c config.Config, place workspace.Place) func() (sandbox.Profile, error) {
	return func() (sandbox.Profile, error) { return s.Confine.Service(c, place, config.ServerSandbox{}, nil) }
}

// confineTerminal confines a terminal of a client like the commands of the default agent, because a client may not be
// a person.
func (s *Harness) confineTerminal(at workspace.Place) (sandbox.Profile, error) {
	k, err := s.ConfigFor(at)
	if err != nil {
		return sandbox.Profile{}, err
	}
	c := k.loaded.Config
	p, err := s.Confine.Profile(c, &tool.Call{Agent: cmp.Or(c.DefaultAgent, "build"), Dir: at.Directory, Root: at.Worktree}, bash.Line{})
	if p.Confined() {
		p.Write = append(p.Write, "/dev/tty") // always the terminal of the opening process; shells need it for job control
	}
	return p, err
}

// ServiceEnv returns the environment of MCP servers and plugins, without the password of our own server.
func (a *Host) ServiceEnv() []string { return bash.Scrub(a.Environ(), nil, nil) }

// ConfineHost describes the program to package confine.
func (a *Host) ConfineHost() confine.Host {
	return confine.Host{Env: a.Env, Environ: a.Environ, Home: a.Home(), UserDir: a.UserDir(), Now: a.Now, Log: a.Log, Notify: a.Notify}
}

// Repeats are the runs of a harness that end when a command passes.
func Repeats(s *Harness) repeat.Runs {
	return repeat.Runs{Engine: s.Engine, Protect: s.Confine.Lock, Settings: func(_ context.Context, at workspace.Place) (*engine.StepSettings, error) {
		k, err := s.ConfigFor(at)
		if err != nil {
			return nil, err
		}
		return k.Settings, nil
	}}
}
