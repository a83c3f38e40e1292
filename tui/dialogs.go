package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// palette lists everything that can be done here.
func (p *program) palette() tea.Cmd {
	var list []dialog.Action
	for i := range p.allActions {
		a := &p.allActions[i]
		if a.title == "" || !a.fits(p.state) {
			continue
		}
		slash := ""
		if len(a.slash) > 0 {
			slash = "/" + a.slash[0]
		}
		list = append(list, dialog.Action{ID: a.title, Key: a.name, Title: a.title, Group: a.group, Slash: slash, Suggested: a.first})
	}
	return p.show(&overlay{box: dialog.NewPalette(p.keys, list), on: chosen(func(c dialog.Chosen) tea.Cmd {
		for i := range p.allActions {
			if a := &p.allActions[i]; a.title == c.ID {
				return a.do()
			}
		}
		return nil
	})})
}

// sessionsDialog lists sessions; what is typed is looked for among all there are.
func (p *program) sessionsDialog() tea.Cmd {
	var found []lathe.Session
	shown := func() dialog.Sessions {
		return dialog.Sessions{
			List: found, Current: p.state.Current, Directory: p.state.Info.Directory, Pinned: p.pins,
			Running: p.state.Statuses(), Waiting: p.state.Waiting(), Now: p.now(),
		}
	}
	list := dialog.NewSessions(p.keys, shown())
	list.SetLoading(true)
	o := &overlay{box: list, stays: true, fill: func() { list.SetItems(shown().Items(p.keys)) }}
	o.spins = func() bool { return len(p.state.Statuses()) > 0 }
	search := func(text string) tea.Cmd {
		return p.call("list the sessions", func(ctx context.Context, e host.Engine) (then, error) {
			all, err := e.List(ctx, host.SessionQuery{Search: text, All: !p.kv.SessionDirectoryFilter, Limit: 200})
			if err != nil {
				return nil, err
			}
			return func() tea.Cmd {
				if p.over == o && list.Text() == text {
					found = all
					list.SetLoading(false)
					o.fill()
				}
				return nil
			}, nil
		})
	}
	o.on = func(out dialog.Out) tea.Cmd {
		switch out := out.(type) {
		case dialog.Query:
			return search(out.Text)
		case dialog.Chosen:
			return p.sessionChosen(out, found, search, list.Text())
		default:
			return nil
		}
	}
	return tea.Batch(p.show(o), search(""))
}

// sessionChosen does with a session what its key says.
func (p *program) sessionChosen(c dialog.Chosen, all []lathe.Session, again func(string) tea.Cmd, query string) tea.Cmd {
	id := lathe.SessionID(c.ID)
	switch c.Key {
	case key.SessionDelete:
		return p.call("delete the session", func(ctx context.Context, e host.Engine) (then, error) {
			if err := e.Remove(ctx, id); err != nil {
				return nil, err
			}
			return func() tea.Cmd { return tea.Batch(p.leave(id), again(query)) }, nil
		})
	case key.SessionRename:
		title := ""
		if i := slices.IndexFunc(all, func(s lathe.Session) bool { return s.ID == id }); i >= 0 {
			title = all[i].Title
		}
		return p.rename(id, title, p.sessionsDialog)
	case key.SessionPinToggle:
		return tea.Batch(p.pin(id), p.refreshOverlay())
	default:
		p.over = nil
		p.state.Learn(all...)
		return p.openSession(id)
	}
}

func (p *program) renameDialog() tea.Cmd {
	s, _ := p.state.Session(p.state.Current)
	return p.rename(s.ID, s.Title, nil)
}

// rename asks for another title; afterwards comes back to where it was asked from.
func (p *program) rename(id lathe.SessionID, title string, back func() tea.Cmd) tea.Cmd {
	return p.show(&overlay{box: dialog.NewRename(p.keys, title), closed: back, on: entered(func(text string) tea.Cmd {
		return p.call("rename the session", func(ctx context.Context, e host.Engine) (then, error) {
			s, err := e.Rename(ctx, id, text)
			if err != nil {
				return nil, err
			}
			return func() tea.Cmd {
				if p.state.Learn(s); back != nil {
					return back()
				}
				return nil
			}, nil
		})
	})})
}

func (p *program) childrenDialog(children []lathe.Session) tea.Cmd {
	box := dialog.NewSubagents(p.keys, dialog.Sessions{List: children, Current: p.state.Current, Running: p.state.Statuses(), Now: p.now()})
	return p.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd { return p.openSession(lathe.SessionID(c.ID)) })})
}

// timelineDialog jumps to a prompt, and offers what can be done with it.
func (p *program) timelineDialog() tea.Cmd {
	box := dialog.NewTimeline(p.keys, p.state.Prompts(), p.now())
	fill := func() { box.SetItems(dialog.TimelineItems(p.state.Prompts(), p.now())) }
	return tea.Batch(p.show(&overlay{box: box, whole: fill, on: chosen(func(c dialog.Chosen) tea.Cmd {
		p.chat().To(lathe.MessageID(c.ID))
		return p.messageDialog(lathe.MessageID(c.ID))
	})}), p.readOlder())
}

// messageDialog offers what can be done with a prompt.
func (p *program) messageDialog(id lathe.MessageID) tea.Cmd {
	return p.show(&overlay{box: dialog.NewMessageActions(p.keys), on: chosen(func(c dialog.Chosen) tea.Cmd {
		switch c.ID {
		case dialog.RevertMessage:
			return p.undoTo(id)
		case dialog.ForkMessage:
			return p.fork(p.state.Current, id)
		default:
			return p.copyMessage(id)
		}
	})})
}

