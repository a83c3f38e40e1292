package lathetest

import (
	"fmt"

	"github.com/lathe-agent/lathe"
)

// Bodies is one of each body, with a tool call in each state and a file of each source.
func Bodies() []lathe.Body { return bodies(SessionID, AnswerID) }

// Parts is a part for each of [Bodies], in their order, that belongs to the given message.
func Parts(session lathe.SessionID, message lathe.MessageID) []lathe.Part {
	var out []lathe.Part
	for i, b := range bodies(session, message) {
		id := lathe.PartID(fmt.Sprintf("prt_bbef3b%06xPartSampleAAAA", i+1))
		out = append(out, lathe.Part{ID: id, Session: session, Message: message, Body: b})
	}
	return out
}

// ToolStates is one of each state of a tool call.
func ToolStates() []lathe.ToolState { return states(SessionID, AnswerID) }

// bodies takes ids, because attachments of a tool call repeat those of their message.
func bodies(session lathe.SessionID, message lathe.MessageID) []lathe.Body {
	span := lathe.Span{Start: Now, End: Now + 250, Extra: `"x-time":1`}
	out := []lathe.Body{
		&lathe.Text{
			Text: "Hello,\n\t\"wörld\" 😀 </script>\u2028", Synthetic: lathe.Yes, Ignored: lathe.No, Time: &span,
			Metadata: raw(`{"acme":{"id":"x","n":[1,2.5,null]}}`), Extra: `"x-text":1`,
		},
		&lathe.Reasoning{Text: "Hm.", Time: span, Metadata: raw(`{"acme":{"signature":"c2ln"}}`), Extra: `"x-reasoning":1`},
		&lathe.StepStart{Snapshot: "4b825dc", Extra: `"x-start":1`},
		&lathe.StepFinish{
			Reason: "tool-calls", Snapshot: "4b825dd", Cost: lathe.Dollars(0.000125), Tokens: Tokens(), Extra: `"x-finish":1`,
		},
		&lathe.Snapshot{Snapshot: "4b825dc", Extra: `"x-snapshot":1`},
		&lathe.Patch{Hash: "4b825dc", Files: []string{"/home/u/app/main.go"}, Extra: `"x-patch":1`},
		&lathe.AgentMention{
			Name: "plan", Source: &lathe.Mention{Value: "@plan", Start: 3, End: 8, Extra: `"x-source":1`}, Extra: `"x-agent":1`,
		},
		&lathe.Subtask{
			Prompt: "Look for it.", Description: "Search", Agent: "explore",
			Model: &lathe.ModelRef{Provider: "acme", Model: "m-1", Extra: `"x-model":1`}, Command: "find", Extra: `"x-subtask":1`,
		},
		&lathe.Compaction{Auto: true, Overflow: lathe.No, TailStart: UserID, Extra: `"x-compaction":1`},
		&lathe.Retry{
			Attempt: 2, Error: &lathe.APIFault{Message: "busy", StatusCode: 529, Retryable: true},
			Created: Now, TimeExtra: `"x-time":1`, Extra: `"x-retry":1`,
		},
		&lathe.UnknownBody{TypeName: "x-body", Extra: `"text":"from later","time":{"start":1,"x-deep":[true]}`},
	}
	for _, s := range sources() {
		out = append(out, &lathe.File{
			Mime: "text/plain", URL: "file:///home/u/app/main.go", Filename: "main.go", Source: s, Extra: `"x-file":1`,
		})
	}
	for _, s := range states(session, message) {
		out = append(out, &lathe.ToolCall{
			CallID: "call_1", Tool: "bash", State: s, Metadata: raw(`{"acme":{"itemId":"i"}}`), Extra: `"x-tool":1`,
		})
	}
	return out
}

func sources() []*lathe.FileSource {
	text := lathe.Mention{Value: "@main.go", Start: 0, End: 8, Extra: `"x-mention":1`}
	return []*lathe.FileSource{
		{Type: "file", Path: "main.go", Text: text, Extra: `"x-source":1`},
		{
			Type: "symbol", Path: "main.go", Text: text,
			Extra: `"range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}},"name":"main","kind":12`,
		},
		{Type: "resource", Text: text, Extra: `"clientName":"docs","uri":"docs://a"`},
	}
}

func states(session lathe.SessionID, message lathe.MessageID) []lathe.ToolState {
	input := raw(`{"command":"ls -la","deep":{"b":1,"a":2}}`)
	return []lathe.ToolState{
		&lathe.Pending{Input: raw(`{}`), Raw: `{"comm`, Extra: `"x-state":1`},
		&lathe.Running{
			Input: input, Title: "List", Metadata: raw(`{"output":"a"}`), Start: Now,
			TimeExtra: `"x-time":1`, Extra: `"x-state":1`,
		},
		&lathe.Completed{
			Input: input, Metadata: raw(`{"exit":0}`), Output: "a\nb\n", Title: "List",
			Start: Now, End: Now + 40, Compacted: Now + 9000,
			Attachments: []lathe.Part{{
				ID: "prt_bbef3b000fffPartSampleBBBB", Session: session, Message: message,
				Body: &lathe.File{Mime: "image/png", URL: "data:image/png;base64,AA==", Filename: "a.png", Extra: `"x-attached":1`},
			}},
			TimeExtra: `"x-time":1`, Extra: `"x-state":1`,
		},
		&lathe.Failed{
			Input: input, Metadata: raw(`{"interrupted":true}`), Error: "no such file", Start: Now, End: Now + 40,
			TimeExtra: `"x-time":1`, Extra: `"x-state":1`,
		},
	}
}
