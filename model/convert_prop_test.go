package model_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/model"
)

// drawHistory draws a history in which about half of the answers are the target's, with calls
// whose ids differ, as those of one model do.
func drawHistory(t *rapid.T) []lathe.Message {
	var out []lathe.Message
	calls := 0
	for n := range rapid.IntRange(0, 6).Draw(t, "messages") {
		m := lathetest.Message(t, lathetest.SessionID, n)
		if a, ok := m.Data.(*lathe.Assistant); ok && rapid.Bool().Draw(t, "same") {
			a.Model = same
		}
		for i, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				calls++
				next := *c
				next.CallID = "call_" + strings.Repeat("x", calls)
				if rapid.Bool().Draw(t, "executed") {
					next.Metadata = []byte(`{"providerExecuted":true}`)
				}
				m.Parts[i].Body = &next
			}
		}
		out = append(out, m)
	}
	return out
}

func drawTarget(t *rapid.T) model.Target {
	to := target
	to.StripMedia = rapid.Bool().Draw(t, "strip")
	to.MaxOutput = rapid.SampledFrom([]int{0, 1, 5, 1000}).Draw(t, "max")
	if rapid.Bool().Draw(t, "media") {
		to.ResultMedia = func(mime string) bool { return mime == "image/png" }
	}
	return to
}

// I4: every call has exactly one result, in the message after it or, when the provider ran
// it, in its own; and there is no result without a call.
func TestConvert_EveryCallHasOneResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out := model.Convert(drawHistory(t), drawTarget(t))
		open := map[string]bool{}
		for i, m := range out {
			if m.Role != model.ToolRole && len(open) > 0 {
				t.Fatalf("message %d comes before the results of %v", i, open)
			}
			for _, c := range m.Content {
				switch c := c.(type) {
				case model.CallContent:
					if open[c.ID] || m.Role != model.AssistantRole {
						t.Fatalf("call %q in message %d", c.ID, i)
					}
					open[c.ID] = true
				case model.ResultContent:
					if !open[c.ID] || (m.Role == model.AssistantRole) != c.Executed {
						t.Fatalf("result %q in message %d", c.ID, i)
					}
					delete(open, c.ID)
				default:
				}
			}
		}
		if len(open) > 0 {
			t.Fatalf("no results of %v", open)
		}
	})
}

// No message is empty, and none says an empty text unless the provider wants it back.
func TestConvert_NothingEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for i, m := range model.Convert(drawHistory(t), drawTarget(t)) {
			if len(m.Content) == 0 {
				t.Fatalf("message %d is empty", i)
			}
			for _, c := range m.Content {
				if text, ok := c.(model.TextContent); ok && text.Text == "" && text.Meta == nil {
					t.Fatalf("message %d has an empty text", i)
				}
			}
		}
	})
}

// The same history gives the same messages, and is not changed.
func TestConvert_Deterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history, to := drawHistory(t), drawTarget(t)
		to.ResultMedia = nil
		before := encoded(history)
		first, second := model.Convert(history, to), model.Convert(history, to)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatal(diff)
		}
		if encoded(history) != before {
			t.Fatal("the history was changed")
		}
	})
}

func encoded(history []lathe.Message) string {
	var b strings.Builder
	for _, m := range history {
		for _, p := range m.Parts {
			b.Write(p.AppendJSON(nil))
		}
	}
	return b.String()
}

// What a provider attached goes back to that model only, and text is text.
func TestConvert_NothingForeign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history, to := drawHistory(t), drawTarget(t)
		for _, m := range history {
			if a, ok := m.Data.(*lathe.Assistant); ok {
				a.Model.Model += "-other"
			}
		}
		for i, m := range model.Convert(history, to) {
			for _, c := range m.Content {
				var meta model.Meta
				text, executed := "", false
				switch c := c.(type) {
				case model.TextContent:
					text, meta = c.Text, c.Meta
				case model.ReasoningContent:
					t.Fatalf("message %d has another model's reasoning", i)
				case model.CallContent:
					executed, meta = c.Executed, c.Meta
				case model.ResultContent:
					text, executed, meta = c.Text, c.Executed, c.Meta
				case model.FileContent:
				}
				if meta != nil || executed || !utf8.ValidString(text) {
					t.Fatalf("message %d has %#v", i, c)
				}
			}
		}
	})
}

// I7: what was said before does not change when more is said.
func TestConvert_Prefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history, to := drawHistory(t), drawTarget(t)
		to.ResultMedia = nil
		n := rapid.IntRange(0, len(history)).Draw(t, "earlier")
		earlier, later := model.Convert(history[:n], to), model.Convert(history, to)
		if len(later) < len(earlier) {
			t.Fatalf("%d messages became %d", len(earlier), len(later))
		}
		if diff := cmp.Diff(earlier, later[:len(earlier)], cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}
