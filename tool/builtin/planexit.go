package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

//go:embed planexit.md
var planExitText string

//go:embed planenter.md
var planEnterText string

// The answers to the question about a plan. Any other text continues the planning with it.
const (
	planYes      = "Yes"
	planYesEdits = "Yes, accept edits"
	planNo       = "No"
)

// editAccepter is a host that can accept all edits of the session.
type editAccepter interface {
	AcceptEdits(ctx context.Context) error
}

// PlanExit returns the tool that ends planning: if the user agrees, the build agent continues. The plan is in the
// metadata of the running call, for clients to show.
func PlanExit() tool.Tool {
	spec := tool.Spec{Name: "plan_exit", Description: strings.TrimSpace(planExitText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		file := c.Host.PlanFile()
		plan := readPlan(c.Dir, file)
		if plan != "" {
			meta := lathe.AppendJSONString([]byte(`{"plan":`), plan)
			c.Host.Progress("", append(lathe.AppendJSONString(append(meta, `,"planFile":`...), file), '}'))
		}
		answers, err := c.Host.AskUser(ctx, []lathe.Question{{
			Question: fmt.Sprintf("The plan %s is complete. Shall the build agent carry it out?", file), Header: "Build Agent",
			Options: []lathe.Option{
				{Label: planYes, Description: "Go over to the build agent and begin"},
				{Label: planYesEdits, Description: "Begin, and accept all edits in the project in this session"},
				{Label: planNo, Description: "Stay with the plan agent and work on the plan"},
			},
		}})
		if err != nil {
			return tool.Result{}, err
		}
		answer := ""
		if len(answers) == 1 && len(answers[0]) == 1 {
			answer = strings.TrimSpace(answers[0][0])
		}
		switch answer {
		case planYes, planYesEdits:
			return approvePlan(ctx, c, file, plan != readPlan(c.Dir, file), answer == planYesEdits)
		case planNo, "":
			return tool.Result{}, lathe.Errorf(lathe.Rejected, "Kept planning: the user did not approve the plan yet.")
		}
		return tool.Result{
			Title:  "Kept planning",
			Output: "Kept planning: the user did not approve the plan yet and says: " + answer + "\nRevise the plan, then call plan_exit again.",
		}, nil
	})
}

// approvePlan lets the build agent carry out the plan.
func approvePlan(ctx context.Context, c *tool.Call, file string, edited, accept bool) (tool.Result, error) {
	if h, ok := c.Host.(editAccepter); ok && accept {
		if err := h.AcceptEdits(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	text := fmt.Sprintf("The plan %s is approved, and files may be changed now. Carry it out.", file)
	if edited {
		text = fmt.Sprintf("The user edited the plan %s and approved it. Read it again, then carry it out. Files may be changed now.", file)
	}
	if err := c.Host.SwitchAgent(ctx, "build", text); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{
		Title:  "Switching to the build agent",
		Output: "The user approved the plan, and the build agent takes over. Do nothing more in this step.",
	}, nil
}

// maxPlan is how much of a plan is shown, in bytes.
const maxPlan = 128 << 10

// readPlan returns the text of a plan, "" if it cannot be read.
func readPlan(dir, file string) string {
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxPlan)) // a part is better than nothing
	return strings.ToValidUTF8(string(text), "\uFFFD")
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
