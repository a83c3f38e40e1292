package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/toast"
)

// viewActions change what is shown and how.
func viewActions(p *program) []action {
	const g = "View"
	flag := func(of func(*memory.Settings) *bool, on, off string) func() tea.Cmd {
		return func() tea.Cmd {
			cmd := p.look.set(func(k *memory.Settings) { v := of(k); *v = !*v })
			if *of(&p.look.prefs) {
				return tea.Batch(cmd, p.say(toast.Info, on))
			}
			return tea.Batch(cmd, p.say(toast.Info, off))
		}
	}
	word := func(of func(*memory.Settings) *string, yes, no, on, off string) func() tea.Cmd {
		return func() tea.Cmd {
			now, words := yes, on
			if *of(&p.look.prefs) == yes {
				now, words = no, off
			}
			return tea.Batch(p.look.set(func(k *memory.Settings) { *of(k) = now }), p.say(toast.Info, words))
		}
	}
	return []action{
		{name: key.SidebarToggle, title: "Toggle sidebar", group: g, when: inSession, do: p.column.toggle},
		{name: key.DisplayThinking, title: "Toggle thinking", group: g, slash: []string{"thinking"}, do: word(func(k *memory.Settings) *string { return &k.ThinkingMode }, shown, hidden, "Thinking is shown", "Thinking is folded")},
		{name: key.SessionToggleTimestamps, title: "Toggle timestamps", group: g, slash: []string{"timestamps"}, do: word(func(k *memory.Settings) *string { return &k.Timestamps }, shown, hidden, "Times are shown", "Times are hidden")},
		{name: key.AppToggleDiffwrap, title: "Toggle wrapping in diffs", group: g, do: word(func(k *memory.Settings) *string { return &k.DiffWrapMode }, "word", "none", "Long lines of diffs are wrapped", "Long lines of diffs are cut")},
		{name: key.ToolDetails, title: "Toggle finished tool calls", group: g, do: flag(func(k *memory.Settings) *bool { return &k.ToolDetails }, "Finished calls are shown", "Finished calls are hidden")},
		{name: key.SessionToggleGenericToolOutput, title: "Toggle output of other tools", group: g, do: flag(func(k *memory.Settings) *bool { return &k.GenericToolOutput }, "Output of other tools is shown", "Output of other tools is folded")},
		{title: "Toggle the line that closes an answer", group: g, do: flag(func(k *memory.Settings) *bool { return &k.AssistantMetadata }, "Answers are closed with who gave them", "Answers are closed without a line")},
		{name: key.MessagesToggleConceal, title: "Toggle markdown marks", group: g, when: inSession, do: func() tea.Cmd { p.look.show.Raw = !p.look.show.Raw; return nil }},
		{name: key.AppToggleAnimations, title: "Toggle animations", group: g, do: flag(func(k *memory.Settings) *bool { return &k.Animations }, "Things move", "Nothing moves")},
		{name: key.AppTogglePasteSummary, title: "Toggle summary of pastes", group: g, do: flag(func(k *memory.Settings) *bool { return &k.PasteSummary }, "Long pastes are shown as one word", "Pastes are shown whole")},
		{name: key.AppToggleSessionDirectoryFilter, title: "Toggle sessions of other directories", group: g, do: flag(func(k *memory.Settings) *bool { return &k.SessionDirectoryFilter }, "Only sessions of this directory are listed", "Sessions of all directories of the project are listed")},
		{name: key.TerminalTitleToggle, title: "Toggle window title", group: g, do: flag(func(k *memory.Settings) *bool { return &k.TerminalTitle }, "The window has a title", "The window keeps its title")},
		{name: key.TipsToggle, title: "Toggle tips", group: g, when: atHome, do: flag(func(k *memory.Settings) *bool { return &k.TipsHidden }, "Tips are hidden", "Tips are shown")},
		{name: key.ScrollbarToggle, title: "Toggle scrollbar", group: g, do: flag(func(k *memory.Settings) *bool { return &k.Scrollbar }, "The place in the session is shown at the right", "The place in the session is not shown")},
		{name: key.ThemeSwitchMode, title: "Switch light and dark", group: g, do: p.look.switchMode},
		{name: key.ThemeModeLock, title: "Keep light or dark", group: g, do: p.look.lockMode},
		{title: "Approve everything without asking", group: g, do: p.asks.toggleAuto},
	}
}
