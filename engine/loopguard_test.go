package engine

import (
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
)

func did(tool, input, meta string) *lathe.ToolCall {
	return &lathe.ToolCall{Tool: tool, State: &lathe.Completed{Input: json.RawMessage(input), Metadata: json.RawMessage(meta)}}
}

func TestLoopGuard_Counts(t *testing.T) {
	same := did("bash", `{"a":1,"b":[1,{"d":2,"c":3}]}`, `{}`)
	waiting := &lathe.ToolCall{Tool: "bash", State: &lathe.Pending{Input: json.RawMessage(`{}`)}}
	for _, tt := range []struct {
		name   string
		before []*lathe.ToolCall
		input  string
		want   bool
	}{
		{"the first", nil, `{}`, false},
		{"the second", []*lathe.ToolCall{same}, `{"a":1,"b":[1,{"d":2,"c":3}]}`, false},
		{"the third", []*lathe.ToolCall{same, same}, `{"a":1,"b":[1,{"d":2,"c":3}]}`, true},
		{"in another order of keys", []*lathe.ToolCall{same, same}, `{ "b": [1, {"c":3,"d":2}], "a":1 }`, true},
		{"lists have an order", []*lathe.ToolCall{did("bash", `{"a":[1,2]}`, `{}`), did("bash", `{"a":[1,2]}`, `{}`)}, `{"a":[2,1]}`, false},
		{"large numbers differ", []*lathe.ToolCall{did("bash", `{"a":9007199254740993}`, `{}`), did("bash", `{"a":9007199254740993}`, `{}`)}, `{"a":9007199254740992}`, false},
		{"another tool between", []*lathe.ToolCall{same, did("read", `{}`, `{}`), same}, `{"a":1,"b":[1,{"d":2,"c":3}]}`, false},
		{"other arguments between", []*lathe.ToolCall{same, did("bash", `{}`, `{}`), same}, `{"a":1,"b":[1,{"d":2,"c":3}]}`, false},
		{"once starts anew", []*lathe.ToolCall{same, did("bash", `{"a":1,"b":[1,{"d":2,"c":3}]}`, `{"doom_loop":true}`), same}, `{"a":1,"b":[1,{"d":2,"c":3}]}`, false},
		{"and counts again", []*lathe.ToolCall{did("bash", `{}`, `{"doom_loop":true}`), did("bash", `{}`, `{}`), did("bash", `{}`, `{}`)}, `{}`, true},
		{"its own part is not counted", []*lathe.ToolCall{same, waiting}, `{"a":1,"b":[1,{"d":2,"c":3}]}`, false},
		{"failures count", []*lathe.ToolCall{
			{Tool: "bash", State: &lathe.Failed{Input: json.RawMessage(`{}`)}}, {Tool: "bash", State: &lathe.Running{Input: json.RawMessage(`{}`)}},
		}, `{}`, true},
	} {
		if got := fold.IsRepeated(tt.before, "bash", json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s: repeated %v", tt.name, got)
		}
	}
}
