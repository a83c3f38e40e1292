package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/permit"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// catalog loads agents, providers, commands, skills, MCP servers and the directory.
type catalog struct {
	*services
	asks     *asks
	choice   *choice
	drafts   *drafts
	menu     *menu
	overlays *overlays
	prompt   *prompt
	setup    *setup
	permit   *permit.Controller

	serverWait time.Duration // until MCP servers are checked again

	languagesDue bool // language servers will be read soon
}

// serversDialog toggles MCP servers.
func (ct *catalog) serversDialog() tea.Cmd {
	list := dialog.NewToolServers(ct.keys, ct.state.Servers)
	o := &overlay{box: list, keepOpen: true, refill: func() { list.SetItems(dialog.ToolServerItems(ct.state.Servers)) }}
	o.onResult = onChosen(func(c dialog.Chosen) tea.Cmd {
		i := slices.IndexFunc(ct.state.Servers, func(s lathe.ToolServer) bool { return s.Name == c.ID })
		if i < 0 {
			return nil
		}
		on := ct.state.Servers[i].Status != "connected"
		return ct.call("switch "+c.ID, func(ctx context.Context, e Engine) (then, error) {
			if err := e.ConnectTools(ctx, ct.dir(), c.ID, on); err != nil {
				return ct.loadServers, err
			}
			all, err := e.ToolServers(ctx, ct.dir())
			return func() tea.Cmd { return ct.afterSwitch(c.ID, on, all) }, err
		})
	})
	return tea.Batch(ct.overlays.show(o), ct.loadServers())
}

// afterSwitch shows the result of toggling an MCP server.
func (ct *catalog) afterSwitch(name string, on bool, all []lathe.ToolServer) tea.Cmd {
	ct.state.Servers = all
	ct.overlays.refresh()
	i := slices.IndexFunc(all, func(s lathe.ToolServer) bool { return s.Name == name })
	if i < 0 || !on || all[i].Status == "connected" {
		return nil
	}
	why := cmp.Or(all[i].Error, strings.ReplaceAll(all[i].Status, "_", " "))
	return ct.notify(toast.Error, "Could not connect "+name+": "+why)
}

// setAgents tells the prompt which agents can be mentioned.
func (ct *catalog) setAgents(all []lathe.Agent) {
	var out []editor.Agent
	for _, a := range all {
		if a.Mode != lathe.Primary && !a.Hidden.On() {
			out = append(out, editor.Agent{Name: a.Name, Description: a.Description})
		}
	}
	ct.drafts.edit.SetAgents(out)
}

// load reads the catalog. A failure is reported and does not stop the others.
func (ct *catalog) load() tea.Cmd {
	return tea.Batch(
		ct.call("load the providers", func(ctx context.Context, e Engine) (then, error) {
			providers, err := e.Providers(ctx, ct.dir())
			if err != nil {
				return nil, err
			}
			agents, err := e.Agents(ctx, ct.dir())
			return func() tea.Cmd { return ct.setProviders(providers, agents) }, err
		}),
		ct.call("load the commands", func(ctx context.Context, e Engine) (then, error) {
			commands, err := e.Commands(ctx, ct.dir())
			return func() tea.Cmd { ct.menu.setCommands(commands); return nil }, err
		}),
		ct.call("load the skills", func(ctx context.Context, e Engine) (then, error) {
			skills, err := e.Skills(ctx, ct.dir())
			return func() tea.Cmd { ct.state.Skills = skills; return nil }, err
		}),
		ct.loadInfo(), ct.loadServers(), ct.loadLanguages(), ct.loadActivity(),
	)
}

// loadInfo reads the directory, branch and permission mode.
func (ct *catalog) loadInfo() tea.Cmd {
	return ct.call("load the directory", func(ctx context.Context, e Engine) (then, error) {
		info, err := e.Info(ctx, ct.dir())
		if err != nil {
			return func() tea.Cmd { ct.state.InfoLoaded = true; return ct.prompt.sendFirst() }, err
		}
		return func() tea.Cmd { return ct.setInfo(info) }, nil
	})
}

// untrustedNotice says why the project config is ignored.
const untrustedNotice = "The config of this project is not trusted yet: review it, then run lathe trust there"

// configNotice says which project config is ignored; "" if none is, or it is not known yet.
func configNotice(info api.Info) string {
	switch {
	case info.Home == "": // not loaded yet
		return ""
	case info.Trusted:
		return info.ConfigProblem
	case info.ConfigProblem == "":
		return untrustedNotice
	}
	return untrustedNotice + "\n" + info.ConfigProblem
}

// setInfo stores the info. Ignored config is reported here when the home screen, which reports it too, is not shown.
func (ct *catalog) setInfo(info api.Info) tea.Cmd {
	first := !ct.state.InfoLoaded
	ct.state.Info, ct.state.InfoLoaded = info, true
	note := configNotice(info)
	switch {
	case first && info.ChooseMode:
		return ct.chooseMode()
	case first && note != "" && (ct.o.Start.Session != "" || ct.o.Start.Continue):
		return tea.Batch(ct.notify(toast.Warning, note), ct.prompt.sendFirst())
	case first:
		return ct.prompt.sendFirst()
	}
	return nil
}

func (ct *catalog) loadServers() tea.Cmd {
	return ct.call("load the MCP servers", func(ctx context.Context, e Engine) (then, error) {
		servers, err := e.ToolServers(ctx, ct.dir())
		return func() tea.Cmd { ct.state.Servers = servers; return ct.overlays.refresh() }, err
	})
}

