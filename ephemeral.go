package lathe

// Ephemeral events are sent once and never stored; a client that was away reads the state.
type (
	// PartDelta extends an open part. Offset is where in its text, in UTF-16 units, -1 when
	// unknown; it is on the wire only for readers that ask.
	PartDelta struct {
		Session SessionID
		Message MessageID
		Part    PartID
		Field   string // always "text"
		Delta   string
		Offset  int
		Extra   Extra
	}
	// SessionIdle tells once more that a session is idle, for old clients.
	SessionIdle struct {
		Session SessionID
		Extra   Extra
	}
	// ServerConnected is the first event of a stream.
	ServerConnected struct {
		Extra Extra
	}
	// ServerHeartbeat shows that a stream is alive.
	ServerHeartbeat struct {
		Extra Extra
	}
	// ServerResync says that a stream cannot be resumed from the given cursor: the client must
	// reload.
	ServerResync struct {
		Extra Extra
	}
	// InstanceDisposed says that a directory's instance is gone.
	InstanceDisposed struct {
		Directory string
		Extra     Extra
	}
	// GlobalDisposed says that all instances are gone.
	GlobalDisposed struct {
		Extra Extra
	}
	// UpdateAvailable says that a newer version of lathe is released.
	UpdateAvailable struct {
		Version string
		Extra   Extra
	}
	// UpdateInstalled says that the program was upgraded; running processes keep their version.
	UpdateInstalled struct {
		Version string
		Extra   Extra
	}
	// WorktreeReady says that a worktree was made and set up.
	WorktreeReady struct {
		Name, Branch string
		Extra        Extra
	}
	// WorktreeFailed says that a worktree could not be made or set up.
	WorktreeFailed struct {
		Message string
		Extra   Extra
	}
	// SessionFailed says that a turn failed, or a prompt could not become one.
	SessionFailed struct {
		Session SessionID
		Error   Fault
		Extra   Extra
	}
	// SessionCompacted says that a session's history was compressed.
	SessionCompacted struct {
		Session SessionID
		Extra   Extra
	}
	// CommandExecuted says that a slash command has ended.
	CommandExecuted struct {
		Name, Arguments string
		Session         SessionID
		Message         MessageID
		Extra           Extra
	}
	// FileEdited says that a tool changed a file.
	FileEdited struct {
		File  string
		Extra Extra
	}
	// FileWatched says that a file changed: add, change or unlink.
	FileWatched struct {
		File, Event string
		Extra       Extra
	}
	// BranchChanged tells the branch that is checked out now.
	BranchChanged struct {
		Branch string
		Extra  Extra
	}
	// LSPUpdated says that the state of a language server changed.
	LSPUpdated struct {
		Extra Extra
	}
	// LSPDiagnosed says that a language server reports other diagnostics for a file.
	LSPDiagnosed struct {
		Server, Path string
		Extra        Extra
	}
	// MCPToolsChanged says that an MCP server offers other tools.
	MCPToolsChanged struct {
		Server string
		Extra  Extra
	}
	// MCPBrowserFailed says that no browser opened for a sign-in.
	MCPBrowserFailed struct {
		Name, URL string
		Extra     Extra
	}
	// PtyCreated carries a new terminal.
	PtyCreated struct {
		Info  Pty
		Extra Extra
	}
	// PtyChanged carries the present state of a terminal.
	PtyChanged struct {
		Info  Pty
		Extra Extra
	}
	// PtyExited says that a terminal's process ended.
	PtyExited struct {
		ID       PtyID
		ExitCode int
		Extra    Extra
	}
	// PtyDeleted says that a terminal is gone.
	PtyDeleted struct {
		ID    PtyID
		Extra Extra
	}
	// TUIPromptAppend asks terminal clients to append to their prompt.
	TUIPromptAppend struct {
		Text  string
		Extra Extra
	}
	// TUICommand asks terminal clients to run one of their commands.
	TUICommand struct {
		Command string
		Extra   Extra
	}
	// TUIToast asks terminal clients to show a short message.
	TUIToast struct {
		Title, Message, Variant string
		Duration                int
		Extra                   Extra
	}
	// TUISessionSelect asks terminal clients to open a session.
	TUISessionSelect struct {
		Session SessionID
		Extra   Extra
	}
	// CatalogChanged says that the model catalog changed.
	CatalogChanged struct {
		Extra Extra
	}
	// ModelsRefreshed says that the model catalog was fetched.
	ModelsRefreshed struct {
		Extra Extra
	}
	// ReferencesChanged says that references changed.
	ReferencesChanged struct {
		Extra Extra
	}
	// IntegrationsChanged says that integrations changed.
	IntegrationsChanged struct {
		Extra Extra
	}
	// UnknownEvent is an event this version does not know (or never sends: the session.next, v2
	// and sync families of OpenCode), stored as received.
	UnknownEvent struct {
		TypeName string
		Extra    Extra
	}
)

