package engine

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/tool"
)

// start runs the tool of a call beside the stream.
func (s *stepRun) start(ctx context.Context, w fold.StartTool) {
	s.fold.ToolsStarted = true
	s.running++
	t, c := w.Call.Tool, s.newCall(w.Call)
	h := c.Host.(*host)
	s.lastCall = c
	h.queue.calls.Add(1)
	s.engine.work.Go(func() {
		defer h.countOut()
		ctx, end := s.engine.telemetry.Tool(ctx, t.Spec().Name, c.Session, c.ID)
		res, err := h.runBounded(ctx, t, c, w.Repeated)
		end(err)
		h.queue.put(toolEnded{w.Call, fold.Outcome{Result: res, Err: err, Waits: h.clock.Waits()}})
	})
}

// newCall is the call as its tool sees it.
func (s *stepRun) newCall(c *fold.Call) *tool.Call {
	return &tool.Call{
		Session: s.session.ID, Message: s.fold.Message.ID, ID: c.Body().CallID, Agent: s.agent.Name, Model: s.model.Ref,
		Dir: s.place.Directory, Root: s.place.Worktree, Input: history.InputOf(c.Body().State), Mentioned: s.mentioned, External: s.settings.Outside,
		Host: &host{
			step: s.stepInput, queue: s.queue, call: c, evaluator: s.asks.evaluator, snap: s.snap, stepClock: s.ledger.clock,
			model: s.fold.Message.Data.(*lathe.Assistant).Model, by: lathe.ToolRef{Message: s.fold.Message.ID, Call: c.Body().CallID},
		},
	}
}

// run takes a call through its hooks, its rules and its tool. It is in its own goroutine and
// writes nothing.
func (h *host) run(ctx context.Context, t tool.Tool, c *tool.Call, repeated int) (tool.Result, error) {
	s, spec, hooks := h.step, t.Spec(), &h.step.settings.Hooks
	h.tool = spec.Name
	h.refreshRules(ctx)
	if err := s.allowed(spec, h.evaluator); err != nil {
		return tool.Result{}, err
	}
	if hooks.ToolBefore != nil {
		input, err := hooks.ToolBefore(ctx, spec.Name, c)
		if err != nil {
			return tool.Result{}, err
		}
		c.Input = input
	}
	if err := h.gate(ctx, spec.Name, c); err != nil {
		return tool.Result{}, err
	}
	if repeated > 0 {
		if err := h.askLoop(ctx, spec.Name, c.Input, repeated); err != nil {
			return tool.Result{}, err
		}
	}
	res, err := h.runFramed(ctx, t, c)
	if err != nil {
		return res, err
	}
	if res, err = s.output.Cut(spec, res); err != nil { // the result can be used all the same
		s.engine.log.Warn("full tool output not saved", "session", s.session.ID, "tool", spec.Name, "error", err)
	}
	res = s.settings.Images.FitResult(res)
	s.engine.cleanUp(s.settings.Retention)
	if h.decided.Context != "" {
		res.Output += "\n\n" + h.decided.Context
	}
	res = h.observe(ctx, c, res)
	if hooks.ToolAfter != nil {
		return hooks.ToolAfter(ctx, spec.Name, c, res)
	}
	return res, nil
}

// gate lets hooks decide about a call.
func (h *host) gate(ctx context.Context, name string, c *tool.Call) error {
	hook := h.step.settings.Hooks.ToolGate
	if hook == nil {
		return nil
	}
	d, err := hook(ctx, name, c)
	if err != nil {
		return err
	}
	if d.Action == lathe.Deny {
		r := &permission.Refusal{Code: lathe.Denied, Text: d.Reason}
		if d.Stop {
			r.Mark = history.StoppedMark
		}
		return r
	}
	if d.Input != nil {
		c.Input = d.Input
	}
	h.decided = d
	return nil
}

// allowed refuses tools the model was not shown.
func (s *stepInput) allowed(spec tool.Spec, j permission.Evaluator) error {
	switch {
	case s.userInvoked:
		return nil
	case s.last:
		return &permission.Refusal{Code: lathe.Denied, Text: "This is the last step of the turn: tools are off. Conclude in words."}
	case spec.Child && s.session.Parent == "":
		return &permission.Refusal{Code: lathe.Denied, Text: "Only a subagent can use " + spec.Name + ". Continue without it."}
	case j.Off[spec.Name]:
		return &permission.Refusal{Code: lathe.Denied, Text: "The user has switched off " + spec.Name + " for this prompt. Continue without it."}
	case !spec.Hidden && j.Hide()(spec):
		return &permission.Refusal{Code: lathe.Denied, Text: "The user has specified a rule that forbids the tool " + spec.Name + ". Continue without it."}
	default:
		return nil
	}
}

// askLoop asks before a repeated call runs. A rejection ends the turn; an approval runs the call and
// restarts the count. Without a user the call fails; time is the number of refusals in a row, and
// [mostRepeats] of them end the turn.
func (h *host) askLoop(ctx context.Context, name string, input json.RawMessage, time int) error {
	meta := history.WithMember(history.WithMember(nil, "tool", lathe.AppendJSONString(nil, name)), "input", input)
	p := &tool.Permission{Name: history.DoomLoop, Patterns: []string{name}, Always: []string{name}, Metadata: meta}
	reply, err := h.ask(ctx, &ask{by: h.by, permission: p, loop: true})
	if r, ok := err.(*permission.Refusal); ok {
		if r.Mark == history.UnattendedMark {
			return repeatRefusal(time)
		}
		if r.Code == lathe.Denied || r.Mark != "" {
			return &permission.Refusal{Code: r.Code, Mark: history.StoppedMark, Text: "The same call was made several times in a row. It was stopped. " + r.Text}
		}
		return r
	}
	if reply == lathe.Once {
		h.queue.put(toolMarked{h.call})
	}
	return err
}

// mostRepeats is how many refusals in a row of the same repeated call end the turn without a person.
const mostRepeats = 3

func repeatRefusal(time int) error {
	if time >= mostRepeats {
		return &permission.Refusal{Code: lathe.Denied, Mark: history.StoppedMark, Text: "The same call was made again after it was refused. It was not run, and the turn ends here."}
	}
	return &permission.Refusal{Code: lathe.Denied, Mark: history.RepeatedMark, Text: "The same call was made several times in a row with the same result. It was not run again. " +
		"Change the approach: use other arguments or another tool, or conclude and say what is left."}
}
