package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// action is a user action: run by key, by slash command or from the command list.
type action struct {
	name        key.Name // its key, "" for none
	title       string   // in the list, "" is not listed
	group       string
	slash       []string // its slash command and its aliases
	description string   // description of the slash command, "" uses the title
	scope       actionScope
	suggested   bool // suggested
	do          func() tea.Cmd
	doWithArgs  func(arguments string) tea.Cmd // instead of do, for a slash command with arguments
}

// actionScope says in which screens an action is available.
type actionScope uint8

const (
	anywhere  actionScope = iota
	inSession             // with a session on the screen
	inRoot                // with a session that is not a subagent's
	inChild               // with a subagent's session
	atHome
)

// isAvailable reports whether an action can run on the current screen.
func (a *action) isAvailable(st *state.State) bool {
	switch a.scope {
	case inSession:
		return st.Current != ""
	case inRoot:
		return st.Current != "" && !st.IsChild()
	case inChild:
		return st.IsChild()
	case atHome:
		return st.Current == ""
	default:
		return true
	}
}

// sessionActions manage the session on the screen and switch to others.
func sessionActions(p *program) []*action {
	const g = "Session"
	out := []*action{
		{name: key.SessionList, title: "Switch session", group: g, slash: []string{"sessions", "resume", "continue"}, suggested: true, do: p.dialogs.list},
		{name: key.SessionNew, title: "New session", group: g, slash: []string{"new", "clear"}, suggested: true, do: p.sessions.startNew},
		{name: key.SessionRename, title: "Rename session", group: g, slash: []string{"rename"}, scope: inRoot, do: p.dialogs.renameDialog},
		{name: key.SessionTimeline, title: "Jump to a message", group: g, slash: []string{"timeline"}, scope: inSession, do: p.dialogs.timeline},
		{name: key.SessionFork, title: "Fork session", group: g, slash: []string{"fork"}, scope: inRoot, do: p.dialogs.fork},
		{name: key.SessionCompact, title: "Compact session", group: g, slash: []string{"compact", "summarize"}, scope: inRoot, do: p.turns.compact},
		{name: key.SessionShare, title: "Share session", group: g, slash: []string{"share"}, scope: inRoot, do: p.turns.share},
		{name: key.SessionUnshare, title: "Stop sharing", group: g, slash: []string{"unshare"}, scope: inRoot, do: p.turns.unshare},
		{name: key.SessionExport, title: "Export transcript", group: g, slash: []string{"export"}, scope: inSession, do: p.export.dialog},
		{name: key.SessionCopy, title: "Copy transcript", group: g, slash: []string{"copy"}, scope: inSession, do: p.export.copyTranscript},
		{name: key.SessionInterrupt, title: "Interrupt", group: g, scope: inSession, do: p.turns.interrupt},
		{name: key.SessionQueuedPrompts, title: "Queued prompts", group: g, scope: inRoot, do: p.dialogs.queued},
		{name: key.SessionChildFirst, title: "Subagents", group: g, slash: []string{"subagents"}, description: "show the subagents of this session", scope: inSession, do: p.dialogs.firstChild},
		{name: key.SessionParent, scope: inChild, do: p.sessions.openParent},
		{name: key.SessionChildCycle, scope: inChild, do: func() tea.Cmd { return p.sessions.openSibling(1) }},
		{name: key.SessionChildCycleReverse, scope: inChild, do: func() tea.Cmd { return p.sessions.openSibling(-1) }},
		{name: key.SessionPinToggle, scope: inRoot, do: func() tea.Cmd { return nil }}, // in the list of sessions
		{title: "Resume an interrupted turn", group: g, slash: []string{"go"}, description: "resume an interrupted turn, or send paused prompts", scope: inRoot, do: p.turns.resume},
	}
	for i, n := range key.QuickSwitches() {
		out = append(out, &action{name: n, do: func() tea.Cmd { return p.sessions.quickSwitch(i) }})
	}
	return out
}

