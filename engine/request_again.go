package engine

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tool"
)

// requestDigest is what is kept of a request: the version of the program, and its digests.
func (s *services) requestDigest(r model.Request) string {
	rest, system := r.Digest()
	return s.version + " " + rest + " " + system
}

// RequestCheck compares the request of an answer with the one that would be sent today.
type RequestCheck struct {
	Message lathe.MessageID
	Version string // of the program that sent it; "" if nothing was kept
	Older   bool   // the program has another version now
	Same    bool
	// Replaced says that all is the same but the system prompt. A session stores its present one, which another agent or
	// model, a compaction or an hour of rest has replaced.
	Replaced bool
}

// CheckRequests builds the requests for some answers of a session again, with given settings, and compares their digests
// with those that were sent. Nothing is sent.
func CheckRequests(ctx context.Context, e *Engine, id lathe.SessionID, settings *StepSettings, answers []lathe.MessageID) ([]RequestCheck, error) {
	digests, err := store.RequestDigests(ctx, e.store, id)
	if err != nil {
		return nil, err
	}
	conversation, err := history.Load(ctx, e.store, id, new(atomic.Int64))
	if err != nil {
		return nil, err
	}
	inst, err := e.Instance(ctx, conversation.Session.Directory)
	if err != nil {
		return nil, err
	}
	saved, err := e.store.SystemPrompt(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []RequestCheck
	for _, answer := range answers {
		version, digest, _ := strings.Cut(digests[answer], " ")
		c := RequestCheck{Message: answer, Version: version, Older: version != e.version}
		if digest != "" {
			st := &stepInput{engine: e, session: conversation.Session, place: inst.Place, tools: settings.Tools, savedPrompt: saved}
			req, err := st.again(ctx, settings, conversation.Messages, answer)
			rest, system := req.Digest()
			c.Same = err == nil && digest == rest+" "+system // a model that is gone makes another request
			c.Replaced = err == nil && !c.Same && strings.HasPrefix(digest, rest+" ")
		}
		if out = append(out, c); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return out, nil
}

// again builds the request for an answer from the messages before it, as they were then.
func (s *stepInput) again(ctx context.Context, settings *StepSettings, messages []*history.Message, answer lathe.MessageID) (r model.Request, err error) {
	at := slices.IndexFunc(messages, func(h *history.Message) bool { return h.ID == answer })
	if at < 0 {
		return r, lathe.Errorf(lathe.NotFound, "Message not found: %s", answer)
	}
	said, ok := messages[at].Data.(*lathe.Assistant)
	before := asOf(messages[:at], messages[at].Created)
	c := stepConfig{settings: settings, user: history.LastUser(before)}
	if !ok || c.user == nil {
		return r, lathe.Errorf(lathe.Invalid, "%s answers nothing", answer)
	}
	u := c.user.Data.(*lathe.User)
	c.variant, c.summary = u.Model.Variant, lastSummary(before)
	if c.agent, err = settings.agent(u.Agent); err != nil {
		return r, err
	}
	if c.format, err = readFormat(u.Format); err != nil {
		return r, err
	}
	if c.model, err = s.engine.env.Model(ctx, s.place, said.Model); err != nil {
		return r, err
	}
	s.stepConfig = c
	if s.evaluator, err = s.permissions(ctx, s.engine.store, s.session); err != nil {
		return r, err
	}
	if c.format != nil {
		s.tools = tool.NewSet(append(settings.Tools.All(), structuredTool(c.format))...)
	}
	notice := strings.TrimSpace(lastStepPrompt)
	s.last = slices.ContainsFunc(c.user.Parts, func(p lathe.Part) bool {
		t, ok := p.Body.(*lathe.Text)
		return ok && t.Synthetic.On() && t.Text == notice
	})
	visible := plainMessages(history.Visible(before))
	s.history = visible
	r = s.newRequest()
	r.Messages = model.Convert(visible, s.model.Target)
	return r, nil
}

// asOf copies messages with the outputs that were cleared since a time.
func asOf(messages []*history.Message, at lathe.Time) []*history.Message {
	out := make([]*history.Message, len(messages))
	for i, h := range messages {
		own := *h
		own.Parts = slices.Clone(h.Parts)
		for j, p := range own.Parts {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			if done, ok := c.State.(*lathe.Completed); ok && done.Compacted > at {
				call, state := *c, *done
				state.Compacted = 0
				call.State, own.Parts[j].Body = &state, &call
			}
		}
		out[i] = &own
	}
	return out
}
