package hook

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

// pool has one answer of each kind.
var pool = []answer{
	{},
	{stdout: "plain"},
	{exit: 2, stderr: "exit two"},
	{exit: 1, stderr: "broken"},
	{problem: "too slow"},
	{stdout: `{"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "fine"}}`},
	{stdout: `{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "unsure"}}`},
	{stdout: `{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "never"}}`},
	{stdout: `{"decision": "approve"}`},
	{stdout: `{"decision": "block", "reason": "blocked"}`},
	{stdout: `{"continue": false, "stopReason": "halt"}`},
	{stdout: `{"systemMessage": "hello"}`},
	{stdout: `{"hookSpecificOutput": {"additionalContext": "context"}}`},
	{stdout: `{"hookSpecificOutput": {"updatedInput": {"a": 1}}}`},
	{stdout: `{`},
	{stdout: `{"decision": "x"}`},
	{stdout: `{"unknown": {"member": [1]}}`},
}

// Whatever the order of hooks, a refusal counts before a question and a question before an allow; no answer is lost, and
// merging the same answers gives the same outcome.
func TestMerge_Prop(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var all []answer
		for range rnd.IntN(6) {
			all = append(all, pool[rnd.IntN(len(pool))])
		}
		got := merge(preToolUse, all)
		if diff := cmp.Diff(got, merge(preToolUse, all), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Fatal(diff)
		}
		mixed := slices.Clone(all)
		rnd.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		other := merge(preToolUse, mixed)
		if got.action != other.action || got.halt != other.halt || len(got.context) != len(other.context) || len(got.notes) != len(other.notes) {
			t.Fatalf("%+v: %+v and %+v", all, got, other)
		}
		want := lathe.Action("")
		failed := 0
		for _, a := range all {
			said, err := a.read(preToolUse)
			if err != nil {
				failed++
			} else if stricter(said.action, want) {
				want = said.action
			}
		}
		if got.action != want || len(got.notes) != failed {
			t.Fatalf("%+v: %+v", all, got)
		}
	}
}

func TestMerge_Order(t *testing.T) {
	got := merge(preToolUse, []answer{
		{stdout: `{"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "fine", "updatedInput": {"n": 1}, "additionalContext": "one"}}`},
		{stdout: `{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "first no", "updatedInput": {"n": 2}, "additionalContext": "two"}}`},
		{exit: 2, stderr: "second no\n"},
	})
	want := outcome{action: lathe.Deny, reason: "first no\nsecond no", input: []byte(`{"n": 2}`), context: []string{"one", "two"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Error(diff)
	}
}

// Plain output is for the model in two events only, and an allow means something for PreToolUse only.
func TestRead_ByEvent(t *testing.T) {
	for _, event := range []string{preToolUse, postToolUse, userPromptSubmit, stop, subagentStop, sessionStart, sessionEnd, preCompact, notification} {
		plain, err := answer{stdout: " text \n"}.read(event)
		if forModel := len(plain.context) == 1 && plain.context[0] == "text"; err != nil || forModel != (event == userPromptSubmit || event == sessionStart) {
			t.Errorf("%s: %+v %v", event, plain, err)
		}
		allow, err := answer{stdout: `{"decision": "approve", "hookSpecificOutput": {"permissionDecision": "allow"}}`}.read(event)
		if err != nil || (allow.action == lathe.Allow) != (event == preToolUse) {
			t.Errorf("%s: %+v %v", event, allow, err)
		}
		silent, err := answer{exit: 2, command: "check.sh"}.read(event)
		if err != nil || silent.action != lathe.Deny || !strings.Contains(silent.reason, "check.sh") {
			t.Errorf("%s: %+v %v", event, silent, err)
		}
		if _, err := (answer{stdout: `{"hookSpecificOutput": {"updatedInput": {}}}`}).read(event); (err == nil) != (event == preToolUse) {
			t.Errorf("%s: %v", event, err)
		}
	}
	long, _ := answer{stdout: strings.Repeat("x", 100<<10)}.read(sessionStart)
	if got := len(long.contextText()); got > maxText+10 {
		t.Errorf("%d bytes reach the model", got)
	}
}
