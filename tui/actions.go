package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/toast"
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
	do    func(p *program) tea.Cmd
	with  func(p *program, arguments string) tea.Cmd // instead of do, for a slash command that takes some
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
func (a *action) fits(p *program) bool {
	switch a.when {
	case inSession:
		return p.session != ""
	case inRoot:
		return p.session != "" && !p.isChild()
	case inChild:
		return p.isChild()
	case atHome:
		return p.session == ""
	default:
		return true
	}
}

// actions are all there are.
func (p *program) actions() []action {
	if p.allActions == nil {
		p.allActions = slices.Concat(sessionActions(), messageActions(), modelActions(), promptActions(), viewActions(), appActions())
	}
	return p.allActions
}

// doAction does what a name stands for, as its key would.
func (p *program) doAction(n key.Name) tea.Cmd {
	for i := range p.actions() {
		if a := &p.actions()[i]; a.name == n && a.fits(p) {
			return a.do(p)
		}
	}
	return nil
}

// doNamed does what clients of the HTTP API ask of the screen: by their names with dots, or by that of a key.
func (p *program) doNamed(name string) tea.Cmd {
	switch name {
	case "prompt.submit":
		return p.edited(p.edit.Submit())
	case "prompt.clear":
		p.edit.Clear()
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "session."); ok {
		switch rest {
		case "page.up", "page.down", "line.up", "line.down", "half.page.up", "half.page.down", "first", "last":
			name = "messages." + rest
		}
	}
	return p.doAction(key.Name(strings.ReplaceAll(name, ".", "_")))
}

// doSlash runs a slash command of this program.
func (p *program) doSlash(c editor.RunCommand) tea.Cmd {
	name := c.Name
	for i := range p.actions() {
		a := &p.actions()[i]
		if !slices.Contains(a.slash, name) {
			continue
		}
		if !a.fits(p) {
			return p.say(toast.Info, "/"+name+" needs a session: type a message first")
		}
		if a.with != nil {
			return a.with(p, c.Arguments)
		}
		return a.do(p)
	}
	return p.say(toast.Warning, "There is no command /"+name)
}

func sessionActions() []action {
	const g = "Session"
	out := []action{
		{name: key.SessionList, title: "Switch session", group: g, slash: []string{"sessions", "resume", "continue"}, first: true, do: (*program).sessionsDialog},
		{name: key.SessionNew, title: "New session", group: g, slash: []string{"new", "clear"}, first: true, do: (*program).newSession},
		{name: key.SessionRename, title: "Rename session", group: g, slash: []string{"rename"}, when: inRoot, do: (*program).renameDialog},
		{name: key.SessionTimeline, title: "Jump to a message", group: g, slash: []string{"timeline"}, when: inSession, do: (*program).timelineDialog},
		{name: key.SessionFork, title: "Fork session", group: g, slash: []string{"fork"}, when: inRoot, do: (*program).forkDialog},
		{name: key.SessionCompact, title: "Compact session", group: g, slash: []string{"compact", "summarize"}, when: inRoot, do: (*program).compact},
		{name: key.SessionShare, title: "Share session", group: g, slash: []string{"share"}, when: inRoot, do: (*program).share},
		{name: key.SessionUnshare, title: "Stop sharing", group: g, slash: []string{"unshare"}, when: inRoot, do: (*program).unshare},
		{name: key.SessionExport, title: "Export transcript", group: g, slash: []string{"export"}, when: inSession, do: (*program).exportDialog},
		{name: key.SessionCopy, title: "Copy transcript", group: g, slash: []string{"copy"}, when: inSession, do: (*program).copyTranscript},
		{name: key.SessionInterrupt, title: "Interrupt", group: g, when: inSession, do: (*program).interruptTurn},
		{name: key.SessionQueuedPrompts, title: "Waiting prompts", group: g, when: inRoot, do: (*program).queueDialog},
		{name: key.SessionChildFirst, title: "Sub-agents", group: g, slash: []string{"subagents"}, about: "sessions that work for this one", when: inSession, do: (*program).firstChild},
		{name: key.SessionParent, when: inChild, do: (*program).toParent},
		{name: key.SessionChildCycle, when: inChild, do: func(p *program) tea.Cmd { return p.sibling(1) }},
		{name: key.SessionChildCycleReverse, when: inChild, do: func(p *program) tea.Cmd { return p.sibling(-1) }},
		{name: key.SessionPinToggle, when: inRoot, do: func(p *program) tea.Cmd { return nil }}, // in the list of sessions
		{title: "Resume an interrupted turn", group: g, slash: []string{"go"}, about: "go on with a turn that was cut off", when: inRoot, do: (*program).resumeTurn},
	}
	quick := [...]key.Name{key.SessionQuickSwitch1, key.SessionQuickSwitch2, key.SessionQuickSwitch3, key.SessionQuickSwitch4, key.SessionQuickSwitch5, key.SessionQuickSwitch6, key.SessionQuickSwitch7, key.SessionQuickSwitch8, key.SessionQuickSwitch9}
	for i, n := range quick {
		out = append(out, action{name: n, do: func(p *program) tea.Cmd { return p.quickSwitch(i) }})
	}
	return out
}

