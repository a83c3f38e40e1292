package tool_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

func TestPlanExit(t *testing.T) {
	failed := errors.New("no build agent")
	for _, tt := range []struct {
		answers [][]string
		build   error
		output  string
		built   []string
		code    lathe.Code
	}{
		{[][]string{{"Yes"}}, nil, "The user approved the plan, and the build agent takes over. Do nothing more in this step.", []string{"The plan plans/1-a.md is approved, and files may be changed now. Carry it out."}, ""},
		{[][]string{{"No"}}, nil, "", nil, lathe.Rejected},
		{[][]string{{}}, nil, "", nil, lathe.Rejected},
		{[][]string{{"Yes", "No"}}, nil, "", nil, lathe.Rejected},
		{nil, nil, "", nil, lathe.Rejected},
		{[][]string{{"Yes"}}, failed, "", []string{"The plan plans/1-a.md is approved, and files may be changed now. Carry it out."}, lathe.CodeOf(failed)},
	} {
		c := newClerk(t)
		c.answers = tt.answers
		var built []string
		x, ok := tool.PlanExit(tool.PlanConfig{
			File: func(*tool.Call) string { return "plans/1-a.md" },
			Build: func(_ context.Context, _ *tool.Call, text string) error {
				built = append(built, text)
				return tt.build
			},
		})
		if !ok {
			t.Fatal("there is no tool")
		}
		r, err := c.run(x, in{})
		if r.Output != tt.output || (tt.code == "") != (err == nil) || err != nil && lathe.CodeOf(err) != tt.code {
			t.Errorf("%v: %+v %v", tt.answers, r, err)
		}
		if tt.code == lathe.Rejected {
			contains(t, err.Error(), "user dismissed")
		}
		if diff := cmp.Diff(tt.built, built); diff != "" {
			t.Error(diff)
		}
		asked := []lathe.Question{{
			Question: "The plan plans/1-a.md is complete. Shall the build agent carry it out?", Header: "Build Agent", Custom: lathe.No,
			Options: []lathe.Option{{Label: "Yes", Description: "Go over to the build agent and begin"}, {Label: "No", Description: "Stay with the plan agent and work on the plan"}},
		}}
		if diff := cmp.Diff(asked, c.questions); diff != "" || len(c.asked) > 0 {
			t.Error(diff, c.asked)
		}
	}
}

// Without a way to change the agent there is no such tool.
func TestPlanExit_Absent(t *testing.T) {
	if x, ok := tool.PlanExit(tool.PlanConfig{File: func(*tool.Call) string { return "" }}); ok || x != nil {
		t.Error("there is a tool")
	}
}
