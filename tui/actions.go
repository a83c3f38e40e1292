package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/state"
)

// action is something a person can have done: by key, by slash command or from the list of commands.
type action struct {
	name  key.Name // its key, "" for none
	title string   // in the list, "" is not listed
	group string
	slash []string // its slash command and other names of it
	about string   // what the slash command does, "" is the title
	when  where
	first bool // suggested
	do    func() tea.Cmd
	with  func(arguments string) tea.Cmd // instead of do, for a slash command that takes some
}

// where says where an action has meaning.
type where uint8

const (
	anywhere  where = iota
	inSession       // with a session on the screen
	inRoot          // that is not one that works for another
	inChild         // that is
	atHome
)

// fits reports whether an action has meaning now.
func (a *action) fits(st *state.State) bool {
	switch a.when {
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

func sessionActions(p *program) []action {
	const g = "Session"
	out := []action{
		{name: key.SessionList, title: "Switch session", group: g, slash: []string{"sessions", "resume", "continue"}, first: true, do: p.dialogs.list},
		{name: key.SessionNew, title: "New session", group: g, slash: []string{"new", "clear"}, first: true, do: p.sessions.startNew},
		{name: key.SessionRename, title: "Rename session", group: g, slash: []string{"rename"}, when: inRoot, do: p.dialogs.renameDialog},
		{name: key.SessionTimeline, title: "Jump to a message", group: g, slash: []string{"timeline"}, when: inSession, do: p.dialogs.timeline},
		{name: key.SessionFork, title: "Fork session", group: g, slash: []string{"fork"}, when: inRoot, do: p.dialogs.fork},
		{name: key.SessionCompact, title: "Compact session", group: g, slash: []string{"compact", "summarize"}, when: inRoot, do: p.turns.compact},
		{name: key.SessionShare, title: "Share session", group: g, slash: []string{"share"}, when: inRoot, do: p.turns.share},
		{name: key.SessionUnshare, title: "Stop sharing", group: g, slash: []string{"unshare"}, when: inRoot, do: p.turns.unshare},
		{name: key.SessionExport, title: "Export transcript", group: g, slash: []string{"export"}, when: inSession, do: p.export.dialog},
		{name: key.SessionCopy, title: "Copy transcript", group: g, slash: []string{"copy"}, when: inSession, do: p.export.copyTranscript},
		{name: key.SessionInterrupt, title: "Interrupt", group: g, when: inSession, do: p.turns.interrupt},
		{name: key.SessionQueuedPrompts, title: "Waiting prompts", group: g, when: inRoot, do: p.dialogs.queued},
		{name: key.SessionChildFirst, title: "Sub-agents", group: g, slash: []string{"subagents"}, about: "sessions that work for this one", when: inSession, do: p.dialogs.firstChild},
		{name: key.SessionParent, when: inChild, do: p.sessions.toParent},
		{name: key.SessionChildCycle, when: inChild, do: func() tea.Cmd { return p.sessions.sibling(1) }},
		{name: key.SessionChildCycleReverse, when: inChild, do: func() tea.Cmd { return p.sessions.sibling(-1) }},
		{name: key.SessionPinToggle, when: inRoot, do: func() tea.Cmd { return nil }}, // in the list of sessions
		{title: "Resume an interrupted turn", group: g, slash: []string{"go"}, about: "go on with a turn that was cut off", when: inRoot, do: p.turns.resume},
	}
	for i, n := range key.QuickSwitches() {
		out = append(out, action{name: n, do: func() tea.Cmd { return p.sessions.quickSwitch(i) }})
	}
	return out
}

func messageActions(p *program) []action {
	const g = "Messages"
	scroll := func(rows func() int) func() tea.Cmd {
		return func() tea.Cmd { return p.conversation.scroll(rows()) }
	}
	page := func() int { return max(1, p.frame().chatHeight-2) }
	return []action{
		{name: key.MessagesUndo, title: "Undo the last message", group: g, slash: []string{"undo"}, when: inRoot, do: p.turns.undo},
		{name: key.MessagesRedo, title: "Redo", group: g, slash: []string{"redo"}, when: inRoot, do: p.turns.redo},
		{name: key.MessagesCopy, title: "Copy the last answer", group: g, when: inSession, do: p.export.copyAnswer},
		{name: key.MessagesPageUp, when: inSession, do: scroll(func() int { return -page() })},
		{name: key.MessagesPageDown, when: inSession, do: scroll(page)},
		{name: key.MessagesHalfPageUp, when: inSession, do: scroll(func() int { return -page() / 2 })},
		{name: key.MessagesHalfPageDown, when: inSession, do: scroll(func() int { return page() / 2 })},
		{name: key.MessagesLineUp, when: inSession, do: scroll(func() int { return -1 })},
		{name: key.MessagesLineDown, when: inSession, do: scroll(func() int { return 1 })},
		{name: key.MessagesFirst, title: "First message", group: g, when: inSession, do: p.conversation.scrollTop},
		{name: key.MessagesLast, title: "Last message", group: g, when: inSession, do: func() tea.Cmd { p.conversation.chat().ToEnd(); return nil }},
		{name: key.MessagesNext, title: "Next message", group: g, when: inSession, do: func() tea.Cmd { return p.conversation.jump(false) }},
		{name: key.MessagesPrevious, title: "Previous message", group: g, when: inSession, do: func() tea.Cmd { return p.conversation.jump(true) }},
		{name: key.MessagesLastUser, title: "Last message of yours", group: g, when: inSession, do: p.conversation.jumpLastUser},
		{title: "Unfold the last call on the screen", group: g, slash: []string{"unfold"}, about: "unfold or fold the last call on the screen", when: inSession, do: func() tea.Cmd { p.conversation.chat().ToggleLast(); return nil }},
		{name: key.DiffOpen, title: "Review changes", group: g, slash: []string{"diff"}, first: true, do: p.reviewer.open},
	}
}

func modelActions(p *program) []action {
	const g = "Models and agents"
	return []action{
		{name: key.ModelList, title: "Choose model", group: g, slash: []string{"models", "mo"}, first: true, do: p.choice.modelsDialog},
		{name: key.AgentList, title: "Choose agent", group: g, slash: []string{"agents"}, do: p.choice.agentsDialog},
		{name: key.VariantList, title: "Choose variant", group: g, slash: []string{"variants"}, do: p.choice.variantsDialog},
		{name: key.ProviderConnect, title: "Connect a provider", group: g, slash: []string{"connect"}, do: p.setup.providersDialog},
		{name: key.PermissionModeList, title: "Permission mode", group: g, slash: []string{"permissions"}, about: "what is allowed without asking", do: p.catalog.modesDialog},
		{name: key.PermissionModeCycle, do: p.catalog.cycleMode},
		{name: key.AgentCycle, do: func() tea.Cmd { return p.choice.cycleAgent(1) }},
		{name: key.AgentCycleReverse, do: func() tea.Cmd { return p.choice.cycleAgent(-1) }},
		{name: key.VariantCycle, do: p.choice.cycleVariant},
		{name: key.ModelCycleRecent, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Recent, 1) }},
		{name: key.ModelCycleRecentReverse, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Recent, -1) }},
		{name: key.ModelCycleFavorite, title: "Next favourite model", group: g, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Favorite, 1) }},
		{name: key.ModelCycleFavoriteReverse, do: func() tea.Cmd { return p.choice.cycleModel(p.choice.used.Favorite, -1) }},
		{name: key.MCPList, title: "Tool servers (MCP)", group: g, slash: []string{"mcps"}, do: p.catalog.serversDialog},
	}
}

