package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tool"
)

// errNeedsPerson refuses a template's command that only the user can allow.
var errNeedsPerson = errors.New("a person must allow this")

// runSnippets puts the output of a template's shell commands in their places. They follow the
// same rules as the agent's own commands, and run like them. An error replaces the output of a
// denied or failed one; a rejection by the user ends the slash command.
func (c *commandRun) runSnippets(ctx context.Context, pieces []prompt.Piece) (string, error) {
	outs, errs := make([]string, len(pieces)), make([]error, len(pieces))
	var group sync.WaitGroup
	host := &snippetHost{commandRun: c}
	for i, p := range pieces {
		if outs[i] = p.Text; !p.Snippet {
			continue
		}
		if host.evaluator.Chain == nil {
			var err error
			if host.evaluator, err = c.permissions(ctx); err != nil {
				return "", err
			}
		}
		group.Go(func() { outs[i], errs[i] = host.run(ctx, p.Text) })
	}
	group.Wait()
	for i, p := range pieces {
		if errors.Is(errs[i], errNeedsPerson) { // one after the other, so that people know what they are asked
			outs[i], errs[i] = c.runAsked(ctx, host.evaluator, p.Text)
		}
		if errs[i] != nil {
			return "", errs[i]
		}
	}
	return strings.TrimSpace(strings.Join(outs, "")), nil
}

// permissions returns the evaluator of the agent in the session, as in a step.
func (c *commandRun) permissions(ctx context.Context) (permission.Evaluator, error) {
	config := stepConfig{settings: c.settings, agent: c.agent, user: &history.Message{Message: lathe.Message{Data: &lathe.User{}}}}
	return config.permissions(ctx, c.engine.store, c.session)
}

// runAsked runs a command that needs approval. The session must be idle, because only the holder
// of its lease can write the request.
func (c *commandRun) runAsked(ctx context.Context, j permission.Evaluator, command string) (string, error) {
	out, err := whenIdle(ctx, c.engine, c.session.ID, func(ctx context.Context, r *runner) (string, error) {
		return (&snippetHost{commandRun: c, evaluator: j, runner: r}).run(ctx, command)
	})
	if lathe.CodeOf(err) == lathe.Conflict {
		err = lathe.Errorf(lathe.Conflict, "the command %s runs %q, which needs approval, and the session is busy; call it again when the session is idle", c.command.Name, command)
	}
	return out, err
}

// snippetHost connects a template's command to the engine. Without a runner it cannot ask
// the user.
type snippetHost struct {
	tool.NoSession
	*commandRun
	evaluator permission.Evaluator
	runner    *runner
}

// run runs one command by the tool that runs those of models.
func (h *snippetHost) run(ctx context.Context, command string) (string, error) {
	t, ok := h.settings.Tools.Find("bash")
	if !ok || h.evaluator.Hide()(t.Spec()) {
		return snippetFailure(command, "commands are not allowed here"), nil
	}
	input, err := json.Marshal(struct {
		Command string `json:"command"`
	}{command})
	if err != nil {
		return "", err
	}
	res, err := tool.Run(ctx, t, &tool.Call{
		Session: h.session.ID, Agent: h.agent.Name, Dir: h.place.Directory, Root: h.place.Worktree, Input: input, Host: h, External: h.settings.Outside,
	})
	switch {
	case err == nil:
		return strings.TrimRight(res.Output, "\n"), nil
	case errors.Is(err, errNeedsPerson), ctx.Err() != nil:
		return "", err
	case lathe.CodeOf(err) == lathe.Rejected:
		return "", lathe.Errorf(lathe.Rejected, "the command %s did not run: %q was rejected", h.command.Name, command)
	default:
		return snippetFailure(command, err.Error()), nil
	}
}

func snippetFailure(command, why string) string { return fmt.Sprintf("(%s failed: %s)", command, why) }

// Allowed reports whether the rules allow a request.
func (h *snippetHost) Allowed(p tool.Permission) bool {
	action, err := h.evaluator.Decide(p)
	return err == nil && action == lathe.Allow
}

// Ask evaluates requests and asks the user if possible, one after the other.
func (h *snippetHost) Ask(ctx context.Context, all ...tool.Permission) error {
	for _, p := range all {
		if err := h.askOne(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (h *snippetHost) askOne(ctx context.Context, p tool.Permission) error {
	action, err := h.evaluator.Decide(p)
	if err != nil || action == lathe.Allow {
		return err
	}
	if h.runner == nil {
		return errNeedsPerson
	}
	a := &ask{permission: &p, loop: true} // it names no call
	a.id = lathe.AskID(h.engine.ids.New(lathe.PrefixPermission))
	if hook := h.settings.Hooks.PermissionAsk; hook != nil {
		switch action, err := hook(ctx, a.request(h.session.ID)); {
		case err != nil || action == lathe.Allow && p.Name != permission.Sandbox:
			return err
		case action == lathe.Deny:
			return &permission.Refusal{Code: lathe.Denied, Text: "a plugin of the user forbids it"}
		}
	}
	if err := h.runner.log.write(ctx, &lathe.PermissionAsked{PermissionRequest: a.request(h.session.ID)}); err != nil {
		return err
	}
	return h.await(ctx, a.id)
}

// await waits for the answer, here or from another process.
func (h *snippetHost) await(ctx context.Context, id lathe.AskID) error {
	tick := time.NewTicker(checkpointEvery) // for an answer whose event was lost
	defer tick.Stop()
	var late <-chan time.Time
	if limit := h.settings.Deadlines.Ask; limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	withdraw := func() error {
		return h.runner.log.write(ctx, &lathe.PermissionReplied{Session: h.session.ID, Request: id, Reply: lathe.Reject})
	}
	for {
		got, err := h.engine.store.Answers(context.WithoutCancel(ctx), id)
		if err != nil {
			return err
		}
		if a, ok := got[id]; ok {
			return answerError(a)
		}
		select {
		case <-h.runner.actor.wake:
		case <-tick.C:
		case <-late:
			return errors.Join(&permission.Refusal{Code: lathe.Rejected, Text: "no user answered in time"}, withdraw())
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), withdraw())
		}
	}
}

func answerError(a store.Answer) error {
	f, ok := a.Fact.(*lathe.PermissionReplied)
	if ok && f.Reply != lathe.Reject {
		return nil
	}
	return &permission.Refusal{Code: lathe.Rejected, Text: cmp.Or(a.Note, "the user rejected it")}
}

// Publish publishes an ephemeral event.
func (h *snippetHost) Publish(f lathe.Fact) {
	h.engine.publish(h.session, f)
}
