package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// Prompt sends a prompt and waits until the session rests. It returns the newest answer,
// the same for all who wait.
func (e *Engine) Prompt(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	m, err := e.Submit(ctx, id, p)
	if err != nil || p.NoReply {
		return m, err
	}
	return e.Wait(ctx, id)
}

// Submit sends a prompt. When it returns, the prompt is safe and seen by clients; the
// session answers it in its time.
func (e *Engine) Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	return e.submit(ctx, id, p, lathe.NoTask)
}

// submit is Submit for a session that works on a task from now on.
func (e *Engine) submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt, task lathe.Task) (lathe.Message, error) {
	in, err := e.compose(ctx, id, p)
	if err == nil {
		in.Task = task
		err = e.Send(ctx, id, in)
	}
	if err != nil {
		return lathe.Message{}, err
	}
	return e.store.Message(ctx, id, in.Message.ID)
}

// Wait wakes a session and waits until it rests.
func (e *Engine) Wait(ctx context.Context, id lathe.SessionID) (lathe.Message, error) {
	end, err := e.actors.wake(id)
	if err != nil {
		return lathe.Message{}, err
	}
	return end.wait(ctx)
}

// Send hands an input to a session: it is durable when Send returns, and acted upon soon.
func (e *Engine) Send(ctx context.Context, id lathe.SessionID, in lathe.Input) error {
	if _, ok := in.(lathe.Resume); ok {
		return e.Resume(ctx, id)
	}
	if _, err := e.store.Admit(ctx, id, in); err != nil {
		return err
	}
	switch in := in.(type) {
	case lathe.Submission:
		if in.NoReply {
			return nil
		}
	case lathe.Resume: // above
	case lathe.Cancel:
		return e.halted(ctx, id)
	case lathe.PermissionAnswer, lathe.QuestionAnswer:
		return nil // whoever asked hears of it
	}
	_, err := e.actors.wake(id)
	return err
}

// Cancel ends the turn of a session and of all below it, and returns when everything of it
// is settled. Prompts that wait are held until the next word.
func (e *Engine) Cancel(ctx context.Context, id lathe.SessionID) error {
	e.company.Leave(id)
	children, err := e.Children(ctx, id)
	if err != nil {
		return err
	}
	var failed []error // of one child: the others, and the session itself, end all the same
	for _, c := range children {
		if err := e.Cancel(ctx, c.ID); lathe.CodeOf(err) != lathe.NotFound { // else it was removed meanwhile
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, e.Send(ctx, id, lathe.Cancel{}))...)
}

// halted ends the turn of this process. A session that rests is told to be idle once more:
// a client may think otherwise.
func (e *Engine) halted(ctx context.Context, id lathe.SessionID) error {
	if ran, err := e.endTurn(ctx, id); ran {
		return err
	}
	return e.calm(ctx, id)
}

// endTurn ends the turn of this process, if it runs one, and waits until that is settled.
func (e *Engine) endTurn(ctx context.Context, id lathe.SessionID) (ran bool, err error) {
	a := e.actors.find(id)
	if a == nil {
		return false, nil
	}
	a.mu.Lock()
	end, running := a.ending, a.cancel != nil
	a.mu.Unlock()
	if !running {
		return false, nil
	}
	a.stop(errCanceled)
	select {
	case <-end.done:
		return true, nil
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
}

// calm says that a session is idle if nobody works on it.
func (e *Engine) calm(ctx context.Context, id lathe.SessionID) error {
	s, err := e.store.Session(ctx, id)
	if err != nil {
		return err
	}
	busy, err := e.store.Statuses(ctx, lathe.Scope{Session: id})
	if err != nil || len(busy) > 0 { // another process sees the mark on its lease
		return err
	}
	e.idle(s)
	return nil
}

// idle tells the listeners of a session that it rests, without writing that down.
func (e *Engine) idle(s lathe.Session) {
	ev := lathe.Event{Session: s.ID, Directory: s.Directory, Project: s.Project}
	ev.Fact = &lathe.StatusChanged{Session: s.ID, Status: lathe.Status{Type: lathe.Idle}}
	idle := ev
	idle.Fact = &lathe.SessionIdle{Session: s.ID}
	e.bus.Publish(ev, idle)
}

// Asks returns the requests in scope that wait for a person, oldest first.
func (e *Engine) Asks(ctx context.Context, scope lathe.Scope) ([]lathe.Fact, error) {
	return e.store.Asks(ctx, scope)
}

// Reply answers a permission request. What is said with a rejection goes to the model.
func (e *Engine) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	unattended := reply == lathe.Unattended
	if unattended {
		reply = lathe.Reject
	}
	switch reply {
	case lathe.Once, lathe.Always, lathe.Reject:
	default:
		return lathe.Errorf(lathe.Invalid, "a reply is once, always or reject, not %q", reply)
	}
	return e.settleAsk(ctx, id, lathe.PermissionAnswer{Ask: id, Reply: reply, Message: message, Unattended: unattended})
}

