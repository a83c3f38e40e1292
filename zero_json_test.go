package lathe_test

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// The least that is written of each type: what is required is there though it is zero,
// and what is optional and empty is not there at all.

const (
	leastTokens  = `"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}`
	leastSession = `{"id":"","slug":"","projectID":"","directory":"","title":"","version":"","time":{"created":0,"updated":0}}`
	leastProject = `"id":"","worktree":"","time":{"created":0,"updated":0},"sandboxes":[]`
	leastUser    = `{"id":"","sessionID":"","role":"user","time":{"created":0},"agent":"","model":{"providerID":"","modelID":""}}`
	leastAnswer  = `{"id":"","sessionID":"","role":"assistant","time":{"created":0},"parentID":"","modelID":"","providerID":"",` +
		`"mode":"","agent":"","path":{"cwd":"","root":""},"cost":0,` + leastTokens + `}`
	leastPty = `{"id":"","title":"","command":"","args":[],"cwd":"","status":"","pid":0}`
)

func TestLeast_Parts(t *testing.T) {
	bodies := []struct {
		body lathe.Body
		want string
	}{
		{&lathe.Text{}, `"text":""`},
		{&lathe.Text{Time: &lathe.Span{}}, `"text":"","time":{"start":0}`},
		{&lathe.Reasoning{}, `"text":"","time":{"start":0}`},
		{&lathe.File{}, `"mime":"","url":""`},
		{&lathe.File{Source: &lathe.FileSource{Type: "file"}}, `"mime":"","url":"","source":{"type":"file","text":{"value":"","start":0,"end":0},"path":""}`},
		{&lathe.File{Source: &lathe.FileSource{Type: "symbol"}}, `"mime":"","url":"","source":{"type":"symbol","text":{"value":"","start":0,"end":0},"path":""}`},
		{&lathe.File{Source: &lathe.FileSource{Type: "resource"}}, `"mime":"","url":"","source":{"type":"resource","text":{"value":"","start":0,"end":0}}`},
		{&lathe.StepStart{}, ``},
		{&lathe.StepFinish{}, `"reason":"","cost":0,` + leastTokens},
		{&lathe.Snapshot{}, `"snapshot":""`},
		{&lathe.Patch{}, `"hash":"","files":[]`},
		{&lathe.AgentMention{}, `"name":""`},
		{&lathe.AgentMention{Source: &lathe.Mention{}}, `"name":"","source":{"value":"","start":0,"end":0}`},
		{&lathe.Subtask{}, `"prompt":"","description":"","agent":""`},
		{&lathe.Subtask{Model: &lathe.ModelRef{}}, `"prompt":"","description":"","agent":"","model":{"providerID":"","modelID":""}`},
		{&lathe.Compaction{}, `"auto":false`},
		{&lathe.Compaction{Overflow: lathe.No}, `"auto":false,"overflow":false`},
		{&lathe.Retry{Error: &lathe.APIFault{}}, `"attempt":0,"error":{"name":"APIError","data":{"message":"","isRetryable":false}},"time":{"created":0}`},
		{&lathe.UnknownBody{TypeName: "x"}, ``},
		{&lathe.ToolCall{State: &lathe.Pending{}}, `"callID":"","tool":"","state":{"status":"pending","input":{},"raw":""}`},
		{&lathe.ToolCall{State: &lathe.Running{}}, `"callID":"","tool":"","state":{"status":"running","input":{},"time":{"start":0}}`},
		{
			&lathe.ToolCall{State: &lathe.Completed{}},
			`"callID":"","tool":"","state":{"status":"completed","input":{},"output":"","title":"","metadata":{},"time":{"start":0,"end":0}}`,
		},
		{&lathe.ToolCall{State: &lathe.Failed{}}, `"callID":"","tool":"","state":{"status":"error","input":{},"error":"","time":{"start":0,"end":0}}`},
	}
	for _, tt := range bodies {
		p := lathe.Part{Body: tt.body}
		want := `{"id":"","sessionID":"","messageID":"","type":"` + tt.body.Kind() + `"` + more(tt.want) + `}`
		if got := string(p.AppendJSON(nil)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.body.Kind(), got, want)
		}
	}
}

