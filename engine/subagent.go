package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/tool"
)

const (
	// shownEvery is the shortest interval between updates of the parent's part.
	shownEvery = 500 * time.Millisecond
	// reportBytes is how much of a report the parent's model sees, about 1500 tokens.
	reportBytes = 6000
)

// moreWords asks a child that ended without a word for its report.
const moreWords = "You ended without an answer, and your caller sees nothing else. Write the report now: what you found or did, with paths, and what is left open."

// Delegate has another agent work on a task in a child session. Where it waits, for a place
// or for the child, it holds nothing that others wait for.
func (h *host) Delegate(ctx context.Context, a tool.Assignment) (tool.Report, error) {
	s := h.step
	words, err := messages{h}.isForRunning(ctx, &a)
	if err != nil {
		return tool.Report{}, err
	}
	agent, err := s.delegate(ctx, a)
	if err != nil {
		return tool.Report{}, err
	}
	if !a.Preapproved || !s.userInvoked && !s.mentions(agent.Name) {
		meta, _ := json.Marshal(map[string]string{"description": a.Description, "subagent_type": agent.Name})
		err := h.Ask(ctx, tool.Permission{Name: fold.TaskTool, Patterns: []string{agent.Name}, Always: []string{"*"}, Metadata: meta})
		if err != nil {
			return tool.Report{}, err
		}
	}
	if words {
		return messages{h}.send(ctx, a, agent)
	}
	a.Isolated = a.Isolated || agent.Isolated
	if a.Background {
		return h.delegateBackground(ctx, a, agent)
	}
	t, err := h.newTask(ctx, a, agent)
	if err != nil {
		return tool.Report{}, err
	}
	defer t.tree.release()
	leave, err := s.engine.subagents.Acquire(ctx, s.session.ID, s.settings.Subagents, s.writes(agent) && !a.Isolated)
	if err != nil {
		return tool.Report{}, err
	}
	r, err := t.await(ctx)
	if err == nil && (r.State == tool.TaskRunning || r.State == tool.TaskAsks) { // it continues without the call
		t.continueInBackground(leave)
		return r, nil
	}
	leave()
	return r, err
}

// delegateBackground has a child work in the background.
func (h *host) delegateBackground(ctx context.Context, a tool.Assignment, agent *Agent) (tool.Report, error) {
	s, e := h.step, h.step.engine
	leave, ok := e.subagents.TryAcquire(s.session.ID, s.settings.Subagents, s.writes(agent) && !a.Isolated)
	if !ok {
		return tool.Report{}, tool.Failf("The limit of parallel tasks is reached (settings subagents.parallel and subagents.writers). Continue with other work until one reports.")
	}
	t, err := h.newTask(ctx, a, agent)
	if err == nil {
		_, err = e.submit(ctx, t.child.ID, t.prompt, lathe.Background)
	}
	if err != nil {
		leave()
		if t != nil {
			t.tree.release()
		}
		return tool.Report{}, refusal(err)
	}
	t.continueInBackground(func() { t.tree.release(); leave() })
	return t.runningReport("The task is running."), nil
}

// newTask is a task with its child, which the parent's part names from now on.
func (h *host) newTask(ctx context.Context, a tool.Assignment, agent *Agent) (*task, error) {
	tree, err := isolate(ctx, h, a)
	if err != nil {
		return nil, err
	}
	child, err := h.childFor(ctx, a, agent, tree)
	if err != nil {
		tree.release()
		return nil, err
	}
	t := &task{host: h, tree: tree, agent: agent, child: child, background: a.Background, Delegation: &subagent.Delegation{
		Parent: h.step.session.ID, Child: child.ID, Clocks: []*subagent.Clock{h.clock, h.stepClock}, Changed: make(chan struct{}, 1), Asked: make(chan string),
	}}
	t.prompt = lathe.Prompt{Agent: agent.Name, Parts: []lathe.Part{{Body: &lathe.Text{Text: a.Prompt}}}}
	if t.model = h.model; agent.Model != nil {
		t.model = lathe.ModelRef{Provider: agent.Model.Provider, Model: agent.Model.Model, Variant: agent.Variant}
	}
	t.prompt.Model = &t.model
	// Write this before the child starts: a repair of this call must know the child.
	return t, h.writeProgress(ctx, a.Description, t.metadata())
}

