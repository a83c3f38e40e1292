package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// Fallback lists the models to use when one is unavailable: its retries are spent, it asks to
// wait for too long, or it no longer exists.
type Fallback struct {
	Models []lathe.ModelRef
	// Unauthorized also falls back when a key is missing or refused. Otherwise that is an
	// error, because people want to know.
	Unauthorized bool
}

// covers reports whether a failure is one that another model may not have.
func (f Fallback) covers(err error) bool {
	switch lathe.CodeOf(err) {
	case lathe.Limited, lathe.Unavailable, lathe.NotFound:
		return true
	case lathe.Unauthorized:
		return f.Unauthorized
	default:
		return false
	}
}

// fallbackState is a turn's record of unavailable models. The next turn tries them again.
type fallbackState struct {
	tried []lathe.ModelRef
	from  lathe.ModelRef // model of the prompt
	model *Model         // its replacement; nil while no model has failed
	note  string         // for people, not written yet
}

// modelFor is the model that answers instead of the one a prompt asks for; nil if none does.
func (f *fallbackState) modelFor(wanted lathe.ModelRef) *Model {
	if f.model != nil && f.from == wanted {
		return f.model
	}
	return nil
}

// switchModel looks for a model in place of one that failed; nil if there is none. An agent's own list
// goes before the general one.
func (f *fallbackState) switchModel(ctx context.Context, e *services, at workspace.Place, c *stepConfig, failed lathe.ModelRef, err error) *Model {
	if c.settings == nil || c.agent == nil || !c.settings.Fallback.covers(err) {
		return nil
	}
	list := c.agent.Fallback
	if len(list) == 0 {
		list = c.settings.Fallback.Models
	}
	f.tried = append(f.tried, failed)
	name := func(m lathe.ModelRef) string { return m.Provider + "/" + m.Model }
	for _, ref := range list {
		if slices.ContainsFunc(f.tried, func(t lathe.ModelRef) bool { return name(t) == name(ref) }) {
			continue
		}
		m, merr := e.env.Model(ctx, at, ref)
		if merr != nil {
			f.tried = append(f.tried, ref)
			e.log.Warn("fallback model not usable", "session", c.user.Session, "model", name(ref), "error", merr)
			continue
		}
		f.from, f.model = c.user.Data.(*lathe.User).Model, m
		f.note = fmt.Sprintf("%s could not answer: %s. %s answers instead.", name(failed), strings.TrimRight(faultText(err), ". "), name(m.Ref))
		e.log.Warn("falling back to another model", "session", c.user.Session, "from", name(failed), "to", name(m.Ref), "error", err)
		return m
	}
	return nil
}

// switchModel finds the model that answers in place of the step's, and reports whether there is one. The
// next attempt, or the next step, uses it.
func (s *stepRun) switchModel(ctx context.Context, c *stepConfig, err error) bool {
	return !isWrite(err) && ctx.Err() == nil && s.fallback.switchModel(ctx, s.engine.services, s.place, c, s.model.Ref, err) != nil
}

// useFallback lets the model of the fallback answer in the same message. The facts say so.
func (s *stepRun) useFallback(ctx context.Context) (message lathe.Fact, note []lathe.Fact, err error) {
	s.model = s.fallback.model
	a := *s.fold.Message.Data.(*lathe.Assistant)
	a.Model = s.model.Ref
	s.fold.Message.Data, s.fold.Price = &a, s.model.Price
	s.prompt, err = s.rebuild(ctx)
	return &lathe.MessageChanged{Info: s.fold.Message}, s.fallback.noteFacts(s.log, s.fold.Message.ID), err
}

// noteFacts are the part that shows users which model answers and why. It is not sent to a model,
// and empty when nothing has changed.
func (f *fallbackState) noteFacts(log *sessionLog, message lathe.MessageID) []lathe.Fact {
	if f.note == "" {
		return nil
	}
	at := log.now()
	p := log.newPart(message, &lathe.Text{Text: f.note, Ignored: lathe.Yes, Time: &lathe.Span{Start: at, End: at}})
	f.note = ""
	return []lathe.Fact{&lathe.PartChanged{Part: p, Time: at}}
}
