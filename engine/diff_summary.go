package engine

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// What a summary may hold of the texts of changes: it travels with every change of its
// message. Counts are always there.
const (
	maxDiff  = 64 << 10  // of one file
	maxDiffs = 512 << 10 // of all
)

// summary is an errand: what the session and its newest exchange have changed.
type summary struct {
	session []lathe.FileDiff
	prompt  lathe.MessageID
	diffs   []lathe.FileDiff // of the exchange
	err     error
}

// sumEvery is how often a summary is made while a turn goes on.
const sumEvery = lathe.Time(1000)

// sumUp sends for a summary if files were changed since the last one, and that was a while
// ago.
func (r *runner) sumUp(ctx context.Context) {
	if r.patched && r.engine.now()-r.summed >= sumEvery {
		r.summarize(ctx)
	}
}

// summarize sends for the summary of the session and of its newest exchange, beside what goes
// on. One that is under way comes first.
func (r *runner) summarize(ctx context.Context) {
	if r.summing {
		return
	}
	w, err := r.kept(ctx)
	if err != nil || w == nil || len(r.log.mem.Messages) == 0 {
		return
	}
	all, prompt := stepsOf(r.log.mem.Messages), r.log.mem.Messages[history.LastExchange(r.log.mem.Messages)].Message
	r.summing, r.patched, r.summed = true, false, r.engine.now()
	r.errands++
	e, id := r.engine, r.log.lease.Session
	e.work.Go(func() {
		out := summary{prompt: prompt.ID}
		all, out.err = e.below(e.ctx, id, all)
		if out.err == nil {
			out.session, out.err = w.Diffs(e.ctx, doneIn(all))
		}
		if out.err == nil {
			since := slices.IndexFunc(all, func(m lathe.Message) bool { return m.Created >= prompt.Created })
			out.diffs, out.err = w.Diffs(e.ctx, doneIn(all[since:]))
		}
		r.results <- out
	})
}

// deliver writes the summary down.
func (s summary) deliver(ctx context.Context, r *runner) {
	r.summing = false
	if s.err == nil {
		s.err = s.write(ctx, r)
	}
	if s.err != nil {
		r.engine.log.Warn("what the session changed was not summed up", "session", r.log.lease.Session, "error", s.err)
	}
}

func (s summary) write(ctx context.Context, r *runner) error {
	r.log.catchUp()
	if len(s.session) == 0 && r.log.mem.Session.Summary == nil {
		return nil // sub-agents that only looked
	}
	if _, err := r.log.edit(ctx, lathe.Edit{Summary: lathe.Some(totals(s.session))}); err != nil {
		return err
	}
	facts := []lathe.Fact{&lathe.DiffChanged{Session: r.log.lease.Session, Diff: bounded(s.session)}}
	if h := r.log.mem.ByID[s.prompt]; h != nil {
		if u, ok := h.Said.(*lathe.User); ok && (len(s.diffs) > 0 || u.Summary != nil) {
			said := *u
			was := lathe.UserSummary{}
			if u.Summary != nil {
				was = *u.Summary
			}
			was.Diffs = bounded(s.diffs)
			said.Summary = &was
			m := h.Message
			m.Said, m.Parts = &said, nil
			facts = append(facts, &lathe.MessageChanged{Info: m})
		}
	}
	return r.log.write(ctx, facts...)
}

// diffs are the changes of steps, as a session shows them.
func (r *runner) diffs(ctx context.Context, steps []snapshot.Done) []lathe.FileDiff {
	w, err := r.kept(ctx)
	if err != nil || w == nil {
		return nil
	}
	diffs, err := w.Diffs(ctx, steps)
	if err != nil {
		r.engine.log.Warn("what was undone is not known", "session", r.log.lease.Session, "error", err)
	}
	return bounded(diffs)
}

// bounded leaves out texts that are too long.
func bounded(diffs []lathe.FileDiff) []lathe.FileDiff {
	out, total := make([]lathe.FileDiff, len(diffs)), 0
	for i, d := range diffs {
		if total += len(d.Patch); len(d.Patch) > maxDiff || total > maxDiffs {
			total -= len(d.Patch)
			d.Patch = ""
		}
		out[i] = d
	}
	return out
}

// totals counts what diffs change.
func totals(diffs []lathe.FileDiff) *lathe.SessionSummary {
	s := &lathe.SessionSummary{Files: len(diffs)}
	for _, d := range diffs {
		s.Additions += d.Additions
		s.Deletions += d.Deletions
	}
	return s
}

// Diff returns what a session has changed, or one of its exchanges, named by its prompt.
func (e *Engine) Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) ([]lathe.FileDiff, error) {
	if prompt == "" {
		return e.store.Diff(ctx, id)
	}
	m, err := e.store.Message(ctx, id, prompt)
	if err != nil {
		return nil, err
	}
	if u, ok := m.Said.(*lathe.User); ok && u.Summary != nil && u.Summary.Diffs != nil {
		return u.Summary.Diffs, nil
	}
	return []lathe.FileDiff{}, nil
}
