package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
)

// afterCommand asks for a text after a task from a slash command.
const afterCommand = "Summarize the result of the task above for the user, and continue the work if some is left."

// subtask runs the first of the tasks a prompt holds; the others have their turn in the rounds
// that follow. It is its own answer with one call of the task tool, as if the agent had made
// it: hooks, deadline and progress are those of any call.
func (r *runner) subtask(ctx context.Context, s state, parts []lathe.Part) error {
	if r.stepConfig.err != nil {
		return r.refuse(ctx, s, r.stepConfig.err)
	}
	st, c, err := r.prepareTask(ctx, s, parts[0].Body.(*lathe.Subtask))
	if err != nil {
		return r.refuse(ctx, s, err)
	}
	defer st.queue.close()
	ctx, cancel := st.ledger.start(ctx)
	defer cancel()
	st.start(ctx, fold.StartTool{Call: c})
	st.queue.put(streamEnded{}) // no model answers
	if err := st.follow(ctx); err != nil {
		return st.fail(ctx, err)
	}
	a := *st.fold.Message.Data.(*lathe.Assistant)
	a.Finish = model.FinishCalls
	st.fold.Message.Data = &a
	st.fold.Close(r.engine.now(), nil)
	if err := st.end(ctx, nil); err != nil || len(parts) > 1 || parts[0].Body.(*lathe.Subtask).Command == "" {
		return err
	}
	return r.log.write(ctx, r.log.message(r.engine.now(), samePrompt(r.user.Data.(*lathe.User)), history.Synthetic(afterCommand))...)
}

// prepareTask makes the step of a task, and writes its answer down with the call.
func (r *runner) prepareTask(ctx context.Context, s state, t *lathe.Subtask) (*stepRun, *fold.Call, error) {
	st := r.newStepRun(s)
	st.userInvoked, st.mentioned, st.queue = true, true, newStepQueue()
	if err := st.loadPermissions(ctx); err != nil {
		return nil, nil, err
	}
	m := r.newAnswer(s)
	a := m.Data.(*lathe.Assistant)
	if a.Agent, a.Mode = t.Agent, t.Agent; t.Model != nil {
		a.Model = *t.Model
	}
	st.fold = &fold.Fold{IDs: r.engine.ids, Message: m}
	st.fold.Reset()
	input, _ := json.Marshal(struct {
		Prompt      string `json:"prompt"`
		Description string `json:"description"`
		Agent       string `json:"subagent_type"`
		Command     string `json:"command,omitempty"`
	}{t.Prompt, t.Description, t.Agent, t.Command})
	now := r.engine.now()
	c := &fold.Call{Called: true, Tool: taskTool(st.tools), Part: st.fold.NewPart(&lathe.ToolCall{
		CallID: r.engine.ids.CallID(), Tool: fold.TaskTool, State: &lathe.Running{Input: input, Title: t.Description, Start: now},
	})}
	st.fold.Order = append(st.fold.Order, c)
	err := r.log.write(ctx, r.log.busyFact(), &lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: c.Part, Time: now})
	if h := r.log.mem.ByID[m.ID]; h != nil {
		st.fold.Message.Created = h.Created
	}
	return st, c, err
}

// taskTool is the tool for tasks as a prompt uses it, which may although no model is shown it.
func taskTool(all *tool.Set) tool.Tool {
	if all != nil {
		if t, ok := all.Find(fold.TaskTool); ok {
			return promptedTask{t}
		}
	}
	return promptedTask{builtin.Task(builtin.TaskConfig{})}
}

// promptedTask says of a failure what clients know.
type promptedTask struct{ tool.Tool }

func (t promptedTask) Run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	res, err := t.Tool.Run(ctx, c)
	switch {
	case err == nil:
		return res, nil
	case lathe.CodeOf(err) == lathe.Canceled:
		return res, &permission.Refusal{Code: lathe.Canceled, Mark: history.InterruptedMark, Text: "Cancelled"}
	default:
		return res, tool.Failf("Tool execution failed: %w", err)
	}
}

// pendingTasks are the tasks of a prompt that have no answer yet. Each has one of its own, in
// their order, before anything else is answered.
func pendingTasks(prompt *history.Message, answers []*history.Message) []lathe.Part {
	tasks := history.Tasks(prompt)
	if slices.ContainsFunc(answers, func(h *history.Message) bool { return !isTask(h) }) {
		return nil
	}
	return tasks[min(len(answers), len(tasks)):]
}

// tasksLeft are the tasks of a prompt that were still to come when the one before them was cut
// off with its process; that one is an answer already.
func tasksLeft(prompt lathe.Message, messages []lathe.Message) []lathe.Part {
	from := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == prompt.ID })
	var answers []*history.Message
	for _, m := range messages[from+1:] {
		answers = append(answers, &history.Message{Message: m})
	}
	left := slices.Clone(pendingTasks(&history.Message{Message: prompt}, answers))
	for i := range left {
		left[i] = lathe.Part{Body: left[i].Body}
	}
	return left
}

// isTask reports whether an answer is the call of a task that a prompt held.
func isTask(h *history.Message) bool {
	return len(h.Parts) > 0 && !slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		c, ok := p.Body.(*lathe.ToolCall)
		return !ok || c.Tool != fold.TaskTool
	})
}
