package engine

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// What a summary may hold of the texts of changes: it travels with every change of its
// message. Counts are always there.
const (
	maxDiff  = 64 << 10  // of one file
	maxDiffs = 512 << 10 // of all
)

// summary is the result of a job: what the session and its newest exchange have changed.
type summary struct {
	session []lathe.FileDiff
	prompt  lathe.MessageID
	diffs   []lathe.FileDiff // of the exchange
	err     error
}

// sumEvery is how often a summary is made while a turn goes on.
const sumEvery = lathe.Time(1000)

// summarizeSoon starts a summary if files were changed since the last one, and that was a while
// ago.
func (j *jobs) summarizeSoon(ctx context.Context) {
	if j.changed && j.engine.now()-j.summarized >= sumEvery {
		j.summarize(ctx)
	}
}

// summarize starts the summary of the session and of its newest exchange, unless one is being made.
func (j *jobs) summarize(ctx context.Context) {
	if j.summarizing {
		return
	}
	w, err := j.config.snapshots(ctx)
	messages := j.log.mem.Messages
	if err != nil || w == nil || len(messages) == 0 {
		return
	}
	all, prompt := stepsOf(messages), messages[history.LastExchange(messages)].Message
	j.summarizing, j.changed, j.summarized = true, false, j.engine.now()
	e, id := j.engine, j.log.lease.Session
	j.start(func() jobResult {
		out := summary{prompt: prompt.ID}
		all, out.err = e.below(e.ctx, id, all)
		if out.err == nil {
			out.session, out.err = w.Diffs(e.ctx, doneIn(all))
		}
		if out.err == nil {
			since := slices.IndexFunc(all, func(m lathe.Message) bool { return m.Created >= prompt.Created })
			out.diffs, out.err = w.Diffs(e.ctx, doneIn(all[since:]))
		}
		return out
	})
}

// apply writes the summary down.
func (s summary) apply(ctx context.Context, j *jobs) {
	j.summarizing = false
	if s.err == nil {
		s.err = s.write(ctx, j.log)
	}
	if s.err != nil {
		j.warn("what the session changed was not summed up", s.err)
	}
}

func (s summary) write(ctx context.Context, log *sessionLog) error {
	log.catchUp()
	if len(s.session) == 0 && log.mem.Session.Summary == nil {
		return nil // sub-agents that only looked
	}
	if _, err := log.edit(ctx, lathe.Edit{Summary: lathe.Some(totals(s.session))}); err != nil {
		return err
	}
	facts := []lathe.Fact{&lathe.DiffChanged{Session: log.lease.Session, Diff: bounded(s.session)}}
	if h := log.mem.ByID[s.prompt]; h != nil {
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
	return log.write(ctx, facts...)
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
