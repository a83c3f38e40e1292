package main

import (
	"cmp"
	"github.com/lathe-agent/lathe/tool/bash"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// confineServer is what each MCP server of a directory is confined to.
func (s *agentSetup) confineServer(c config.Config, place workspace.Place) func(mcp.Server) (sandbox.Profile, error) {
	return func(server mcp.Server) (sandbox.Profile, error) {
		known := c.MCP[server.Name]
		if !slices.Equal(known.Command, server.Command) { // a client added it under the same name
			known = config.MCPServer{}
		}
		return s.confine.Service(c, place, known.Sandbox, server.Command)
	}
}

// confinePlugins is what the plugins of a directory are confined to.
func (s *agentSetup) confinePlugins(c config.Config, place workspace.Place) func() (sandbox.Profile, error) {
	return func() (sandbox.Profile, error) { return s.confine.Service(c, place, config.ServerSandbox{}, nil) }
}

// confineTerminal is what a terminal is confined to that a client of the server opens: what commands
// of the agent are that sessions begin with. A client is not known to be a person.
func (s *agentSetup) confineTerminal(at workspace.Place) (sandbox.Profile, error) {
	k, err := s.at(at)
	if err != nil {
		return sandbox.Profile{}, err
	}
	c := k.loaded.Config
	p, err := s.confine.Profile(c, &tool.Call{Agent: cmp.Or(c.DefaultAgent, "build"), Dir: at.Directory, Root: at.Worktree}, bash.Line{})
	if p.Confined() {
		p.Write = append(p.Write, "/dev/tty") // always the terminal of who opens it; shells need it for job control
	}
	return p, err
}

func (s *agentSetup) endSession(id lathe.SessionID) { s.runner.EndSession(string(id)) }

// serviceEnv is the environment of servers and plugins: the password of our own server is not theirs.
func (a *hostEnv) serviceEnv() []string { return bash.Scrub(a.environ(), nil, nil) }

// forgetSession ends the processes of a session that was deleted, and removes its temporary folder.
func forgetSession(at datadir.Folders, setup engine.Setup, id lathe.SessionID) {
	if s, ok := setup.(interface{ endSession(lathe.SessionID) }); ok {
		s.endSession(id)
	}
	if dir := sandbox.SessionTemp(at.Data, string(id)); dir != "" {
		confine.RemoveFolder(dir)
	}
}

// confineHost is what confining commands needs to know of the program.
func (a *hostEnv) confineHost() confine.Host {
	return confine.Host{Env: a.env, Environ: a.environ, Home: a.home(), UserDir: a.userDir(), Now: a.now, Log: a.log, Note: a.remark}
}
