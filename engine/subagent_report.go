package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/background"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/tool"
)

// isReport reports whether a prompt is the report of a background task.
func isReport(h *history.Message) bool {
	return h != nil && slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		t, ok := p.Body.(*lathe.Text)
		return ok && t.Synthetic.On() && strings.HasPrefix(t.Text, background.Head)
	})
}

// report is the result of the task so far. A long one goes to a file, and its head is returned.
func (t *task) report(ctx context.Context) (tool.Report, error) {
	e := t.host.step.engine
	page, err := e.store.History(ctx, t.child.ID, lathe.Position{}, 0)
	if err != nil {
		return tool.Report{}, refusal(err)
	}
	r := subagent.Report(t.child, t.agent.Steps, page.Messages)
	r.Metadata = t.metadata()
	r.Text = e.Trees().describe(ctx, t.child, r.Text)
	return e.clipReport(r, t.child.Parent), nil
}

// clipReport shortens a long report and saves the whole of it to a file.
func (e *recovery) clipReport(r tool.Report, parent lathe.SessionID) tool.Report {
	cut, err := e.files.output(parent, tool.Limits{Bytes: reportBytes}).Cut(tool.Spec{Name: fold.TaskTool}, tool.Result{Output: r.Text, Metadata: r.Metadata})
	if err != nil {
		e.log.Warn("full report not saved", "session", r.Session, "error", err)
	}
	r.Text, r.Metadata = cut.Output, cut.Metadata
	return r
}

// report sends the parent the report of a background session that became idle.
func (r *runner) report(ctx context.Context) {
	if r.log.mem.Session.Parent == "" || ctx.Err() != nil || r.actor.isWoken() {
		return
	}
	task, err := r.engine.store.Task(ctx, r.log.lease.Session)
	if err == nil && task == lathe.Background {
		err = r.engine.reportToParent(ctx, r.log.mem.Session, r.log.mem.History(), true)
	}
	if err != nil { // the next recovery reports it
		r.engine.log.Warn("background task report not delivered", "session", r.log.lease.Session, "error", err)
	}
}

// reportToParent admits the report of a background session to its parent, once in all. While the
// program runs (live), the parent continues with it at once, unless the user stopped the task
// and expects no answer.
func (e *recovery) reportToParent(ctx context.Context, child lathe.Session, messages []lathe.Message, live bool) error {
	parent, err := e.store.Session(ctx, child.Parent)
	if err != nil {
		return err
	}
	steps := 0
	if s, err := e.settingsOf(ctx, child.Directory); err == nil {
		if a, err := s.agent(child.Agent); err == nil {
			steps = a.Steps
		}
	}
	r := subagent.Report(child, steps, messages)
	switch {
	case r.State == subagent.Silent:
		r.State, r.Text = tool.TaskCompleted, "It ended without an answer."
	case r.State == tool.TaskCanceled && !live:
		r.State = tool.TaskInterrupted
		r.Text = strings.Replace(r.Text, subagent.StoppedText, "The program ended before it was done. task_id continues it.", 1)
	}
	r.Text = e.actors.engine.Trees().describe(ctx, child, r.Text)
	r = e.clipReport(r, parent.ID)
	p := background.PromptFor(parent)
	p.NoReply = live && r.State == tool.TaskCanceled
	sum := sha256.Sum256([]byte(child.ID + lastID(messages)))
	p.ID = lathe.MessageID("msg_" + hex.EncodeToString(sum[:])[:26])
	p.Parts = []lathe.Part{{Body: history.Synthetic(background.Head + "\n" + r.Envelope())}}
	in, err := e.compose(ctx, parent.ID, p)
	if err != nil {
		return err
	}
	received, err := e.store.ReportToParent(ctx, child.ID, in)
	if err == nil && received && live && !p.NoReply {
		_, err = e.actors.wake(parent.ID)
	}
	return err
}

// lastID makes the id of a report one of a kind: a child may report after each of its turns.
func lastID(messages []lathe.Message) lathe.SessionID {
	if len(messages) == 0 {
		return ""
	}
	return lathe.SessionID(messages[len(messages)-1].ID)
}
