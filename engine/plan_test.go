package engine

import (
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/history/historytest"
	"github.com/lathe-agent/lathe/store"
)

// TestPlan_Table holds each row of the table, and that the earlier ones win.
func TestPlan_Table(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    state
		want string
	}{
		{"nothing was said", state{}, "{}stop"},
		{"nobody wants an answer", state{messages: []*history.Message{historytest.User("m1")}}, "{}stop"},
		{"a prompt", state{messages: []*history.Message{historytest.User("m1")}, wants: "m1"}, "{false}step"},
		{"an answer was left open", state{messages: []*history.Message{historytest.User("m1"), historytest.Of("m2", &lathe.Assistant{}, nil)}, wants: "m1"}, "repair"},
		{"repair comes before steering", state{
			messages: []*history.Message{historytest.Of("m2", &lathe.Assistant{}, nil)}, queued: []store.QueuedPrompt{{Message: "m3"}},
		}, "repair"},
		{"a revert is final when words come", state{session: lathe.Session{Revert: &lathe.Revert{}}, queued: []store.QueuedPrompt{{Message: "m1", Paused: true}}}, "{}finalizeRevert"},
		{"a revert alone waits", state{session: lathe.Session{Revert: &lathe.Revert{}}}, "{}stop"},
		{"steering prompts together", state{queued: []store.QueuedPrompt{{Message: "m1"}, {Message: "q", Queue: true}, {Message: "m2"}}}, "{[m1 m2]}promote"},
		{"held ones stay", state{queued: []store.QueuedPrompt{{Message: "m1", Paused: true}}}, "{}stop"},
		{"queued ones one at a time", state{queued: []store.QueuedPrompt{{Message: "q1", Queue: true}, {Message: "q2", Queue: true}}}, "{[q1]}promote"},
		{"queued ones wait for the turn", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`))}, wants: "m1", queued: []store.QueuedPrompt{{Message: "q", Queue: true}},
		}, "{false}step"},
		{"an error ends the turn", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Fallen)}, wants: "m1"}, "{}stop"},
		{"an error, then the queue", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Fallen)}, wants: "m1", queued: []store.QueuedPrompt{{Message: "q", Queue: true}},
		}, "{[q]}promote"},
		{"a rejected call ends the turn", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.FailedCall(`{"rejected":true}`))}, wants: "m1"}, "{}stop"},
		{"unless the settings go on", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.FailedCall(`{"rejected":true}`))}, wants: "m1", continueOnDeny: true,
		}, "{false}step"},
		{"but never after a call that repeated itself", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.FailedCall(`{"stopped":true}`))}, wants: "m1", continueOnDeny: true,
		}, "{}stop"},
		{"an earlier failure is past", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Fallen), historytest.User("m3")}, wants: "m3"}, "{false}step"},
		{"subtasks", state{messages: []*history.Message{historytest.User("m1", &lathe.Subtask{Agent: "x"})}, wants: "m1"}, "subtask"},
		{"a compaction that was asked for", state{messages: []*history.Message{historytest.User("m1", &lathe.Compaction{})}, wants: "m1"}, "{}compaction"},
		{"a full context", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", lathe.Assistant{Finish: "tool-calls", Tokens: lathe.Tokens{Input: 90, Output: 10}}, historytest.Ran(`{}`))},
			wants:    "m1", usable: 100,
		}, "{}compaction"},
		{"not quite full", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", lathe.Assistant{Finish: "tool-calls", Tokens: lathe.Tokens{Input: 90, Output: 9}}, historytest.Ran(`{}`))},
			wants:    "m1", usable: 100,
		}, "{false}step"},
		{"an answer that fills the context ends the turn", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Filled, &lathe.Text{})}, wants: "m1", usable: 100}, "{}stop"},
		{"the next prompt finds it full", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Filled, &lathe.Text{}), historytest.User("m3")}, wants: "m3", usable: 100}, "{}compaction"},
		{"a request of ours waits", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`)), historytest.User("c", &lathe.Compaction{Auto: true})}, wants: "m1"}, "{}compaction"},
		{"also behind a prompt that came meanwhile", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling), historytest.User("c", &lathe.Compaction{Auto: true}), historytest.User("m3")}, wants: "m3"}, "{}compaction"},
		{"a summary that was asked for", state{messages: []*history.Message{historytest.User("m1", &lathe.Compaction{}), historytest.SummaryOf("s", "m1", historytest.Stopped)}, wants: "m1"}, "{}stop"},
		{"a note behind it changes nothing", state{messages: []*history.Message{historytest.User("m1", &lathe.Compaction{}), historytest.SummaryOf("s", "m1", historytest.Stopped), historytest.User("m2")}, wants: "m1"}, "{}stop"},
		{"a summary of our own goes on", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling), historytest.User("c", &lathe.Compaction{Auto: true}), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("n", historytest.Reminder)}, wants: "m1",
		}, "{false}step"},
		{"unless nobody wants that", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`)), historytest.User("c", &lathe.Compaction{Auto: true}), historytest.SummaryOf("s", "c", historytest.Stopped)}, wants: "m1"}, "{}stop"},
		{"a prompt that stayed is answered", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Filled, &lathe.Text{}), historytest.User("m3"), historytest.User("c", &lathe.Compaction{Auto: true, TailStart: "m3"}), historytest.SummaryOf("s", "c", historytest.Stopped)}, wants: "m3", usable: 100,
		}, "{false}step"},
		{"a summary that failed ends the turn", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling), historytest.User("c", &lathe.Compaction{Auto: true}), historytest.SummaryOf("s", "c", historytest.Fallen)}, wants: "m1"}, "{}stop"},
		{"a summary fills nothing, trap 31", state{
			messages: []*history.Message{historytest.User("m1"), historytest.User("c", &lathe.Compaction{Auto: true}), historytest.SummaryOf("s", "c", historytest.Filled), historytest.User("n", historytest.Reminder)}, wants: "m1", usable: 100,
		}, "{false}step"},
		{"a summary is no step", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`)), historytest.User("c", &lathe.Compaction{Auto: true}), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("n", historytest.Reminder)}, wants: "m1", steps: 2,
		}, "{true}step"},
		{"answered", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped, &lathe.Text{})}, wants: "m1"}, "{}stop"},
		{"calls want another step", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`))}, wants: "m1"}, "{false}step"},
		{"stop with calls, trap 51", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped, historytest.Ran(`{}`))}, wants: "m1"}, "{false}step"},
		{"but not those that were cut off, trap 52", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped, historytest.FailedCall(`{"interrupted":true}`))}, wants: "m1"}, "{}stop"},
		{"nor those the provider ran", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped, &lathe.ToolCall{State: &lathe.Completed{}, Metadata: []byte(`{"providerExecuted":true}`)})}, wants: "m1",
		}, "{}stop"},
		{"a structured answer", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", lathe.Assistant{Finish: "stop", Structured: []byte(`1`)}, historytest.Ran(`{}`))}, wants: "m1"}, "{}stop"},
		{"an unknown end", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", lathe.Assistant{Finish: "unknown"})}, wants: "m1"}, "{}stop"},
		{"a step without an end, and without an error", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", lathe.Assistant{})}, wants: "m1"}, "{false}step"},
		{"the last step", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`))}, wants: "m1", steps: 2}, "{true}step"},
		{"the only step", state{messages: []*history.Message{historytest.User("m1")}, wants: "m1", steps: 1}, "{true}step"},
		{"steps are used up, also by what came before a reminder", state{
			messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling, historytest.Ran(`{}`)), historytest.User("m3", historytest.Reminder), historytest.Answer("m4", historytest.Calling, historytest.Ran(`{}`))}, wants: "m1", steps: 2,
		}, "{}stop"},
		{"steps of earlier prompts do not count", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), historytest.User("m3")}, wants: "m3", steps: 2}, "{false}step"},
		{"ids tell no order, trap 1", state{messages: []*history.Message{historytest.User("m9"), historytest.Answer("m8", historytest.Stopped), historytest.User("m1")}, wants: "m1"}, "{false}step"},
		{"a note that wants nothing does not reopen the turn", state{messages: []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), historytest.User("m3")}, wants: "m1"}, "{}stop"},
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

