package usage_test

import (
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/usage"
)

const (
	parse = `{"filePath":"/w/parse.go"}`
	notes = `{"filePath":"/w/notes.md"}`
	tests = `{"command":"go test ./..."}`
)

// harness counts the messages of one session and returns the metrics.
func harness(build func(*story)) *usage.Harness {
	s := begin(true).in("ses_1", "", "app")
	build(s)
	return s.tally.Stats().Harness
}

func TestHarness_StepsAndCalls(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("one")
		s.answer("tool-calls", called("read", parse, "a", ``), called("grep", `{}`, "b", ``), used(0.5, 100, 0, 100))
		s.answer("stop", text("done"), used(0.5, 100, 300, 0))
		s.prompt("two")
		s.answer("tool-calls", called("read", notes, "a", ``), used(1, 0, 0, 0))
		s.answer("stop", text("done"), used(0, 0, 0, 0))
	})
	same(t, "turns, steps, calls", []int{h.Turns, h.Steps, h.Calls}, []int{2, 4, 3})
	same(t, "ratios", []float64{h.StepsPerTurn, h.CallsPerStep, h.CostPerTurn, h.CacheHits}, []float64{2, 1.5, 1, 0.75})
	same(t, "parallel", h.Parallel, usage.Rate{Count: 1, Of: 2})
	same(t, "ends", h.Ends, map[string]int{"done": 2})
}

func TestHarness_Ends(t *testing.T) {
	for want, build := range map[string]func(*story){
		"done":    func(s *story) { s.answer("stop", text("yes")) },
		"empty":   func(s *story) { s.answer("stop") },
		"limit":   func(s *story) { s.answer("length", text("and th")) },
		"cut off": func(s *story) { s.answer("", text("and th")) },
		"error":   func(s *story) { s.add(&lathe.Assistant{Error: &lathe.APIFault{Message: "overloaded"}}) },
		"aborted": func(s *story) { s.add(&lathe.Assistant{Error: &lathe.AbortedFault{Message: "stop"}}) },
		"budget": func(s *story) {
			s.add(&lathe.Assistant{Error: &lathe.UnknownFault{Message: "The daily usage has reached its budget"}})
		},
		"refused":   func(s *story) { s.answer("tool-calls", failedCall("bash", `{}`, "no", `{"rejected":true}`)) },
		"no answer": func(*story) {},
	} {
		h := harness(func(s *story) { s.prompt("do"); build(s) })
		same(t, want, h.Ends, map[string]int{want: 1})
	}
}

func TestHarness_Failures(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("fix")
		s.answer("tool-calls",
			failedCall("edit", parse, "oldString is not in the file as it was given.", ``),
			called("edit", parse, "ok", ``),
			failedCall("edit", notes, "Found multiple matches for oldString.", ``),
			failedCall("write", notes, "/w/notes.md has changed since you last read it", ``),
			failedCall("read", notes, "The arguments of read are invalid, and it was not run", ``),
			failedCall("webfetch", `{}`, "host.example did not answer in time: the limit is 30s.", ``),
			failedCall("bash", `{}`, "whatever", `{"interrupted":true}`),
			failedCall("bash", `{}`, "whatever", `{"rejected":true}`),
			failedCall("bash", `{}`, "the disk is gone", ``),
		)
	})
	same(t, "errors", h.Errors, usage.Rate{Count: 8, Of: 9})
	same(t, "kinds", h.ErrorKinds, map[string]int{
		"not found": 1, "ambiguous": 1, "stale": 1, "arguments": 1, "timeout": 1, "aborted": 1, "permission": 1, "environment": 1,
	})
	same(t, "of one tool", h.ByTool[0], usage.ToolErrors{
		Tool: "bash", Errors: usage.Rate{Count: 3, Of: 3}, Kinds: map[string]int{"aborted": 1, "permission": 1, "environment": 1},
	})
	same(t, "edits", h.Edits, usage.Rate{Count: 1, Of: 4})
	same(t, "first edits", h.FirstEdits, usage.Rate{Count: 2, Of: 2})
	same(t, "recovered", h.Recovered, usage.Rate{Count: 1, Of: 8})
	same(t, "timed out", h.Time.TimedOut, usage.Rate{Count: 1, Of: 9})
}

// Both the current and the earlier phrases of an error give the same kind.
func TestHarness_FailurePhrases(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("fix")
		s.answer("tool-calls",
			failedCall("raed", `{}`, `unknown tool "raed".`, ``),
			failedCall("raed", `{}`, `there is no tool "raed".`, ``),
			failedCall("skill", `{}`, `Unknown skill "go". The nearest are: golang.`, ``),
			failedCall("skill", `{}`, `There is no skill "go". The nearest are: golang.`, ``),
		)
	})
	same(t, "kinds", h.ErrorKinds, map[string]int{"arguments": 2, "not found": 2})
}

// A failed call counts as recovered if its target is reached within three calls.
func TestHarness_RecoveredTooLate(t *testing.T) {
	other := called("grep", `{}`, "x", ``)
	h := harness(func(s *story) {
		s.prompt("fix")
		s.answer("tool-calls", failedCall("edit", parse, "no", ``), other, other, other, called("edit", parse, "ok", ``))
	})
	same(t, "recovered", h.Recovered, usage.Rate{Count: 0, Of: 1})
}

