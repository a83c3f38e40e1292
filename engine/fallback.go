package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Fallback are the models to use when one cannot be: its retries are spent, it asks to wait
// for too long, or it is gone.
type Fallback struct {
	Models []lathe.ModelRef
	// Unauthorized also falls back when a key is missing or refused. Otherwise that is an
	// error, because people want to know.
	Unauthorized bool
}

// fallback is what a turn knows of models that could not be used. The next turn tries them
// again.
type fallback struct {
	tried   []lathe.ModelRef
	from    lathe.ModelRef // what the prompt asks for
	instead *Model         // what answers; nil while nothing has fallen
	note    string         // for people, not written yet
}

// fallsBack reports whether a failure is one that another model may not have.
func (f Fallback) fallsBack(err error) bool {
	switch lathe.CodeOf(err) {
	case lathe.Limited, lathe.Unavailable, lathe.NotFound:
		return true
	case lathe.Unauthorized:
		return f.Unauthorized
	default:
		return false
	}
}

// fall looks for a model in place of one that failed, and reports whether there is one. An
// agent's own list goes before the general one.
func (r *runner) fall(ctx context.Context, failed lathe.ModelRef, err error) bool {
	if r.settings == nil || r.agent == nil || !r.settings.Fallback.fallsBack(err) {
		return false
	}
	list := r.agent.Fallback
	if len(list) == 0 {
		list = r.settings.Fallback.Models
	}
	f := &r.fallen
	f.tried = append(f.tried, failed)
	for _, ref := range list {
		if slices.ContainsFunc(f.tried, func(t lathe.ModelRef) bool { return t.Provider == ref.Provider && t.Model == ref.Model }) {
			continue
		}
		m, merr := r.engine.setup.Model(ctx, r.place, ref)
		if merr != nil {
			f.tried = append(f.tried, ref)
			r.engine.log.Warn("a model of the fallback list cannot be used", "session", r.log.lease.Session, "model", ref.Provider+"/"+ref.Model, "error", merr)
			continue
		}
		f.from, f.instead = r.user.Said.(*lathe.User).Model, m
		f.note = fmt.Sprintf("%s/%s could not answer: %s. %s/%s answers instead.", failed.Provider, failed.Model, strings.TrimRight(faultText(err), ". "), m.Ref.Provider, m.Ref.Model)
		r.engine.log.Warn("falling back to another model", "session", r.log.lease.Session, "from", failed.Provider+"/"+failed.Model,
			"to", m.Ref.Provider+"/"+m.Ref.Model, "error", err)
		r.substitute()
		return true
	}
	return false
}

// substitute puts the model that answers into what was sampled.
func (r *runner) substitute() {
	r.model, r.stepConfig.err = r.fallen.instead, nil
}

// fallSample applies what the turn knows to a new stepConfig: a model that has fallen stays so,
// and one that cannot even be opened falls at once.
func (r *runner) fallSample(ctx context.Context) {
	if r.settings == nil || r.agent == nil || r.user == nil {
		return
	}
	wanted := r.user.Said.(*lathe.User).Model
	if f := r.fallen; f.instead != nil && f.from == wanted {
		r.substitute()
	} else if r.model == nil && r.stepConfig.err != nil {
		r.fall(ctx, wanted, r.stepConfig.err)
	}
}

// fallNote is the part that tells people which model answers, and why; it is shown and not sent
// to a model. Without one there is none.
func (s *stepRun) fallNote() []lathe.Fact {
	if s.fallen.note == "" {
		return nil
	}
	at := s.engine.now()
	p := lathe.Part{ID: s.engine.ids.Part(), Session: s.session.ID, Message: s.fold.Message.ID, Body: &lathe.Text{
		Text: s.fallen.note, Ignored: lathe.Yes, Time: &lathe.Span{Start: at, End: at},
	}}
	s.fallen.note = ""
	return []lathe.Fact{&lathe.PartChanged{Part: p, Time: at}}
}

// retarget lets another model answer in the same message. Nothing of the first one's is left.
func (s *stepRun) retarget(ctx context.Context, st state) error {
	s.stepConfig = s.runner.stepConfig
	a := *s.fold.Message.Said.(*lathe.Assistant)
	a.Model = s.model.Ref
	s.fold.Message.Said, s.fold.Price = &a, s.model.Price
	var err error
	if s.prompt, err = s.build(ctx, st, s.tools); err != nil {
		return err
	}
	facts := append([]lathe.Fact{s.log.busy(), &lathe.MessageChanged{Info: s.fold.Message}}, s.fallNote()...)
	return s.reserve(ctx, facts...)
}