// TestStuck counts compactions that did not help.
func TestStuck(t *testing.T) {
	round := func(n int, steps ...*history.Message) []*history.Message {
		c, s := lathe.MessageID(fmt.Sprint("c", n)), lathe.MessageID(fmt.Sprint("s", n))
		return append([]*history.Message{historytest.User(c, &lathe.Compaction{Auto: true}), historytest.SummaryOf(s, c, historytest.Stopped), historytest.User("n", historytest.Reminder)}, steps...)
	}
	step, refused := historytest.Answer("a", historytest.Calling, historytest.Ran(`{}`)), historytest.Answer("a", lathe.Assistant{})
	join := func(parts ...[]*history.Message) (out []*history.Message) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	for _, tt := range []struct {
		name     string
		messages []*history.Message
		want     int
	}{
		{"none", []*history.Message{historytest.User("m"), step}, 0},
		{"one", join([]*history.Message{historytest.User("m"), step}, round(1, step)), 1},
		{"two", join(round(1, step), round(2, refused)), 2},
		{"progress", join(round(1, step, step), round(2, step)), 1},
		{"much progress", join(round(1, step), round(2, step, step, step)), 0},
		{"an answer", join(round(1, historytest.Answer("a", historytest.Stopped)), []*history.Message{historytest.User("m")}, round(2, step)), 1},
		{"said again", join(round(1, refused), round(2, refused), []*history.Message{historytest.User("m", &lathe.Text{Text: "again"})}, round(3, refused)), 3},
	} {
		if got := (state{messages: tt.messages}).stuck(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
