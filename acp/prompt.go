package acp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// settleTime is how long the event of an idle session may take after the session is idle.
const settleTime = 5 * time.Second

// turn is a prompt that the client waits for. Its fields belong to the loop.
type turn struct {
	prompt   lathe.MessageID  // "" for a command without a prompt
	number   int64            // of the request among all messages
	accepted bool             // the engine has the prompt
	started  bool             // the prompt was seen in the history, so the next idle state is its end
	canceled bool             // the client canceled it, whatever else ended it
	last     *lathe.Assistant // the newest answer
	failed   lathe.Fault      // why it could not run
	done     chan struct{}    // closed when the session is idle again
}

// prompt sends a prompt and answers when the session is idle.
func (s *server) prompt(ctx context.Context, p wire.PromptRequest) (out wire.PromptResponse, err error) {
	l, err := s.open()
	if err != nil {
		return out, err
	}
	blocks, err := s.withUnsaved(ctx, l, p)
	if err != nil {
		return out, err
	}
	parts, err := promptParts(blocks)
	if err != nil {
		return out, err
	}
	t := &turn{prompt: l.ids.Message(), number: jsonrpc.Number(ctx), done: make(chan struct{})}
	if l.cancels.wait(ctx, lathe.SessionID(p.SessionID), t.number) {
		return wire.PromptResponse{StopReason: wire.StopReasonCancelled}, nil
	}
	var send func(context.Context) error
	err = l.with(ctx, p.SessionID, func(o *session) error {
		send = o.sender(t, parts)
		o.turns = append(o.turns, t)
		o.own[t.prompt] = true
		return nil
	})
	if err != nil {
		return out, err
	}
	id := lathe.SessionID(p.SessionID)
	err = l.follow(ctx, id, t, send)
	_ = l.run(l.ctx, func() { // or the conversation has ended
		if o := l.sessions[id]; o != nil {
			o.turns = slices.DeleteFunc(o.turns, func(other *turn) bool { return other == t })
		}
		if err == nil || ctx.Err() == nil { // a revoked request ends with that error
			out.StopReason, err = t.result(err)
		}
	})
	return out, s.asLogin(ctx, l, err)
}

