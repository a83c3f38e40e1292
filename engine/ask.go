package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// ask is a request to the user: a permission, or questions.
type ask struct {
	id         lathe.AskID
	by         lathe.ToolRef // the call that asks
	permission *tool.Permission
	questions  []lathe.Question
	loop       bool // about a repeated call: it names no call of its own
	forced     bool // a hook wants the user to be asked, whatever was approved
}

// answer is the answer to an ask.
type answer struct {
	reply     lathe.Reply
	answers   [][]string
	note      string
	dismissed bool // a question, or anything that was withdrawn
	expired   bool // no answer in time
	plugin    bool // a plugin gave it, not the user
	// unattended says that no user was there to answer: the call fails, and the turn continues.
	unattended bool
}

// request is a permission as people and hooks see it.
func (a *ask) request(id lathe.SessionID) lathe.PermissionRequest {
	r := lathe.PermissionRequest{
		ID: a.id, Session: id, Permission: a.permission.Name, Patterns: a.permission.Patterns,
		Always: a.permission.Always, Metadata: a.permission.Metadata,
	}
	if !a.loop {
		r.Tool = &a.by
	}
	return r
}

// host is a call's way back to the engine.
type host struct {
	step      *stepInput
	queue     *stepQueue
	call      *fold.Call
	by        lathe.ToolRef
	evaluator permission.Evaluator    // as it was when the call began
	snap      *snapshot.Step          // nil saves nothing for an undo
	frame     *snapshot.CommandWindow // of a call that may change any file
	edits     editLog                 // the files that it changes
	clock     *subagent.Clock         // of the call
	stepClock *subagent.Clock
	gone      <-chan struct{} // closed when the step no longer waits for the call
	model     lathe.ModelRef  // of the answer that makes the call
	tool      string          // its name
	decided   ToolDecision    // by hooks
}

// Ask returns when the call may continue. People see its requests together.
func (h *host) Ask(ctx context.Context, all ...tool.Permission) error {
	asks := make([]*ask, len(all))
	for i := range all {
		asks[i] = &ask{by: h.by, permission: &all[i]}
	}
	_, err := h.ask(ctx, asks...)
	return err
}

// Allowed reports whether the rules allow a request, or an approval does.
func (h *host) Allowed(p tool.Permission) bool {
	action, err := h.evaluator.Decide(p)
	return err == nil && action == lathe.Allow
}

// ask evaluates requests of one call and waits for the user if the rules say so. A denied request refuses the
// call before anything is asked. The reply is the last one, "" when the rules allow everything.
func (h *host) ask(ctx context.Context, all ...*ask) (reply lathe.Reply, err error) {
	var open []*ask
	for _, a := range all {
		action, err := h.evaluator.Decide(*a.permission)
		if err != nil && a.permission.Name == "edit" && h.step.agent.Name == prompt.PlanAgent {
			err = h.planRefusal()
		}
		if err != nil {
			return "", err
		}
		a.forced = h.decided.Action == lathe.Ask && !a.loop && len(a.permission.Patterns) > 0
		if action != lathe.Allow || a.forced {
			open = append(open, a)
		}
	}
	if len(open) == 0 {
		return "", nil
	}
	var people []*ask
	for _, a := range open {
		got, err := h.hook(ctx, a)
		if err == nil && got.reply == "" && h.step.settings.Unattended && (a.forced || !h.evaluator.AllApproved(*a.permission)) {
			got = answer{reply: lathe.Reject, unattended: true}
		}
		switch {
		case err != nil:
			return "", err
		case got.reply == lathe.Reject:
			return "", h.rejection(*a.permission, got)
		case got.reply == "":
			people = append(people, a)
		}
		reply = got.reply
	}
	if len(people) > 0 {
		if reply, err = h.askPeople(ctx, people); err != nil {
			return "", err
		}
	}
	h.markStarted(ctx)
	return reply, nil
}

// askPeople waits for the answers to all requests. Of several rejections the one with a reason counts.
func (h *host) askPeople(ctx context.Context, all []*ask) (lathe.Reply, error) {
	answers, err := h.wait(ctx, all...)
	if err != nil {
		return "", err
	}
	rejected := -1
	for i, got := range answers {
		if got.reply == lathe.Reject && (rejected < 0 || answers[rejected].note == "" && got.note != "") {
			rejected = i
		}
	}
	if rejected >= 0 {
		return "", h.rejection(*all[rejected].permission, answers[rejected])
	}
	return answers[len(answers)-1].reply, nil
}

// planRefusal refuses a change in plan mode.
func (h *host) planRefusal() error {
	where := "changes go into the plan file " + planPath(h.step.session, h.step.place, h.step.settings.Plans)
	if strings.HasSuffix(where, " ") {
		where = "no plan file here, so changes go into your answer"
	}
	return &permission.Refusal{Code: lathe.Denied, Text: "plan mode: " + where + ". This call was not run."}
}

// hook lets a plugin answer a request; no reply leaves it to the user.
// It runs beside the runner, so that one that takes its time holds up nothing else.
func (h *host) hook(ctx context.Context, a *ask) (got answer, err error) {
	var action lathe.Action
	hook := h.step.settings.Hooks.PermissionAsk
	switch {
	case hook != nil && !h.evaluator.AllApproved(*a.permission):
		action, err = hook(ctx, a.request(h.step.session.ID))
	case hook == nil && h.decided.Action != lathe.Allow:
		return got, nil
	}
	if action == "" && h.decided.Action == lathe.Allow && !a.loop {
		action = lathe.Allow
	}
	switch {
	case action == lathe.Allow && a.permission.Name == permission.Sandbox: // only the user or a rule gives it
	case action == lathe.Allow:
		got.reply = lathe.Once
	case action == lathe.Deny:
		got.reply, got.plugin = lathe.Reject, true
	}
	return got, err
}

