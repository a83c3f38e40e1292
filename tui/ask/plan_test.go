package ask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/styletest"
)

const planText = "# Plan\n\n1. Find the greeting.\n2. Write **Hello**.\n\n```go\nfmt.Println(\"Hello\")\n```\n"

func TestPlan_Golden(t *testing.T) {
	p := ask.NewPlan(styletest.Keys(t), planText, ".lathe/plans/1-hello.md")
	golden(t, "plan", p)
	send(p, "4", "enter")
	p.Paste("first a test")
	golden(t, "plan-words", p)
	golden(t, "plan-long", ask.NewPlan(styletest.Keys(t), planText+strings.Repeat("- one more step\n", 60), "plan.md"))
}

// Each button has its answer, and words approve nothing.
func TestPlan_Answers(t *testing.T) {
	answer := func(text string) ask.Result { return ask.Answer{Answers: [][]string{{text}}} }
	for _, c := range []struct {
		keys string
		out  ask.Result
	}{
		{"enter", answer("Yes")},
		{"2 enter", answer("Yes, accept edits")},
		{"right enter", answer("Yes, accept edits")},
		{"3 enter", ask.EditPlan{}},
		{"4 enter", ask.None{}},
		{"4 enter enter", answer("No")},
		{"esc enter", answer("No")},
		{"4 enter n o t enter", answer("not")},
		{"w h y enter", answer("why")},
		{"Y e s enter", answer("No")}, // no word is a label
		{"w esc enter", ask.None{}},
		{"down pgdown end home", ask.None{}},
		{"ctrl+p", ask.Unused{}},
	} {
		p := ask.NewPlan(styletest.Keys(t), planText, "plan.md")
		frame(t, p, 80, 20)
		t.Run(c.keys, func(t *testing.T) { want(t, send(p, strings.Fields(c.keys)...), c.out) })
	}
	p := ask.NewPlan(styletest.Keys(t), planText, "plan.md")
	p.StartGuard(start)
	for range 3 { // keys of the first moment belong to the prompt
		want(t, p.Key(styletest.Press("y"), start), ask.None{})
	}
	want(t, p.Key(styletest.Press("enter"), ready), ask.None{}) // nothing is selected
	p.Paste("Yes\n")
	want(t, p.Key(styletest.Press("enter"), ready), answer("No"))
}

func TestPlan_OfAnotherCall(t *testing.T) {
	q := &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{Questions: []lathe.Question{{Options: []lathe.Option{{Label: "Yes"}, {Label: "Yes, accept edits"}, {Label: "No"}}}}}}
	call := &lathe.ToolCall{Tool: "plan_exit", State: &lathe.Running{Metadata: json.RawMessage(`{"plan":"# P","planFile":"p.md"}`)}}
	if text, file, ok := ask.PlanOf(call, q); !ok || text != "# P" || file != "p.md" {
		t.Error(text, file, ok)
	}
	for _, c := range []*lathe.ToolCall{
		{Tool: "question", State: call.State}, {Tool: "plan_exit", State: &lathe.Completed{}}, {Tool: "plan_exit", State: &lathe.Running{Metadata: json.RawMessage(`{"plan":7}`)}},
	} {
		if _, _, ok := ask.PlanOf(c, q); ok {
			t.Errorf("%+v has a plan", c)
		}
	}
	if _, _, ok := ask.PlanOf(call, &lathe.QuestionAsked{}); ok {
		t.Error("another question has a plan")
	}
}
