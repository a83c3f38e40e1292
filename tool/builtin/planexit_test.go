package builtin_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

func TestPlan_Switch(t *testing.T) {
	failed := errors.New("no build agent")
	approved := "build: The plan plans/1-a.md is approved, and files may be changed now. Carry it out."
	asksBuild := lathe.Question{
		Question: "The plan plans/1-a.md is complete. Shall the build agent carry it out?", Header: "Build Agent",
		Options: []lathe.Option{{Label: "Yes", Description: "Go over to the build agent and begin"}, {Label: "Yes, accept edits", Description: "Begin, and accept all edits in the project in this session"}, {Label: "No", Description: "Stay with the plan agent and work on the plan"}},
	}
	asksPlan := lathe.Question{
		Question: "Shall the plan agent work out a plan first, in plans/1-a.md?", Header: "Plan Agent", Custom: lathe.No,
		Options: []lathe.Option{{Label: "Yes", Description: "Go over to the plan agent, which changes nothing else"}, {Label: "No", Description: "Stay with the build agent"}},
	}
	for _, tt := range []struct {
		tool     tool.Tool
		asks     lathe.Question
		answers  [][]string
		fails    error
		output   string
		switched []string
		code     lathe.Code
	}{
		{builtin.PlanExit(), asksBuild, [][]string{{"Yes"}}, nil, "The user approved the plan, and the build agent takes over. Do nothing more in this step.", []string{approved}, ""},
		{builtin.PlanExit(), asksBuild, [][]string{{"Yes, accept edits"}}, nil, "The user approved the plan, and the build agent takes over. Do nothing more in this step.", []string{approved}, ""},
		{builtin.PlanExit(), asksBuild, [][]string{{"first the tests"}}, nil, "Kept planning: the user did not approve the plan yet and says: first the tests\nRevise the plan, then call plan_exit again.", nil, ""},
		{builtin.PlanExit(), asksBuild, [][]string{{"No"}}, nil, "", nil, lathe.Rejected},
		{builtin.PlanExit(), asksBuild, [][]string{{}}, nil, "", nil, lathe.Rejected},
		{builtin.PlanExit(), asksBuild, [][]string{{"Yes", "No"}}, nil, "", nil, lathe.Rejected},
		{builtin.PlanExit(), asksBuild, nil, nil, "", nil, lathe.Rejected},
		{builtin.PlanExit(), asksBuild, [][]string{{"Yes"}}, failed, "", []string{approved}, lathe.CodeOf(failed)},
		{builtin.PlanEnter(), asksPlan, [][]string{{"Yes"}}, nil, "The user agreed, and the plan agent takes over. Do nothing more in this step.", []string{"plan: The user wants a plan first. Work it out for what was asked."}, ""},
		{builtin.PlanEnter(), asksPlan, [][]string{{"No"}}, nil, "", nil, lathe.Rejected},
	} {
		c := tooltest.NewUserHost(t)
		c.Answers, c.Plan, c.SwitchErr = tt.answers, "plans/1-a.md", tt.fails
		r, err := c.Run(tt.tool, tooltest.Input{})
		if r.Output != tt.output || (tt.code == "") != (err == nil) || err != nil && lathe.CodeOf(err) != tt.code {
			t.Errorf("%v: %+v %v", tt.answers, r, err)
		}
		if tt.code == lathe.Rejected {
			tooltest.Contains(t, err.Error(), map[bool]string{true: "Kept planning", false: "user dismissed"}[tt.asks.Header == "Build Agent"])
		}
		if diff := cmp.Diff(tt.switched, c.Switched); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]lathe.Question{tt.asks}, c.Questions); diff != "" || len(c.Asked) > 0 {
			t.Error(diff, c.Asked)
		}
	}
}

// The plan is shown with the question, and a plan that the user edited meanwhile is read again.
func TestPlan_Edited(t *testing.T) {
	c := tooltest.NewUserHost(t)
	c.Plan, c.Answers = "plan.md", [][]string{{"Yes"}}
	c.Put("plan.md", "# Plan\n")
	c.OnQuestion = func() { c.Put("plan.md", "# Another plan\n") }
	if _, err := c.Run(builtin.PlanExit(), tooltest.Input{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"build: The user edited the plan plan.md and approved it. Read it again, then carry it out. Files may be changed now."}; !cmp.Equal(c.Switched, want) {
		t.Error(c.Switched)
	}
}
