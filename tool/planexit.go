package tool

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

//go:embed planexit.md
var planExitText string

// PlanConfig is what the plan_exit tool needs of the engine.
type PlanConfig struct {
	// File is the session's plan, a path as users know it.
	File func(c *Call) string
	// Build makes the session go on with the agent build after this step: it appends a user
	// message of that agent, with the model of the last one and this text as a synthetic part.
	Build func(ctx context.Context, c *Call, text string) error
}

// PlanExit returns the tool that ends planning. It is false where sessions cannot change their
// agent: there is no such tool then.
func PlanExit(cfg PlanConfig) (Tool, bool) {
	if cfg.File == nil || cfg.Build == nil {
		return nil, false
	}
	spec := Spec{Name: "plan_exit", Description: strings.TrimSpace(planExitText)}
	return Define(spec, func(ctx context.Context, c *Call, _ struct{}) (Result, error) {
		file := cfg.File(c)
		answers, err := c.Host.Question(ctx, []lathe.Question{{
			Question: fmt.Sprintf("The plan %s is complete. Shall the build agent carry it out?", file),
			Header:   "Build Agent", Custom: lathe.No,
			Options: []lathe.Option{
				{Label: "Yes", Description: "Go over to the build agent and begin"},
				{Label: "No", Description: "Stay with the plan agent and work on the plan"},
			},
		}})
		if err != nil {
			return Result{}, err
		}
		if len(answers) != 1 || !slices.Equal(answers[0], []string{"Yes"}) {
			return Result{}, lathe.Errorf(lathe.Rejected, "The user dismissed the question: the plan is not to be carried out yet.")
		}
		if err := cfg.Build(ctx, c, fmt.Sprintf("The plan %s is approved, and files may be changed now. Carry it out.", file)); err != nil {
			return Result{}, err
		}
		return Result{
			Title:  "Switching to the build agent",
			Output: "The user approved the plan, and the build agent takes over. Do nothing more in this step.",
		}, nil
	}), true
}