// Answer answers questions, a list of choices or words for each.
func (e *Engine) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	return e.settleAsk(ctx, id, lathe.QuestionAnswer{Ask: id, Answers: answers})
}

// Dismiss refuses to answer questions.
func (e *Engine) Dismiss(ctx context.Context, id lathe.AskID) error {
	return e.settleAsk(ctx, id, lathe.QuestionAnswer{Ask: id, Reject: true})
}

// settleAsk finds the session of a request and answers it there. A permission is not
// answered like a question, nor the other way round.
func (e *Engine) settleAsk(ctx context.Context, id lathe.AskID, in lathe.Input) error {
	asks, err := e.store.Asks(ctx, lathe.Scope{})
	if err != nil {
		return err
	}
	_, permission := in.(lathe.PermissionAnswer)
	for _, f := range asks {
		switch f := f.(type) {
		case *lathe.PermissionAsked:
			if f.ID == id && permission {
				return e.Send(ctx, f.Session, in)
			}
		case *lathe.QuestionAsked:
			if f.ID == id && !permission {
				return e.Send(ctx, f.Session, in)
			}
		default:
		}
	}
	return lathe.Errorf(lathe.NotFound, "request %s is not waiting for an answer", id)
}

// Approvals returns what was answered "always" in a project, or in a directory without one.
func (e *Engine) Approvals(ctx context.Context, at workspace.Place) (lathe.Ruleset, error) {
	return e.store.Approvals(ctx, at.ProjectID, at.Directory)
}

// Revoke takes an approval back.
func (e *Engine) Revoke(ctx context.Context, at workspace.Place, permission, pattern string) error {
	return e.store.Revoke(ctx, at.ProjectID, at.Directory, permission, pattern)
}

// Todos returns the list of a session.
func (e *Engine) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return e.store.Todos(ctx, id)
}

// compose makes the user message of a prompt. Why there can be none is told to the listeners of
// the session: who sent it need not wait for the answer.
func (e *Engine) compose(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Submission, error) {
	rec, err := e.store.Session(ctx, id)
	if err != nil {
		return lathe.Submission{}, err
	}
	in, err := e.composed(ctx, rec, p)
	if err != nil {
		e.complain(rec, err)
	}
	return in, err
}

// composed chooses agent and model, and reads what the parts refer to.
func (e *Engine) composed(ctx context.Context, rec lathe.Session, p lathe.Prompt) (in lathe.Submission, err error) {
	if err := checkPrompt(p); err != nil {
		return in, err
	}
	said, settings, err := e.choose(ctx, rec, p)
	if err != nil {
		return in, err
	}
	m := lathe.Message{ID: p.ID, Session: rec.ID, Said: said}
	if m.ID == "" {
		m.ID = e.ids.Message()
	}
	m.Parts = e.expand(ctx, rec, said.Agent, p.Parts)
	e.own(&m)
	if hook := settings.Hooks.ChatMessage; hook != nil {
		if err := hook(ctx, &m); err != nil {
			return in, err
		}
		if err := checkParts(m.Parts); err != nil {
			return in, err
		}
		e.own(&m)
	}
	settings.Images.prompted(m.Parts)
	return lathe.Submission{Message: m, Delivery: p.Delivery, NoReply: p.NoReply, Digest: digest(p)}, nil
}

// own gives parts what they need to belong to their message.
func (e *Engine) own(m *lathe.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Session, p.Message = m.Session, m.ID; p.ID == "" {
			p.ID = e.ids.Part()
		}
	}
}