func TestLeast_Messages(t *testing.T) {
	for want, m := range map[string]lathe.Message{
		`{"info":` + leastUser + `,"parts":[]}`:   {Data: &lathe.User{}},
		`{"info":` + leastAnswer + `,"parts":[]}`: {Data: &lathe.Assistant{}},
		`{"info":` + strings.TrimSuffix(leastUser, "}") + `,"summary":{"diffs":[]}},"parts":[]}`: {
			Data: &lathe.User{Summary: &lathe.UserSummary{}},
		},
		`{"info":` + strings.TrimSuffix(leastAnswer, "}") + `,"summary":false},"parts":[]}`: {
			Data: &lathe.Assistant{Summary: lathe.No},
		},
	} {
		if got := string(m.AppendJSON(nil)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestLeast_Session(t *testing.T) {
	path, archived, cost := "", lathe.Time(0), lathe.Money(0)
	for want, s := range map[string]lathe.Session{
		leastSession: {},
		`{"id":"","slug":"","projectID":"","directory":"","path":"","summary":{"additions":0,"deletions":0,"files":0},` +
			`"cost":0,` + leastTokens + `,"share":{"url":""},"title":"","model":{"id":"","providerID":""},"version":"",` +
			`"time":{"created":0,"updated":0,"archived":0},"permission":[],"revert":{"messageID":""}}`: {
			Path: &path, Archived: &archived, Cost: &cost, Tokens: &lathe.Tokens{}, Summary: &lathe.SessionSummary{},
			Share: &lathe.Share{}, Model: &lathe.SessionModel{}, Rules: lathe.Ruleset{}, Revert: &lathe.Revert{},
		},
	} {
		if got := string(s.AppendJSON(nil)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestLeast_Faults(t *testing.T) {
	for want, f := range map[string]lathe.Fault{
		`{"name":"ProviderAuthError","data":{"providerID":"","message":""}}`: &lathe.ProviderAuthFault{},
		`{"name":"UnknownError","data":{"message":""}}`:                      &lathe.UnknownFault{},
		`{"name":"MessageOutputLengthError","data":{}}`:                      &lathe.OutputLengthFault{},
		`{"name":"MessageAbortedError","data":{"message":""}}`:               &lathe.AbortedFault{},
		`{"name":"APIError","data":{"message":"","isRetryable":false}}`:      &lathe.APIFault{},
		`{"name":"ContextOverflowError","data":{"message":""}}`:              &lathe.OverflowFault{},
		`{"name":"StructuredOutputError","data":{"message":"","retries":0}}`: &lathe.StructuredOutputFault{},
		`{"name":"ContentFilterError","data":{"message":""}}`:                &lathe.ContentFilterFault{},
		`{"name":"Later","data":{}}`:                                         &lathe.OtherFault{TypeName: "Later"},
	} {
		if got := string(lathe.EncodeFault(f)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

// leastFacts is what the properties of each event hold when its fact is empty.
var leastFacts = map[string]struct {
	fact lathe.Fact
	want string
}{
	"session.created": {&lathe.SessionCreated{}, `"sessionID":"","info":` + leastSession},
	"session.updated": {&lathe.SessionChanged{}, `"sessionID":"","info":` + leastSession},
	"session.deleted": {&lathe.SessionDeleted{}, `"sessionID":"","info":` + leastSession},
	"message.updated": {&lathe.MessageChanged{Info: lathe.Message{Data: &lathe.User{}}}, `"sessionID":"","info":` + leastUser},
	"message.removed": {&lathe.MessageRemoved{}, `"sessionID":"","messageID":""`},
	"message.part.updated": {
		&lathe.PartChanged{Part: lathe.Part{Body: &lathe.StepStart{}}},
		`"sessionID":"","part":{"id":"","sessionID":"","messageID":"","type":"step-start"},"time":0`,
	},
	"message.part.removed": {&lathe.PartRemoved{}, `"sessionID":"","messageID":"","partID":""`},
	"message.part.delta":   {&lathe.PartDelta{Offset: -1}, `"sessionID":"","messageID":"","partID":"","field":"","delta":""`},
	"session.status":       {&lathe.StatusChanged{Status: lathe.Status{Type: lathe.Retrying}}, `"sessionID":"","status":{"type":"retry","attempt":0,"message":"","next":0}`},
	"session.idle":         {&lathe.SessionIdle{}, `"sessionID":""`},
	"session.error":        {&lathe.SessionFailed{}, ``},
	"session.compacted":    {&lathe.SessionCompacted{}, `"sessionID":""`},
	"session.diff":         {&lathe.DiffChanged{Diff: []lathe.FileDiff{{}}}, `"sessionID":"","diff":[{"additions":0,"deletions":0}]`},
	"permission.asked": {
		&lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{Tool: &lathe.ToolRef{}}},
		`"id":"","sessionID":"","permission":"","patterns":[],"metadata":{},"always":[],"tool":{"messageID":"","callID":""}`,
	},
	"permission.replied": {&lathe.PermissionReplied{}, `"sessionID":"","requestID":"","reply":""`},
	"question.asked": {
		&lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{Questions: []lathe.Question{{Options: []lathe.Option{{}}}}}},
		`"id":"","sessionID":"","questions":[{"question":"","header":"","options":[{"label":"","description":""}]}]`,
	},
	"question.replied":  {&lathe.QuestionReplied{}, `"sessionID":"","requestID":"","answers":[]`},
	"question.rejected": {&lathe.QuestionRejected{}, `"sessionID":"","requestID":""`},
	"todo.updated": {
		&lathe.TodosChanged{Todos: []lathe.Todo{{}}}, `"sessionID":"","todos":[{"content":"","status":"","priority":""}]`,
	},
	"project.updated":               {&lathe.ProjectChanged{}, leastProject},
	"server.connected":              {&lathe.ServerConnected{}, ``},
	"server.heartbeat":              {&lathe.ServerHeartbeat{}, ``},
	"server.resync":                 {&lathe.ServerResync{}, ``},
	"server.instance.disposed":      {&lathe.InstanceDisposed{}, `"directory":""`},
	"global.disposed":               {&lathe.GlobalDisposed{}, ``},
	"command.executed":              {&lathe.CommandExecuted{}, `"name":"","sessionID":"","arguments":"","messageID":""`},
	"file.edited":                   {&lathe.FileEdited{}, `"file":""`},
	"file.watcher.updated":          {&lathe.FileWatched{}, `"file":"","event":""`},
	"vcs.branch.updated":            {&lathe.BranchChanged{}, ``},
	"lsp.updated":                   {&lathe.LSPUpdated{}, ``},
	"lsp.client.diagnostics":        {&lathe.LSPDiagnosed{}, `"serverID":"","path":""`},
	"mcp.tools.changed":             {&lathe.MCPToolsChanged{}, `"server":""`},
	"mcp.browser.open.failed":       {&lathe.MCPBrowserFailed{}, `"mcpName":"","url":""`},
	"pty.created":                   {&lathe.PtyCreated{}, `"info":` + leastPty},
	"pty.updated":                   {&lathe.PtyChanged{}, `"info":` + leastPty},
	"pty.exited":                    {&lathe.PtyExited{}, `"id":"","exitCode":0`},
	"pty.deleted":                   {&lathe.PtyDeleted{}, `"id":""`},
	"tui.prompt.append":             {&lathe.TUIPromptAppend{}, `"text":""`},
	"tui.command.execute":           {&lathe.TUICommand{}, `"command":""`},
	"tui.toast.show":                {&lathe.TUIToast{}, `"message":"","variant":""`},
	"tui.session.select":            {&lathe.TUISessionSelect{}, `"sessionID":""`},
	"catalog.updated":               {&lathe.CatalogChanged{}, ``},
	"models-dev.refreshed":          {&lathe.ModelsRefreshed{}, ``},
	"reference.updated":             {&lathe.ReferencesChanged{}, ``},
	"integration.updated":           {&lathe.IntegrationsChanged{}, ``},
	"installation.updated":          {&lathe.UpdateInstalled{}, `"version":""`},
	"installation.update-available": {&lathe.UpdateAvailable{}, `"version":""`},
	"worktree.ready":                {&lathe.WorktreeReady{}, `"name":""`},
	"worktree.failed":               {&lathe.WorktreeFailed{}, `"message":""`},
	"x-event.sent":                  {&lathe.UnknownEvent{TypeName: "x-event.sent"}, ``},
}

func TestLeast_Events(t *testing.T) {
	for kind, tt := range leastFacts {
		want := `{"id":"","type":"` + kind + `","properties":{` + tt.want + `}}`
		if got := string((lathe.Event{Fact: tt.fact}).AppendWithOffset(nil)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	for _, f := range lathetest.Facts() {
		if _, unknown := f.(*lathe.UnknownEvent); unknown {
			continue // it is as it came
		}
		if _, ok := leastFacts[f.Type()]; !ok {
			t.Errorf("%s has no row in the table", f.Type())
		}
	}
}

// A status that is not a retry has only its type.
func TestLeast_Status(t *testing.T) {
	for _, kind := range []string{lathe.Idle, lathe.Busy} {
		s := lathe.Status{Type: kind, Attempt: 3, Message: "m", Next: 5}
		if got, _ := s.MarshalJSON(); string(got) != `{"type":"`+kind+`"}` {
			t.Errorf("got %s", got)
		}
	}
}
