package harness

import (
	"cmp"
	"slices"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// ConfineServer is what each MCP server of a directory is confined to.
func (s *Harness) ConfineServer(c config.Config, place workspace.Place) func(mcp.Server) (sandbox.Profile, error) {
	return func(server mcp.Server) (sandbox.Profile, error) {
		known := c.MCP[server.Name]
		if !slices.Equal(known.Command, server.Command) { // a client added it under the same name
			known = config.MCPServer{}
		}
		return s.Confine.Service(c, place, known.Sandbox, server.Command)
	}
}

// ConfinePlugins is what the plugins of a directory are confined to.
func (s *Harness) ConfinePlugins(c config.Config, place workspace.Place) func() (sandbox.Profile, error) {
	return func() (sandbox.Profile, error) { return s.Confine.Service(c, place, config.ServerSandbox{}, nil) }
}

// confineTerminal is what a terminal is confined to that a client of the server opens: what commands
// of the agent are that sessions begin with. A client is not known to be a person.
func (s *Harness) confineTerminal(at workspace.Place) (sandbox.Profile, error) {
	k, err := s.ConfigFor(at)
	if err != nil {
		return sandbox.Profile{}, err
	}
	c := k.loaded.Config
	p, err := s.Confine.Profile(c, &tool.Call{Agent: cmp.Or(c.DefaultAgent, "build"), Dir: at.Directory, Root: at.Worktree}, bash.Line{})
	if p.Confined() {
		p.Write = append(p.Write, "/dev/tty") // always the terminal of who opens it; shells need it for job control
	}
	return p, err
}

// ServiceEnv is the environment of servers and plugins: the password of our own server is not theirs.
func (a *Host) ServiceEnv() []string { return bash.Scrub(a.Environ(), nil, nil) }

// ConfineHost is what confining commands needs to know of the program.
func (a *Host) ConfineHost() confine.Host {
	return confine.Host{Env: a.Env, Environ: a.Environ, Home: a.Home(), UserDir: a.UserDir(), Now: a.Now, Log: a.Log, Notify: a.Notify}
}