func (*PartDelta) Type() string           { return "message.part.delta" }
func (*SessionIdle) Type() string         { return "session.idle" }
func (*ServerConnected) Type() string     { return "server.connected" }
func (*ServerHeartbeat) Type() string     { return "server.heartbeat" }
func (*ServerResync) Type() string        { return "server.resync" }
func (*InstanceDisposed) Type() string    { return "server.instance.disposed" }
func (*GlobalDisposed) Type() string      { return "global.disposed" }
func (*SessionFailed) Type() string       { return "session.error" }
func (*SessionCompacted) Type() string    { return "session.compacted" }
func (*CommandExecuted) Type() string     { return "command.executed" }
func (*FileEdited) Type() string          { return "file.edited" }
func (*FileWatched) Type() string         { return "file.watcher.updated" }
func (*BranchChanged) Type() string       { return "vcs.branch.updated" }
func (*LSPUpdated) Type() string          { return "lsp.updated" }
func (*LSPDiagnosed) Type() string        { return "lsp.client.diagnostics" }
func (*MCPToolsChanged) Type() string     { return "mcp.tools.changed" }
func (*MCPBrowserFailed) Type() string    { return "mcp.browser.open.failed" }
func (*PtyCreated) Type() string          { return "pty.created" }
func (*PtyChanged) Type() string          { return "pty.updated" }
func (*PtyExited) Type() string           { return "pty.exited" }
func (*PtyDeleted) Type() string          { return "pty.deleted" }
func (*TUIPromptAppend) Type() string     { return "tui.prompt.append" }
func (*TUICommand) Type() string          { return "tui.command.execute" }
func (*TUIToast) Type() string            { return "tui.toast.show" }
func (*TUISessionSelect) Type() string    { return "tui.session.select" }
func (*CatalogChanged) Type() string      { return "catalog.updated" }
func (*ModelsRefreshed) Type() string     { return "models-dev.refreshed" }
func (*ReferencesChanged) Type() string   { return "reference.updated" }
func (*IntegrationsChanged) Type() string { return "integration.updated" }
func (*UpdateAvailable) Type() string     { return "installation.update-available" }
func (*UpdateInstalled) Type() string     { return "installation.updated" }
func (*WorktreeReady) Type() string       { return "worktree.ready" }
func (*WorktreeFailed) Type() string      { return "worktree.failed" }
func (n *UnknownEvent) Type() string      { return n.TypeName }

func (n *PartDelta) fields(c *codec) {
	str(c, "sessionID", &n.Session)
	str(c, "messageID", &n.Message)
	str(c, "partID", &n.Part)
	str(c, "field", &n.Field)
	str(c, "delta", &n.Delta)
	if c.reading {
		n.Offset = -1
	}
	if c.reading || c.offsets && n.Offset >= 0 {
		integer(c, "offset", &n.Offset)
	}
	if c.reading {
		n.Offset = max(n.Offset, -1)
	}
	c.rest(&n.Extra)
}

func (n *SessionFailed) fields(c *codec) {
	optStr(c, "sessionID", &n.Session)
	optFault(c, "error", &n.Error)
	c.rest(&n.Extra)
}

func (n *UnknownEvent) fields(c *codec) { c.rest(&n.Extra) }

func (n *SessionIdle) fields(c *codec) {
	str(c, "sessionID", &n.Session)
	c.rest(&n.Extra)
}