// check refuses what no session could take.
func checkPrompt(p lathe.Prompt) error {
	if p.ID != "" {
		if err := lathe.CheckID(lathe.PrefixMessage, string(p.ID)); err != nil {
			return err
		}
	}
	if p.Delivery != "" && p.Delivery != lathe.Steer && p.Delivery != lathe.Queue {
		return lathe.Errorf(lathe.Invalid, "delivery is steer or queue, not %q", p.Delivery)
	}
	if _, err := readFormat(p.Format); err != nil {
		return err
	}
	return checkParts(p.Parts)
}

func checkParts(parts []lathe.Part) error {
	for _, part := range parts {
		switch part.Body.(type) {
		case *lathe.Text, *lathe.File, *lathe.AgentMention, *lathe.Subtask, *lathe.Compaction:
		case nil:
			return lathe.Errorf(lathe.Invalid, "a part of the prompt is empty")
		default:
			return lathe.Errorf(lathe.Invalid, "a prompt cannot hold a part of type %s", part.Body.Kind())
		}
	}
	return nil
}

// digest stands for the words as they were sent.
func digest(p lathe.Prompt) string {
	h := sha256.New()
	write := func(data []byte) {
		h.Write(data)
		h.Write([]byte{0})
	}
	write([]byte(p.Agent))
	if p.Model != nil {
		write([]byte(p.Model.Provider + "/" + p.Model.Model))
	}
	write([]byte(p.Variant))
	write([]byte(p.System))
	write(p.Format)
	tools, _ := json.Marshal(p.Tools)
	write(tools)
	for _, part := range p.Parts {
		write([]byte(part.Body.Kind()))
		write(part.AppendRow(nil))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// choose settles agent, model and variant: what the prompt says, else the agent, else what
// the session used before, else the default.
func (e *Engine) choose(ctx context.Context, rec lathe.Session, p lathe.Prompt) (*lathe.User, *Settings, error) {
	if e.setup == nil {
		return nil, nil, lathe.Errorf(lathe.Unavailable, "this engine was opened without models")
	}
	inst, err := e.Instance(ctx, rec.Directory)
	if err != nil {
		return nil, nil, err
	}
	settings, err := e.setup.Settings(ctx, inst.Place)
	if err != nil {
		return nil, nil, err
	}
	agent, err := settings.agent(p.Agent)
	if err != nil {
		return nil, nil, err
	}
	u := &lathe.User{Agent: agent.Name, System: p.System, Format: p.Format}
	if len(p.Tools) > 0 {
		u.Tools, _ = json.Marshal(p.Tools)
	}
	u.Model, err = chooseModel(rec, agent, settings, p)
	return u, settings, err
}

func chooseModel(rec lathe.Session, agent *Agent, settings *Settings, p lathe.Prompt) (lathe.ModelRef, error) {
	var candidates []lathe.ModelRef
	if p.Model != nil {
		candidates = append(candidates, *p.Model)
	}
	if agent.Model != nil {
		own := *agent.Model
		own.Variant = agent.Variant
		candidates = append(candidates, own)
	}
	if m := rec.Model; m != nil {
		used := lathe.ModelRef{Provider: m.Provider, Model: m.ID}
		if m.Variant != "default" {
			used.Variant = m.Variant
		}
		candidates = append(candidates, used)
	}
	candidates = append(candidates, settings.DefaultModel)
	i := slices.IndexFunc(candidates, func(m lathe.ModelRef) bool { return m.Provider != "" && m.Model != "" })
	if i < 0 {
		return lathe.ModelRef{}, lathe.Errorf(lathe.Invalid, "%w: name one (provider/model), set \"model\" in the settings, or log in to a provider", lathe.ErrNoModel)
	}
	ref := candidates[i]
	if p.Variant != "" {
		ref.Variant = p.Variant
	}
	return lathe.ModelRef{Provider: ref.Provider, Model: ref.Model, Variant: ref.Variant}, nil
}

// complain tells the listeners of a session that a prompt could not become one.
func (e *Engine) complain(rec lathe.Session, err error) {
	e.bus.Publish(lathe.Event{
		Session: rec.ID, Directory: rec.Directory, Project: rec.Project,
		Fact: &lathe.SessionFailed{Session: rec.ID, Error: faultOf(err)},
	})
}
