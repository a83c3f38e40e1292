package tui

import (
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/toast"
)

// viewActions change what is shown and how.
func viewActions(p *program) []action {
	const g = "View"
	flag := func(of func(*kv) *bool, on, off string) func() tea.Cmd {
		return func() tea.Cmd {
			cmd := p.keep(func(k *kv) { v := of(k); *v = !*v })
			if *of(&p.kv) {
				return tea.Batch(cmd, p.say(toast.Info, on))
			}
			return tea.Batch(cmd, p.say(toast.Info, off))
		}
	}
	word := func(of func(*kv) *string, yes, no, on, off string) func() tea.Cmd {
		return func() tea.Cmd {
			now, words := yes, on
			if *of(&p.kv) == yes {
				now, words = no, off
			}
			return tea.Batch(p.keep(func(k *kv) { *of(k) = now }), p.say(toast.Info, words))
		}
	}
	return []action{
		{name: key.SidebarToggle, title: "Toggle sidebar", group: g, when: inSession, do: p.toggleSide},
		{name: key.DisplayThinking, title: "Toggle thinking", group: g, slash: []string{"thinking"}, do: word(func(k *kv) *string { return &k.ThinkingMode }, shown, hidden, "Thinking is shown", "Thinking is folded")},
		{name: key.SessionToggleTimestamps, title: "Toggle timestamps", group: g, slash: []string{"timestamps"}, do: word(func(k *kv) *string { return &k.Timestamps }, shown, hidden, "Times are shown", "Times are hidden")},
		{name: key.AppToggleDiffwrap, title: "Toggle wrapping in diffs", group: g, do: word(func(k *kv) *string { return &k.DiffWrapMode }, "word", "none", "Long lines of diffs are wrapped", "Long lines of diffs are cut")},
		{name: key.ToolDetails, title: "Toggle finished tool calls", group: g, do: flag(func(k *kv) *bool { return &k.ToolDetails }, "Finished calls are shown", "Finished calls are hidden")},
		{name: key.SessionToggleGenericToolOutput, title: "Toggle output of other tools", group: g, do: flag(func(k *kv) *bool { return &k.GenericToolOutput }, "Output of other tools is shown", "Output of other tools is folded")},
		{title: "Toggle the line that closes an answer", group: g, do: flag(func(k *kv) *bool { return &k.AssistantMetadata }, "Answers are closed with who gave them", "Answers are closed without a line")},
		{name: key.MessagesToggleConceal, title: "Toggle markdown marks", group: g, when: inSession, do: func() tea.Cmd { p.wants.Raw = !p.wants.Raw; return nil }},
		{name: key.AppToggleAnimations, title: "Toggle animations", group: g, do: flag(func(k *kv) *bool { return &k.Animations }, "Things move", "Nothing moves")},
		{name: key.AppTogglePasteSummary, title: "Toggle summary of pastes", group: g, do: flag(func(k *kv) *bool { return &k.PasteSummary }, "Long pastes are shown as one word", "Pastes are shown whole")},
		{name: key.AppToggleSessionDirectoryFilter, title: "Toggle sessions of other directories", group: g, do: flag(func(k *kv) *bool { return &k.SessionDirectoryFilter }, "Only sessions of this directory are listed", "Sessions of all directories of the project are listed")},
		{name: key.TerminalTitleToggle, title: "Toggle window title", group: g, do: flag(func(k *kv) *bool { return &k.TerminalTitle }, "The window has a title", "The window keeps its title")},
		{name: key.TipsToggle, title: "Toggle tips", group: g, when: atHome, do: flag(func(k *kv) *bool { return &k.TipsHidden }, "Tips are hidden", "Tips are shown")},
		{name: key.ScrollbarToggle, title: "Toggle scrollbar", group: g, do: flag(func(k *kv) *bool { return &k.Scrollbar }, "The place in the session is shown at the right", "The place in the session is not shown")},
		{name: key.ThemeSwitchMode, title: "Switch light and dark", group: g, do: p.switchMode},
		{name: key.ThemeModeLock, title: "Keep light or dark", group: g, do: p.lockMode},
		{title: "Approve everything without asking", group: g, do: p.toggleAuto},
	}
}

func modeName(isDark bool) string {
	if isDark {
		return dark
	}
	return light
}

func (p *program) toggleSide() tea.Cmd {
	mode := shown
	switch wide := p.width > 120; {
	case p.hasSide() && wide:
		mode = hidden
	case p.hasSide() != wide: // as it would be by itself
		mode = "auto"
	}
	return p.keep(func(k *kv) { k.Sidebar = mode })
}

// switchMode goes from dark to light and back, and stays there.
func (p *program) switchMode() tea.Cmd {
	mode := modeName(!p.themes.dark)
	return p.keep(func(k *kv) { k.ThemeMode, k.ThemeModeLock = mode, mode })
}

func (p *program) lockMode() tea.Cmd {
	mode, words := modeName(p.themes.dark), "Light or dark stays as it is"
	if p.themes.locked {
		mode, words = "", "Light and dark follow the terminal"
	}
	return tea.Batch(p.keep(func(k *kv) { k.ThemeModeLock = mode }), p.say(toast.Info, words), tea.RequestBackgroundColor)
}

// toggleAuto is not kept: who wants it says so each time.
func (p *program) toggleAuto() tea.Cmd {
	p.o.Start.Auto = !p.o.Start.Auto
	words, v := "You are asked again", toast.Info
	if p.o.Start.Auto {
		words, v = "Everything is allowed without asking, until you switch this off or leave", toast.Warning
	}
	return tea.Batch(p.say(v, words), p.lookForAsks())
}

// themesDialog shows each theme while it is looked at.
func (p *program) themesDialog() tea.Cmd {
	names := style.Names()
	for _, name := range slices.Sorted(maps.Keys(style.Files(p.o.Look.ThemeDirs))) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	current := p.themes.name
	if current == "" {
		current = p.theme().Name
	}
	o := &overlay{box: dialog.NewThemes(p.keys, names, current), clear: true}
	o.closed = func() tea.Cmd { p.themes.trial = ""; return nil }
	o.on = func(out dialog.Out) tea.Cmd {
		switch out := out.(type) {
		case dialog.Moved:
			p.themes.trial = out.ID
			cmd, _ := p.sayBroken(out.ID)
			return cmd
		case dialog.Chosen:
			p.themes.trial = ""
			if cmd, broken := p.sayBroken(out.ID); broken {
				return cmd
			}
			p.themes.name = out.ID
			p.trouble = slices.DeleteFunc(p.trouble, func(s string) bool { return s == p.themes.wrong })
			return p.keep(func(kv *kv) { kv.Theme = out.ID })
		default: // a list of themes tells no more
		}
		return nil
	}
	return p.show(o)
}

// sayBroken tells what is wrong with a theme, if something is.
func (p *program) sayBroken(name string) (cmd tea.Cmd, broken bool) {
	if _, err := p.findTheme(name, p.themes.dark); err != nil {
		return p.say(toast.Error, err.Error()), true
	}
	return nil, false
}