func (n *ServerConnected) fields(c *codec) { c.rest(&n.Extra) }

func (n *ServerHeartbeat) fields(c *codec) { c.rest(&n.Extra) }

func (n *ServerResync) fields(c *codec) { c.rest(&n.Extra) }

func (n *InstanceDisposed) fields(c *codec) {
	str(c, "directory", &n.Directory)
	c.rest(&n.Extra)
}

func (n *GlobalDisposed) fields(c *codec) { c.rest(&n.Extra) }

func (n *SessionCompacted) fields(c *codec) {
	str(c, "sessionID", &n.Session)
	c.rest(&n.Extra)
}

func (n *CommandExecuted) fields(c *codec) {
	str(c, "name", &n.Name)
	str(c, "sessionID", &n.Session)
	str(c, "arguments", &n.Arguments)
	str(c, "messageID", &n.Message)
	c.rest(&n.Extra)
}

func (n *FileEdited) fields(c *codec) {
	str(c, "file", &n.File)
	c.rest(&n.Extra)
}

func (n *FileWatched) fields(c *codec) {
	str(c, "file", &n.File)
	str(c, "event", &n.Event)
	c.rest(&n.Extra)
}

func (n *BranchChanged) fields(c *codec) {
	optStr(c, "branch", &n.Branch)
	c.rest(&n.Extra)
}

func (n *LSPUpdated) fields(c *codec) { c.rest(&n.Extra) }

func (n *LSPDiagnosed) fields(c *codec) {
	str(c, "serverID", &n.Server)
	str(c, "path", &n.Path)
	c.rest(&n.Extra)
}

func (n *MCPToolsChanged) fields(c *codec) {
	str(c, "server", &n.Server)
	c.rest(&n.Extra)
}

func (n *MCPBrowserFailed) fields(c *codec) {
	str(c, "mcpName", &n.Name)
	str(c, "url", &n.URL)
	c.rest(&n.Extra)
}

func (n *PtyCreated) fields(c *codec) {
	object(c, "info", &n.Info)
	c.rest(&n.Extra)
}

func (n *PtyChanged) fields(c *codec) {
	object(c, "info", &n.Info)
	c.rest(&n.Extra)
}

func (n *PtyExited) fields(c *codec) {
	str(c, "id", &n.ID)
	integer(c, "exitCode", &n.ExitCode)
	c.rest(&n.Extra)
}

func (n *PtyDeleted) fields(c *codec) {
	str(c, "id", &n.ID)
	c.rest(&n.Extra)
}

func (n *UpdateAvailable) fields(c *codec) {
	str(c, "version", &n.Version)
	c.rest(&n.Extra)
}

func (n *UpdateInstalled) fields(c *codec) {
	str(c, "version", &n.Version)
	c.rest(&n.Extra)
}

func (n *WorktreeReady) fields(c *codec) {
	str(c, "name", &n.Name)
	optStr(c, "branch", &n.Branch)
	c.rest(&n.Extra)
}

func (n *WorktreeFailed) fields(c *codec) {
	str(c, "message", &n.Message)
	c.rest(&n.Extra)
}

func (n *TUIPromptAppend) fields(c *codec) {
	str(c, "text", &n.Text)
	c.rest(&n.Extra)
}

func (n *TUICommand) fields(c *codec) {
	str(c, "command", &n.Command)
	c.rest(&n.Extra)
}

func (n *TUIToast) fields(c *codec) {
	optStr(c, "title", &n.Title)
	str(c, "message", &n.Message)
	str(c, "variant", &n.Variant)
	optInt(c, "duration", &n.Duration)
	c.rest(&n.Extra)
}

func (n *TUISessionSelect) fields(c *codec) {
	str(c, "sessionID", &n.Session)
	c.rest(&n.Extra)
}

func (n *CatalogChanged) fields(c *codec) { c.rest(&n.Extra) }

func (n *ModelsRefreshed) fields(c *codec) { c.rest(&n.Extra) }

func (n *ReferencesChanged) fields(c *codec) { c.rest(&n.Extra) }

func (n *IntegrationsChanged) fields(c *codec) { c.rest(&n.Extra) }
