package language

import (
	"strconv"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/format"
)

// A note waits for a call or a prompt; only new errors may continue a turn, and they take the rest along.
func TestLate(t *testing.T) {
	t.Parallel()
	st := NewState(nil, nil, nil)
	st.addLate("a", "gofmt formatted a.go", false)
	st.addLate("a", "", true) // nothing to say
	if got := st.takeLate("a", true); got != "" {
		t.Errorf("without errors: %q", got)
	}
	st.addLate("a", "New errors since this change:\na.go:1: x", true)
	if got := st.takeLate("b", false); got != "" {
		t.Errorf("of another session: %q", got)
	}
	if got := st.takeLate("a", true); got != "gofmt formatted a.go\n\nNew errors since this change:\na.go:1: x" {
		t.Errorf("%q", got)
	}
	if got := st.takeLate("a", false); got != "" {
		t.Errorf("again: %q", got)
	}
}

// Sessions that end in the middle of a step cost no memory for long.
func TestSteps_Limit(t *testing.T) {
	t.Parallel()
	st := NewState(nil, nil, nil)
	for i := range 3 * maxSteps {
		id := lathe.SessionID(strconv.Itoa(i))
		st.step(&tool.Call{Session: id, Message: "m"})
		st.addLate(id, "x", false)
	}
	if len(st.steps) > maxSteps || len(st.late) > maxSteps {
		t.Errorf("%d steps, %d notes", len(st.steps), len(st.late))
	}
	call := &tool.Call{Session: "s", Message: "one"}
	first := st.step(call)
	first.edited = []string{"a.go"}
	if !st.hasWork(call) || st.step(call) != first {
		t.Error("the step is not the same")
	}
	if next := (&tool.Call{Session: "s", Message: "two"}); st.hasWork(next) || st.step(next) == first {
		t.Error("the next step has the files of the last one")
	}
}

// The model learns the lines as they are now if they are few, so that its next edit can quote them.
func TestFormatted(t *testing.T) {
	t.Parallel()
	long := ""
	for range 30 {
		long += "x\n"
	}
	for want, res := range map[string]format.Result{
		"gofmt formatted a.go. These lines now read:\n2: two\n3: three":        {Formatter: "gofmt", After: "one\ntwo\nthree\n", Changed: []format.Span{{First: 2, Last: 3}}},
		"gofmt formatted a.go: it removed lines. Read it before you quote it.": {Formatter: "gofmt", After: "one\n", Changed: []format.Span{{First: 2, Last: 1}}},
		"gofmt formatted a.go: 20 lines changed. Read it before you quote it.": {Formatter: "gofmt", After: long, Changed: []format.Span{{First: 1, Last: 20}}},
	} {
		if got := formatted("a.go", res); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
