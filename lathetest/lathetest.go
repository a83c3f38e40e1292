// Package lathetest has one sample of every variant of facts, parts, messages and inputs, and
// generators of random ones, for the tests of packages that must support them all: encoding,
// store, server, TUI. A test that iterates over a list here fails when a new variant is forgotten.
//
// Samples are full: every member has a value, and most have a member unknown to this version,
// with a name that begins with "x-". They are the same on each call and
// newly allocated, so that a test may change them. Ids in a sample may refer to missing objects.
//
// Start with [Parts] and [Facts]; the generators are in random.go.
package lathetest

import (
	"encoding/json"
	"fmt"

	"github.com/lathe-agent/lathe"
)

// The ids and the time of samples.
const (
	SessionID lathe.SessionID = "ses_4410c4fffffeSessionSample0"
	ChildID   lathe.SessionID = "ses_4410c4fffffdSessionSample1"
	UserID    lathe.MessageID = "msg_bbef3b000001MessageSample0"
	AnswerID  lathe.MessageID = "msg_bbef3b000002MessageSample1"
	PartID    lathe.PartID    = "prt_bbef3b000001PartSampleAAA0"
	Now       lathe.Time      = 1768435200000
)

// Session is a session record with every member.
func Session() lathe.Session {
	path, archived, cost := "cmd/app", Now+5000, lathe.Dollars(0.000125)
	return lathe.Session{
		ID: SessionID, Slug: "brave-otter", Project: "prj", Workspace: "wrk_bbef3b000001WorkspaceSampl",
		Directory: "/home/u/app/cmd/app", Path: &path, Parent: ChildID,
		Title: "A title", Version: "1.2.3",
		Created: Now, Updated: Now + 1, Compacting: Now + 2, Archived: &archived, TimeExtra: `"x-time":1`,
		Summary: &lathe.SessionSummary{Additions: 3, Deletions: 1, Files: 2, Diffs: []lathe.FileDiff{Diff()}, Extra: `"x-summary":1`},
		Share:   &lathe.Share{URL: "https://share.example/abc", Extra: `"x-share":1`},
		Rules:   lathe.Ruleset{Rule()},
		Revert: &lathe.Revert{
			Message: UserID, Part: PartID, Snapshot: "4b825dc", Diff: "--- a\n+++ b\n", Extra: `"x-revert":1`,
		},
		Cost: &cost, Tokens: sessionTokens(), Agent: "build",
		Model:    &lathe.SessionModel{ID: "m-1", Provider: "acme", Variant: "default", Extra: `"x-model":1`},
		Metadata: raw(`{"client":{"tab":3}}`), Extra: `"x-session":{"kept":true}`,
	}
}

// Project is a project with every member.
func Project() lathe.Project {
	return lathe.Project{
		ID: "prj", Worktree: "/home/u/app", VCS: "git", Name: "app",
		Icon: raw(`{"url":"data:,","color":"blue"}`), Commands: raw(`{"start":"make"}`),
		Time:      lathe.ProjectTime{Created: Now, Updated: Now + 1, Initialized: Now + 2, Extra: `"x-time":1`},
		Sandboxes: []string{"/home/u/app-2"}, Extra: `"x-project":1`,
	}
}

// RoleData is a message of each role. The second answer has not ended.
func RoleData() []lathe.RoleData {
	return []lathe.RoleData{
		&lathe.User{
			Agent: "build", Model: Model(), System: "Be brief.", Tools: raw(`{"bash":false}`),
			Format: raw(`{"type":"json_schema","schema":{"type":"object"},"retryCount":2}`),
			Summary: &lathe.UserSummary{
				Title: "T", Body: "B", Diffs: []lathe.FileDiff{Diff()}, Extra: `"x-summary":1`,
			},
			TimeExtra: `"x-time":1`, Extra: `"x-user":1`,
		},
		&lathe.Assistant{
			Parent: UserID, Model: Model(), Agent: "build", Mode: "build",
			Path:      lathe.Paths{Cwd: "/home/u/app", Root: "/home/u/app", Extra: `"x-path":1`},
			Completed: Now + 900, Cost: lathe.Dollars(0.000125), Tokens: Tokens(), Finish: "stop",
			Error: &lathe.AbortedFault{Message: "Aborted", Extra: `"x-data":1`}, Summary: lathe.Yes,
			Structured: raw(`{"answer":42}`), TimeExtra: `"x-time":1`, Extra: `"x-assistant":1`,
		},
		&lathe.Assistant{Parent: UserID, Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}, Agent: "plan", Mode: "plan"},
	}
}