func promptActions(p *program) []action {
	const g = "Prompt"
	return []action{
		{name: key.EditorOpen, title: "Edit prompt in your editor", group: g, slash: []string{"editor"}, do: p.prompt.editOutside},
		{name: key.PromptStash, title: "Stash prompt", group: g, do: p.drafts.stash},
		{name: key.PromptStashPop, title: "Take back the last stash", group: g, do: p.drafts.unstash},
		{name: key.PromptStashList, title: "Stashed prompts", group: g, slash: []string{"stash"}, do: p.prompt.stashDialog},
		{slash: []string{"queue"}, about: "send TEXT when the turn has ended; enter alone steers it", when: inRoot, with: p.prompt.queueNext},
		{name: key.PromptSkills, title: "Skills", group: g, slash: []string{"skills"}, do: p.prompt.skillsDialog},
	}
}

func appActions(p *program) []action {
	const g = "Application"
	return []action{
		{name: key.CommandList, do: p.menu.palette},
		{name: key.HelpShow, title: "Help", group: g, slash: []string{"help"}, do: p.menu.helpDialog},
		{name: key.StatusView, title: "Status", group: g, slash: []string{"status", "debug"}, do: p.menu.statusDialog},
		{name: key.ThemeList, title: "Themes", group: g, slash: []string{"themes"}, do: p.look.themesDialog},
		{name: key.TerminalSuspend, title: "Suspend", group: g, do: func() tea.Cmd { return tea.Suspend }},
		{title: "Leave", group: g, slash: []string{"exit", "quit", "q"}, do: p.quit},
	}
}
