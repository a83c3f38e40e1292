package lathe_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

// Every move is tried from every state: a late result cannot overwrite, and the start stays.
func TestToolCall_Moves(t *testing.T) {
	in, meta := json.RawMessage(`{"a":1}`), json.RawMessage(`{"m":1}`)
	states := map[string]lathe.ToolState{
		"pending":   &lathe.Pending{Input: in, Raw: "{"},
		"running":   &lathe.Running{Input: in, Title: "T", Metadata: meta, Start: 5},
		"completed": &lathe.Completed{Input: in, Output: "out", Start: 5, End: 6},
		"error":     &lathe.Failed{Input: in, Error: "bad", Start: 5, End: 6},
		"none":      nil,
	}
	moves := map[string]func(*lathe.ToolCall) (*lathe.ToolCall, error){
		"run": func(c *lathe.ToolCall) (*lathe.ToolCall, error) {
			return c.Run(json.RawMessage(`{"b":2}`), 7)
		},
		"progress": func(c *lathe.ToolCall) (*lathe.ToolCall, error) {
			return c.Progress("P", json.RawMessage(`{"p":1}`))
		},
		"complete": func(c *lathe.ToolCall) (*lathe.ToolCall, error) {
			return c.Complete(lathe.Completed{Output: "late", Title: "C", Start: 99, End: 8})
		},
		"fail":    func(c *lathe.ToolCall) (*lathe.ToolCall, error) { return c.Fail("failed", nil, 8) },
		"compact": func(c *lathe.ToolCall) (*lathe.ToolCall, error) { return c.Compact(9) },
	}
	want := map[[2]string]lathe.ToolState{ // all others are refused
		{"pending", "run"}:       &lathe.Running{Input: json.RawMessage(`{"b":2}`), Start: 7},
		{"pending", "fail"}:      &lathe.Failed{Input: in, Error: "failed", Start: 8, End: 8},
		{"running", "progress"}:  &lathe.Running{Input: in, Title: "P", Metadata: json.RawMessage(`{"p":1}`), Start: 5},
		{"running", "complete"}:  &lathe.Completed{Input: in, Output: "late", Title: "C", Start: 5, End: 8},
		{"running", "fail"}:      &lathe.Failed{Input: in, Metadata: meta, Error: "failed", Start: 5, End: 8},
		{"completed", "compact"}: &lathe.Completed{Input: in, Output: "out", Start: 5, End: 6, Compacted: 9},
	}
	for from, state := range states {
		for name, move := range moves {
			call := &lathe.ToolCall{CallID: "c", Tool: "bash", State: state, Extra: `"x":1`}
			before := *call
			next, err := move(call)
			if d := cmp.Diff(&before, call); d != "" {
				t.Errorf("%s of a call that is %s changes the call itself:\n%s", name, from, d)
			}
			expected, allowed := want[[2]string{from, name}]
			if !allowed {
				if next != nil || lathe.CodeOf(err) != lathe.Conflict {
					t.Errorf("%s of a call that is %s: %+v, %v; want a conflict", name, from, next, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s of a call that is %s: %v", name, from, err)
				continue
			}
			before.State = expected
			if d := cmp.Diff(&before, next); d != "" {
				t.Errorf("%s of a call that is %s (-want +got):\n%s", name, from, d)
			}
		}
	}
}

// What a move is given wins over what the call had.
func TestToolCall_GivenWins(t *testing.T) {
	call := &lathe.ToolCall{State: &lathe.Running{Input: json.RawMessage(`{"a":1}`), Metadata: json.RawMessage(`{"m":1}`), Start: 5}}
	done, err := call.Complete(lathe.Completed{Input: json.RawMessage(`{"c":3}`)})
	if err != nil || string(done.State.(*lathe.Completed).Input) != `{"c":3}` {
		t.Errorf("%+v, %v", done, err)
	}
	failed, err := call.Fail("bad", json.RawMessage(`{"f":1}`), 6)
	if err != nil || string(failed.State.(*lathe.Failed).Metadata) != `{"f":1}` {
		t.Errorf("%+v, %v", failed, err)
	}
}

func TestToolCall_Settled(t *testing.T) {
	for _, tt := range []struct {
		state lathe.ToolState
		want  bool
	}{
		{&lathe.Pending{}, false}, {&lathe.Running{}, false}, {&lathe.Completed{}, true}, {&lathe.Failed{}, true}, {nil, false},
	} {
		if got := (&lathe.ToolCall{State: tt.state}).Settled(); got != tt.want {
			t.Errorf("%T: %v", tt.state, got)
		}
	}
}
