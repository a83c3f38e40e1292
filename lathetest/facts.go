package lathetest

import "github.com/lathe-agent/lathe"

// Facts is one of each fact that has a name on the wire, stored and ephemeral.
func Facts() []lathe.Fact { return append(Stored(), Ephemeral()...) }

// Stored is one of each fact that changes a row visible to clients: a part of each body, a
// message of each role, a status of each kind.
func Stored() []lathe.Fact {
	out := []lathe.Fact{
		&lathe.SessionCreated{Info: Session(), Extra: `"x-fact":1`},
		&lathe.SessionChanged{Info: Session(), Extra: `"x-fact":1`},
		&lathe.SessionDeleted{Info: Session(), Extra: `"x-fact":1`},
		&lathe.MessageRemoved{Session: SessionID, Message: UserID, Extra: `"x-fact":1`},
		&lathe.PartRemoved{Session: SessionID, Message: UserID, Part: PartID, Extra: `"x-fact":1`},
		&lathe.PermissionAsked{PermissionRequest: permission()},
		&lathe.PermissionReplied{Session: SessionID, Request: permission().ID, Reply: lathe.Always, Extra: `"x-fact":1`},
		&lathe.QuestionAsked{QuestionRequest: question()},
		&lathe.QuestionReplied{
			Session: SessionID, Request: question().ID, Answers: [][]string{{"Yes", "No"}, {}}, Extra: `"x-fact":1`,
		},
		&lathe.QuestionRejected{Session: SessionID, Request: question().ID, Extra: `"x-fact":1`},
		&lathe.TodosChanged{
			Session: SessionID, Extra: `"x-fact":1`,
			Todos: []lathe.Todo{{Content: "Write it", Status: "in_progress", Priority: "high", Extra: `"x-todo":1`}},
		},
		&lathe.DiffChanged{Session: SessionID, Diff: []lathe.FileDiff{Diff()}, Extra: `"x-fact":1`},
		&lathe.ProjectChanged{Project: Project()},
	}
	for _, s := range statuses() {
		out = append(out, &lathe.StatusChanged{Session: SessionID, Status: s, Extra: `"x-fact":1`})
	}
	for _, m := range Messages() {
		m.Parts = nil
		out = append(out, &lathe.MessageChanged{Info: m, Extra: `"x-fact":1`})
	}
	for _, p := range Parts(SessionID, AnswerID) {
		out = append(out, &lathe.PartChanged{Part: p, Time: Now, Extra: `"x-fact":1`})
	}
	return out
}

// Unpublished is one of each fact that only the store sees.
func Unpublished() []lathe.Fact {
	return []lathe.Fact{
		&lathe.Checkpoint{Session: SessionID, Part: PartID, Offset: 5, Text: ", world"},
		&lathe.Promote{Session: SessionID, Message: UserID},
		&lathe.Interrupted{Session: SessionID},
		&lathe.RequestSent{Session: SessionID, Message: AnswerID, Digest: "1.2.3 00ff"},
		&lathe.TestsRan{Session: SessionID, Project: "tested", Run: lathe.TestRun{Command: "go test ./...", Exit: 1, At: Now}},
		&lathe.Spent{Session: SessionID, Day: "2026-01-02", Used: lathe.Spending{Cost: 7, Tokens: 6, Steps: 1}},
		&lathe.SystemPromptSaved{Session: SessionID, SystemPrompt: lathe.SystemPrompt{Agent: "build", Text: "You are lathe.", Sources: []lathe.SystemPromptSource{{Name: "AGENTS.md", Digest: "abc"}}}},
	}
}

