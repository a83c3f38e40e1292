package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tool"
)

// taskSilent is the state of a child that ended without a word: it is asked for some.
const taskSilent = "silent"

// reportHead is the first line of what a parent is told of a task in the background.
const reportHead = "A task that ran in the background has ended."

// isReport says that a prompt is the report of a task in the background.
func isReport(h *history.Message) bool {
	return h != nil && slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		t, ok := p.Body.(*lathe.Text)
		return ok && t.Synthetic.On() && strings.HasPrefix(t.Text, reportHead)
	})
}

// stoppedWords are the report of a child that someone, or something, ended.
const stoppedWords = "It was stopped before it was done."

// reported says what a child has made of the last word it was given. It is pure. Steps is how
// many its agent may take, 0 without limit.
func reported(child lathe.Session, steps int, messages []lathe.Message) tool.Report {
	r := tool.Report{Session: child.ID}
	from := 0
	for i, m := range slices.Backward(messages) {
		if _, ok := m.Said.(*lathe.User); ok && !history.IsSynthetic(m.Parts) {
			from = i
			break
		}
	}
	var last *lathe.Message
	for i, m := range messages[from:] {
		a, ok := m.Said.(*lathe.Assistant)
		if !ok {
			continue
		}
		last = &messages[from+i]
		if r.Tokens += lathe.TokensUsed(a.Tokens); a.Error == nil {
			r.Steps++
		}
		r.Files = append(r.Files, filesOf(child, m)...)
	}
	slices.Sort(r.Files)
	r.Files = slices.Compact(r.Files)
	if last == nil {
		r.State, r.Text = tool.TaskFailed, "It had not begun."
		return r
	}
	r.State, r.Text = verdictOf(*last)
	switch {
	case r.Failed():
		r.Text += foundWords(found(messages[from:]))
	case r.Text == "" && steps > 0 && r.Steps >= steps:
		r.State, r.Text = tool.TaskPartial, "Its steps were used up before it could conclude."+foundWords(found(messages[from:]))
	case r.Text == "":
		r.State = taskSilent
	case steps > 0 && r.Steps >= steps:
		r.State = tool.TaskPartial
	}
	return r
}

// verdictOf looks at the last answer of a child: how it ended, and its last words.
func verdictOf(m lathe.Message) (state, text string) {
	switch fault := m.Said.(*lathe.Assistant).Error.(type) {
	case nil:
	case *lathe.AbortedFault:
		return tool.TaskCancelled, stoppedWords
	default:
		return tool.TaskFailed, lathe.FaultMessage(fault)
	}
	for _, p := range m.Parts {
		c, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		what := c.Tool + " " + shortened(string(history.InputOf(c.State)), 300)
		switch meta := history.MetadataOf(c.State); {
		case history.HasMark(meta, history.RejectedMark):
			return tool.TaskFailed, "The user rejected its call of " + what + ", which ended it. Do not do the same in another way."
		case history.HasMark(meta, history.StoppedMark):
			return tool.TaskFailed, "It repeated its call of " + what + " until it was stopped. Take another approach."
		}
	}
	return tool.TaskCompleted, lastText(m)
}

// lastText is the last text of an answer that says something.
func lastText(m lathe.Message) string {
	for _, p := range slices.Backward(m.Parts) {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored.On() && strings.TrimSpace(t.Text) != "" {
			return strings.TrimSpace(t.Text)
		}
	}
	return ""
}

// found is what a child said on its way, the last three times.
func found(messages []lathe.Message) string {
	var said []string
	for _, m := range slices.Backward(messages) {
		if _, ok := m.Said.(*lathe.Assistant); !ok {
			continue
		}
		if text := lastText(m); text != "" && len(said) < 3 {
			said = append(said, shortened(text, 1000))
		}
	}
	slices.Reverse(said)
	return strings.Join(said, "\n\n")
}

func foundWords(said string) string {
	if said == "" {
		return ""
	}
	return "\nWhat it had said until then:\n\n" + said
}

