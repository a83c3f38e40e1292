package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/report"
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
	suggested   bool        // suggested
	isOn        func() bool // the state of a toggle, for the list; nil if it is none
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
		{title: "Search sessions", group: g, slash: []string{"search"}, description: "find any text in your history", do: func() tea.Cmd { return p.dialogs.search("") }, doWithArgs: p.dialogs.search},
		{name: key.SessionNew, title: "New session", group: g, slash: []string{"new", "clear"}, suggested: true, do: p.sessions.startNew},
		{name: key.SessionRename, title: "Rename session", group: g, slash: []string{"rename"}, scope: inRoot, do: p.dialogs.renameDialog},
		{name: key.SessionTimeline, title: "Jump to a message", group: g, slash: []string{"timeline"}, scope: inSession, do: p.dialogs.timeline},
		{title: "Rewind", group: g, slash: []string{"rewind"}, description: "go back to any step: files, conversation or both; or fork there", scope: inRoot, do: p.dialogs.rewind},
		{name: key.SessionFork, title: "Fork session", group: g, slash: []string{"fork"}, scope: inRoot, do: p.dialogs.fork},
		{title: "Worktrees", group: g, slash: []string{"worktree", "worktrees"}, description: "work in an isolated copy of the checkout; merge it back", do: p.worktrees.List, doWithArgs: p.worktrees.Run},
		{name: key.SessionCompact, title: "Compact session", group: g, slash: []string{"compact", "summarize"}, scope: inRoot, do: p.turns.compact},
		{name: key.SessionShare, title: "Share session", group: g, slash: []string{"share"}, scope: inRoot, do: p.turns.share},
		{name: key.SessionUnshare, title: "Stop sharing", group: g, slash: []string{"unshare"}, scope: inRoot, do: p.turns.unshare},
		{name: key.SessionExport, title: "Export transcript", group: g, slash: []string{"export"}, scope: inSession, do: p.export.dialog},
		{name: key.SessionCopy, title: "Copy transcript", group: g, slash: []string{"copy"}, scope: inSession, do: p.export.copyTranscript},
		{name: key.SessionInterrupt, scope: inSession, do: p.turns.escape},
		{name: key.SessionBackground, title: "Move to the background", group: g, scope: inSession, do: p.dialogs.moveToBackground},
		{title: "Background tasks", group: g, slash: []string{"tasks"}, description: "list, read and stop background tasks", do: p.dialogs.tasks},
		{title: "Board", group: g, slash: []string{"board"}, description: "show what needs you, what runs and what failed, in all projects", do: p.dialogs.board},
		{title: "Interrupt", group: g, scope: inSession, do: p.turns.cancel},
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
		{name: key.ScrollMode, title: "Search and copy the conversation", group: g, slash: []string{"scroll"}, scope: inSession, do: p.scroller.start},
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
		{name: key.PermissionModeList, title: "Permissions", group: g, slash: []string{"permissions"}, description: "mode and saved permissions: list, add, revoke", do: p.catalog.permit.Dialog},
		{name: key.PermissionModeCycle, do: p.catalog.permit.Cycle},
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
		{name: key.HistorySearch, title: "Search earlier prompts", group: g, do: func() tea.Cmd { return p.prompt.handle(p.drafts.edit.StartSearch()) }},
		{title: "Toggle vim mode", group: g, slash: []string{"vim"}, description: "turn vi keys in the prompt on or off", do: p.look.toggleVim},
		{name: key.PromptStash, title: "Stash prompt", group: g, do: p.drafts.stash},
		{name: key.PromptStashPop, title: "Pop the last stashed prompt", group: g, do: p.drafts.unstash},
		{name: key.PromptStashList, title: "Stashed prompts", group: g, slash: []string{"stash"}, do: p.prompt.stashDialog},
		{slash: []string{"until"}, description: "repeat your next prompt until COMMAND passes; off ends that", doWithArgs: p.prompt.setUntil},
		{slash: []string{"queue"}, description: "send TEXT after this turn ends; enter steers the running turn", scope: inRoot, doWithArgs: p.prompt.queueNext},
		{name: key.PromptSkills, title: "Skills", group: g, slash: []string{"skills"}, do: p.prompt.skillsDialog},
	}
}

// appActions are available on every screen.
func appActions(p *program) []*action {
	const g = "Application"
	return []*action{
		{title: "Context", group: g, slash: []string{"context"}, description: "show what fills the context window", scope: inSession, do: ofSession(p.reports, "Context", Engine.ContextUse, report.Context)},
		{title: "Usage", group: g, slash: []string{"usage"}, description: "show where the time and the money of this session went", scope: inSession, do: ofSession(p.reports, "Usage", Engine.SessionUsage, report.Usage)},
		{title: "Cost", group: g, slash: []string{"cost"}, description: "show the cost of this session and of today", scope: inSession, do: ofSession(p.reports, "Cost", Engine.SessionCost, report.Cost)},
		{title: "Config", group: g, slash: []string{"config", "settings"}, description: "search and change settings", do: func() tea.Cmd { return p.reports.config("") }},
		{title: "Doctor", group: g, slash: []string{"doctor"}, description: "check providers, sandbox, terminal and disk", do: p.reports.doctor},
		{title: "Memory", group: g, slash: []string{"memory"}, description: "open AGENTS.md; #TEXT in the prompt adds a line", do: func() tea.Cmd { return p.reports.memory("") }, doWithArgs: p.reports.memory},
		{name: key.CommandList, do: p.menu.palette},
		{name: key.HelpShow, title: "Help", group: g, slash: []string{"help"}, do: p.menu.helpDialog},
		{name: key.StatusView, title: "Status", group: g, slash: []string{"status", "debug"}, do: p.menu.statusDialog},
		{name: key.ThemeList, title: "Themes", group: g, slash: []string{"themes"}, do: p.look.themesDialog},
		{name: key.ScreenRedraw, title: "Redraw the screen", group: g, do: func() tea.Cmd { return tea.ClearScreen }},
		{name: key.TerminalSuspend, title: "Suspend", group: g, do: func() tea.Cmd { return tea.Suspend }},
		{title: "Exit", group: g, slash: []string{"exit", "quit", "q"}, do: p.quit},
	}
}

