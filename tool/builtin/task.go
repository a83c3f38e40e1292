package builtin

import (
	"context"
	_ "embed"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

//go:embed task.md
var taskText string

// taskInBackground is the description of the task tool where tasks may run in the background.
const taskInBackground = "\n- `background` lets you continue at once. The report comes as a message: do not wait, poll or repeat the work."

// TaskConfig configures the task tool.
type TaskConfig struct {
	Background bool // a task may run while its caller continues
}

type taskInput struct {
	Description string `json:"description" jsonschema:"3 to 5 words for the user: find retry code"`
	Prompt      string `json:"prompt" jsonschema:"the whole brief"`
	Agent       string `json:"subagent_type" jsonschema:"the agent, by its name"`
	TaskID      string `json:"task_id,omitempty" jsonschema:"id of a task to go on with"`
	Isolation   string `json:"isolation,omitempty" jsonschema:"worktree: the agent works in its own copy of the checkout, which the user merges"`
}

type taskBackgroundInput struct {
	taskInput
	Background bool `json:"background,omitempty" jsonschema:"do not wait for the report"`
}

// Task returns the tool that hands work to other agents. The caller that shows it to a model
// adds the list of agents to its text.
func Task(cfg TaskConfig) tool.Tool {
	spec := tool.Spec{Name: "task", Description: strings.TrimSpace(taskText), Agent: true}
	if !cfg.Background {
		return tool.Define(spec, func(ctx context.Context, c *tool.Call, in taskInput) (tool.Result, error) {
			return runTask(ctx, c, in, false)
		})
	}
	spec.Description += taskInBackground
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in taskBackgroundInput) (tool.Result, error) {
		return runTask(ctx, c, in.taskInput, in.Background)
	})
}

func runTask(ctx context.Context, c *tool.Call, in taskInput, background bool) (tool.Result, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return tool.Result{}, tool.InvalidArguments("task", args.Faults{{Path: "prompt", Problem: "is empty; say the goal, what is known, and the form of the answer"}})
	}
	if in.Isolation != "" && in.Isolation != "none" && in.Isolation != "worktree" {
		return tool.Result{}, tool.InvalidArguments("task", args.Faults{{Path: "isolation", Problem: "must be worktree, or left out"}})
	}
	in.Description = strings.TrimSpace(in.Description)
	r, err := c.Host.Delegate(ctx, tool.Assignment{
		Agent: in.Agent, Description: in.Description, Prompt: in.Prompt,
		Resume: lathe.SessionID(strings.TrimSpace(in.TaskID)), Background: background, Preapproved: c.Mentioned, Isolated: in.Isolation == "worktree",
	})
	if err != nil {
		return tool.Result{}, err
	}
	if r.Failed() {
		return tool.Result{}, tool.Failf("%s", r.Envelope())
	}
	return tool.Result{Title: in.Description, Output: r.Envelope(), Metadata: r.Metadata}, nil
}