// Ephemeral is one of each event that is never stored.
func Ephemeral() []lathe.Fact {
	x := lathe.Extra(`"x-event":1`)
	out := []lathe.Fact{
		&lathe.PartDelta{
			Session: SessionID, Message: AnswerID, Part: PartID, Field: "text", Delta: "wörld", Offset: 7, Extra: x,
		},
		&lathe.SessionIdle{Session: SessionID, Extra: x},
		&lathe.ServerConnected{Extra: x},
		&lathe.ServerHeartbeat{Extra: x},
		&lathe.ServerResync{Extra: x},
		&lathe.InstanceDisposed{Directory: "/home/u/app", Extra: x},
		&lathe.GlobalDisposed{Extra: x},
		&lathe.SessionFailed{Session: SessionID, Error: &lathe.UnknownFault{Message: "odd"}, Extra: x},
		&lathe.SessionCompacted{Session: SessionID, Extra: x},
		&lathe.CommandExecuted{Name: "init", Session: SessionID, Arguments: "a b", Message: AnswerID, Extra: x},
		&lathe.FileEdited{File: "/home/u/app/main.go", Extra: x},
		&lathe.FileWatched{File: "/home/u/app/main.go", Event: "change", Extra: x},
		&lathe.BranchChanged{Branch: "main", Extra: x},
		&lathe.LSPUpdated{Extra: x},
		&lathe.LSPDiagnosed{Server: "gopls", Path: "/home/u/app/main.go", Extra: x},
		&lathe.MCPToolsChanged{Server: "docs", Extra: x},
		&lathe.MCPBrowserFailed{Name: "docs", URL: "https://sign.example", Extra: x},
		&lathe.PtyCreated{Info: pty(), Extra: x},
		&lathe.PtyChanged{Info: pty(), Extra: x},
		&lathe.PtyExited{ID: pty().ID, ExitCode: 1, Extra: x},
		&lathe.PtyDeleted{ID: pty().ID, Extra: x},
		&lathe.TUIPromptAppend{Text: "more", Extra: x},
		&lathe.TUICommand{Command: "session.new", Extra: x},
		&lathe.TUIToast{Title: "Hi", Message: "there", Variant: "info", Duration: 3000, Extra: x},
		&lathe.TUISessionSelect{Session: SessionID, Extra: x},
		&lathe.CatalogChanged{Extra: x},
		&lathe.ModelsRefreshed{Extra: x},
		&lathe.ReferencesChanged{Extra: x},
		&lathe.IntegrationsChanged{Extra: x},
		&lathe.UpdateAvailable{Version: "1.2.5", Extra: x},
		&lathe.UpdateInstalled{Version: "1.2.4", Extra: x},
		&lathe.WorktreeReady{Name: "app-2", Branch: "app-2", Extra: x},
		&lathe.WorktreeFailed{Message: "no space", Extra: x},
		&lathe.UnknownEvent{TypeName: "x-event.sent", Extra: `"sessionID":"ses_later","deep":{"a":[1]}`},
	}
	for _, e := range unsent() {
		out = append(out, &lathe.UnknownEvent{TypeName: e[0], Extra: lathe.Extra(e[1])})
	}
	return out
}

// unsent are the names and properties of OpenCode's events that lathe describes and never sends.
func unsent() [][2]string {
	return [][2]string{
		{"ide.installed", `"ide":"vi","x-event":1`},
		{"integration.connection.updated", `"integrationID":"forge","x-event":1`},
		{"plugin.added", `"id":"lint","x-event":1`},
		{"project.directories.updated", `"projectID":"prj","x-event":1`},
		{"workspace.ready", `"name":"far","x-event":1`},
		{"workspace.failed", `"message":"gone","x-event":1`},
		{"workspace.status", `"workspaceID":"wrk_bbef3b000001WorkspaceSampl","status":"connected","x-event":1`},
	}
}

func statuses() []lathe.Status {
	return []lathe.Status{
		{Type: lathe.Idle, Extra: `"x-status":1`},
		{Type: lathe.Busy},
		{
			Type: lathe.Retrying, Attempt: 2, Message: "too many requests", Next: Now + 4000,
			Action: raw(`{"reason":"quota","provider":"acme","title":"T","message":"M","label":"L","link":"https://a.example"}`),
			Extra:  `"x-status":1`,
		},
	}
}

func permission() lathe.PermissionRequest {
	return lathe.PermissionRequest{
		ID: "per_bbef3b000001PermissionSamp", Session: SessionID, Permission: "bash",
		Patterns: []string{"git push"}, Always: []string{"git *"}, Metadata: raw(`{"command":"git push"}`),
		Tool: &lathe.ToolRef{Message: AnswerID, Call: "call_1", Extra: `"x-ref":1`}, Extra: `"x-ask":1`,
	}
}

func question() lathe.QuestionRequest {
	return lathe.QuestionRequest{
		ID: "que_bbef3b000001QuestionSample", Session: SessionID,
		Questions: []lathe.Question{{
			Question: "Which one?", Header: "Choice", Multiple: lathe.Yes, Custom: lathe.No,
			Options: []lathe.Option{{Label: "Yes", Description: "Do it", Extra: `"x-option":1`}, {Label: "No"}},
			Extra:   `"x-question":1`,
		}},
		Tool: &lathe.ToolRef{Message: AnswerID, Call: "call_2"}, Extra: `"x-ask":1`,
	}
}

func pty() lathe.Pty {
	code := 0
	return lathe.Pty{
		ID: "pty_bbef3b000001PtySampleAAAAA", Title: "sh", Command: "/bin/sh", Args: []string{"-l"},
		Cwd: "/home/u/app", Status: "exited", PID: 4711, ExitCode: &code, Extra: `"x-pty":1`,
	}
}