// messageActions scroll the conversation and undo or copy its messages.
func messageActions(p *program) []*action {
	const g = "Messages"
	scroll := func(rows func() int) func() tea.Cmd {
		return func() tea.Cmd { return p.conversation.scroll(rows()) }
	}
	page := func() int { return max(1, p.frame().chatHeight-2) }
	return []*action{
		{name: key.MessagesUndo, title: "Undo the last message", group: g, slash: []string{"undo"}, scope: inRoot, do: p.turns.undo},
		{name: key.MessagesRedo, title: "Redo", group: g, slash: []string{"redo"}, scope: inRoot, do: p.turns.redo},
		{name: key.MessagesCopy, title: "Copy the last answer", group: g, scope: inSession, do: p.export.copyAnswer},
		{name: key.MessagesPageUp, scope: inSession, do: scroll(func() int { return -page() })},
		{name: key.MessagesPageDown, scope: inSession, do: scroll(page)},
		{name: key.MessagesHalfPageUp, scope: inSession, do: scroll(func() int { return -page() / 2 })},
		{name: key.MessagesHalfPageDown, scope: inSession, do: scroll(func() int { return page() / 2 })},
		{name: key.MessagesLineUp, scope: inSession, do: scroll(func() int { return -1 })},
		{name: key.MessagesLineDown, scope: inSession, do: scroll(func() int { return 1 })},
		{name: key.MessagesFirst, title: "First message", group: g, scope: inSession, do: p.conversation.scrollTop},
		{name: key.MessagesLast, title: "Last message", group: g, scope: inSession, do: func() tea.Cmd { p.conversation.chat().ToEnd(); return nil }},
		{name: key.MessagesNext, title: "Next message", group: g, scope: inSession, do: func() tea.Cmd { return p.conversation.jump(false) }},
		{name: key.MessagesPrevious, title: "Previous message", group: g, scope: inSession, do: func() tea.Cmd { return p.conversation.jump(true) }},
		{name: key.MessagesLastUser, title: "Your last message", group: g, scope: inSession, do: p.conversation.jumpLastUser},
		{title: "Expand the last tool call", group: g, slash: []string{"unfold"}, description: "expand or collapse the last tool call", scope: inSession, do: func() tea.Cmd { p.conversation.chat().ToggleLast(); return nil }},
		{name: key.DiffOpen, title: "Review changes", group: g, slash: []string{"diff"}, suggested: true, do: p.reviewer.open},
	}
}

// modelActions select models, agents and providers. Actions without a title have only a key.
func modelActions(p *program) []*action {
	const g = "Models and agents"
	return []*action{
		{name: key.ModelList, title: "Choose model", group: g, slash: []string{"models", "mo"}, suggested: true, do: p.choice.modelsDialog},
		{name: key.AgentList, title: "Choose agent", group: g, slash: []string{"agents"}, do: p.choice.agentsDialog},
		{name: key.VariantList, title: "Choose variant", group: g, slash: []string{"variants"}, do: p.choice.variantsDialog},
		{name: key.ProviderConnect, title: "Connect a provider", group: g, slash: []string{"connect"}, do: p.setup.providersDialog},
		{name: key.PermissionModeList, title: "Permission mode", group: g, slash: []string{"permissions"}, description: "choose what runs without asking", do: p.catalog.modesDialog},
		{name: key.PermissionModeCycle, do: p.catalog.cycleMode},
		{name: key.AgentCycle, do: func() tea.Cmd { return p.choice.cycleAgent(1) }},
		{name: key.AgentCycleReverse, do: func() tea.Cmd { return p.choice.cycleAgent(-1) }},
		{name: key.VariantCycle, do: p.choice.cycleVariant},
		{name: key.ModelCycleRecent, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Recent, 1) }},
		{name: key.ModelCycleRecentReverse, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Recent, -1) }},
		{name: key.ModelCycleFavorite, title: "Next favorite model", group: g, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Favorite, 1) }},
		{name: key.ModelCycleFavoriteReverse, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Favorite, -1) }},
		{name: key.MCPList, title: "MCP servers", group: g, slash: []string{"mcps"}, do: p.catalog.serversDialog},
	}
}

// promptActions edit, stash and queue the prompt.
func promptActions(p *program) []*action {
	const g = "Prompt"
	return []*action{
		{name: key.EditorOpen, title: "Edit prompt in your editor", group: g, slash: []string{"editor"}, do: p.prompt.editOutside},
		{name: key.PromptStash, title: "Stash prompt", group: g, do: p.drafts.stash},
		{name: key.PromptStashPop, title: "Pop the last stashed prompt", group: g, do: p.drafts.unstash},
		{name: key.PromptStashList, title: "Stashed prompts", group: g, slash: []string{"stash"}, do: p.prompt.stashDialog},
		{slash: []string{"queue"}, description: "send TEXT after this turn ends; enter steers the running turn", scope: inRoot, doWithArgs: p.prompt.queueNext},
		{name: key.PromptSkills, title: "Skills", group: g, slash: []string{"skills"}, do: p.prompt.skillsDialog},
	}
}

