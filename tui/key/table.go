package key

// Group is a heading of the help.
type Group string

// The groups, in the order of the help.
const (
	InApplication Group = "Application"
	InSession     Group = "Session"
	InModels      Group = "Models and agents"
	InMessages    Group = "Messages"
	InPrompt      Group = "Prompt"
	InEditing     Group = "Text"
	InDiff        Group = "Diff viewer"
	InDialogs     Group = "Dialogs"
	InPanel       Group = "Panel of keys"
)

// Entry is a name with its default, for help, for the list of commands and for New.
type Entry struct {
	Name    Name
	Default string // as a setting would say it; "none" is without a key
	Group   Group
	Does    string // one line, for people
}

// All lists every name, group by group.
func All() []Entry {
	var out []Entry
	for _, g := range groups() {
		for _, r := range g.rows {
			out = append(out, Entry{r.name, r.keys, g.name, r.does})
		}
	}
	return out
}

// IsIdle reports whether a name is one that settings may give keys to and that does nothing here: what it is for
// does not exist, or needs no key.
func IsIdle(n Name) bool {
	switch n {
	case AppDebug, AppConsole, AppHeapSnapshot, AppToggleFileContext, DocsOpen, DebugView, ConsoleOrgSwitch, WorkspaceSet,
		PluginManager, PluginInstall, SessionMove, SessionBackground, PromptEditorContextClear, DialogMoveSessionNew,
		DialogMoveSessionDelete, DialogMoveSessionRefresh, PluginsToggle, DialogPluginsInstall:
		return true
	default:
		return false
	}
}

type row struct {
	name Name
	keys string
	does string
}

type group struct {
	name Group
	rows []row
}

func groups() []group {
	return []group{
		{InApplication, rowsOfApplication()},
		{InSession, rowsOfSession()},
		{InModels, rowsOfModels()},
		{InMessages, rowsOfMessages()},
		{InPrompt, rowsOfPrompt()},
		{InEditing, rowsOfEditing()},
		{InDiff, rowsOfDiff()},
		{InDialogs, rowsOfDialogs()},
		{InPanel, rowsOfPanel()},
	}
}

func rowsOfApplication() []row {
	return []row{
		{Leader, "ctrl+x", "First key of two-key shortcuts"},
		{AppExit, "ctrl+c,ctrl+d,<leader>q", "Leave the program"},
		{CommandList, "ctrl+p", "Show all commands"},
		{EditorOpen, "<leader>e", "Edit the prompt in your editor"},
		{ThemeList, "<leader>t", "Choose a theme"},
		{StatusView, "<leader>s", "Show what is connected"},
		{TerminalSuspend, "ctrl+z", "Put the program to sleep (fg wakes it)"},
		{TipsToggle, "<leader>h", "Show or hide the tip"},
		{AppDebug, "none", "Show figures about drawing"},
		{AppConsole, "none", "Show the program's own log"},
		{AppHeapSnapshot, "none", "Write a picture of memory to a file"},
		{AppToggleAnimations, "none", "Animations on or off"},
		{AppToggleFileContext, "none", "Tell the model what your editor shows"},
		{AppToggleDiffwrap, "none", "Wrap long lines in diffs"},
		{AppTogglePasteSummary, "none", "Shorten long pastes to a token"},
		{AppToggleSessionDirectoryFilter, "none", "Only sessions of this folder"},
		{HelpShow, "none", "Show help"},
		{DocsOpen, "none", "Open the documentation"},
		{ThemeSwitchMode, "none", "Switch between light and dark"},
		{ThemeModeLock, "none", "Keep light or dark whatever the terminal says"},
		{DebugView, "none", "Show details for a bug report"},
		{MCPList, "none", "Switch servers of tools on or off"},
		{ProviderConnect, "none", "Connect a provider"},
		{ConsoleOrgSwitch, "none", "Switch the organisation"},
		{WorkspaceSet, "none", "Choose a workspace"},
		{TerminalTitleToggle, "none", "Terminal title on or off"},
		{PluginManager, "none", "Manage plugins"},
		{PluginInstall, "none", "Install a plugin"},
	}
}