// follow sends a prompt and returns when all of its updates are sent.
func (l *loop) follow(ctx context.Context, id lathe.SessionID, t *turn, send func(context.Context) error) error {
	err := send(ctx)
	if err == nil {
		err = l.run(ctx, func() { t.accepted = true })
	}
	if err != nil {
		_ = l.revoke(ctx, id, t)
		return err
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	idle := make(chan struct{})
	l.work.Go(func() {
		defer close(idle)
		_, _ = l.backend.Wait(waiting, id) // the events say how the turn ended
	})
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
	case <-l.ctx.Done():
	case <-idle:
		select {
		case <-t.done:
			return nil
		case <-time.After(settleTime):
			return l.run(ctx, func() {
				if o := l.sessions[id]; o != nil {
					_ = o.reload(ctx) // the rest stays in the store
				}
			})
		case <-ctx.Done():
		}
	}
	if l.revoke(ctx, id, t) {
		select { // so that the next prompt does not meet the end of this turn
		case <-t.done:
		case <-time.After(settleTime):
		case <-l.ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// sender returns the function that sends a prompt, or runs the command that it names.
func (s *session) sender(t *turn, parts []lathe.Part) func(context.Context) error {
	id, b, agent := s.id, s.loop.backend, s.choice.agent
	var model *lathe.ModelRef
	variant := ""
	if ref := s.choice.model; s.choice.chosen {
		model, variant = &ref, ref.Variant
	}
	name, rest := slashCommand(parts)
	if i := slices.IndexFunc(s.catalog.commands, func(c lathe.Command) bool { return c.Name == name }); name != "" && i >= 0 {
		files := slices.DeleteFunc(slices.Clone(parts), func(p lathe.Part) bool { _, isText := p.Body.(*lathe.Text); return isText })
		call := lathe.CommandCall{Command: name, Arguments: rest, Message: t.prompt, Agent: agent, Model: model, Variant: variant, Parts: files}
		return func(ctx context.Context) error {
			_, err := b.SubmitCommand(ctx, id, call)
			return err
		}
	}
	if i := slices.IndexFunc(ownCommands(), func(c ownCommand) bool { return c.name == name }); name != "" && i >= 0 {
		run := ownCommands()[i].run
		t.prompt = ""
		return func(ctx context.Context) error { return run(ctx, s.loop, id, t, rest) }
	}
	p := lathe.Prompt{ID: t.prompt, Agent: agent, Model: model, Variant: variant, Parts: parts}
	return func(ctx context.Context) error {
		_, err := b.Submit(ctx, id, p)
		return err
	}
}

// slashCommand is the command at the beginning of a prompt, and its arguments.
func slashCommand(parts []lathe.Part) (name, rest string) {
	if len(parts) == 0 {
		return "", ""
	}
	b, ok := parts[0].Body.(*lathe.Text)
	if !ok || !strings.HasPrefix(b.Text, "/") {
		return "", ""
	}
	name, rest, _ = strings.Cut(b.Text[1:], " ")
	if line, more, ok := strings.Cut(name, "\n"); ok {
		name, rest = line, more+" "+rest
	}
	return strings.TrimSpace(name), strings.TrimSpace(rest)
}

// commandHint says what to write after a command.
func commandHint(m lathe.Command) string {
	if len(m.Hints) == 0 {
		return ""
	}
	if len(m.Hints) == 1 && m.Hints[0] == "$ARGUMENTS" {
		return "arguments"
	}
	return strings.Join(m.Hints, " ")
}

// ownCommand is a slash command of the protocol itself.
type ownCommand struct {
	name, about, hint string
	run               func(ctx context.Context, l *loop, id lathe.SessionID, t *turn, args string) error
}

// ownCommands are the operations that other front ends have keys for.
func ownCommands() []ownCommand {
	return []ownCommand{
		{"compact", "Summarize the conversation to free context", "", func(ctx context.Context, l *loop, id lathe.SessionID, _ *turn, _ string) error {
			return l.backend.Compact(ctx, id, lathe.CompactRequest{})
		}},
		{"continue", "Continue an interrupted turn", "", func(ctx context.Context, l *loop, id lathe.SessionID, _ *turn, _ string) error {
			return l.backend.Resume(ctx, id)
		}},
		{"undo", "Undo the last prompt with its file changes", "", func(ctx context.Context, l *loop, id lathe.SessionID, t *turn, _ string) error {
			done, err := l.backend.Undo(ctx, id, lathe.Undo{})
			return l.report(ctx, id, t, "Undone", done, err)
		}},
		{"redo", "Restore what was undone", "", func(ctx context.Context, l *loop, id lathe.SessionID, t *turn, _ string) error {
			done, err := l.backend.Redo(ctx, id, lathe.Undo{})
			return l.report(ctx, id, t, "Restored", done, err)
		}},
		{"rewind", "List the steps of the session, or rewind to one of them", "[STEP [code|conversation] [dry-run]]", runRewind},
	}
}

// report writes the result of an undo into the conversation and ends its turn.
func (l *loop) report(ctx context.Context, id lathe.SessionID, t *turn, what string, done lathe.Undone, err error) error {
	if err != nil {
		return err
	}
	text := what + ": " + phrase.Count(len(done.Files), "file") + "."
	for _, f := range done.Files {
		text += "\n- " + f.Action + " " + f.File
		if f.Conflict != "" {
			text += ": " + f.Conflict
		}
	}
	return l.answer(ctx, id, t, text)
}

// answer writes the result of a command into the conversation and ends its turn.
func (l *loop) answer(ctx context.Context, id lathe.SessionID, t *turn, text string) error {
	return l.run(ctx, func() {
		if s := l.sessions[id]; s != nil {
			s.say(text)
		}
		t.finish()
	})
}

// finish lets the request of the client return. A session that goes away may finish a turn twice.
func (t *turn) finish() {
	select {
	case <-t.done:
	default:
		close(t.done)
	}
}

// result is how a turn ended, for the client.
func (t *turn) result(err error) (wire.StopReason, error) {
	fault := t.failed
	if t.last != nil && t.last.Error != nil {
		fault = t.last.Error
	}
	switch f := fault.(type) {
	case *lathe.AbortedFault:
		return wire.StopReasonCancelled, nil
	case *lathe.OutputLengthFault:
		return wire.StopReasonMaxTokens, nil
	case *lathe.ContentFilterFault:
		return wire.StopReasonRefusal, nil
	case *lathe.ProviderAuthFault:
		return "", lathe.Errorf(lathe.Unauthorized, "%s", f.Message)
	case nil:
	default:
		if !t.canceled {
			return "", lathe.Errorf(lathe.Unavailable, "%s", lathe.FaultMessage(f))
		}
	}
	switch {
	case t.canceled:
		return wire.StopReasonCancelled, nil
	case err != nil:
		return "", err
	case t.last != nil && t.last.Finish == "length":
		return wire.StopReasonMaxTokens, nil
	case t.last != nil && t.last.Finish == "content-filter":
		return wire.StopReasonRefusal, nil
	}
	return wire.StopReasonEndTurn, nil
}

// owns reports whether the client sent a prompt itself.
func (s *session) owns(id lathe.MessageID) bool { return s.own[id] }

// notePrompt notes a prompt: the one of a turn, and the agent and model it runs with, which another front end or a tool may
// have chosen.
func (s *session) notePrompt(id lathe.MessageID, u *lathe.User) {
	for _, t := range s.turns {
		if t.prompt == id {
			t.started = true
		}
	}
	was := s.choice
	if s.catalog.agent(u.Agent) != nil {
		s.choice.agent = u.Agent
	}
	if ref := u.Model; ref.Model != "" {
		if ref.Variant == defaultVariant {
			ref.Variant = ""
		}
		if s.choice.model = ref; modelID(was.model) != modelID(ref) || was.model.Variant != ref.Variant {
			s.choice.chosen = false
		}
	}
	s.tellChoice(was)
}

// noteAnswer notes the newest answer.
func (s *session) noteAnswer(a *lathe.Assistant) {
	for _, t := range s.turns {
		if t.started || t.accepted && t.prompt == "" {
			t.last = a
		}
	}
}

// noteFailure notes why a turn could not run.
func (s *session) noteFailure(f lathe.Fault) {
	for _, t := range s.turns {
		t.failed, t.started = f, true
	}
	if _, aborted := f.(*lathe.AbortedFault); len(s.turns) == 0 && !aborted {
		s.notice(wire.NoticeSeverityError, "The turn failed", lathe.FaultMessage(f))
	}
}

// status ends the turns of an idle session, and tells of retries.
func (s *session) status(st lathe.Status) {
	switch st.Type {
	case lathe.Busy:
		s.retrying = 0
		for _, t := range s.turns {
			t.started = t.started || t.accepted || t.prompt == ""
		}
	case lathe.Retrying:
		if st.Attempt != s.retrying {
			s.retrying = st.Attempt
			s.notice(wire.NoticeSeverityWarning, "The request failed and will be repeated", st.Message)
		}
	default:
		s.sendUsage()
		for _, t := range s.turns {
			if t.started {
				t.finish()
			}
		}
	}
}

// endTurn lets the prompts of a session that goes away return.
func (s *session) endTurn() {
	for _, t := range s.turns {
		t.finish()
	}
}