// viewActions toggle parts of the view. The list shows their state.
func viewActions(p *program) []*action {
	const g = "View"
	toggle := func(a action, is func() bool, set func(k *memory.Settings, on bool), on, off string) *action {
		a.group, a.isOn = g, is
		a.do = func() tea.Cmd {
			now, words := !is(), off
			if now {
				words = on
			}
			return tea.Batch(p.look.set(func(k *memory.Settings) { set(k, now) }), p.notify(toast.Info, words))
		}
		return &a
	}
	flag := func(a action, of func(*memory.Settings) *bool, on, off string) *action {
		return toggle(a, func() bool { return *of(&p.look.prefs) }, func(k *memory.Settings, now bool) { *of(k) = now }, on, off)
	}
	word := func(a action, of func(*memory.Settings) *string, yes, no, on, off string) *action {
		return toggle(a, func() bool { return *of(&p.look.prefs) == yes }, func(k *memory.Settings, now bool) {
			if *of(k) = no; now {
				*of(k) = yes
			}
		}, on, off)
	}
	return []*action{
		{name: key.SidebarToggle, title: "Sidebar", group: g, scope: inSession, isOn: p.column.visible, do: p.column.toggle},
		word(action{name: key.DisplayThinking, title: "Thinking", slash: []string{"thinking"}, description: "show or collapse thinking"}, func(k *memory.Settings) *string { return &k.ThinkingMode }, shown, hidden, "Thinking shown", "Thinking collapsed"),
		word(action{name: key.SessionToggleTimestamps, title: "Timestamps", slash: []string{"timestamps"}, description: "show or hide timestamps"}, func(k *memory.Settings) *string { return &k.Timestamps }, shown, hidden, "Timestamps shown", "Timestamps hidden"),
		word(action{name: key.AppToggleDiffwrap, title: "Diff wrapping"}, func(k *memory.Settings) *string { return &k.DiffWrapMode }, "word", "none", "Long diff lines are wrapped", "Long diff lines are truncated"),
		flag(action{name: key.ToolDetails, title: "Finished tool calls"}, func(k *memory.Settings) *bool { return &k.ToolDetails }, "Finished tool calls shown", "Finished tool calls hidden"),
		flag(action{name: key.SessionToggleGenericToolOutput, title: "Generic tool output"}, func(k *memory.Settings) *bool { return &k.GenericToolOutput }, "Generic tool output shown", "Generic tool output collapsed"),
		flag(action{title: "Answer footer"}, func(k *memory.Settings) *bool { return &k.AssistantMetadata }, "Answer footer shown", "Answer footer hidden"),
		{name: key.MessagesToggleConceal, title: "Raw Markdown", group: g, scope: inSession, isOn: func() bool { return p.look.show.Raw }, do: func() tea.Cmd { p.look.show.Raw = !p.look.show.Raw; return nil }},
		flag(action{name: key.AppToggleAnimations, title: "Animations"}, func(k *memory.Settings) *bool { return &k.Animations }, "Animations on", "Animations off"),
		flag(action{name: key.AppTogglePasteSummary, title: "Paste summaries"}, func(k *memory.Settings) *bool { return &k.PasteSummary }, "Long pastes are shown as a placeholder", "Pastes are shown in full"),
		flag(action{name: key.AppToggleSessionDirectoryFilter, title: "Only sessions of this directory"}, func(k *memory.Settings) *bool { return &k.SessionDirectoryFilter }, "Listing sessions of this directory only", "Listing sessions of the whole project"),
		flag(action{name: key.TerminalTitleToggle, title: "Window title"}, func(k *memory.Settings) *bool { return &k.TerminalTitle }, "Window title on", "Window title off"),
		toggle(action{name: key.TipsToggle, title: "Tips", scope: atHome}, func() bool { return !p.look.prefs.TipsHidden }, func(k *memory.Settings, on bool) { k.TipsHidden = !on }, "Tips shown", "Tips hidden"),
		flag(action{name: key.ScrollbarToggle, title: "Scrollbar"}, func(k *memory.Settings) *bool { return &k.Scrollbar }, "Scrollbar shown", "Scrollbar hidden"),
		{name: key.ThemeSwitchMode, title: "Switch between light and dark", group: g, do: p.look.switchMode},
		{name: key.ThemeModeLock, title: "Lock light or dark mode", group: g, isOn: func() bool { return p.look.themes.locked }, do: p.look.lockMode},
		{title: "Auto-approve", group: g, isOn: func() bool { return p.o.Start.Auto }, do: p.asks.toggleAuto},
	}
}