func rowsOfSession() []row {
	return []row{
		{SidebarToggle, "<leader>b", "Show or hide the sidebar"},
		{SessionExport, "<leader>x", "Export the session to a file"},
		{SessionNew, "<leader>n", "Start a new session"},
		{SessionList, "<leader>l", "Open another session"},
		{SessionTimeline, "<leader>g", "Jump to a prompt of this session"},
		{SessionRename, "ctrl+r", "Rename the session"},
		{SessionDelete, "ctrl+d", "Delete the session"},
		{SessionInterrupt, "escape", "Stop the running turn"},
		{SessionBackground, "ctrl+b", "Let the task go on in the background"},
		{SessionCompact, "<leader>c", "Summarise the session to free room"},
		{SessionQueuedPrompts, "<leader>q", "Show prompts that wait"},
		{SessionChildFirst, "<leader>down", "Go to the first subagent"},
		{SessionChildCycle, "right", "Go to the next subagent"},
		{SessionChildCycleReverse, "left", "Go to the previous subagent"},
		{SessionParent, "up", "Go back to the main session"},
		{SessionPinToggle, "ctrl+f", "Pin or unpin the session"},
		{SessionQuickSwitch1, "<leader>1", "Open pinned session 1"},
		{SessionQuickSwitch2, "<leader>2", "Open pinned session 2"},
		{SessionQuickSwitch3, "<leader>3", "Open pinned session 3"},
		{SessionQuickSwitch4, "<leader>4", "Open pinned session 4"},
		{SessionQuickSwitch5, "<leader>5", "Open pinned session 5"},
		{SessionQuickSwitch6, "<leader>6", "Open pinned session 6"},
		{SessionQuickSwitch7, "<leader>7", "Open pinned session 7"},
		{SessionQuickSwitch8, "<leader>8", "Open pinned session 8"},
		{SessionQuickSwitch9, "<leader>9", "Open pinned session 9"},
		{StashDelete, "ctrl+d", "Delete from the stash"},
		{ScrollbarToggle, "none", "Show or hide the scrollbar"},
		{SessionCopy, "none", "Copy the whole session"},
		{SessionMove, "none", "Move the session to another folder"},
		{SessionFork, "none", "Go on in a copy of the session"},
		{SessionShare, "none", "Share the session by a link"},
		{SessionUnshare, "none", "Stop sharing the session"},
		{SessionToggleTimestamps, "none", "Show or hide times"},
		{SessionToggleGenericToolOutput, "none", "Show output of all tools"},
	}
}

func rowsOfModels() []row {
	return []row{
		{ModelProviderList, "ctrl+a", "Connect a provider from the list of models"},
		{ModelFavoriteToggle, "ctrl+f", "Mark the model as a favourite"},
		{ModelList, "<leader>m", "Choose a model"},
		{ModelCycleRecent, "f2", "Next recent model"},
		{ModelCycleRecentReverse, "shift+f2", "Previous recent model"},
		{AgentList, "<leader>a", "Choose an agent"},
		{AgentCycle, "tab", "Next agent"},
		{AgentCycleReverse, "<leader>tab", "Previous agent"},
		{PermissionModeCycle, "shift+tab", "Next permission mode"},
		{PermissionModeList, "none", "Choose a permission mode"},
		{VariantCycle, "ctrl+t", "Next level of reasoning"},
		{ModelCycleFavorite, "none", "Next favourite model"},
		{ModelCycleFavoriteReverse, "none", "Previous favourite model"},
		{VariantList, "none", "Choose a level of reasoning"},
	}
}

