package tui

import (
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/editor"
)

// setCommands tells the prompt which slash commands there are: ours, then those of the engine that do not have
// the same name.
func (p *program) setCommands(of []lathe.Command) {
	if of != nil {
		p.state.Commands = of
	}
	var all []editor.Command
	taken := map[string]bool{}
	for i := range p.allActions {
		a := &p.allActions[i]
		if len(a.slash) == 0 {
			continue
		}
		about := a.about
		if about == "" {
			about = a.title
		}
		all = append(all, editor.Command{Name: a.slash[0], Aliases: a.slash[1:], Description: about, Local: true, Arguments: a.with != nil, Hidden: !a.fits(p.state)})
		for _, s := range a.slash {
			taken[s] = true
		}
	}
	for _, c := range p.state.Commands {
		if !taken[c.Name] {
			all = append(all, editor.Command{Name: c.Name, Description: c.Description, Arguments: true})
		}
	}
	p.edit.SetCommands(all)
}

// setAgents tells the prompt who can be mentioned.
func (p *program) setAgents(all []lathe.Agent) {
	var out []editor.Agent
	for _, a := range all {
		if a.Mode != lathe.Primary && !a.Hidden.On() {
			out = append(out, editor.Agent{Name: a.Name, Description: a.Description})
		}
	}
	p.edit.SetAgents(out)
}