func TestHarness_Repeats(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("look")
		s.answer("tool-calls", called("read", parse, "v1", ``), called("read", parse, "v1", ``), called("read", parse, "v2", ``))
		for range 4 {
			s.answer("tool-calls", called("glob", `{"pattern":"*"}`, "a", ``))
		}
	})
	same(t, "reads", h.RepeatedReads, usage.Rate{Count: 1, Of: 3})
	same(t, "calls", h.RepeatedCalls, usage.Rate{Count: 3, Of: 4})
	same(t, "loops", h.Loops, 2) // three reads alike, and the globs once
}

func TestHarness_Compaction(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("look")
		s.answer("tool-calls", called("read", parse, "v1", ``), used(0, 1000, 0, 0))
		s.add(&lathe.User{}, &lathe.Compaction{Auto: true})
		s.add(&lathe.Assistant{Summary: lathe.Yes, Finish: "stop"}, text("what was"))
		s.answer("tool-calls", called("read", parse, "v1", ``), called("read", notes, "n", ``), used(0, 10, 0, 0))
	})
	same(t, "compactions", h.Compactions, usage.Compactions{Count: 1, TokensBefore: 1000, Rereads: 1})
	same(t, "not repeated", h.RepeatedReads, usage.Rate{Count: 0, Of: 3})
	same(t, "turns and steps", []int{h.Turns, h.Steps}, []int{1, 2})
}

func TestHarness_Verified(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls []lathe.Body
		want  usage.Verified
	}{
		{"passed", []lathe.Body{called("edit", parse, "ok", ``), called("bash", tests, "ok", `{"exit":0}`)}, usage.Verified{Passed: 1}},
		{"failed", []lathe.Body{called("edit", parse, "ok", ``), called("bash", tests, "no", `{"exit":1}`)}, usage.Verified{Failed: 1}},
		{"changed after", []lathe.Body{called("bash", tests, "ok", `{"exit":0}`), called("edit", parse, "ok", ``)}, usage.Verified{None: 1}},
		{"no code", []lathe.Body{called("edit", notes, "ok", ``)}, usage.Verified{}},
		{"not done", []lathe.Body{failedCall("edit", parse, "no", ``)}, usage.Verified{}},
	} {
		h := harness(func(s *story) { s.prompt("do"); s.answer("stop", c.calls...) })
		same(t, c.name, h.Verified, c.want)
	}
}

func TestHarness_Checks(t *testing.T) {
	check := &lathe.Text{Text: "test it", Synthetic: lathe.Yes, Metadata: json.RawMessage(`{"lathe":{"checks":["unverified"]}}`)}
	h := harness(func(s *story) {
		s.prompt("do")
		s.answer("stop", text("done"))
		s.add(&lathe.User{}, check)
		s.answer("tool-calls", called("edit", parse, "ok", ``), called("edit", parse, "ok", ``))
		s.prompt("more")
		s.answer("stop", text("done"))
		s.add(&lathe.User{}, check)
		s.answer("stop", text("really"))
	})
	same(t, "led", h.ChecksHeeded, usage.Rate{Count: 1, Of: 2})
	same(t, "turns", h.Turns, 2)
}

func TestHarness_CacheLost(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("do")
		s.answer("tool-calls", used(0, 100, 0, 10000))
		s.answer("tool-calls", used(0, 100, 10000, 100))
		s.answer("tool-calls", used(0, 100, 100, 10000)) // gone
		s.at += 3600 * 1000
		s.answer("stop", used(0, 100, 0, 10000)) // forgotten meanwhile
	})
	same(t, "lost", h.CacheRestarts, usage.Rate{Count: 1, Of: 2})
}

func TestHarness_Outputs(t *testing.T) {
	h := harness(func(s *story) {
		s.prompt("do")
		s.answer("tool-calls",
			called("bash", `{"command":"make"}`, "123456", `{"exit":0,"truncated":true,"outputPath":"/d/out1"}`),
			called("bash", `{"command":"make all"}`, "12", `{"exit":0,"truncated":true,"outputPath":"/d/out2"}`),
			called("grep", `{"path":"/d/out1"}`, "12", `{"truncated":false}`),
			called("bash", `{"command":"sleep 9"}`, "\n\n<shell_metadata>\nThe command was ended because it ran longer than its limit of 1 ms\n</shell_metadata>", `{"exit":null}`),
		)
	})
	same(t, "truncated", h.Truncated, usage.Rate{Count: 2, Of: 4})
	same(t, "opened", h.Opened, usage.Rate{Count: 1, Of: 2})
	same(t, "timed out", h.Time.TimedOut, usage.Rate{Count: 1, Of: 4})
	same(t, "largest", h.Outputs[1], usage.ToolOutput{Tool: "grep", Bytes: 2, Share: 2.0 / float64(h.OutputBytes)})
}

// The usage of subagents counts in the turns of users, and separately too.
func TestHarness_Subagents(t *testing.T) {
	s := begin(true).in("ses_1", "", "app")
	s.prompt("do")
	s.answer("stop", called("task", `{}`, "12345678", ``), used(3, 100, 0, 0))
	s.in("ses_2", "ses_1", "app")
	s.prompt("look")
	s.answer("stop", text("seen"), used(1, 300, 0, 0))
	h := s.tally.Stats().Harness
	same(t, "subagents", h.Subagents, usage.Subagents{Sessions: 1, Tokens: 303, CostShare: 0.25, ReportBytes: 8})
	same(t, "per turn", []any{h.CostPerTurn, h.TokensPerTurn.Input, h.Turns}, []any{4.0, int64(400), 2})
}
