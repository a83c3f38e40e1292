// Package historytest builds histories for tests: prompts, answers, calls.
package historytest

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// User is a prompt.
func User(id lathe.MessageID, bodies ...lathe.Body) *history.Message {
	if len(bodies) == 0 {
		bodies = []lathe.Body{&lathe.Text{Text: "continue"}}
	}
	return Of(id, &lathe.User{Agent: "build"}, bodies)
}

func Answer(id lathe.MessageID, said lathe.Assistant, bodies ...lathe.Body) *history.Message {
	if said.Completed == 0 {
		said.Completed = 1
	}
	return Of(id, &said, bodies)
}

func Of(id lathe.MessageID, said lathe.RoleData, bodies []lathe.Body) *history.Message {
	h := &history.Message{Message: lathe.Message{ID: id, Data: said}}
	for i, b := range bodies {
		h.Parts = append(h.Parts, lathe.Part{ID: lathe.PartID(fmt.Sprint(id, i)), Message: id, Body: b})
	}
	return h
}

func Ran(meta string) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: "t", State: &lathe.Completed{Metadata: []byte(meta)}}
}

func FailedCall(meta string) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: "t", State: &lathe.Failed{Metadata: []byte(meta)}}
}

var (
	Stopped  = lathe.Assistant{Finish: "stop"}
	Calling  = lathe.Assistant{Finish: "tool-calls"}
	Fallen   = lathe.Assistant{Error: &lathe.AbortedFault{}}
	Filled   = lathe.Assistant{Finish: "stop", Tokens: lathe.Tokens{Input: 90, Cache: lathe.CacheTokens{Read: 10}}}
	Reminder = &lathe.Text{Text: "conclude", Synthetic: lathe.Yes}
)

func SummaryOf(id, of lathe.MessageID, said lathe.Assistant) *history.Message {
	said.Parent, said.Summary = of, lathe.Yes
	return Answer(id, said, &lathe.Text{Text: "memory"})
}

// Output is a call that has ended, with an output of so many tokens.
func Output(tool, input, meta string, tokens int) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: tool, State: &lathe.Completed{
		Input: []byte(input), Metadata: []byte(meta), Output: strings.Repeat("word", tokens),
	}}
}
