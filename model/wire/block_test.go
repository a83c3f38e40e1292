package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

func TestBlock(t *testing.T) {
	sig := model.Meta(`"s"`)
	for _, c := range []struct {
		name  string
		block *wire.Block
		grow  []string
		want  []model.Event
	}{
		{"text", &wire.Block{ID: "1", Meta: sig}, []string{`"a"`, `null`, ``, `""`, `"b"`}, []model.Event{
			model.TextStart{ID: "1"}, model.TextDelta{ID: "1", Text: "a"}, model.TextDelta{ID: "1", Text: "b"}, model.TextEnd{ID: "1", Meta: sig},
		}},
		{"reasoning with a pair", &wire.Block{Kind: wire.ReasoningBlock, ID: "1", Meta: sig}, []string{`"\ud83d"`, `"\ude00"`, `"\ud83d"`}, []model.Event{
			model.ReasoningStart{ID: "1", Meta: sig}, model.ReasoningDelta{ID: "1", Text: "😀"}, model.ReasoningDelta{ID: "1", Text: "\uFFFD"}, model.ReasoningEnd{ID: "1", Meta: sig},
		}},
		{"input", &wire.Block{Kind: wire.InputBlock, ID: "c", Name: "f", Executed: true}, []string{`"{\"a\""`, `":1}"`}, []model.Event{
			model.InputStart{ID: "c", Name: "f", Executed: true},
			model.InputDelta{ID: "c", Text: `{"a"`},
			model.InputDelta{ID: "c", Text: ":1}"},
			model.InputEnd{ID: "c"},
			model.ToolCall{ID: "c", Name: "f", Input: `{"a":1}`, Executed: true},
		}},
		{"no input", &wire.Block{Kind: wire.InputBlock, ID: "c", Name: "f"}, []string{`" "`}, []model.Event{
			model.InputStart{ID: "c", Name: "f"}, model.InputDelta{ID: "c", Text: " "}, model.InputEnd{ID: "c"}, model.ToolCall{ID: "c", Name: "f", Input: "{}"},
		}},
	} {
		got := []model.Event{c.block.Start()}
		for _, raw := range c.grow {
			e, ok := c.block.Grow([]byte(raw))
			if !ok {
				t.Errorf("%s: %s is no string", c.name, raw)
			}
			if e != nil {
				got = append(got, e)
			}
		}
		open := c.block.IsOpen()
		got = append(got, c.block.End()...)
		if diff := cmp.Diff(c.want, got); diff != "" || !open || c.block.IsOpen() || c.block.End() != nil {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if _, ok := (&wire.Block{}).Grow([]byte("7")); ok {
		t.Error("a number is no text")
	}
	if (*wire.Block)(nil).IsOpen() {
		t.Error("no block is open")
	}
}

func TestCallIDs(t *testing.T) {
	ids := wire.NewCallIDs(lathe.NewIDs())
	a, b, c := ids.Take("x"), ids.Take("x"), ids.Take("")
	if a != "x" || b == "x" || c == "" || b == c {
		t.Error(a, b, c)
	}
}

// Short names for what the test below is full of.
type (
	text   = model.TextContent
	call   = model.CallContent
	result = model.ResultContent
)

func TestPasses(t *testing.T) {
	say := func(role model.Role, c model.Content) model.Message {
		return model.Message{Role: role, Content: []model.Content{c}}
	}
	u, a := say(model.UserRole, text{Text: "u"}), say(model.AssistantRole, call{ID: "c"})
	r, done := say(model.ToolRole, result{ID: "c"}), say(model.AssistantRole, text{Text: "Done."})
	if diff := cmp.Diff([]model.Message{u, a, r, done, u, a, r, a}, wire.SeparateResults([]model.Message{u, a, r, u, a, r, a})); diff != "" {
		t.Error(diff)
	}
	if !wire.HasCalls([]model.Message{u, a}) || wire.HasCalls([]model.Message{u, r}) || wire.HasCalls([]model.Message{say(model.AssistantRole, call{Executed: true})}) {
		t.Error("calls are not found, or found where there are none")
	}
	for id, want := range map[string]bool{"Mistral-Large": true, "mistralai/devstral": true, "codestral": true, "pixtral": true, "mixtral-8x7b": true, "gpt-5": false} {
		if wire.IsMistral(id) != want {
			t.Error(id)
		}
	}
	for in, want := range map[string]string{
		``: `{"type":"object"}`, `true`: `{"type":"object"}`, `{"type":"object","x":1}`: `{"type":"object","x":1}`,
		`{"properties":{}}`: `{"properties":{},"type":"object"}`, `{"type":"object","anyOf":[{}],"oneOf":[],"allOf":[]}`: `{"type":"object"}`, `{"type":"string"}`: `{"type":"object"}`,
	} {
		if got := string(wire.ObjectSchema([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := string(wire.ObjectSchema(wire.Noop().Schema)); got != string(wire.Noop().Schema) {
		t.Error(got)
	}
}