func rowsOfMessages() []row {
	return []row{
		{MessagesPageUp, "pageup,ctrl+alt+b", "Scroll a page up"},
		{MessagesPageDown, "pagedown,ctrl+alt+f", "Scroll a page down"},
		{MessagesLineUp, "ctrl+alt+y", "Scroll a line up"},
		{MessagesLineDown, "ctrl+alt+e", "Scroll a line down"},
		{MessagesHalfPageUp, "ctrl+alt+u", "Scroll half a page up"},
		{MessagesHalfPageDown, "ctrl+alt+d", "Scroll half a page down"},
		{MessagesFirst, "ctrl+g,home", "Go to the first message"},
		{MessagesLast, "ctrl+alt+g,end", "Go to the last message"},
		{MessagesCopy, "<leader>y", "Copy the last answer"},
		{MessagesUndo, "<leader>u", "Undo the last prompt and its changes"},
		{MessagesRedo, "<leader>r", "Redo what was undone"},
		{MessagesToggleConceal, "<leader>h", "Show or hide the marks of Markdown"},
		{MessagesNext, "none", "Go to the next message"},
		{MessagesPrevious, "none", "Go to the previous message"},
		{MessagesLastUser, "none", "Go to your last prompt"},
		{ToolDetails, "none", "Show or hide finished tools"},
		{DisplayThinking, "none", "Show or hide reasoning"},
	}
}

func rowsOfPrompt() []row {
	return []row{
		{InputClear, "ctrl+c", "Clear the prompt"},
		{InputPaste, "ctrl+v", "Paste text or a picture"},
		{InputSubmit, "return", "Send the prompt"},
		{InputNewline, "shift+return,ctrl+return,alt+return,ctrl+j", "Start a new line"},
		{HistoryPrevious, "up", "Previous prompt"},
		{HistoryNext, "down", "Next prompt"},
		{PromptSubmit, "none", "Send the prompt, from the list of commands"},
		{PromptEditorContextClear, "none", "Forget what your editor shows"},
		{PromptSkills, "none", "Choose a skill"},
		{PromptStash, "none", "Put the prompt aside"},
		{PromptStashPop, "none", "Bring back the prompt put aside last"},
		{PromptStashList, "none", "Show prompts put aside"},
	}
}

func rowsOfEditing() []row {
	return []row{
		{InputMoveLeft, "left,ctrl+b", "Left"},
		{InputMoveRight, "right,ctrl+f", "Right"},
		{InputMoveUp, "up", "Up"},
		{InputMoveDown, "down", "Down"},
		{InputSelectLeft, "shift+left", "Select to the left"},
		{InputSelectRight, "shift+right", "Select to the right"},
		{InputSelectUp, "shift+up", "Select upwards"},
		{InputSelectDown, "shift+down", "Select downwards"},
		{InputLineHome, "ctrl+a", "Start of the line"},
		{InputLineEnd, "ctrl+e", "End of the line"},
		{InputSelectLineHome, "ctrl+shift+a", "Select to the start of the line"},
		{InputSelectLineEnd, "ctrl+shift+e", "Select to the end of the line"},
		{InputVisualLineHome, "alt+a", "Start of the row"},
		{InputVisualLineEnd, "alt+e", "End of the row"},
		{InputSelectVisualLineHome, "alt+shift+a", "Select to the start of the row"},
		{InputSelectVisualLineEnd, "alt+shift+e", "Select to the end of the row"},
		{InputBufferHome, "home", "Start of the prompt"},
		{InputBufferEnd, "end", "End of the prompt"},
		{InputSelectBufferHome, "shift+home", "Select to the start of the prompt"},
		{InputSelectBufferEnd, "shift+end", "Select to the end of the prompt"},
		{InputDeleteLine, "ctrl+shift+d", "Delete the line"},
		{InputDeleteToLineEnd, "ctrl+k", "Delete to the end of the line"},
		{InputDeleteToLineStart, "ctrl+u", "Delete to the start of the line"},
		{InputBackspace, "backspace,shift+backspace", "Delete backwards"},
		{InputDelete, "ctrl+d,delete,shift+delete", "Delete forwards"},
		{InputUndo, "ctrl+-,super+z", "Undo"},
		{InputRedo, "ctrl+.,super+shift+z", "Redo"},
		{InputWordForward, "alt+f,alt+right,ctrl+right", "Next word"},
		{InputWordBackward, "alt+b,alt+left,ctrl+left", "Previous word"},
		{InputSelectWordForward, "alt+shift+f,alt+shift+right", "Select the next word"},
		{InputSelectWordBackward, "alt+shift+b,alt+shift+left", "Select the previous word"},
		{InputDeleteWordForward, "alt+d,alt+delete,ctrl+delete", "Delete the next word"},
		{InputDeleteWordBackward, "ctrl+w,ctrl+backspace,alt+backspace", "Delete the previous word"},
		{InputSelectAll, "super+a", "Select all"},
	}
}

