package engine

import (
	"context"
	"errors"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/undo"
)

// turn runs the session until nothing is left to do.
func (r *runner) turn(ctx context.Context) error {
	r.config.reset()
	r.turnState = turnState{}
	for ctx.Err() == nil {
		s, err := r.load(ctx) // from memory; only what others changed is read
		if err != nil && ctx.Err() != nil {
			break
		} else if err != nil {
			return err
		}
		found := plan(s)
		if again, err := r.mayGoOn(ctx, s, found); err != nil {
			return err
		} else if again {
			continue
		}
		switch next := found.(type) {
		case repair:
			err = r.repair(ctx, next.left) // close what a dead process left open
			r.wasCut = true
		case finalizeRevert:
			if settled, failed := (rewinder{r}).settleRewind(ctx, s); settled || failed != nil {
				err = failed // and look again
			} else {
				err = r.finalizeRevert(ctx, s)
			}
		case promote:
			if settled, failed := (rewinder{r}).settleRewind(ctx, s); settled || failed != nil {
				err = failed
			} else {
				err = r.promote(ctx, s, next.prompts)
			}
		case compaction:
			err = r.compact(ctx, s)
		case subtask:
			err = r.subtask(ctx, s, next.parts)
		case step:
			if err = r.prune(ctx, s); err == nil {
				r.stepped = true
				err = r.step(ctx, s, next.last)
			}
		case endCheck:
			err = r.check(ctx, s, next.Result)
		case stop:
			continued, err := endHook(ctx, r, s)
			if err != nil {
				return err
			}
			if !continued {
				return r.prune(ctx, s)
			}
		}
		if err != nil {
			return err
		}
	}
	return r.abort(ctx)
}

// mayGoOn looks, between two steps, whether another node continues the session, or this one the turn of another. It
// reports whether to look again for what is to do.
func (r *runner) mayGoOn(ctx context.Context, s state, found next) (again bool, err error) {
	if _, none := found.(stop); !none {
		if m := r.engine.Member; m.IsLeaving() || m.Fence != nil && !m.Has(s.session.Directory) { // nothing is lost
			return false, errLeaving
		}
		r.actor.setRests(false)
	}
	return r.continueCut(ctx, s, found)
}

// load reads the state of the session.
func (r *runner) load(ctx context.Context) (state, error) {
	if r.actor != nil {
		r.actor.markSeen()
	}
	r.log.catchUp()
	waiting, wants, err := r.engine.store.Inbox(ctx, r.log.lease.Session)
	if err != nil {
		return state{}, err
	}
	s := state{session: r.log.mem.Session, queued: waiting, wants: wants}
	behind := map[lathe.MessageID]bool{}
	for _, w := range waiting {
		behind[w.Message] = true
	}
	for _, h := range r.log.mem.Messages {
		if !behind[h.ID] {
			s.messages = append(s.messages, h)
		}
	}
	r.loadConfig(ctx, &s)
	return s, nil
}

// repair closes the answers that a dead process left open: texts stay as they were saved, running
// calls get an unknown result, and their requests to the user are withdrawn.
func (r *runner) repair(ctx context.Context, left []*history.Message) error {
	facts, err := r.withdrawAll(ctx)
	if err != nil {
		return err
	}
	if r.actor != nil {
		facts = append(facts, r.log.busyFact())
	}
	for _, h := range left {
		found := r.rescuedPatch(ctx, h)
		r.jobs.changed = r.jobs.changed || len(found) > 0
		facts = append(facts, found...)
		facts = append(facts, closeFacts(h, r.engine.now())...)
	}
	return r.log.write(ctx, append(facts, &lathe.Interrupted{Session: r.log.lease.Session})...)
}

// closeFacts are the facts that end an abandoned answer.
func closeFacts(h *history.Message, at lathe.Time) (facts []lathe.Fact) {
	for _, p := range h.Parts {
		if end := closedBody(p, at); end != nil {
			p.Body = end
			facts = append(facts, &lathe.PartChanged{Part: p, Time: at})
		}
	}
	a := *h.Data.(*lathe.Assistant)
	a.Completed = at
	if a.Error == nil && a.Finish == "" {
		a.Error = &lathe.AbortedFault{Message: "The process that worked on this answer ended before it was complete"}
	}
	m := h.Message
	m.Data, m.Parts = &a, nil
	return append(facts, &lathe.MessageChanged{Info: m})
}

