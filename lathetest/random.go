package lathetest

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// Message draws a message of either role with up to five parts. Its ids contain n, so that the
// messages of one history differ. The creation times need not be sorted.
func Message(t *rapid.T, session lathe.SessionID, n int) lathe.Message {
	m := lathe.Message{
		ID: lathe.MessageID(fmt.Sprintf("msg_%012x%014d", n, n)), Session: session,
		Created: Now + lathe.Time(rapid.IntRange(0, 5).Draw(t, "created")),
	}
	if rapid.Bool().Draw(t, "user") {
		m.Data = user(t)
	} else {
		m.Data = assistant(t)
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "parts") {
		m.Parts = append(m.Parts, Part(t, m, i))
	}
	return m
}

// Part draws the n-th part of a message.
func Part(t *rapid.T, m lathe.Message, n int) lathe.Part {
	id := lathe.PartID(fmt.Sprintf("prt_%s%04d", m.ID[4:min(len(m.ID), 16)], n))
	return lathe.Part{ID: id, Session: m.Session, Message: m.ID, Body: Body(t)}
}

// Body draws the body of a part: a sample, or a text, reasoning or call with random text.
func Body(t *rapid.T) lathe.Body {
	switch rapid.IntRange(0, 3).Draw(t, "body") {
	case 0:
		b := &lathe.Text{
			Text: Text(t), Synthetic: drawFlag(t), Ignored: drawFlag(t), Metadata: Raw(t), Extra: drawExtra(t),
		}
		if rapid.Bool().Draw(t, "timed") {
			s := drawSpan(t)
			b.Time = &s
		}
		return b
	case 1:
		return &lathe.Reasoning{Text: Text(t), Time: drawSpan(t), Metadata: Raw(t), Extra: drawExtra(t)}
	case 2:
		return &lathe.ToolCall{CallID: Text(t), Tool: Text(t), State: ToolState(t), Metadata: Raw(t), Extra: drawExtra(t)}
	default:
		return rapid.SampledFrom(Bodies()).Draw(t, "sample")
	}
}

// ToolState draws a state of a tool call, without attachments.
func ToolState(t *rapid.T) lathe.ToolState {
	input := json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"é":"\ud83d\ude00"}`}).Draw(t, "input"))
	switch rapid.IntRange(0, 3).Draw(t, "state") {
	case 0:
		return &lathe.Pending{Input: input, Raw: Text(t), Extra: drawExtra(t)}
	case 1:
		return &lathe.Running{Input: input, Title: Text(t), Metadata: Raw(t), Start: Time(t), TimeExtra: drawExtra(t)}
	case 2:
		return &lathe.Completed{
			Input: input, Metadata: input, Output: Text(t), Title: Text(t), Start: Time(t), End: Time(t), Compacted: Time(t),
		}
	default:
		return &lathe.Failed{Input: input, Metadata: Raw(t), Error: Text(t), Start: Time(t), End: Time(t)}
	}
}

func user(t *rapid.T) lathe.RoleData {
	return &lathe.User{
		Agent: Text(t), Model: drawModel(t), System: Text(t), Tools: Raw(t), TimeExtra: drawExtra(t), Extra: drawExtra(t),
	}
}

func assistant(t *rapid.T) lathe.RoleData {
	a := &lathe.Assistant{
		Parent: UserID, Model: drawModel(t), Agent: "build", Mode: Text(t), Completed: Time(t), Tokens: drawTokens(t),
		Path: lathe.Paths{Cwd: Text(t), Root: Text(t)}, Finish: Text(t), Summary: drawFlag(t), Structured: Raw(t),
		Cost: lathe.Money(rapid.Int64Range(-1e15, 1e15).Draw(t, "cost")), TimeExtra: drawExtra(t), Extra: drawExtra(t),
	}
	if rapid.Bool().Draw(t, "failed") {
		a.Error = rapid.SampledFrom(Faults()).Draw(t, "error")
	}
	return a
}

// Text draws text in any script, with characters that JSON escapes or that take two UTF-16 units.
func Text(t *rapid.T) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "a", "\x00\x1f\x7f", "\"\\/\b\f\n\r\t", "</script>", "😀é\u2028", "\ufffd", "null"}),
	).Draw(t, "text")
}

// Time draws a time as in old data: whole, with a fraction, negative, absent.
func Time(t *rapid.T) lathe.Time {
	return rapid.OneOf(
		rapid.SampledFrom([]lathe.Time{0, Now, Now + 0.5, -1, 1e300, 4e-7}),
		rapid.Map(rapid.Int64Range(0, 1<<42), func(n int64) lathe.Time { return lathe.Time(n) }),
	).Draw(t, "time")
}

// Raw draws a JSON value that must stay unchanged, or none.
func Raw(t *rapid.T) json.RawMessage {
	s := rapid.SampledFrom([]string{"", `{}`, `{"a":{"b":[1,2.50,null]}}`, `{"k":"\ud800 \u00e9 é"}`}).Draw(t, "raw")
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func drawExtra(t *rapid.T) lathe.Extra {
	return rapid.SampledFrom([]lathe.Extra{"", `"x-a":1`, `"x-\"é":{"k":[null]},"x-b":"\n"`}).Draw(t, "extra")
}

func drawFlag(t *rapid.T) lathe.Flag {
	return rapid.SampledFrom([]lathe.Flag{lathe.Unset, lathe.Yes, lathe.No}).Draw(t, "flag")
}

func drawSpan(t *rapid.T) lathe.Span {
	return lathe.Span{Start: Time(t), End: Time(t), Extra: drawExtra(t)}
}

func drawModel(t *rapid.T) lathe.ModelRef {
	return lathe.ModelRef{Provider: Text(t), Model: Text(t), Variant: Text(t)}
}

func drawTokens(t *rapid.T) lathe.Tokens {
	n := func() int64 {
		return rapid.OneOf(rapid.Int64Range(-5, 1<<20), rapid.Int64()).Draw(t, "tokens")
	}
	return lathe.Tokens{Total: n(), Input: n(), Output: n(), Reasoning: n(), Cache: lathe.CacheTokens{Read: n(), Write: n()}}
}