// languagesDelay is how long events of language servers are collected.
const languagesDelay = 300 * time.Millisecond

// reloadLanguages reads the language servers soon, once for all events that come until then.
func (ct *catalog) reloadLanguages() tea.Cmd {
	if ct.languagesDue {
		return nil
	}
	ct.languagesDue = true
	return ct.after(languagesDelay, tickLanguages)
}

func (ct *catalog) loadLanguages() tea.Cmd {
	ct.languagesDue = false
	return ct.call("load the language servers", func(ctx context.Context, e Engine) (then, error) {
		all, err := e.LanguageServers(ctx, ct.dir())
		if err != nil {
			return nil, nil // a server of another kind has none
		}
		return func() tea.Cmd { ct.state.Languages = all; return nil }, nil
	})
}

// recheckServers reads them again while some may still connect: no event reports a failure.
func (ct *catalog) recheckServers() tea.Cmd {
	if !slices.ContainsFunc(ct.state.Servers, func(s lathe.ToolServer) bool { return s.Status == "disabled" }) {
		return nil
	}
	if ct.serverWait *= 3; ct.serverWait > time.Minute {
		return nil
	}
	return tea.Batch(ct.loadServers(), ct.after(ct.serverWait, tickServers))
}

// loadActivity reads the session statuses and open requests.
func (ct *catalog) loadActivity() tea.Cmd {
	return ct.call("load the session activity", func(ctx context.Context, e Engine) (then, error) {
		at, err := e.Location(ctx, ct.dir())
		if err != nil {
			return nil, err
		}
		statuses, err := e.Statuses(ctx, lathe.Scope{Directory: at.Directory})
		if err != nil {
			return nil, err
		}
		asks, err := e.Asks(ctx, lathe.Scope{Directory: at.Directory})
		return func() tea.Cmd {
			ct.state.SetStatuses(statuses)
			ct.state.AddAsks(asks)
			return tea.Batch(ct.asks.refresh(), ct.animate(), ct.permit.Load())
		}, err
	})
}

// setProviders stores providers and agents, and sends the prompt of the command line.
func (ct *catalog) setProviders(providers lathe.Providers, agents []lathe.Agent) tea.Cmd {
	ct.state.Providers, ct.state.Agents, ct.state.Loaded = providers, agents, true
	ct.state.Epoch++
	ct.setAgents(agents)
	ct.choice.ensureValid()
	if len(providers.Connected) == 0 {
		if ct.setup.options.requested { // and perhaps dismissed
			return nil
		}
		return ct.setup.showOptions()
	}
	ct.setup.options = setupState{}
	return tea.Batch(ct.reportBadStart(), ct.prompt.sendFirst())
}

// reportBadStart reports, once, an unknown agent or model on the command line. No other model gets the prompt
// unless the user sends it.
func (ct *catalog) reportBadStart() tea.Cmd {
	s := &ct.o.Start
	var wrong []string
	if a := ct.state.Agent(s.Agent); s.Agent != "" && (a == nil || !state.IsSelectable(*a)) {
		near := phrase.Similar(s.Agent, ct.state.SelectableAgents())
		wrong = append(wrong, fmt.Sprintf("Agent %q not found%s /agents lists the agents", s.Agent, phrase.DidYouMean(near)))
		s.Agent = ""
	}
	if s.Model != "" {
		ref, err := ct.state.NamedModel(s.Model, ct.choice.used.Recent)
		s.Model = dialog.ModelID(ref)
		if err != nil {
			says := err.Error()
			wrong, s.Model = append(wrong, strings.ToUpper(says[:1])+says[1:]), ""
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	if s.Prompt != "" {
		ct.drafts.edit.Insert(s.Prompt)
		s.Prompt = ""
	}
	return ct.notify(toast.Error, strings.Join(wrong, "\n"))
}

// chooseMode asks for a permission mode on the first start. Closing the dialog takes the default, and it is
// not shown again.
func (ct *catalog) chooseMode() tea.Cmd {
	usual := lathe.SandboxMode
	if !ct.state.Info.Confined {
		usual = lathe.AskMode
	}
	set := func(m lathe.Mode) tea.Cmd {
		ct.state.Info.ChooseMode = false
		return tea.Batch(ct.permit.SetMode(m), ct.prompt.sendFirst())
	}
	return ct.overlays.show(&overlay{
		box: dialog.NewFirstMode(ct.keys, usual, ct.state.Info.Confined), onClose: func() tea.Cmd { return set(usual) },
		onResult: onChosen(func(c dialog.Chosen) tea.Cmd { return set(lathe.Mode(c.ID)) }),
	})
}

// newPermit connects the controller of permissions with the screen.
func newPermit(ct *catalog) *permit.Controller {
	return &permit.Controller{
		Keys: ct.keys, State: ct.state, Dir: ct.dir, Agent: func() string { return ct.choice.agent }, LoadInfo: ct.loadInfo, ErrText: errorText,
		Call: func(what string, work func(ctx context.Context, e permit.Engine) (func() tea.Cmd, error)) tea.Cmd {
			return ct.call(what, func(ctx context.Context, e Engine) (then, error) { next, err := work(ctx, e); return next, err })
		},
		Show: func(b permit.Box, onResult func(dialog.Result) tea.Cmd, onClose func() tea.Cmd) tea.Cmd {
			return ct.overlays.show(&overlay{box: b, onResult: onResult, onClose: onClose})
		},
		Notify: func(n toast.Note) tea.Cmd { ct.stack.Add(n, ct.now()); return ct.expireToasts() },
	}
}