func (h *host) rejection(p tool.Permission, got answer) error {
	if got.unattended {
		return unattendedRefusal(p, got.note)
	}
	if got.expired {
		return &permission.Refusal{Code: lathe.Rejected, Text: h.unansweredText("It was not run.")}
	}
	if got.plugin {
		return &permission.Refusal{Code: lathe.Denied, Text: "A plugin of the user forbids this call. It was not run."}
	}
	if got.note != "" {
		return &permission.Refusal{Code: lathe.Rejected, Text: "The user rejected permission for this call and says: " + got.note}
	}
	return &permission.Refusal{
		Code: lathe.Rejected, Mark: history.RejectedMark,
		Text: "The user rejected permission for this call. It was not run.",
	}
}

// unattendedRefusal refuses a request because no user is there. The turn continues, so the model
// can work around it and report the rest.
func unattendedRefusal(p tool.Permission, note string) error {
	what := lathe.PermissionRequest{Permission: p.Name, Patterns: p.Patterns, Metadata: p.Metadata}.Summary()
	text := fmt.Sprintf("Not allowed here: %s needs the permission %q and no user is attached to grant it. It was not run.", phrase.Shorten(what, 300), p.Name)
	if note != "" {
		text += " " + note
	}
	return &permission.Refusal{Code: lathe.Denied, Mark: history.UnattendedMark, Text: text + " Work without it, and say at the end what is left."}
}

// wait blocks until the asks are answered, their deadline passes or the turn ends.
func (h *host) wait(ctx context.Context, all ...*ask) ([]answer, error) {
	select {
	case <-ctx.Done(): // a canceled call asks no one
		return nil, context.Cause(ctx)
	case <-h.gone: // nor one that does not hear it
		return nil, errGone
	default:
	}
	// Clocks of the sessions above stop too: they wait for the same person.
	began := h.step.engine.now()
	for _, c := range append([]*subagent.Clock{h.clock, h.stepClock}, h.step.engine.subagents.ClocksAbove(h.step.session.ID)...) {
		c.Pause()
		defer func() {
			c.Resume()
			c.AddWait(lathe.Wait{began, h.step.engine.now()})
		}()
	}
	open, replies := toolAsks{}, []chan answer{}
	for _, a := range all {
		reply := make(chan answer, 1)
		open, replies = append(open, openAsk{a, reply}), append(replies, reply)
	}
	h.queue.put(open)
	if hook := h.step.settings.Hooks.Waiting; hook != nil {
		hook(h.step.session.ID, Waiting{Tool: h.tool, Question: all[0].permission == nil})
	}
	if limit := h.step.settings.Deadlines.Ask; limit > 0 {
		defer time.AfterFunc(limit, func() {
			for _, a := range all {
				h.queue.put(askExpired{a})
			}
		}).Stop()
	}
	answers := make([]answer, len(all))
	for i, reply := range replies {
		select {
		case answers[i] = <-reply:
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-h.gone:
			return nil, errGone
		}
	}
	return answers, nil
}

// errGone is the error for a tool that asks after its call has ended.
var errGone = lathe.Errorf(lathe.Canceled, "the call has ended")

// unansweredText is the error text for a request that timed out.
func (h *host) unansweredText(rest string) string {
	return fmt.Sprintf("No user answered within %s (setting deadline.ask). %s", h.step.settings.Deadlines.Ask, rest)
}

// AskUser asks the user.
func (h *host) AskUser(ctx context.Context, qs []lathe.Question) ([][]string, error) {
	answers, err := h.wait(ctx, &ask{by: h.by, questions: qs})
	if err != nil {
		return nil, err
	}
	got := answers[0]
	if got.expired {
		return nil, &permission.Refusal{Code: lathe.Rejected, Text: h.unansweredText("Continue with your best judgment.")}
	}
	if got.dismissed {
		return nil, &permission.Refusal{
			Code: lathe.Rejected, Mark: history.RejectedMark,
			Text: "The user dismissed the question.",
		}
	}
	h.markStarted(ctx)
	return got.answers, nil
}

// Progress shows what the call is doing.
func (h *host) Progress(title string, metadata json.RawMessage) {
	h.queue.put(toolProgressed{call: h.call, title: title, meta: metadata})
}

// writeProgress is Progress that returns when it is written down.
func (h *host) writeProgress(ctx context.Context, title string, metadata json.RawMessage) error {
	return h.putAndWait(ctx, func(reply chan<- error) stepEvent { return toolProgressed{h.call, title, metadata, reply} })
}

// SetTodos replaces the session's list.
func (h *host) SetTodos(ctx context.Context, list []lathe.Todo) error {
	return h.putAndWait(ctx, func(reply chan<- error) stepEvent {
		return toolPublishes{&lathe.TodosChanged{Session: h.step.session.ID, Todos: list}, reply}
	})
}

// putAndWait sends an event and waits until it is written down.
func (h *host) putAndWait(ctx context.Context, event func(reply chan<- error) stepEvent) error {
	reply := make(chan error, 1)
	h.queue.put(event(reply))
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Publish publishes an ephemeral event.
func (h *host) Publish(f lathe.Fact) { h.queue.put(toolPublishes{f, nil}) }

// History returns the conversation as this step saw it.
func (h *host) History() []lathe.Message { return h.step.history }