func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// filesOf are the files an answer changed, as seen from the session's directory.
func filesOf(s lathe.Session, m lathe.Message) (files []string) {
	for _, p := range m.Parts {
		if patch, ok := p.Body.(*lathe.Patch); ok {
			for _, f := range patch.Files {
				if rel, err := filepath.Rel(s.Directory, filepath.FromSlash(f)); err == nil && filepath.IsLocal(rel) {
					f = filepath.ToSlash(rel)
				}
				files = append(files, f)
			}
		}
	}
	return files
}

// report is what became of the task until now. One that is too long goes to a file, and its
// head is returned.
func (t *task) report(ctx context.Context) (tool.Report, error) {
	e := t.host.step.engine
	page, err := e.store.History(ctx, t.child.ID, lathe.Place{}, 0)
	if err != nil {
		return tool.Report{}, refused(err)
	}
	r := reported(t.child, t.agent.Steps, page.Messages)
	r.Metadata = t.metadata()
	return e.shortened(r, t.child.Parent), nil
}

// shortened keeps the whole of a long report in a file.
func (e *Engine) shortened(r tool.Report, parent lathe.SessionID) tool.Report {
	out := tool.Output{Dir: e.outputs, Limits: tool.Limits{Bytes: reportBytes}}.Of(parent)
	cut, err := out.Cut(tool.Spec{Name: fold.TaskName}, tool.Result{Output: r.Text, Metadata: r.Metadata})
	if err != nil {
		e.log.Warn("a report was cut and could not be kept", "session", r.Session, "error", err)
	}
	r.Text, r.Metadata = cut.Output, cut.Metadata
	return r
}

// report tells the parent of a background session that it has come to rest.
func (r *runner) report(ctx context.Context) {
	if r.log.mem.Session.Parent == "" || ctx.Err() != nil || r.actor.isWoken() {
		return
	}
	task, err := r.engine.store.Task(ctx, r.log.lease.Session)
	if err == nil && task == lathe.Background {
		err = r.engine.tellParent(ctx, r.log.mem.Session, r.log.mem.History(), true)
	}
	if err != nil { // it stays to be told
		r.engine.log.Warn("a background task could not report", "session", r.log.lease.Session, "error", err)
	}
}

// tellParent admits the report of a background session to its parent, once in all. While the
// program runs (live), the parent goes on with it at once, unless a person ended the task:
// who stops something does not want an answer to it.
func (e *Engine) tellParent(ctx context.Context, child lathe.Session, history []lathe.Message, live bool) error {
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
	r := reported(child, steps, history)
	switch {
	case r.State == taskSilent:
		r.State, r.Text = tool.TaskCompleted, "It ended without a word."
	case r.State == tool.TaskCancelled && !live:
		r.State = tool.TaskCutOff
		r.Text = strings.Replace(r.Text, stoppedWords, "The program ended before it was done. task_id goes on with it.", 1)
	}
	r = e.shortened(r, parent.ID)
	p := lathe.Prompt{Agent: parent.Agent, NoReply: live && r.State == tool.TaskCancelled}
	if m := parent.Model; m != nil {
		p.Model = &lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if m.Variant != "default" {
			p.Model.Variant = m.Variant
		}
	}
	sum := sha256.Sum256([]byte(child.ID + lastID(history)))
	p.ID = lathe.MessageID("msg_" + hex.EncodeToString(sum[:])[:26])
	p.Parts = []lathe.Part{{Body: synthetic(reportHead + "\n" + r.Envelope())}}
	in, err := e.compose(ctx, parent.ID, p)
	if err != nil {
		return err
	}
	told, err := e.store.Report(ctx, child.ID, in)
	if err == nil && told && live && !p.NoReply {
		_, err = e.actors.wake(parent.ID)
	}
	return err
}

// lastID makes the id of a report one of a kind: a child may report after each of its turns.
func lastID(history []lathe.Message) lathe.SessionID {
	if len(history) == 0 {
		return ""
	}
	return lathe.SessionID(history[len(history)-1].ID)
}

