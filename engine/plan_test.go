package engine

import (
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// said builds histories for plan: u is a prompt, a an answer.
func u(id lathe.MessageID, bodies ...lathe.Body) *held {
	if len(bodies) == 0 {
		bodies = []lathe.Body{&lathe.Text{Text: "go on"}}
	}
	return heldOf(id, &lathe.User{Agent: "build"}, bodies)
}

func a(id lathe.MessageID, said lathe.Assistant, bodies ...lathe.Body) *held {
	if said.Completed == 0 {
		said.Completed = 1
	}
	return heldOf(id, &said, bodies)
}

func heldOf(id lathe.MessageID, said lathe.Said, bodies []lathe.Body) *held {
	h := &held{Message: lathe.Message{ID: id, Said: said}}
	for i, b := range bodies {
		h.Parts = append(h.Parts, lathe.Part{ID: lathe.PartID(fmt.Sprint(id, i)), Message: id, Body: b})
	}
	return h
}

func ran(meta string) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: "t", State: &lathe.Completed{Metadata: []byte(meta)}}
}

func failedCall(meta string) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: "t", State: &lathe.Failed{Metadata: []byte(meta)}}
}

var (
	stopped  = lathe.Assistant{Finish: "stop"}
	calling  = lathe.Assistant{Finish: "tool-calls"}
	fallen   = lathe.Assistant{Error: &lathe.AbortedFault{}}
	filled   = lathe.Assistant{Finish: "stop", Tokens: lathe.Tokens{Input: 90, Cache: lathe.CacheTokens{Read: 10}}}
	reminder = &lathe.Text{Text: "conclude", Synthetic: lathe.Yes}
)