func messageActions() []action {
	const g = "Messages"
	scroll := func(rows func(p *program) int) func(*program) tea.Cmd {
		return func(p *program) tea.Cmd { return p.scroll(rows(p)) }
	}
	page := func(p *program) int { return max(1, p.frame().chatHeight-2) }
	return []action{
		{name: key.MessagesUndo, title: "Undo the last message", group: g, slash: []string{"undo"}, when: inRoot, do: (*program).undo},
		{name: key.MessagesRedo, title: "Redo", group: g, slash: []string{"redo"}, when: inRoot, do: (*program).redo},
		{name: key.MessagesCopy, title: "Copy the last answer", group: g, when: inSession, do: (*program).copyAnswer},
		{name: key.MessagesPageUp, when: inSession, do: scroll(func(p *program) int { return -page(p) })},
		{name: key.MessagesPageDown, when: inSession, do: scroll(page)},
		{name: key.MessagesHalfPageUp, when: inSession, do: scroll(func(p *program) int { return -page(p) / 2 })},
		{name: key.MessagesHalfPageDown, when: inSession, do: scroll(func(p *program) int { return page(p) / 2 })},
		{name: key.MessagesLineUp, when: inSession, do: scroll(func(*program) int { return -1 })},
		{name: key.MessagesLineDown, when: inSession, do: scroll(func(*program) int { return 1 })},
		{name: key.MessagesFirst, title: "First message", group: g, when: inSession, do: (*program).scrollTop},
		{name: key.MessagesLast, title: "Last message", group: g, when: inSession, do: func(p *program) tea.Cmd { p.chat().ToEnd(); return nil }},
		{name: key.MessagesNext, title: "Next message", group: g, when: inSession, do: func(p *program) tea.Cmd { return p.jump(false) }},
		{name: key.MessagesPrevious, title: "Previous message", group: g, when: inSession, do: func(p *program) tea.Cmd { return p.jump(true) }},
		{name: key.MessagesLastUser, title: "Last message of yours", group: g, when: inSession, do: (*program).jumpLastUser},
		{title: "Unfold the last call on the screen", group: g, slash: []string{"unfold"}, about: "unfold or fold the last call on the screen", when: inSession, do: func(p *program) tea.Cmd { p.chat().ToggleLast(); return nil }},
		{name: key.DiffOpen, title: "Review changes", group: g, slash: []string{"diff"}, first: true, do: (*program).openReview},
	}
}

func modelActions() []action {
	const g = "Models and agents"
	return []action{
		{name: key.ModelList, title: "Choose model", group: g, slash: []string{"models", "mo"}, first: true, do: (*program).modelsDialog},
		{name: key.AgentList, title: "Choose agent", group: g, slash: []string{"agents"}, do: (*program).agentsDialog},
		{name: key.VariantList, title: "Choose variant", group: g, slash: []string{"variants"}, do: (*program).variantsDialog},
		{name: key.ProviderConnect, title: "Connect a provider", group: g, slash: []string{"connect"}, do: (*program).providersDialog},
		{name: key.PermissionModeList, title: "Permission mode", group: g, slash: []string{"permissions"}, about: "what is allowed without asking", do: (*program).modesDialog},
		{name: key.PermissionModeCycle, do: (*program).cycleMode},
		{name: key.AgentCycle, do: func(p *program) tea.Cmd { return p.cycleAgent(1) }},
		{name: key.AgentCycleReverse, do: func(p *program) tea.Cmd { return p.cycleAgent(-1) }},
		{name: key.VariantCycle, do: (*program).cycleVariant},
		{name: key.ModelCycleRecent, do: func(p *program) tea.Cmd { return p.cycleModel(p.recentModels(), 1) }},
		{name: key.ModelCycleRecentReverse, do: func(p *program) tea.Cmd { return p.cycleModel(p.recentModels(), -1) }},
		{name: key.ModelCycleFavorite, title: "Next favourite model", group: g, do: func(p *program) tea.Cmd { return p.cycleModel(p.favoriteModels(), 1) }},
		{name: key.ModelCycleFavoriteReverse, do: func(p *program) tea.Cmd { return p.cycleModel(p.favoriteModels(), -1) }},
		{name: key.MCPList, title: "Tool servers (MCP)", group: g, slash: []string{"mcps"}, do: (*program).serversDialog},
	}
}

func promptActions() []action {
	const g = "Prompt"
	return []action{
		{name: key.EditorOpen, title: "Edit prompt in your editor", group: g, slash: []string{"editor"}, do: (*program).editOutside},
		{name: key.PromptStash, title: "Stash prompt", group: g, do: (*program).stash},
		{name: key.PromptStashPop, title: "Take back the last stash", group: g, do: (*program).unstash},
		{name: key.PromptStashList, title: "Stashed prompts", group: g, slash: []string{"stash"}, do: (*program).stashDialog},
		{slash: []string{"queue"}, about: "send TEXT when the turn has ended; enter alone steers it", when: inRoot, with: (*program).queueNext},
		{name: key.PromptSkills, title: "Skills", group: g, slash: []string{"skills"}, do: (*program).skillsDialog},
	}
}

func appActions() []action {
	const g = "Application"
	return []action{
		{name: key.CommandList, do: (*program).palette},
		{name: key.HelpShow, title: "Help", group: g, slash: []string{"help"}, do: (*program).helpDialog},
		{name: key.StatusView, title: "Status", group: g, slash: []string{"status", "debug"}, do: (*program).statusDialog},
		{name: key.ThemeList, title: "Themes", group: g, slash: []string{"themes"}, do: (*program).themesDialog},
		{name: key.TerminalSuspend, title: "Suspend", group: g, do: func(*program) tea.Cmd { return tea.Suspend }},
		{title: "Leave", group: g, slash: []string{"exit", "quit", "q"}, do: (*program).quit},
	}
}
