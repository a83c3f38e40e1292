package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

//go:embed task.md
var taskText string

// taskBeside is said of the task tool where tasks may run in the background.
const taskBeside = "\n- `background` lets you go on at once. The report comes by itself as a message: do not wait, poll or repeat the work."

// TaskConfig is what the task tool is told about its surroundings.
type TaskConfig struct {
	Background bool // a task may run while its caller goes on
}

// Assignment is work for another agent.
type Assignment struct {
	Agent       string
	Description string // a few words for people
	Prompt      string // all that the agent is told
	Resume      lathe.SessionID
	Background  bool
	// Unasked says that the user wants it: no permission is needed.
	Unasked bool
}

// The states of a task.
const (
	TaskCompleted = "completed"
	TaskRunning   = "running"     // in the background
	TaskPartial   = "partial"     // its steps are used up
	TaskFailed    = "error"       //
	TaskCancelled = "cancelled"   // by a person
	TaskCutOff    = "interrupted" // its process ended
)

// Report is what became of an [Assignment].
type Report struct {
	Session  lathe.SessionID
	State    string
	Text     string // the agent's words, or what went wrong
	Steps    int
	Tokens   int64
	Files    []string        // that it changed
	Metadata json.RawMessage // an object, for clients
}

// Failed reports whether the task did not come to its end.
func (r Report) Failed() bool {
	return r.State == TaskFailed || r.State == TaskCancelled || r.State == TaskCutOff
}

// Envelope is the report as a model reads it. What the agent wrote cannot close it.
func (r Report) Envelope() string {
	tag := "task_result"
	if r.Failed() {
		tag = "task_error"
	}
	text := strings.ReplaceAll(strings.TrimSpace(r.Text), "</task", "<\\/task")
	return fmt.Sprintf("<task id=%q state=%q>\n<%s>\n%s\n</%s>\n%s</task>", r.Session, r.State, tag, text, tag, r.footer())
}

// footer says what the task took and changed.
func (r Report) footer() string {
	if r.Steps == 0 && r.Tokens == 0 && len(r.Files) == 0 {
		return ""
	}
	line := fmt.Sprintf("%d steps, %d tokens", r.Steps, r.Tokens)
	if r.Steps == 1 {
		line = fmt.Sprintf("1 step, %d tokens", r.Tokens)
	}
	if len(r.Files) > 0 {
		line += ", changed " + strings.Join(r.Files, ", ")
	}
	return line + "\n"
}

type taskInput struct {
	Description string `json:"description" jsonschema:"3 to 5 words for the user: find retry code"`
	Prompt      string `json:"prompt" jsonschema:"the whole brief"`
	Agent       string `json:"subagent_type" jsonschema:"the agent, by its name"`
	TaskID      string `json:"task_id,omitempty" jsonschema:"id of a task to go on with"`
}

type taskBesideInput struct {
	taskInput
	Background bool `json:"background,omitempty" jsonschema:"do not wait for the report"`
}

// Task returns the tool that hands work to other agents. Which there are is added to its text
// by whoever shows it to a model.
func Task(cfg TaskConfig) Tool {
	spec := Spec{Name: "task", Description: strings.TrimSpace(taskText), Agent: true}
	if !cfg.Background {
		return Define(spec, func(ctx context.Context, c *Call, in taskInput) (Result, error) { return runTask(ctx, c, in, false) })
	}
	spec.Description += taskBeside
	return Define(spec, func(ctx context.Context, c *Call, in taskBesideInput) (Result, error) {
		return runTask(ctx, c, in.taskInput, in.Background)
	})
}

func runTask(ctx context.Context, c *Call, in taskInput, background bool) (Result, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return Result{}, invalidArguments("task", Faults{{"prompt", "is empty; say the goal, what is known, and the form of the answer"}})
	}
	in.Description = strings.TrimSpace(in.Description)
	r, err := c.Host.Delegate(ctx, Assignment{
		Agent: in.Agent, Description: in.Description, Prompt: in.Prompt,
		Resume: lathe.SessionID(strings.TrimSpace(in.TaskID)), Background: background, Unasked: c.Mentioned,
	})
	if err != nil {
		return Result{}, err
	}
	if r.Failed() {
		return Result{}, Failf("%s", r.Envelope())
	}
	return Result{Title: in.Description, Output: r.Envelope(), Metadata: r.Metadata}, nil
}
