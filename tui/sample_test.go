package tui

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// midnight is when time begins for a program on a stage.
var midnight = lathe.Time(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())

const sampleID lathe.SessionID = "ses_1"

// sample is an engine with what most tests need: two agents, a provider, a few sessions, one of which has a history.
func sample() *canned {
	at := func(back time.Duration) lathe.Time { return midnight - lathe.Time(back.Milliseconds()) }
	session := func(id lathe.SessionID, title string, back time.Duration) lathe.Session {
		return lathe.Session{ID: id, Title: title, Directory: "/w/app", Created: at(back + time.Minute), Updated: at(back)}
	}
	ref := lathe.ModelRef{Provider: "acme", Model: "m-1"}
	return &canned{
		agents: []lathe.Agent{
			{Name: "build", Mode: lathe.Primary, Description: "Does the work"},
			{Name: "plan", Mode: lathe.Primary, Description: "Plans a change and makes none"},
			{Name: "explore", Mode: lathe.Subagent, Description: "Looks around"},
		},
		commands: []lathe.Command{{Name: "init", Description: "Write AGENTS.md"}},
		providers: lathe.Providers{
			Connected: []lathe.Provider{{ID: "acme", Name: "Acme", Models: []lathe.Model{
				{Ref: ref, Name: "Model One", Context: 8000, Output: 2000, InputPrice: 1, OutputPrice: 2},
				{Ref: lathe.ModelRef{Provider: "acme", Model: "m-2"}, Name: "Model Two", Context: 200_000, Reasoning: true, InputPrice: 3, OutputPrice: 15, Variants: []string{"low", "high"}},
				{Ref: lathe.ModelRef{Provider: "acme", Model: "m-0"}, Name: "Model Nought", Context: 4000, Status: "deprecated"},
			}}},
			All: []lathe.Provider{
				{ID: "acme", Name: "Acme", Env: []string{"ACME_KEY"}}, {ID: "other", Name: "Other", Env: []string{"OTHER_KEY"}},
			},
			Model: &ref,
		},
		servers: []lathe.ToolServer{
			{Name: "docs", Status: "connected", Tools: 3}, {Name: "broken", Status: "failed", Error: "there is no program /opt/broken"},
		},
		sessions: []lathe.Session{
			session(sampleID, "Mend the greeting", time.Minute), session("ses_2", "Write a parser", 2*time.Hour), session("ses_3", "日本語の題", 50*time.Hour),
		},
		messages: map[lathe.SessionID][]lathe.Message{sampleID: sampleTalk(at(5 * time.Minute))},
		todos: map[lathe.SessionID][]lathe.Todo{sampleID: {
			{Content: "find it", Status: "completed", Priority: "high"}, {Content: "mend it", Status: "in_progress", Priority: "high"},
		}},
		settings: sampleSettings(),
		memories: []api.MemoryFile{{Path: "/home/dev/app/AGENTS.md", Owner: "project", Exists: true, Lines: 40, Tokens: 1100}, {Path: "/home/dev/.config/lathe/AGENTS.md", Owner: "user"}},
		diffs:    map[lathe.SessionID][]lathe.FileDiff{sampleID: sampleDiff()},
		changes:  map[api.Source][]lathe.FileDiff{api.Uncommitted: sampleDiff()},
	}
}

const samplePatch = "--- a/greet.go\n+++ b/greet.go\n@@ -1,3 +1,3 @@\n package greet\n \n-func Hello() string { return \"hello\" }\n+func Hello() string { return \"Hello\" }\n"

func sampleDiff() []lathe.FileDiff {
	return []lathe.FileDiff{
		{File: "greet.go", Patch: samplePatch, Additions: 1, Deletions: 1, Status: "modified"},
		{File: "doc/notes.md", Patch: "--- /dev/null\n+++ b/doc/notes.md\n@@ -0,0 +1,2 @@\n+# Notes\n+Nothing yet.\n", Additions: 2, Status: "added"},
	}
}

// sampleTalk is two exchanges, the first of which did something.
func sampleTalk(at lathe.Time) (out []lathe.Message) {
	ref := lathe.ModelRef{Provider: "acme", Model: "m-1"}
	quoted, err := json.Marshal(samplePatch)
	if err != nil {
		panic(err)
	}
	call := func(tool, input, meta, output string) lathe.Body {
		return &lathe.ToolCall{CallID: "c", Tool: tool, State: &lathe.Completed{
			Input: json.RawMessage(input), Metadata: json.RawMessage(meta), Output: output, Start: at, End: at + 400,
		}}
	}
	add := func(said lathe.RoleData, bodies ...lathe.Body) {
		n := len(out)
		m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%d", n)), Session: sampleID, Created: at, Data: said}
		for i, b := range bodies {
			m.Parts = append(m.Parts, lathe.Part{ID: lathe.PartID(fmt.Sprintf("prt_%d_%d", n, i)), Session: sampleID, Message: m.ID, Body: b})
		}
		out, at = append(out, m), at+10_000
	}
	answer := func(parent lathe.MessageID, finish string, in int64, bodies ...lathe.Body) {
		add(&lathe.Assistant{
			Parent: parent, Agent: "build", Mode: "build", Model: ref, Finish: finish, Completed: at + 1500, Tokens: lathe.Tokens{Input: in, Output: 100},
		}, bodies...)
	}
	add(&lathe.User{Agent: "build", Model: ref}, &lathe.Text{Text: "Mend the greeting.\nThe test fails."})
	answer("msg_0", "tool-calls", 1900,
		&lathe.Reasoning{Text: "**Where it is**\n\nI look for it.", Time: lathe.Span{Start: at, End: at + 900}},
		&lathe.Text{Text: "I look at the **test** first."},
		call("read", `{"filePath":"/w/app/greet.go"}`, `{}`, "…"),
		call("edit", `{"filePath":"/w/app/greet.go"}`, `{"diff":`+string(quoted)+`,"filediff":{"additions":1,"deletions":1}}`, "ok"),
		call("bash", `{"command":"go test ./..."}`, `{"output":"ok  \tapp/greet\t0.01s\n","exit":0}`, "…"),
	)
	answer("msg_0", "stop", 2100, &lathe.Text{Text: "It says `Hello` now, and the test passes."})
	add(&lathe.User{Agent: "build", Model: ref}, &lathe.Text{Text: "Thank you"})
	answer("msg_3", "stop", 2300, &lathe.Text{Text: "You are welcome.\n\n| what | where |\n|---|---|\n| greeting | greet.go |"})
	return out
}