// TestPlan_Table holds each row of the table, and that the earlier ones win.
func TestPlan_Table(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    state
		want string
	}{
		{"nothing was said", state{}, "{}stop"},
		{"nobody wants an answer", state{messages: []*held{u("m1")}}, "{}stop"},
		{"a prompt", state{messages: []*held{u("m1")}, wants: "m1"}, "{false}step"},
		{"an answer was left open", state{messages: []*held{u("m1"), heldOf("m2", &lathe.Assistant{}, nil)}, wants: "m1"}, "repair"},
		{"repair comes before steering", state{
			messages: []*held{heldOf("m2", &lathe.Assistant{}, nil)}, waiting: []store.Waiting{{Message: "m3"}},
		}, "repair"},
		{"a revert is final when words come", state{session: lathe.Session{Revert: &lathe.Revert{}}, waiting: []store.Waiting{{Message: "m1", Hold: true}}}, "{}clean"},
		{"a revert alone waits", state{session: lathe.Session{Revert: &lathe.Revert{}}}, "{}stop"},
		{"steering prompts together", state{waiting: []store.Waiting{{Message: "m1"}, {Message: "q", Queue: true}, {Message: "m2"}}}, "{[m1 m2]}promote"},
		{"held ones stay", state{waiting: []store.Waiting{{Message: "m1", Hold: true}}}, "{}stop"},
		{"queued ones one at a time", state{waiting: []store.Waiting{{Message: "q1", Queue: true}, {Message: "q2", Queue: true}}}, "{[q1]}promote"},
		{"queued ones wait for the turn", state{
			messages: []*held{u("m1"), a("m2", calling, ran(`{}`))}, wants: "m1", waiting: []store.Waiting{{Message: "q", Queue: true}},
		}, "{false}step"},
		{"an error ends the turn", state{messages: []*held{u("m1"), a("m2", fallen)}, wants: "m1"}, "{}stop"},
		{"an error, then the queue", state{
			messages: []*held{u("m1"), a("m2", fallen)}, wants: "m1", waiting: []store.Waiting{{Message: "q", Queue: true}},
		}, "{[q]}promote"},
		{"a rejected call ends the turn", state{messages: []*held{u("m1"), a("m2", calling, failedCall(`{"rejected":true}`))}, wants: "m1"}, "{}stop"},
		{"unless the settings go on", state{
			messages: []*held{u("m1"), a("m2", calling, failedCall(`{"rejected":true}`))}, wants: "m1", continueOnDeny: true,
		}, "{false}step"},
		{"but never after a call that repeated itself", state{
			messages: []*held{u("m1"), a("m2", calling, failedCall(`{"stopped":true}`))}, wants: "m1", continueOnDeny: true,
		}, "{}stop"},
		{"an earlier failure is past", state{messages: []*held{u("m1"), a("m2", fallen), u("m3")}, wants: "m3"}, "{false}step"},
		{"subtasks", state{messages: []*held{u("m1", &lathe.Subtask{Agent: "x"})}, wants: "m1"}, "subtask"},
		{"a compaction that was asked for", state{messages: []*held{u("m1", &lathe.Compaction{})}, wants: "m1"}, "{}compact"},
		{"a full context", state{
			messages: []*held{u("m1"), a("m2", lathe.Assistant{Finish: "tool-calls", Tokens: lathe.Tokens{Input: 90, Output: 10}}, ran(`{}`))},
			wants:    "m1", usable: 100,
		}, "{}compact"},
		{"not quite full", state{
			messages: []*held{u("m1"), a("m2", lathe.Assistant{Finish: "tool-calls", Tokens: lathe.Tokens{Input: 90, Output: 9}}, ran(`{}`))},
			wants:    "m1", usable: 100,
		}, "{false}step"},
		{"an answer that fills the context ends the turn", state{messages: []*held{u("m1"), a("m2", filled, &lathe.Text{})}, wants: "m1", usable: 100}, "{}stop"},
		{"the next prompt finds it full", state{messages: []*held{u("m1"), a("m2", filled, &lathe.Text{}), u("m3")}, wants: "m3", usable: 100}, "{}compact"},
		{"a request of ours waits", state{messages: []*held{u("m1"), a("m2", calling, ran(`{}`)), u("c", &lathe.Compaction{Auto: true})}, wants: "m1"}, "{}compact"},
		{"also behind a prompt that came meanwhile", state{messages: []*held{u("m1"), a("m2", calling), u("c", &lathe.Compaction{Auto: true}), u("m3")}, wants: "m3"}, "{}compact"},
		{"a summary that was asked for", state{messages: []*held{u("m1", &lathe.Compaction{}), summaryOf("s", "m1", stopped)}, wants: "m1"}, "{}stop"},
		{"a note behind it changes nothing", state{messages: []*held{u("m1", &lathe.Compaction{}), summaryOf("s", "m1", stopped), u("m2")}, wants: "m1"}, "{}stop"},
		{"a summary of our own goes on", state{
			messages: []*held{u("m1"), a("m2", calling), u("c", &lathe.Compaction{Auto: true}), summaryOf("s", "c", stopped), u("n", reminder)}, wants: "m1",
		}, "{false}step"},
		{"unless nobody wants that", state{messages: []*held{u("m1"), a("m2", calling, ran(`{}`)), u("c", &lathe.Compaction{Auto: true}), summaryOf("s", "c", stopped)}, wants: "m1"}, "{}stop"},
		{"a prompt that stayed is answered", state{
			messages: []*held{u("m1"), a("m2", filled, &lathe.Text{}), u("m3"), u("c", &lathe.Compaction{Auto: true, TailStart: "m3"}), summaryOf("s", "c", stopped)}, wants: "m3", usable: 100,
		}, "{false}step"},
		{"a summary that failed ends the turn", state{messages: []*held{u("m1"), a("m2", calling), u("c", &lathe.Compaction{Auto: true}), summaryOf("s", "c", fallen)}, wants: "m1"}, "{}stop"},
		{"a summary fills nothing, trap 31", state{
			messages: []*held{u("m1"), u("c", &lathe.Compaction{Auto: true}), summaryOf("s", "c", filled), u("n", reminder)}, wants: "m1", usable: 100,
		}, "{false}step"},
		{"a summary is no step", state{
			messages: []*held{u("m1"), a("m2", calling, ran(`{}`)), u("c", &lathe.Compaction{Auto: true}), summaryOf("s", "c", stopped), u("n", reminder)}, wants: "m1", steps: 2,
		}, "{true}step"},
		{"answered", state{messages: []*held{u("m1"), a("m2", stopped, &lathe.Text{})}, wants: "m1"}, "{}stop"},
		{"calls want another step", state{messages: []*held{u("m1"), a("m2", calling, ran(`{}`))}, wants: "m1"}, "{false}step"},
		{"stop with calls, trap 51", state{messages: []*held{u("m1"), a("m2", stopped, ran(`{}`))}, wants: "m1"}, "{false}step"},
		{"but not those that were cut off, trap 52", state{messages: []*held{u("m1"), a("m2", stopped, failedCall(`{"interrupted":true}`))}, wants: "m1"}, "{}stop"},
		{"nor those the provider ran", state{
			messages: []*held{u("m1"), a("m2", stopped, &lathe.ToolCall{State: &lathe.Completed{}, Metadata: []byte(`{"providerExecuted":true}`)})}, wants: "m1",
		}, "{}stop"},
		{"a structured answer", state{messages: []*held{u("m1"), a("m2", lathe.Assistant{Finish: "stop", Structured: []byte(`1`)}, ran(`{}`))}, wants: "m1"}, "{}stop"},
		{"an unknown end", state{messages: []*held{u("m1"), a("m2", lathe.Assistant{Finish: "unknown"})}, wants: "m1"}, "{}stop"},
		{"a step without an end, and without an error", state{messages: []*held{u("m1"), a("m2", lathe.Assistant{})}, wants: "m1"}, "{false}step"},
		{"the last step", state{messages: []*held{u("m1"), a("m2", calling, ran(`{}`))}, wants: "m1", steps: 2}, "{true}step"},
		{"the only step", state{messages: []*held{u("m1")}, wants: "m1", steps: 1}, "{true}step"},
		{"steps are used up, also by what came before a reminder", state{
			messages: []*held{u("m1"), a("m2", calling, ran(`{}`)), u("m3", reminder), a("m4", calling, ran(`{}`))}, wants: "m1", steps: 2,
		}, "{}stop"},
		{"steps of earlier prompts do not count", state{messages: []*held{u("m1"), a("m2", stopped), u("m3")}, wants: "m3", steps: 2}, "{false}step"},
		{"ids tell no order, trap 1", state{messages: []*held{u("m9"), a("m8", stopped), u("m1")}, wants: "m1"}, "{false}step"},
		{"a note that wants nothing does not reopen the turn", state{messages: []*held{u("m1"), a("m2", stopped), u("m3")}, wants: "m1"}, "{}stop"},
	} {
		got := fmt.Sprintf("%v%s", plan(tt.s), fmt.Sprintf("%T", plan(tt.s))[len("engine."):])
		switch n := plan(tt.s).(type) {
		case repair:
			got = "repair"
			if len(n.left) != 1 {
				t.Errorf("%s: %d to repair", tt.name, len(n.left))
			}
		case subtask:
			got = "subtask"
		default:
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
