package main

import (
	"cmp"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// confineTerminal is what a terminal is confined to that a client of the server opens: what commands
// of the agent are that sessions begin with. A client is not known to be a person.
func (s *agentSetup) confineTerminal(at workspace.Place) (sandbox.Profile, error) {
	k, err := s.at(at)
	if err != nil {
		return sandbox.Profile{}, err
	}
	c := k.loaded.Config
	p, err := s.confine.profile(c, &tool.Call{Agent: cmp.Or(c.DefaultAgent, "build"), Dir: at.Directory, Root: at.Worktree}, tool.Line{})
	if p.Confined() {
		p.Write = append(p.Write, "/dev/tty") // always the terminal of who opens it; shells need it for job control
	}
	return p, err
}