func (p *program) forkDialog() tea.Cmd {
	box := dialog.NewFork(p.keys, p.state.Prompts(), p.now())
	fill := func() { box.SetItems(dialog.ForkItems(p.state.Prompts(), p.now())) }
	return tea.Batch(p.show(&overlay{box: box, whole: fill, on: chosen(func(c dialog.Chosen) tea.Cmd {
		if c.ID == dialog.WholeSession {
			return p.fork(p.state.Current, "")
		}
		return p.fork(p.state.Current, lathe.MessageID(c.ID))
	})}), p.readOlder())
}

// queueDialog shows prompts that wait for the turn to end.
func (p *program) queueDialog() tea.Cmd {
	return p.show(&overlay{box: dialog.NewQueued(p.keys, p.state.Queued(), p.now()), on: chosen(func(c dialog.Chosen) tea.Cmd {
		p.chat().To(lathe.MessageID(c.ID))
		return nil
	})})
}

func (p *program) agentsDialog() tea.Cmd {
	box := dialog.NewAgents(p.keys, p.state.Agents, p.choice.agent, func(a lathe.Agent) style.Color { return p.agentColor(a.Name) })
	return p.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd { p.choice.agent = c.ID; return nil })})
}

// modelsDialog chooses who answers.
func (p *program) modelsDialog() tea.Cmd {
	now, _ := p.model()
	shown := func() dialog.Models {
		return dialog.Models{Providers: p.state.Providers.Connected, Favorite: p.favoriteModels(), Recent: p.recentModels(), Current: now.Ref}
	}
	list := dialog.NewModels(p.keys, shown())
	o := &overlay{box: list, stays: true, fill: func() { list.SetItems(shown().Items()) }}
	o.on = chosen(func(c dialog.Chosen) tea.Cmd {
		ref := dialog.ParseModelID(c.ID)
		switch c.Key {
		case key.ModelFavoriteToggle:
			return tea.Batch(p.favor(ref), p.refreshOverlay())
		case key.ModelProviderList:
			return p.providersDialog()
		}
		p.over = nil
		p.settleChoice()
		p.choice.models[p.choice.agent] = ref
		cmd := p.useModel(ref)
		if m, ok := p.state.FindModel(ref); ok && len(m.Variants) > 0 {
			return tea.Batch(cmd, p.variantsDialog())
		}
		return cmd
	})
	return p.show(o)
}

func (p *program) variantsDialog() tea.Cmd {
	m, ok := p.model()
	if !ok || len(m.Variants) == 0 {
		return p.say(toast.Info, "This model has no variants")
	}
	box := dialog.NewVariants(p.keys, m.Variants, p.variant())
	return p.show(&overlay{box: box, on: chosen(func(c dialog.Chosen) tea.Cmd { return p.chooseVariant(m.Ref, c.ID) })})
}

// serversDialog switches servers of tools on and off.
func (p *program) serversDialog() tea.Cmd {
	list := dialog.NewToolServers(p.keys, p.state.Servers)
	o := &overlay{box: list, stays: true, fill: func() { list.SetItems(dialog.ToolServerItems(p.state.Servers)) }}
	o.on = chosen(func(c dialog.Chosen) tea.Cmd {
		i := slices.IndexFunc(p.state.Servers, func(s host.ToolServer) bool { return s.Name == c.ID })
		if i < 0 {
			return nil
		}
		on := p.state.Servers[i].Status != "connected"
		return p.call("switch "+c.ID, func(ctx context.Context, e host.Engine) (then, error) {
			if err := e.ConnectTools(ctx, c.ID, on); err != nil {
				return p.learnServers, err
			}
			all, err := e.ToolServers(ctx)
			return func() tea.Cmd { return p.switched(c.ID, on, all) }, err
		})
	})
	return tea.Batch(p.show(o), p.learnServers())
}

// switched shows what became of a server of tools that was switched on or off.
func (p *program) switched(name string, on bool, all []host.ToolServer) tea.Cmd {
	p.state.Servers = all
	p.refreshOverlay()
	i := slices.IndexFunc(all, func(s host.ToolServer) bool { return s.Name == name })
	if i < 0 || !on || all[i].Status == "connected" {
		return nil
	}
	why := all[i].Error
	if why == "" {
		why = "it is " + strings.ReplaceAll(all[i].Status, "_", " ")
	}
	return p.say(toast.Error, "Could not connect "+name+": "+why)
}

func (p *program) skillsDialog() tea.Cmd {
	return p.show(&overlay{box: dialog.NewSkills(p.keys, p.state.Skills), on: chosen(func(c dialog.Chosen) tea.Cmd {
		return p.edited(p.edit.Insert("/" + c.ID + " "))
	})})
}

func (p *program) helpDialog() tea.Cmd {
	return p.show(&overlay{box: dialog.NewHelp(p.keys), on: func(dialog.Out) tea.Cmd { return nil }})
}

func (p *program) statusDialog() tea.Cmd {
	s := dialog.Status{Info: p.state.Info, Session: string(p.state.Current), Providers: p.state.Providers.Connected, Servers: p.state.Servers}
	if m, ok := p.model(); ok {
		s.Model = state.ModelKey(m.Ref)
	}
	if len(p.trouble) > 0 {
		s.Others = append(s.Others, dialog.StatusSection{Title: "Settings", Lines: p.trouble})
	}
	return p.show(&overlay{box: dialog.NewStatus(p.keys, s), on: func(dialog.Out) tea.Cmd { return nil }})
}