// delegate finds the agent of an assignment, and refuses what cannot be done.
func (s *stepInput) delegate(ctx context.Context, a tool.Assignment) (*Agent, error) {
	depth, err := s.engine.Depth(ctx, s.session)
	if err != nil {
		return nil, err
	}
	limits := s.settings.Subagents
	if depth >= limits.MaxDepth() {
		return nil, tool.Failf("Tasks cannot be delegated from here: sessions nest at most %d deep (setting subagent_depth). Do the work yourself.", limits.MaxDepth())
	}
	i := slices.IndexFunc(s.settings.Agents, func(o Agent) bool {
		return o.Name == a.Agent && (s.userInvoked || o.Mode != lathe.Primary)
	})
	if i < 0 {
		return nil, tool.Failf("No subagent %q. Available: %s.", a.Agent, strings.Join(s.delegates(), ", "))
	}
	if a.Background && !limits.Background {
		return nil, tool.Failf("Tasks do not run in the background here (setting subagents.background). Call task without background.")
	}
	if n := len(strings.Fields(a.Prompt)); n < limits.MinBrief && a.Resume == "" && !s.userInvoked {
		return nil, tool.Failf("The prompt has %d words, and at least %d are needed (setting subagents.brief): the agent sees nothing else. Add the goal, what is known with paths, what to leave alone, and the exact form of the answer.", n, limits.MinBrief)
	}
	return &s.settings.Agents[i], nil
}

