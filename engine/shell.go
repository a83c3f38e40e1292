package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
)

// shellPrompt is the prompt text before a command that the user ran.
const shellPrompt = "The following tool was executed by the user"

// Shell runs a command of the user's in a session, and returns the message that holds what
// it printed. A session that is at work refuses it; prompts that come meanwhile are answered
// afterwards. Cancel ends it.
func (e *Engine) Shell(ctx context.Context, id lathe.SessionID, in lathe.ShellCommand) (lathe.Message, error) {
	rec, err := e.store.Session(ctx, id)
	if err != nil {
		return lathe.Message{}, err
	}
	said, _, err := e.choose(ctx, rec, lathe.Prompt{Agent: in.Agent, Model: in.Model})
	if err != nil {
		return lathe.Message{}, err
	}
	if in.Message == "" {
		in.Message = e.ids.Message()
	} else if err := lathe.CheckID(lathe.PrefixMessage, string(in.Message)); err != nil {
		return lathe.Message{}, err
	}
	return whenIdle(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Message, error) { return r.shell(ctx, said, in) })
}

// shell runs the command and writes down what it prints, as the call of a tool.
func (r *runner) shell(ctx context.Context, said *lathe.User, in lathe.ShellCommand) (lathe.Message, error) {
	s, err := rewinder{r}.loadSettled(ctx)
	if err != nil {
		return lathe.Message{}, err
	}
	if s.session.Revert != nil {
		if err := r.finalizeRevert(ctx, s); err != nil {
			return lathe.Message{}, err
		}
	}
	if r.log.mem.ByID[in.Message] != nil {
		return lathe.Message{}, lathe.Errorf(lathe.Conflict, "message %s already exists; use a new id", in.Message)
	}
	settings, err := r.engine.env.Settings(ctx, r.config.place)
	if err != nil {
		return lathe.Message{}, err
	}
	if settings.Shell == nil {
		return lathe.Message{}, lathe.Errorf(lathe.Unavailable, "this engine has no shell configured")
	}
	part, err := r.beginShell(ctx, said, in)
	if err != nil {
		return lathe.Message{}, err
	}
	var failure error
	res, err := settings.Shell.Run(ctx, bash.UserCommand{
		Session: r.log.lease.Session, Agent: said.Agent, Dir: r.config.place.Directory, Root: r.config.place.Worktree, Command: in.Command, Local: in.Local,
	}, func(metadata json.RawMessage) {
		if next, err := part.Body.(*lathe.ToolCall).Progress("", metadata); err == nil && failure == nil {
			part.Body = next
			failure = r.log.write(ctx, &lathe.PartChanged{Part: part, Time: r.engine.now()})
		}
	})
	if failure != nil {
		return lathe.Message{}, failure
	}
	return r.endShell(ctx, part, res, err)
}

// beginShell writes the prompt that stands for the command, and the answer that holds it.
func (r *runner) beginShell(ctx context.Context, said *lathe.User, in lathe.ShellCommand) (lathe.Part, error) {
	now := r.engine.now()
	id := r.log.lease.Session
	u := lathe.Message{ID: in.Message, Session: id, Created: now, Data: said}
	words := lathe.Part{ID: r.engine.ids.Part(), Session: id, Message: u.ID, Body: &lathe.Text{Text: shellPrompt, Synthetic: lathe.Yes}}
	m := lathe.Message{ID: r.engine.ids.Message(), Session: id, Created: now, Data: &lathe.Assistant{
		Parent: u.ID, Agent: said.Agent, Mode: said.Agent, Model: said.Model, Path: lathe.Paths{Cwd: r.config.place.Directory, Root: r.config.place.Worktree},
	}}
	input, _ := json.Marshal(struct {
		Command string `json:"command"`
	}{in.Command})
	part := lathe.Part{ID: r.engine.ids.Part(), Session: id, Message: m.ID, Body: &lathe.ToolCall{
		CallID: r.engine.ids.CallID(), Tool: "bash", State: &lathe.Running{Input: input, Start: now},
	}}
	err := r.log.write(ctx, r.log.busyFact(), &lathe.MessageChanged{Info: u}, &lathe.PartChanged{Part: words, Time: now},
		&lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: part, Time: now})
	return part, err
}

// endShell writes what the command printed. It is complete whatever its exit code; one that
// could not be run has failed.
func (r *runner) endShell(ctx context.Context, part lathe.Part, res tool.Result, failed error) (lathe.Message, error) {
	now := r.engine.now()
	call := part.Body.(*lathe.ToolCall)
	var next *lathe.ToolCall
	var err error
	if failed != nil {
		next, err = call.Fail(failed.Error(), history.MetadataOf(call.State), now)
	} else {
		next, err = call.Complete(lathe.Completed{Output: res.Output, Metadata: res.Metadata, End: now})
	}
	if err != nil {
		return lathe.Message{}, err
	}
	part.Body = next
	h := r.log.mem.ByID[part.Message]
	a := *h.Data.(*lathe.Assistant)
	a.Completed = now
	m := h.Message
	m.Data, m.Parts = &a, nil
	err = r.log.write(ctx, &lathe.PartChanged{Part: part, Time: now}, &lathe.MessageChanged{Info: m})
	return r.log.mem.ByID[part.Message].Message, err
}

// withoutShell leaves out the commands that the user ran after a prompt: their output does not answer it and
// needs no answer.
func withoutShell(messages []*history.Message) []*history.Message {
	if !slices.ContainsFunc(messages, isShellPrompt) {
		return messages
	}
	var run lathe.MessageID
	return slices.DeleteFunc(slices.Clone(messages), func(h *history.Message) bool {
		if isShellPrompt(h) {
			run = h.ID
			return true
		}
		a, ok := h.Data.(*lathe.Assistant)
		return ok && run != "" && a.Parent == run
	})
}

// isShellPrompt reports whether a message stands for a command of the user's.
func isShellPrompt(h *history.Message) bool {
	if _, ok := h.Data.(*lathe.User); !ok || len(h.Parts) != 1 {
		return false
	}
	t, ok := h.Parts[0].Body.(*lathe.Text)
	return ok && t.Synthetic.On() && t.Text == shellPrompt
}
