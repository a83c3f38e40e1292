package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

//go:embed planexit.md
var planExitText string

//go:embed planenter.md
var planEnterText string

// PlanExit returns the tool that ends planning: if the user agrees, the build agent continues.
func PlanExit() tool.Tool {
	spec := tool.Spec{Name: "plan_exit", Description: strings.TrimSpace(planExitText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		file := c.Host.PlanFile()
		err := agree(ctx, c, lathe.Question{
			Question: fmt.Sprintf("The plan %s is complete. Shall the build agent carry it out?", file), Header: "Build Agent",
			Options: []lathe.Option{
				{Label: "Yes", Description: "Go over to the build agent and begin"},
				{Label: "No", Description: "Stay with the plan agent and work on the plan"},
			},
		}, "the plan is not to be carried out yet.")
		if err != nil {
			return tool.Result{}, err
		}
		if err := c.Host.SwitchAgent(ctx, "build", fmt.Sprintf("The plan %s is approved, and files may be changed now. Carry it out.", file)); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{
			Title:  "Switching to the build agent",
			Output: "The user approved the plan, and the build agent takes over. Do nothing more in this step.",
		}, nil
	})
}

// PlanEnter returns the tool that begins planning: if the user agrees, the plan agent continues.
func PlanEnter() tool.Tool {
	spec := tool.Spec{Name: "plan_enter", Description: strings.TrimSpace(planEnterText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		file := c.Host.PlanFile()
		err := agree(ctx, c, lathe.Question{
			Question: fmt.Sprintf("Shall the plan agent work out a plan first, in %s?", file), Header: "Plan Agent",
			Options: []lathe.Option{
				{Label: "Yes", Description: "Go over to the plan agent, which changes nothing else"},
				{Label: "No", Description: "Stay with the build agent"},
			},
		}, "continue without a plan.")
		if err != nil {
			return tool.Result{}, err
		}
		if err := c.Host.SwitchAgent(ctx, "plan", "The user wants a plan first. Work it out for what was asked."); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{
			Title:  "Switching to the plan agent",
			Output: "The user agreed, and the plan agent takes over. Do nothing more in this step.",
		}, nil
	})
}

// agree asks a question whose answer must be Yes. Anything else ends the turn, as a question
// does that is dismissed: the user has something else in mind.
func agree(ctx context.Context, c *tool.Call, q lathe.Question, otherwise string) error {
	q.Custom = lathe.No
	answers, err := c.Host.AskUser(ctx, []lathe.Question{q})
	if err != nil {
		return err
	}
	if len(answers) != 1 || !slices.Equal(answers[0], []string{"Yes"}) {
		return lathe.Errorf(lathe.Rejected, "The user dismissed the question: %s", otherwise)
	}
	return nil
}