// closedBody is the closed body of an open part; nil if the part is closed.
func closedBody(p lathe.Part, at lathe.Time) lathe.Body {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if p.Open() {
			t := *b
			t.Time = &lathe.Span{Start: b.Time.Start, End: at}
			return &t
		}
	case *lathe.Reasoning:
		if p.Open() {
			t := *b
			t.Time.End = at
			return &t
		}
	case *lathe.ToolCall:
		if !b.Settled() {
			if next, err := b.Fail(fold.AbortedText(b), history.WithMark(history.MetadataOf(b.State), history.InterruptedMark), at); err == nil {
				return next
			}
		}
	default:
	}
	return nil
}

// withdrawAll withdraws the requests a dead process left.
func (r *runner) withdrawAll(ctx context.Context) (facts []lathe.Fact, err error) {
	asks, err := r.engine.store.Asks(ctx, lathe.Scope{Session: r.log.lease.Session})
	for _, f := range asks {
		switch f := f.(type) {
		case *lathe.PermissionAsked:
			facts = append(facts, &lathe.PermissionReplied{Session: f.Session, Request: f.ID, Reply: lathe.Reject})
		case *lathe.QuestionAsked:
			facts = append(facts, &lathe.QuestionRejected{Session: f.Session, Request: f.ID})
		default:
		}
	}
	return facts, err
}

// finalizeRevert removes the messages that a revert has undone. It compares positions in the
// list: ids have no order.
func (r *runner) finalizeRevert(ctx context.Context, s state) error {
	back, past := s.session.Revert, false
	var facts []lathe.Fact
	for _, h := range s.messages {
		if past || h.ID == back.Message && back.Part == "" {
			past = true
			facts = append(facts, &lathe.MessageRemoved{Session: s.session.ID, Message: h.ID})
			continue
		}
		if h.ID != back.Message {
			continue
		}
		past = true
		for _, p := range history.PartsFrom(h.Parts, back.Part) {
			facts = append(facts, &lathe.PartRemoved{Session: s.session.ID, Message: h.ID, Part: p.ID})
		}
	}
	if len(facts) > 0 {
		if err := undo.MarkSubagents(ctx, r.engine.store, s.session.ID, r.log.mem.ByID[back.Message].Created); err != nil {
			return err
		}
		if err := r.log.write(ctx, facts...); err != nil {
			return err
		}
	}
	if w, err := r.config.snapshots(ctx); err == nil && w != nil {
		if err := w.Finalize(ctx, string(s.session.ID)); err != nil {
			r.engine.log.Warn("final undo not cleaned up", "session", s.session.ID, "error", err)
		}
	}
	_, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some[*lathe.Revert](nil)})
	r.jobs.changed = r.jobs.changed || s.session.Summary != nil // less than before
	return err
}

// refuse answers a prompt with an error: its agent or model is not there, say.
func (r *runner) refuse(ctx context.Context, s state, err error) error {
	if isWrite(err) {
		return err
	}
	fault := faultOf(err)
	m := r.newAnswer(s)
	a := m.Data.(*lathe.Assistant)
	a.Completed, a.Error = m.Created, fault
	facts := []lathe.Fact{r.log.busyFact(), &lathe.MessageChanged{Info: m}, &lathe.SessionFailed{Session: s.session.ID, Error: fault}}
	if fault == errClosing.Fault {
		facts = append(facts, &lathe.Interrupted{Session: s.session.ID})
	}
	return r.log.write(ctx, facts...)
}

// abort ends a canceled turn: a prompt without a complete answer gets an answer that says it was
// canceled. Without that answer, the next plan of the session
// would continue the turn.
func (r *runner) abort(ctx context.Context) error {
	settled, cancel := settleContext(ctx)
	defer cancel()
	r.unfinished = r.unfinished || errors.Is(context.Cause(ctx), errLost)
	s, err := r.load(settled)
	if err != nil {
		return err
	}
	switch plan(s).(type) {
	case step, compaction, subtask: // a canceled turn skips its checks
		return r.refuse(ctx, s, context.Cause(ctx))
	default:
		return nil
	}
}

// newAnswer makes an empty answer to the newest prompt.
func (r *runner) newAnswer(s state) lathe.Message {
	a := &lathe.Assistant{Path: lathe.Paths{Cwd: s.session.Directory, Root: s.session.Directory}}
	if r.config.place.Worktree != "" {
		a.Path = lathe.Paths{Cwd: r.config.place.Directory, Root: r.config.place.Worktree}
	}
	if u := history.LastUser(s.messages); u != nil {
		said := u.Data.(*lathe.User)
		a.Parent, a.Agent, a.Mode, a.Model = u.ID, said.Agent, said.Agent, said.Model
		if m := r.fallback.modelFor(said.Model); m != nil {
			a.Model = m.Ref
		}
	}
	return lathe.Message{ID: r.engine.ids.Message(), Session: s.session.ID, Created: r.engine.now(), Data: a}
}