// delegates are the agents that may be given tasks, by name.
func (s *stepInput) delegates() (names []string) {
	for _, a := range s.settings.Agents {
		if a.Mode != lathe.Primary && s.evaluator.Action(fold.TaskTool, a.Name) != lathe.Deny {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// describe returns a tool's description. The task tool's ends with the list of agents.
func (s *stepInput) describe(spec tool.Spec) string {
	if !spec.Agent {
		return spec.Description
	}
	text := spec.Description
	if n := s.settings.Subagents.MinBrief; n > 0 {
		text += fmt.Sprintf("\n- The prompt of a new task has at least %d words; a shorter one is refused.", n)
	}
	text += "\n\nAgents:"
	for _, name := range s.delegates() {
		about := "only when the user asks for it"
		if i := slices.IndexFunc(s.settings.Agents, func(a Agent) bool { return a.Name == name }); s.settings.Agents[i].Description != "" {
			about = s.settings.Agents[i].Description
		}
		text += "\n- " + name + ": " + about
	}
	return text
}

// mentions reports whether the prompt names an agent: then it may be called unasked, for this
// exchange.
func (s *stepInput) mentions(name string) bool {
	return slices.ContainsFunc(s.user.Parts, func(p lathe.Part) bool {
		m, ok := p.Body.(*lathe.AgentMention)
		return ok && m.Name == name
	})
}

// childFor returns the session for a task: a new one, or one that this session has had work for
// it before. No other can be continued: two sibling sessions could wait for each other.
func (h *host) childFor(ctx context.Context, a tool.Assignment, agent *Agent, tree *taskTree) (lathe.Session, error) {
	s := h.step
	if a.Resume != "" {
		return h.taskOf(ctx, a.Resume)
	}
	inst, err := s.engine.Instance(ctx, tree.directory(s.session.Directory))
	if err != nil {
		return lathe.Session{}, err
	}
	child, err := s.engine.CreateNext(ctx, inst, lathe.NewSession{
		Parent: s.session.ID, Title: fmt.Sprintf("%s (@%s subagent)", a.Description, agent.Name), Agent: agent.Name, Rules: s.childRules(agent),
	})
	if err != nil {
		return child, err
	}
	return child, tree.prepare(ctx, child)
}

// taskOf is a session that this one has had work for it.
func (h *host) taskOf(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	child, err := h.step.engine.store.Session(ctx, id)
	if lathe.CodeOf(err) == lathe.NotFound || err == nil && child.Parent != h.step.session.ID {
		return child, tool.Failf("%s is not a task of this session. Leave task_id out to start a new one.", id)
	}
	return child, err
}

// childRules are the rules of a child in addition to those it inherits from its parent's. The
// rules of all its parents apply too.
func (s *stepInput) childRules(agent *Agent) (own lathe.Ruleset) {
	deny := func(permission string) {
		r := lathe.Rule{Permission: permission, Pattern: "*", Action: lathe.Deny}
		if !slices.Contains(s.session.Rules, r) && !slices.Contains(own, r) {
			own = append(own, r)
		}
	}
	for _, name := range []string{"todowrite", fold.TaskTool} {
		if !slices.ContainsFunc(agent.Rules, func(r lathe.Rule) bool { return r.Permission == name }) {
			deny(name)
		}
	}
	for _, name := range s.settings.Subagents.Primary {
		deny(name)
	}
	if s.agent.permissions().Evaluate("edit", "*").Action == lathe.Deny {
		deny("edit")
	}
	return own
}

// task is a running assignment.
type task struct {
	*subagent.Delegation
	host       *host
	agent      *Agent
	child      lathe.Session
	model      lathe.ModelRef
	prompt     lathe.Prompt
	background bool
	question   string    // of the child, which waits for the answer
	tree       *taskTree // nil if it works where its parent does
}

// writes reports whether a child may change files as it likes: two of those in one work tree
// get into each other's way.
func (s *stepInput) writes(agent *Agent) bool {
	return agent.permissions().Evaluate("edit", "*").Action != lathe.Deny && s.evaluator.Action("edit", "*") != lathe.Deny
}

// metadata describes the child on the parent's part.
func (t *task) metadata() json.RawMessage {
	type model struct {
		Provider string `json:"providerID"`
		Model    string `json:"modelID"`
	}
	m := struct {
		Parent     lathe.SessionID `json:"parentSessionId"`
		Session    lathe.SessionID `json:"sessionId"`
		Model      model           `json:"model"`
		Background bool            `json:"background,omitempty"`
		Job        lathe.SessionID `json:"jobId,omitempty"` // the child too, for clients that ask for it
		Summary    json.RawMessage `json:"summary,omitempty"`
		Calls      int             `json:"calls,omitempty"` // summary has only the last of them
	}{Parent: t.Parent, Session: t.child.ID, Model: model{t.model.Provider, t.model.Model}, Background: t.background}
	if t.background {
		m.Job = t.child.ID
	}
	m.Summary, m.Calls = t.host.step.engine.subagents.Calls(t.Delegation)
	out, _ := json.Marshal(m)
	return out
}

// refusal is why a child could not be given its prompt.
func refusal(err error) error {
	switch lathe.CodeOf(err) {
	case lathe.Canceled, lathe.Internal:
		return err
	default:
		return tool.Failf("The task could not be done: %w", err)
	}
}

// await has the child work and waits for its end. One that ends without a word is asked for
// some, once.
func (t *task) await(ctx context.Context) (tool.Report, error) {
	e := t.host.step.engine
	defer e.subagents.Register(t.Delegation)()
	for again := false; ; again = true {
		if _, err := e.submit(ctx, t.child.ID, t.prompt, lathe.Awaited); err != nil {
			return tool.Report{}, refusal(err)
		}
		err := t.follow(ctx)
		if errors.Is(err, errMoved) || errors.Is(err, errAsked) {
			if moved, err := t.detach(ctx); err != nil || moved {
				return t.detachedReport(), err
			}
		} else if err != nil {
			return t.stopChild(ctx, err)
		}
		r, err := t.report(ctx)
		if r.State == subagent.Silent && again {
			r.State, r.Text = tool.TaskFailed, "It ended without an answer, even when asked for one."
		}
		if r.Failed() {
			t.host.Progress("", r.Metadata)
		}
		if err != nil || r.State != subagent.Silent {
			return r, err
		}
		t.prompt.Parts = []lathe.Part{{Body: history.Synthetic(moreWords)}}
	}
}

// follow shows the child's calls until the child is idle.
func (t *task) follow(ctx context.Context) error {
	e := t.host.step.engine
	end, err := e.actors.wake(t.child.ID)
	if err != nil {
		return err
	}
	moved := t.host.Background().Moved()
	var show <-chan time.Time // set while there is something
	for {
		select {
		case <-t.Changed:
			if show == nil {
				show = time.After(shownEvery)
			}
		case <-show:
			t.host.Progress("", t.metadata())
			show = nil
		case <-end.done:
			if end.err == nil && e.subagents.IsCanceling(t.Delegation) { // the parent is about to hear it
				return t.waitForCancel(ctx)
			}
			return end.err
		case <-moved:
			return errMoved
		case t.question = <-t.Asked:
			return errAsked
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitForCancel waits for the cancel that has reached the child already.
func (t *task) waitForCancel(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(settleTime):
		return errCanceled
	}
}

// stopChild stops the child of a call that no longer waits for it. After a deadline the model gets
// the child's findings so far.
func (t *task) stopChild(ctx context.Context, err error) (tool.Report, error) {
	e := t.host.step.engine
	if ctx.Err() == nil {
		return tool.Report{}, refusal(err)
	}
	if e.ctx.Err() != nil { // the child ends with the program, and can be taken up again
		return tool.Report{}, err
	}
	settled, cancel := settleContext(ctx)
	defer cancel()
	if stopped := e.actors.cancelAndWait(settled, t.child.ID); stopped != nil {
		e.log.Warn("subagent not stopped", "session", t.child.ID, "error", stopped)
	}
	if !errors.Is(err, errLate) {
		return tool.Report{}, err
	}
	r, failed := t.report(settled)
	if failed != nil {
		return r, failed
	}
	if r.State == tool.TaskCanceled {
		r.State, r.Text = tool.TaskFailed, strings.Replace(r.Text, subagent.StoppedText, err.Error()+" task_id continues it.", 1)
	}
	return r, nil
}

// cancelAndWait cancels the turn of a child session and waits until it has
// settled.
func (all *actors) cancelAndWait(ctx context.Context, id lathe.SessionID) error {
	if _, err := all.engine.store.Admit(ctx, id, lathe.Cancel{}); err != nil {
		return err
	}
	_, err := all.endTurn(ctx, id)
	return err
}
