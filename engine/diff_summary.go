package engine

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/undo"
)

// summary is the result of a job: what the session and its newest exchange have changed.
type summary struct {
	session []lathe.FileDiff
	prompt  lathe.MessageID
	diffs   []lathe.FileDiff // of the exchange
	err     error
}

// sumEvery is how often a summary is made while a turn continues.
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
	all, prompt := undo.CopySteps(messages), messages[history.LastExchange(messages)].Message
	j.summarizing, j.changed, j.summarized = true, false, j.engine.now()
	e, id := j.engine, j.log.lease.Session
	j.start(func() jobResult {
		out := summary{prompt: prompt.ID}
		all, out.err = undo.WithSubagents(e.ctx, e.store, id, all)
		if out.err == nil {
			out.session, out.err = w.Diffs(e.ctx, undo.ChangedSteps(all))
		}
		if out.err == nil {
			since := slices.IndexFunc(all, func(m lathe.Message) bool { return m.Created >= prompt.Created })
			out.diffs, out.err = w.Diffs(e.ctx, undo.ChangedSteps(all[since:]))
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
		j.warn("diff summary failed", s.err)
	}
}

func (s summary) write(ctx context.Context, log *sessionLog) error {
	log.catchUp()
	if len(s.session) == 0 && log.mem.Session.Summary == nil {
		return nil // subagents that only looked
	}
	if _, err := log.edit(ctx, lathe.Edit{Summary: lathe.Some(undo.Totals(s.session))}); err != nil {
		return err
	}
	facts := []lathe.Fact{&lathe.DiffChanged{Session: log.lease.Session, Diff: undo.Clip(s.session)}}
	if h := log.mem.ByID[s.prompt]; h != nil {
		if u, ok := h.Data.(*lathe.User); ok && (len(s.diffs) > 0 || u.Summary != nil) {
			said := *u
			was := lathe.UserSummary{}
			if u.Summary != nil {
				was = *u.Summary
			}
			was.Diffs = undo.Clip(s.diffs)
			said.Summary = &was
			m := h.Message
			m.Data, m.Parts = &said, nil
			facts = append(facts, &lathe.MessageChanged{Info: m})
		}
	}
	return log.write(ctx, facts...)
}