// appActions are available on every screen.
func appActions(p *program) []*action {
	const g = "Application"
	return []*action{
		{name: key.CommandList, do: p.menu.palette},
		{name: key.HelpShow, title: "Help", group: g, slash: []string{"help"}, do: p.menu.helpDialog},
		{name: key.StatusView, title: "Status", group: g, slash: []string{"status", "debug"}, do: p.menu.statusDialog},
		{name: key.ThemeList, title: "Themes", group: g, slash: []string{"themes"}, do: p.look.themesDialog},
		{name: key.TerminalSuspend, title: "Suspend", group: g, do: func() tea.Cmd { return tea.Suspend }},
		{title: "Exit", group: g, slash: []string{"exit", "quit", "q"}, do: p.quit},
	}
}

// viewActions toggle parts of the view.
func viewActions(p *program) []*action {
	const g = "View"
	flag := func(of func(*memory.Settings) *bool, on, off string) func() tea.Cmd {
		return func() tea.Cmd {
			cmd := p.look.set(func(k *memory.Settings) { v := of(k); *v = !*v })
			if *of(&p.look.prefs) {
				return tea.Batch(cmd, p.notify(toast.Info, on))
			}
			return tea.Batch(cmd, p.notify(toast.Info, off))
		}
	}
	word := func(of func(*memory.Settings) *string, yes, no, on, off string) func() tea.Cmd {
		return func() tea.Cmd {
			now, words := yes, on
			if *of(&p.look.prefs) == yes {
				now, words = no, off
			}
			return tea.Batch(p.look.set(func(k *memory.Settings) { *of(k) = now }), p.notify(toast.Info, words))
		}
	}
	return []*action{
		{name: key.SidebarToggle, title: "Toggle sidebar", group: g, scope: inSession, do: p.column.toggle},
		{name: key.DisplayThinking, title: "Toggle thinking", group: g, slash: []string{"thinking"}, do: word(func(k *memory.Settings) *string { return &k.ThinkingMode }, shown, hidden, "Thinking shown", "Thinking collapsed")},
		{name: key.SessionToggleTimestamps, title: "Toggle timestamps", group: g, slash: []string{"timestamps"}, do: word(func(k *memory.Settings) *string { return &k.Timestamps }, shown, hidden, "Timestamps shown", "Timestamps hidden")},
		{name: key.AppToggleDiffwrap, title: "Toggle diff wrapping", group: g, do: word(func(k *memory.Settings) *string { return &k.DiffWrapMode }, "word", "none", "Long diff lines are wrapped", "Long diff lines are truncated")},
		{name: key.ToolDetails, title: "Toggle finished tool calls", group: g, do: flag(func(k *memory.Settings) *bool { return &k.ToolDetails }, "Finished tool calls shown", "Finished tool calls hidden")},
		{name: key.SessionToggleGenericToolOutput, title: "Toggle generic tool output", group: g, do: flag(func(k *memory.Settings) *bool { return &k.GenericToolOutput }, "Generic tool output shown", "Generic tool output collapsed")},
		{title: "Toggle answer footer", group: g, do: flag(func(k *memory.Settings) *bool { return &k.AssistantMetadata }, "Answer footer shown", "Answer footer hidden")},
		{name: key.MessagesToggleConceal, title: "Toggle raw Markdown", group: g, scope: inSession, do: func() tea.Cmd { p.look.show.Raw = !p.look.show.Raw; return nil }},
		{name: key.AppToggleAnimations, title: "Toggle animations", group: g, do: flag(func(k *memory.Settings) *bool { return &k.Animations }, "Animations on", "Animations off")},
		{name: key.AppTogglePasteSummary, title: "Toggle paste summaries", group: g, do: flag(func(k *memory.Settings) *bool { return &k.PasteSummary }, "Long pastes are shown as a placeholder", "Pastes are shown in full")},
		{name: key.AppToggleSessionDirectoryFilter, title: "Toggle sessions of other directories", group: g, do: flag(func(k *memory.Settings) *bool { return &k.SessionDirectoryFilter }, "Listing sessions of this directory only", "Listing sessions of the whole project")},
		{name: key.TerminalTitleToggle, title: "Toggle window title", group: g, do: flag(func(k *memory.Settings) *bool { return &k.TerminalTitle }, "Window title on", "Window title off")},
		{name: key.TipsToggle, title: "Toggle tips", group: g, scope: atHome, do: flag(func(k *memory.Settings) *bool { return &k.TipsHidden }, "Tips hidden", "Tips shown")},
		{name: key.ScrollbarToggle, title: "Toggle scrollbar", group: g, do: flag(func(k *memory.Settings) *bool { return &k.Scrollbar }, "Scrollbar shown", "Scrollbar hidden")},
		{name: key.ThemeSwitchMode, title: "Switch between light and dark", group: g, do: p.look.switchMode},
		{name: key.ThemeModeLock, title: "Lock light or dark mode", group: g, do: p.look.lockMode},
		{title: "Toggle auto-approve", group: g, do: p.asks.toggleAuto},
	}
}