func rowsOfDiff() []row {
	return []row{
		{DiffClose, "escape,q", "Close the diff"},
		{DiffToggle, "enter,space", "Open or close a folder, or show a file"},
		{DiffExpand, "right", "Open the folder"},
		{DiffExpandAll, "E", "Open all folders"},
		{DiffCollapse, "left", "Close the folder"},
		{DiffSwitchFocus, "tab", "Switch between files and changes"},
		{DiffNextHunk, "]", "Next change"},
		{DiffPreviousHunk, "[", "Previous change"},
		{DiffNextFile, "n", "Next file"},
		{DiffPreviousFile, "p", "Previous file"},
		{DiffToggleFileTree, "b", "Show or hide the files"},
		{DiffSinglePatch, "s", "One file or all"},
		{DiffSwitchSource, "d", "Compare with something else"},
		{DiffToggleView, "v", "Side by side or stacked"},
		{DiffHelp, "?", "Show the keys of the diff"},
		{DiffOpen, "none", "Look at changes"},
	}
}

func rowsOfDialogs() []row {
	return []row{
		{DialogSelectPrev, "up,ctrl+p", "Previous row"},
		{DialogSelectNext, "down,ctrl+n", "Next row"},
		{DialogSelectPageUp, "pageup", "A page up"},
		{DialogSelectPageDown, "pagedown", "A page down"},
		{DialogSelectHome, "home", "First row"},
		{DialogSelectEnd, "end", "Last row"},
		{DialogSelectSubmit, "return", "Choose the row"},
		{DialogPromptSubmit, "return", "Accept what was typed"},
		{DialogMCPToggle, "space", "Switch the server on or off"},
		{DialogMoveSessionNew, "ctrl+m", "Make a new place"},
		{DialogMoveSessionDelete, "ctrl+d", "Delete the place"},
		{DialogMoveSessionRefresh, "ctrl+r", "Look again"},
		{PromptAutocompletePrev, "up,ctrl+p", "Previous suggestion"},
		{PromptAutocompleteNext, "down,ctrl+n", "Next suggestion"},
		{PromptAutocompleteHide, "escape", "Close the suggestions"},
		{PromptAutocompleteSelect, "return", "Take the suggestion"},
		{PromptAutocompleteComplete, "tab", "Take the suggestion, or open the folder"},
		{PermissionPromptFullscreen, "ctrl+f", "Show the change on the whole screen"},
		{PluginsToggle, "space", "Switch the plugin on or off"},
		{DialogPluginsInstall, "shift+i", "Install a plugin from the list"},
	}
}

func rowsOfPanel() []row {
	return []row{
		{WhichKeyToggle, "ctrl+alt+k", "Show or hide the panel of keys"},
		{WhichKeyLayoutToggle, "ctrl+alt+shift+k", "Panel at the bottom or over the screen"},
		{WhichKeyPendingToggle, "ctrl+alt+shift+p", "Panel only after the leader key"},
		{WhichKeyGroupPrevious, "ctrl+alt+left,ctrl+alt+[", "Previous group of keys"},
		{WhichKeyGroupNext, "ctrl+alt+right,ctrl+alt+]", "Next group of keys"},
		{WhichKeyScrollUp, "ctrl+alt+up,ctrl+alt+p", "Scroll the panel up"},
		{WhichKeyScrollDown, "ctrl+alt+down,ctrl+alt+n", "Scroll the panel down"},
		{WhichKeyPageUp, "ctrl+alt+pageup", "A page of the panel up"},
		{WhichKeyPageDown, "ctrl+alt+pagedown", "A page of the panel down"},
		{WhichKeyHome, "ctrl+alt+home", "Start of the panel"},
		{WhichKeyEnd, "ctrl+alt+end", "End of the panel"},
	}
}
