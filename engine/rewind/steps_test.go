package rewind

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

func call(tool, input, meta string) *lathe.ToolCall {
	return &lathe.ToolCall{Tool: tool, State: &lathe.Completed{Input: json.RawMessage(input), Metadata: json.RawMessage(meta)}}
}

func answer(id lathe.MessageID, data lathe.Assistant, bodies ...lathe.Body) lathe.Message {
	m := lathe.Message{ID: id, Data: &data}
	for _, b := range bodies {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	return m
}

// A step names its files, commands, tests, other tools and cost.
func TestDescribe(t *testing.T) {
	t.Parallel()
	one, zero := 1, 0
	ref := lathe.ModelRef{Provider: "p", Model: "m"}
	for name, c := range map[string]struct {
		of   lathe.Message
		want lathe.Step
	}{
		"tools": {
			answer("a", lathe.Assistant{Model: ref, Cost: lathe.Dollars(0.5)}, &lathe.Text{Text: "\nFirst.\nSecond."}, call("read", `{}`, `{}`),
				call("bash", `{"command":"go test ./..."}`, `{"exit":1}`), call("bash", `{"command":"go test ./..."}`, `{"exit":0}`),
				call("bash", `{"command":"ls"}`, `{"exit":0}`), &lathe.StepFinish{}, &lathe.Patch{Files: []string{"/p/a"}}),
			lathe.Step{
				Message: "a", Kind: lathe.ModelStep, Text: "First.", Model: "p/m", Files: []string{"/p/a"}, Tools: []string{"read"}, Cost: 0.5,
				Commands: []lathe.StepCommand{
					{Command: "go test ./...", Exit: &one, Tests: "failed"}, {Command: "go test ./...", Exit: &zero, Tests: "passed"}, {Command: "ls", Exit: &zero},
				},
			},
		},
		"hostile": {
			answer("a", lathe.Assistant{Model: ref}, &lathe.Text{Text: strings.Repeat("ä", 500)}, call("bash", `[`, `{"exit":"no"}`), &lathe.StepFinish{}),
			lathe.Step{
				Message: "a", Kind: lathe.ModelStep, Text: strings.Repeat("ä", maxLine/2) + "…", Model: "p/m", Files: []string{}, Tools: []string{},
				Commands: []lathe.StepCommand{{}},
			},
		},
		"shell": {
			answer("a", lathe.Assistant{Model: ref}, call("bash", `{"command":"make"}`, `{}`)),
			lathe.Step{Message: "a", Kind: lathe.ShellStep, Model: "p/m", Files: []string{}, Tools: []string{}, Commands: []lathe.StepCommand{{Command: "make"}}},
		},
		"cut off": {
			answer("a", lathe.Assistant{Model: ref}, &lathe.StepStart{}, call("bash", `{"command":"make"}`, `{}`)),
			lathe.Step{Message: "a", Kind: lathe.ModelStep, Model: "p/m", Files: []string{}, Tools: []string{}, Commands: []lathe.StepCommand{{Command: "make"}}},
		},
		"summary": {
			answer("a", lathe.Assistant{Model: ref, Summary: lathe.Yes}, &lathe.StepFinish{}),
			lathe.Step{Message: "a", Kind: lathe.CompactionStep, Model: "p/m", Files: []string{}, Tools: []string{}, Commands: []lathe.StepCommand{}},
		},
	} {
		if diff := cmp.Diff(c.want, Describe(c.of)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	many := answer("a", lathe.Assistant{}, &lathe.Patch{Files: make([]string, 10*maxItems)})
	if n := len(Describe(many).Files); n != maxItems {
		t.Errorf("%d files", n)
	}
	if got := clip("\xff\xfe" + strings.Repeat("x", 300)); !utf8.ValidString(got) {
		t.Errorf("%q is not valid", got)
	}
}

// A rewind to a step undoes everything after it, wherever the step is in its exchange.
func TestFind(t *testing.T) {
	t.Parallel()
	var list []*history.Message
	for _, id := range []lathe.MessageID{"u1", "a1", "a2", "u2", "a3"} {
		m := &history.Message{Message: lathe.Message{ID: id, Data: &lathe.User{}}}
		if id[0] == 'a' {
			m.Data = &lathe.Assistant{}
		}
		list = append(list, m)
	}
	for step, want := range []lathe.MessageID{"u1", "a2", "u2", ""} {
		got, err := Find(list, step)
		if err != nil || got.Message != want || got.After != 3-step {
			t.Errorf("step %d: %+v %v, want %q", step, got, err, want)
		}
		if want != "" && StepOf(list, want) != step {
			t.Errorf("%s is at step %d", want, StepOf(list, want))
		}
	}
	for _, step := range []int{-1, 4} {
		if _, err := Find(list, step); lathe.CodeOf(err) != lathe.NotFound {
			t.Errorf("step %d: %v", step, err)
		}
	}
}

// Steps without snapshots are named by their numbers, in ranges.
func TestNumbers(t *testing.T) {
	t.Parallel()
	var messages []*history.Message
	for _, id := range []lathe.MessageID{"c", "p", "d", "e", "f"} {
		m := answer(id, lathe.Assistant{})
		if id == "p" {
			m.Data = &lathe.User{}
		}
		messages = append(messages, &history.Message{Message: m})
	}
	for name, c := range map[string]struct {
		keys []string
		want []int
		text string
	}{
		"one":        {[]string{"d"}, []int{4}, "step 4"},
		"a range":    {[]string{"d", "e", "f"}, []int{4, 5, 6}, "steps 4 to 6"},
		"a gap":      {[]string{"f", "d", "c"}, []int{3, 4, 6}, "steps 3 to 4, 6"},
		"a subagent": {[]string{"e", "x", "y"}, []int{3, 5}, "steps 3, 5"},
		"both":       {[]string{"x", "c"}, []int{3}, "step 3"},
	} {
		got := Numbers(messages, 2, c.keys)
		if d := cmp.Diff(c.want, got); d != "" || Ranges(got) != c.text {
			t.Errorf("%s: %s (%s)", name, d, Ranges(got))
		}
	}
	if got := Numbers(messages, 2, nil); got != nil {
		t.Errorf("without keys: %v", got)
	}
	var odd []int
	for n := 1; n < 1000; n += 2 {
		odd = append(odd, n)
	}
	if got := Ranges(odd); got != "steps 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …" {
		t.Errorf("many: %s", got)
	}
}

// The time for the numbers of a long session's steps grows with their number alone.
func BenchmarkNumbers(b *testing.B) {
	const steps = 100_000
	var messages []*history.Message
	var keys []string
	for i := range steps {
		id := "msg_" + strconv.Itoa(i)
		messages, keys = append(messages, &history.Message{Message: answer(lathe.MessageID(id), lathe.Assistant{})}), append(keys, id)
	}
	for b.Loop() {
		if got := Ranges(Numbers(messages, 0, keys)); got != "steps 1 to 100000" {
			b.Fatal(got)
		}
	}
}
