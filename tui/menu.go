package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// menu holds all actions: run by key, by slash command or from the command list.
type menu struct {
	*services
	choice   *choice
	drafts   *drafts
	look     *look
	overlays *overlays
	actions  []*action
}

// setCommands tells the prompt the slash commands: ours, then those of the engine with other
// names.
func (mn *menu) setCommands(of []lathe.Command) {
	if of != nil {
		mn.state.Commands = of
	}
	var all []editor.Command
	taken := map[string]bool{}
	for _, a := range mn.actions {
		if len(a.slash) == 0 {
			continue
		}
		about := cmp.Or(a.description, a.title)
		all = append(all, editor.Command{Name: a.slash[0], Aliases: a.slash[1:], Description: about, Local: true, Arguments: a.doWithArgs != nil, Optional: a.do != nil, Hidden: !a.isAvailable(mn.state)})
		for _, s := range a.slash {
			taken[s] = true
		}
	}
	for _, c := range mn.state.Commands {
		if !taken[c.Name] {
			all = append(all, editor.Command{Name: c.Name, Description: c.Description, Arguments: true})
		}
	}
	mn.drafts.edit.SetCommands(memory.Sort(mn.drafts.mentions, all, lathe.Time(mn.now().UnixMilli()), func(c editor.Command) string { return commandKey(c.Name) }))
}

// commandKey is how the use of a command is remembered, beside the files.
func commandKey(name string) string { return "/" + name }

// countUse remembers the use of a slash command.
func (mn *menu) countUse(name string) tea.Cmd {
	cmd := mn.drafts.countMention(commandKey(name))
	mn.setCommands(nil)
	return cmd
}

// runKey runs the action with this key name.
func (mn *menu) runKey(n key.Name) tea.Cmd {
	for _, a := range mn.actions {
		if a.name == n && a.isAvailable(mn.state) {
			return a.do()
		}
	}
	return nil
}

// runSlash runs a slash command of the TUI.
func (mn *menu) runSlash(c editor.RunCommand) tea.Cmd {
	name := c.Name
	for _, a := range mn.actions {
		if !slices.Contains(a.slash, name) {
			continue
		}
		if !a.isAvailable(mn.state) {
			return mn.notify(toast.Info, "/"+name+" needs a session: send a message first")
		}
		used := mn.countUse(a.slash[0])
		if a.doWithArgs != nil {
			return tea.Batch(used, a.doWithArgs(c.Arguments))
		}
		return tea.Batch(used, a.do())
	}
	return mn.notify(toast.Warning, "Unknown command: /"+name)
}

// palette lists the available actions.
func (mn *menu) palette() tea.Cmd {
	var list []dialog.Action
	for _, a := range mn.actions {
		if a.title == "" || !a.isAvailable(mn.state) {
			continue
		}
		slash := ""
		if len(a.slash) > 0 {
			slash = "/" + a.slash[0]
		}
		list = append(list, dialog.Action{ID: a.title, Key: mn.shownKey(a.name), Title: a.title, Group: a.group, Slash: slash, Suggested: a.suggested, IsOn: a.isOn})
	}
	return mn.overlays.show(&overlay{box: dialog.NewPalette(mn.keys, list), onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
		for _, a := range mn.actions {
			if a.title == c.ID {
				return a.do()
			}
		}
		return nil
	})})
}

// shownKey is the name whose key the list shows. The prompt comes first: a key that searches its history does nothing else.
func (mn *menu) shownKey(n key.Name) key.Name {
	if n != key.HistorySearch && mn.keys.Label(n) != "" && mn.keys.Label(n) == mn.keys.Label(key.HistorySearch) {
		return ""
	}
	return n
}

func (mn *menu) helpDialog() tea.Cmd {
	return mn.overlays.show(&overlay{box: dialog.NewHelp(mn.keys), onResult: func(dialog.Result) tea.Cmd { return nil }})
}

// statusDialog shows the status, with problems in the config if there are any.
func (mn *menu) statusDialog() tea.Cmd {
	s := dialog.Status{Info: mn.state.Info, Session: string(mn.state.Current), Providers: mn.state.Providers.Connected, Servers: mn.state.Servers}
	if m, ok := mn.choice.model(); ok {
		s.Model = state.ModelKey(m.Ref)
	}
	if len(mn.look.warnings) > 0 {
		s.Others = append(s.Others, dialog.StatusSection{Title: "Settings", Lines: mn.look.warnings})
	}
	if now := mn.state.Status(mn.state.Current); now.Type == lathe.Retrying {
		s.Others = append(s.Others, dialog.StatusSection{Title: "Why the last request failed", Lines: strings.Split(now.Message, "\n")})
	}
	return mn.overlays.show(&overlay{box: dialog.NewStatus(mn.keys, s), onResult: func(dialog.Result) tea.Cmd { return nil }})
}
