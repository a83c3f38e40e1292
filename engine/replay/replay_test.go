package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/replay"
)

func code(n int) *int { return &n }

func call(tool, input string, state lathe.ToolState) lathe.Part {
	switch s := state.(type) {
	case *lathe.Completed:
		s.Input = json.RawMessage(input)
	case *lathe.Failed:
		s.Input = json.RawMessage(input)
	default:
	}
	return lathe.Part{Body: &lathe.ToolCall{CallID: "c", Tool: tool, State: state}}
}

func answer(id string, parts ...lathe.Part) lathe.Message {
	return lathe.Message{ID: lathe.MessageID(id), Data: &lathe.Assistant{Agent: "build"}, Parts: append([]lathe.Part{{Body: &lathe.StepStart{}}}, parts...)}
}

func TestSteps(t *testing.T) {
	messages := []lathe.Message{
		{ID: "u", Data: &lathe.User{}},
		answer("a1",
			call("bash", `{"command":"ls"}`, &lathe.Completed{Output: "x", Metadata: json.RawMessage(`{"exit":0}`)}),
			call("webfetch", `{"url":"http://x"}`, &lathe.Completed{Output: "page"}),
			call("mcp_tool", `{}`, &lathe.Completed{}),
			call("bash", `{"command":"sleep 9","run_in_background":true}`, &lathe.Completed{}),
			call("edit", `{}`, &lathe.Failed{Error: "no", Metadata: json.RawMessage(`{"rejected":true}`)}),
			call("read", `{}`, &lathe.Completed{Compacted: 5}),
			call("read", `{}`, &lathe.Running{})),
		{ID: "s", Data: &lathe.Assistant{Summary: lathe.Yes}, Parts: []lathe.Part{{Body: &lathe.StepStart{}}}},
		{ID: "shell", Data: &lathe.Assistant{}, Parts: []lathe.Part{call("bash", `{}`, &lathe.Completed{})}},
		answer("a2"),
	}
	got := replay.Steps(messages)
	if len(got) != 2 || got[0].Number != 1 || got[1].Number != 2 || got[1].Message != "a2" || got[0].Index != 1 {
		t.Fatalf("%+v", got)
	}
	var why []bool
	for _, c := range got[0].Calls {
		why = append(why, c.Why != "")
	}
	if diff := cmp.Diff([]bool{false, true, true, true, true, true, true}, why); diff != "" {
		t.Error(diff)
	}
	if e := got[0].Calls[0].Recorded.Exit; e == nil || *e != 0 {
		t.Error("no exit code")
	}
}

func TestRange(t *testing.T) {
	steps := []replay.Step{{Number: 1, Message: "a"}, {Number: 2, Message: "b"}, {Number: 3, Message: "c"}}
	for _, tc := range []struct {
		from, to string
		want     string
	}{
		{"", "", "123"}, {"2", "", "23"}, {"", "2", "12"}, {"b", "b", "2"}, {"3", "1", "error"}, {"0", "", "error"}, {"9", "", "error"}, {"x", "", "error"},
	} {
		got, err := replay.Range(steps, tc.from, tc.to)
		text := ""
		for _, s := range got {
			text += string('0' + rune(s.Number))
		}
		if err != nil {
			text = "error"
		}
		if text != tc.want {
			t.Errorf("%q to %q: %s, want %s", tc.from, tc.to, text, tc.want)
		}
	}
	if _, err := replay.Range(nil, "", ""); err == nil {
		t.Error("no error without steps")
	}
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name          string
		recorded, now replay.Result
		want          replay.Outcome
		diff          *replay.Difference
	}{
		{"equal", replay.Result{Output: "a\n"}, replay.Result{Output: "a"}, replay.Same, nil},
		{"times", replay.Result{Output: "ok x 0.31s"}, replay.Result{Output: "ok x 1.2s"}, replay.Alike, nil},
		{"a note of a check", replay.Result{Output: "a\n\n(note)", Noted: true}, replay.Result{Output: "a"}, replay.Same, nil},
		{"a process now", replay.Result{Output: "a 1s"}, replay.Result{Output: "a 2s\n\nStill running in the background:\n12 go telemetry"}, replay.Alike, nil},
		{"another process number", replay.Result{Output: "a\n\nStill running in the background:\n7 serve"}, replay.Result{Output: "a\n\nStill running in the background:\n12 serve"}, replay.Alike, nil},
		{
			"a process that ended",
			replay.Result{Output: "a\n\nStill running in the background:\n7 serve"},
			replay.Result{Output: "a"},
			replay.Differs, &replay.Difference{What: "line 2", Recorded: "Still running in the background:", Now: "(end)"},
		},
		{"an unknown addition", replay.Result{Output: "a\nb"}, replay.Result{Output: "a"}, replay.Differs, &replay.Difference{What: "line 2", Recorded: "b", Now: "(end)"}},
		{"a line", replay.Result{Output: "a\nb 0.1s\nc"}, replay.Result{Output: "a\nb 2s\nd"}, replay.Differs, &replay.Difference{What: "line 3", Recorded: "c", Now: "d"}},
		{"exit code", replay.Result{Output: "a", Exit: code(0)}, replay.Result{Output: "a", Exit: code(1)}, replay.Differs, &replay.Difference{What: "exit code", Recorded: "0", Now: "1"}},
		{"an error now", replay.Result{Output: "a"}, replay.Result{Output: "no such file", Failed: true}, replay.Differs, &replay.Difference{What: "result", Recorded: "a result: a", Now: "an error: no such file"}},
		{"the same error", replay.Result{Output: "no", Failed: true}, replay.Result{Output: "no", Failed: true}, replay.Same, nil},
	} {
		got, diff := replay.Compare(tc.recorded, tc.now)
		if d := cmp.Diff(tc.diff, diff); got != tc.want || d != "" {
			t.Errorf("%s: %s, want %s\n%s", tc.name, got, tc.want, d)
		}
	}
	_, diff := replay.Compare(replay.Result{Output: strings.Repeat("x", 9999)}, replay.Result{Output: strings.Repeat("y", 9999)})
	if len(diff.Recorded) > 300 || len(diff.Now) > 300 {
		t.Error("the excerpt has no bound")
	}
}

func TestRebase(t *testing.T) {
	for text, want := range map[string]string{
		"/p/a /p": "/q/a /q", "/pp/a": "/pp/a", "x/p": "x/q", "": "", "/p-old /p.": "/p-old /p.", `{"f":"/p/x"}`: `{"f":"/q/x"}`,
	} {
		if got := replay.Rebase(text, "/p", "/q"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestRequests_Summary(t *testing.T) {
	many := make([]int, 12)
	for i := range many {
		many[i] = i + 1
	}
	for want, r := range map[string]replay.Requests{
		"requests: 0 equal, 0 differ": {},
		"requests: 3 equal, 1 differ (steps 4), 2 not stored; sent by lathe 1.2.3":                                                 {Same: 3, Differ: []int{4}, Unknown: 2, Versions: []string{"1.2.3"}},
		"requests: 0 equal, 12 differ (steps 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …), 1 equal but for a system prompt that was replaced": {Differ: many, Replaced: 1},
	} {
		if got := r.Summary(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
