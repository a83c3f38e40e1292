package tool_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

func TestPlan_Switch(t *testing.T) {
	failed := errors.New("no build agent")
	approved := "build: The plan plans/1-a.md is approved, and files may be changed now. Carry it out."
	asksBuild := lathe.Question{
		Question: "The plan plans/1-a.md is complete. Shall the build agent carry it out?", Header: "Build Agent", Custom: lathe.No,
		Options: []lathe.Option{{Label: "Yes", Description: "Go over to the build agent and begin"}, {Label: "No", Description: "Stay with the plan agent and work on the plan"}},
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
		{tool.PlanExit(), asksBuild, [][]string{{"Yes"}}, nil, "The user approved the plan, and the build agent takes over. Do nothing more in this step.", []string{approved}, ""},
		{tool.PlanExit(), asksBuild, [][]string{{"No"}}, nil, "", nil, lathe.Rejected},
		{tool.PlanExit(), asksBuild, [][]string{{}}, nil, "", nil, lathe.Rejected},
		{tool.PlanExit(), asksBuild, [][]string{{"Yes", "No"}}, nil, "", nil, lathe.Rejected},
		{tool.PlanExit(), asksBuild, nil, nil, "", nil, lathe.Rejected},
		{tool.PlanExit(), asksBuild, [][]string{{"Yes"}}, failed, "", []string{approved}, lathe.CodeOf(failed)},
		{tool.PlanEnter(), asksPlan, [][]string{{"Yes"}}, nil, "The user agreed, and the plan agent takes over. Do nothing more in this step.", []string{"plan: The user wants a plan first. Work it out for what was asked."}, ""},
		{tool.PlanEnter(), asksPlan, [][]string{{"No"}}, nil, "", nil, lathe.Rejected},
	} {
		c := newClerk(t)
		c.answers, c.plan, c.onSwitch = tt.answers, "plans/1-a.md", tt.fails
		r, err := c.run(tt.tool, in{})
		if r.Output != tt.output || (tt.code == "") != (err == nil) || err != nil && lathe.CodeOf(err) != tt.code {
			t.Errorf("%v: %+v %v", tt.answers, r, err)
		}
		if tt.code == lathe.Rejected {
			contains(t, err.Error(), "user dismissed")
		}
		if diff := cmp.Diff(tt.switched, c.switched); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]lathe.Question{tt.asks}, c.questions); diff != "" || len(c.asked) > 0 {
			t.Error(diff, c.asked)
		}
	}
}