// Messages is a message for each of [RoleData], in their order, with a few parts each.
func Messages() []lathe.Message {
	var out []lathe.Message
	for i, said := range RoleData() {
		m := lathe.Message{
			ID: lathe.MessageID(fmt.Sprintf("msg_bbef3b00000%dMessageSample%d", i+1, i)), Session: SessionID,
			Created: Now + lathe.Time(i), Data: said,
		}
		m.Parts = Parts(m.Session, m.ID)[:2]
		out = append(out, m)
	}
	return out
}

// Model is a model with a variant.
func Model() lathe.ModelRef { return lathe.ModelRef{Provider: "acme", Model: "m-1", Variant: "high"} }

// Tokens is a token count with distinct numbers.
func Tokens() lathe.Tokens {
	return lathe.Tokens{
		Total: 120, Input: 70, Output: 15, Reasoning: 5,
		Cache: lathe.CacheTokens{Read: 30, Write: 2, Extra: `"x-cache":1`}, Extra: `"x-tokens":1`,
	}
}

func sessionTokens() *lathe.Tokens {
	t := Tokens()
	t.Total = 0
	return &t
}

// Diff is the change of one file.
func Diff() lathe.FileDiff {
	return lathe.FileDiff{
		File: "main.go", Patch: "@@ -1 +1 @@\n-a\n+b\n", Additions: 1, Deletions: 1, Status: "modified", Extra: `"x-diff":1`,
	}
}

// Rule is one rule.
func Rule() lathe.Rule {
	return lathe.Rule{Permission: "bash", Pattern: "git *", Action: lathe.Ask, Extra: `"x-rule":1`}
}

// Faults is one of each fault.
func Faults() []lathe.Fault {
	return []lathe.Fault{
		&lathe.ProviderAuthFault{ProviderID: "acme", Message: "no key", Extra: `"x-data":1`},
		&lathe.UnknownFault{Message: "odd", Ref: "r-1", Extra: `"x-data":1`},
		&lathe.OutputLengthFault{Extra: `"x-data":1`},
		&lathe.AbortedFault{Message: "Aborted", Extra: `"x-data":1`},
		&lathe.APIFault{
			Message: "too many requests", StatusCode: 429, Retryable: true,
			ResponseHeaders: raw(`{"retry-after":"3"}`), ResponseBody: "{}", Metadata: raw(`{"url":"https://api.example"}`),
			Extra: `"x-data":1`,
		},
		&lathe.OverflowFault{Message: "too long", ResponseBody: "{}", Extra: `"x-data":1`},
		&lathe.StructuredOutputFault{Message: "not valid", Retries: 2, Extra: `"x-data":1`},
		&lathe.ContentFilterFault{Message: "withheld", Extra: `"x-data":1`},
		&lathe.OtherFault{TypeName: "x-fault", Extra: `"message":"from later","deep":{"a":[null,1.5]}`},
	}
}

// Inputs is one of each input.
func Inputs() []lathe.Input {
	return []lathe.Input{
		lathe.Submission{Message: Messages()[0], Delivery: lathe.Queue, NoReply: true, Digest: "sha256-abc"},
		lathe.PermissionAnswer{Ask: permission().ID, Reply: lathe.Reject, Message: "use make instead"},
		lathe.QuestionAnswer{Ask: question().ID, Answers: [][]string{{"Yes"}, {}}, Reject: false},
		lathe.Cancel{},
		lathe.Resume{},
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