// orphaned looks after a child whose process has died: what is open is closed, and it rests
// until whoever made the call goes on with it. Prompts of it are held, unless a call waits for
// it: then they have just been given.
func (e *Engine) orphaned(ctx context.Context, one store.Interruption) error {
	if one.Dead {
		if err := e.alone(ctx, one.Session, func(r *runner) error { return r.mend(ctx) }); err != nil {
			return err
		}
	}
	if !one.Waiting {
		return nil
	}
	child, err := e.store.Session(ctx, one.Session)
	if err != nil {
		return err
	}
	holdings, err := e.store.Holdings(ctx)
	if err != nil || slices.ContainsFunc(holdings, func(h store.Holding) bool {
		return h.Session == child.Parent && h.Alive && (!h.Here || e.company.IsAwaited(child.ID))
	}) {
		return err
	}
	_, err = e.store.Admit(ctx, child.ID, lathe.Cancel{})
	return err
}

// Backgrounds lists the tasks of a session that run in the background, or whose report it has
// yet to be told; those of all sessions if it is "".
func (e *Engine) Backgrounds(ctx context.Context, parent lathe.SessionID) ([]lathe.Session, error) {
	return e.store.Backgrounds(ctx, parent)
}

// GoesOn reports whether a session is at work, or about to be: a prompt waits that nobody holds. A
// report may have come right behind the moment in which the session was told to be idle.
func (e *Engine) GoesOn(ctx context.Context, id lathe.SessionID) (bool, error) {
	waiting, _, err := e.store.Inbox(ctx, id)
	if err != nil || slices.ContainsFunc(waiting, func(w store.Waiting) bool { return !w.Hold }) {
		return err == nil, err
	}
	busy, err := e.store.Statuses(ctx, lathe.Scope{Session: id})
	return len(busy) > 0, err
}

// Collect looks after background tasks of a session whose process has died, or of all sessions
// if it is "": with resume they go on, otherwise their parent is told that they were cut off.
func (e *Engine) Collect(ctx context.Context, parent lathe.SessionID, resume bool) error {
	tasks, err := e.store.Backgrounds(ctx, parent)
	if err != nil || len(tasks) == 0 {
		return err
	}
	holdings, err := e.store.Holdings(ctx)
	if err != nil {
		return err
	}
	for _, child := range tasks {
		if slices.ContainsFunc(holdings, func(h store.Holding) bool { return h.Session == child.ID && h.Alive }) || e.actors.find(child.ID) != nil {
			continue // someone works on it
		}
		err = errors.Join(err, e.collect(ctx, child, resume))
	}
	return err
}

// goOnBeside lets a task in the background go on. It has its place among those of its parent
// again, also where more are at work now than may begin.
func (e *Engine) goOnBeside(ctx context.Context, id lathe.SessionID) error {
	child, err := e.store.Session(ctx, id)
	if err != nil {
		return err
	}
	leave := e.company.Occupy(child.Parent, e.mayWrite(ctx, child))
	if err = e.Resume(ctx, id); err != nil || e.actors.find(id) == nil { // it failed, rests, or another process has it
		leave()
		return err
	}
	e.work.Go(func() {
		defer leave()
		_, _ = e.Wait(e.ctx, id) // its report says how it ended
	})
	return nil
}

// mayWrite reports whether a session may change files as it likes; what is not known may.
func (e *Engine) mayWrite(ctx context.Context, s lathe.Session) bool {
	settings, err := e.settingsOf(ctx, s.Directory)
	if err != nil {
		return true
	}
	a, err := settings.agent(s.Agent)
	return err != nil || a.judge().Evaluate("edit", "*").Action != lathe.Deny && s.Rules.Evaluate("edit", "*").Action != lathe.Deny
}

func (e *Engine) collect(ctx context.Context, child lathe.Session, resume bool) error {
	if resume {
		return e.goOnBeside(ctx, child.ID)
	}
	err := e.alone(ctx, child.ID, func(r *runner) error { return r.mend(ctx) })
	if lathe.CodeOf(err) == lathe.Conflict {
		return nil // another one looks after it
	}
	if err != nil {
		return err
	}
	page, err := e.store.History(ctx, child.ID, lathe.Place{}, 0)
	if err != nil {
		return err
	}
	return e.tellParent(ctx, child, page.Messages, false)
}
