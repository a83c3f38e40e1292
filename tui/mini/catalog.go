package mini

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
)

// load reads agents, models, commands and the directory.
func (p *program) load() {
	p.call("load the models", func(ctx context.Context, e Engine) (func(), error) {
		providers, err := e.Providers(ctx, p.dir())
		if err != nil {
			return nil, err
		}
		agents, err := e.Agents(ctx, p.dir())
		if err != nil {
			return nil, err
		}
		info, err := e.Info(ctx, p.dir())
		return func() { p.setCatalog(providers, agents, info) }, err
	})
	p.call("load the commands", func(ctx context.Context, e Engine) (func(), error) {
		commands, err := e.Commands(ctx, p.dir())
		return func() { p.setCommands(commands) }, err
	})
	// A session that was left may still wait for an answer.
	p.call("load the open requests", func(ctx context.Context, e Engine) (func(), error) {
		asks, err := e.Asks(ctx, lathe.Scope{})
		return func() { p.state.AddAsks(asks); p.refreshAsk() }, err
	})
}

// setCatalog stores the catalog, and sends a prompt that waited for it.
func (p *program) setCatalog(providers lathe.Providers, agents []lathe.Agent, info api.Info) {
	first := !p.state.Loaded
	p.state.Providers, p.state.Agents, p.state.Info = providers, agents, info
	p.state.Loaded, p.state.InfoLoaded = true, true
	// Primary agents are chosen with /agents, the others are mentioned with @.
	var mentioned []editor.Agent
	for _, a := range agents {
		if a.Mode != lathe.Primary && !a.Hidden.On() {
			mentioned = append(mentioned, editor.Agent{Name: a.Name, Description: a.Description})
		}
	}
	p.edit.SetAgents(mentioned)
	for _, wrong := range p.choice.ensureValid() {
		p.face.note(wrong)
	}
	if first {
		p.firstNotes()
	}
	sender{p}.sendFirst()
}

// firstNotes says what the user should know before the first prompt.
func (p *program) firstNotes() {
	info := p.state.Info
	if len(p.state.Providers.Connected) == 0 {
		p.face.note("No model yet. Run `lathe auth login` to save an API key, or `lathe` to choose one.")
	}
	if !info.Trusted && info.Home != "" {
		p.face.note("The config of this project is not trusted yet: review it, then run `lathe trust` there.")
	}
	if info.ConfigProblem != "" {
		p.face.note(info.ConfigProblem)
	}
	if info.ChooseMode {
		slash{p}.chooseFirstMode()
	}
}

// localNames are the names of the slash commands of this program.
func localNames(all []command) (out []string) {
	for _, c := range all {
		out = append(out, c.names...)
	}
	return out
}

// setCommands tells the prompt the slash commands: ours, then those of the engine with other names.
func (p *program) setCommands(of []lathe.Command) {
	if of != nil {
		p.state.Commands = of
	}
	var all []editor.Command
	ours := commands()
	for _, c := range ours {
		all = append(all, editor.Command{Name: c.names[0], Aliases: c.names[1:], Description: c.about, Local: true, Arguments: c.args, Hidden: c.do == nil})
	}
	taken := localNames(ours)
	for _, c := range p.state.Commands {
		if !slices.Contains(taken, c.Name) {
			all = append(all, editor.Command{Name: c.Name, Description: c.Description, Arguments: true})
		}
	}
	p.edit.SetCommands(all)
}
