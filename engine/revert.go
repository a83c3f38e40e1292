package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// Revert undoes what a session said and did from a point on. Its messages stay until the
// next prompt; of the files only those are touched that the undone steps wrote, and only if
// they are what those steps left. A session that is at work refuses it. A point that does not
// exist changes nothing.
func (e *Engine) Revert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	return occupied(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return r.revert(ctx, u) })
}

// Unrevert takes back what Revert did; of u only DryRun counts. Files that were changed since are left alone.
func (e *Engine) Unrevert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	return occupied(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return r.unrevert(ctx, u.DryRun) })
}

// occupied does something with a session that rests, as its runner.
func occupied[T any](ctx context.Context, e *Engine, id lathe.SessionID, do func(context.Context, *runner) (T, error)) (T, error) {
	var none T
	if _, err := e.store.Session(ctx, id); err != nil {
		return none, err
	}
	done := make(chan outcomeOf[T], 1)
	a, err := e.occupyAtRest(ctx, id, func(ctx context.Context, r *runner) error {
		v, err := do(ctx, r)
		done <- outcomeOf[T]{v, err}
		if isWrite(err) {
			return err
		}
		return nil // whoever asked is told; prompts that came meanwhile are answered all the same
	})
	if err != nil {
		return none, err
	}
	return outcomeFrom(ctx, a, done)
}

// outcomeFrom waits for what an actor was given to do first.
func outcomeFrom[T any](ctx context.Context, a *actor, done <-chan outcomeOf[T]) (none T, _ error) {
	select {
	case out := <-done:
		return out.value, out.err
	case <-a.gone: // it could not begin
		select {
		case out := <-done:
			return out.value, out.err
		default:
			return none, a.failure()
		}
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

type outcomeOf[T any] struct {
	value T
	err   error
}

// point is where a session is undone, and what lies behind it.
type point struct {
	message lathe.MessageID
	part    lathe.PartID
	from    int // the first message that is undone, at least in part
}

// findPoint finds the place to undo from. A part before which its message has said nothing is
// the whole message; a whole answer is undone with the prompt it answers.
func findPoint(messages []*history.Message, message lathe.MessageID, part lathe.PartID) (p point, ok bool) {
	prompt, at := -1, -1
	for i, h := range messages {
		if _, user := h.Said.(*lathe.User); user {
			prompt = i
		}
		if h.ID == message {
			at = i
			break
		}
	}
	if at < 0 {
		return p, false
	}
	if part != "" {
		rest := partsFrom(messages[at].Parts, part)
		if rest == nil {
			return p, false
		}
		before := messages[at].Parts[:len(messages[at].Parts)-len(rest)]
		if slices.ContainsFunc(before, isUseful) {
			return point{message, part, at}, true
		}
	}
	if prompt >= 0 {
		at = prompt
	}
	return point{message: messages[at].ID, from: at}, true
}

// isUseful says that a part is something said or done.
func isUseful(p lathe.Part) bool {
	switch p.Body.(type) {
	case *lathe.Text, *lathe.ToolCall:
		return true
	default:
		return false
	}
}

// stepsOf copies of messages what doneIn looks at, for use beside the runner.
func stepsOf(messages []*history.Message) []lathe.Message {
	out := make([]lathe.Message, len(messages))
	for i, h := range messages {
		out[i] = h.Message
		out[i].Parts = nil
		for _, p := range h.Parts {
			switch p.Body.(type) {
			case *lathe.StepFinish, *lathe.Patch:
				out[i].Parts = append(out[i].Parts, p)
			default:
			}
		}
	}
	return out
}

// doneIn lists the steps of messages that changed files, in their order.
func doneIn(messages []lathe.Message) (steps []snapshot.Done) {
	for _, m := range messages {
		after := ""
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.StepFinish:
				after = b.Snapshot
			case *lathe.Patch:
				steps = append(steps, snapshot.Done{Key: string(m.ID), Before: b.Hash, After: after, Files: b.Files})
			default:
			}
		}
	}
	return steps
}

// revert undoes the session from a point on.
func (r *runner) revert(ctx context.Context, u lathe.Undo) (lathe.Undone, error) {
	s, err := r.load(ctx)
	if err != nil {
		return lathe.Undone{}, err
	}
	at, ok := findPoint(s.messages, u.Message, u.Part)
	if !ok {
		return undone(s.session, u.Message, nil), nil
	}
	gone, err := r.engine.below(ctx, s.session.ID, stepsOf(s.messages[at.from:]))
	if err != nil {
		return lathe.Undone{}, err
	}
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return undone(s.session, u.Message, nil), err
	}
	back, changes, err := restoreFiles(ctx, w, s.session, at, doneIn(gone), u.DryRun)
	if err != nil || u.DryRun {
		return undone(s.session, u.Message, changes), err
	}
	warnOfConflicts(r.log, changes)
	var diffs []lathe.FileDiff
	if w != nil {
		if diffs, err = w.Diffs(ctx, doneIn(gone)); err != nil {
			r.engine.log.Warn("what was undone is not known", "session", s.session.ID, "error", err)
		}
		diffs = bounded(diffs)
	}
	if err := r.log.write(ctx, &lathe.DiffChanged{Session: s.session.ID, Diff: diffs}); err != nil {
		return lathe.Undone{}, err
	}
	rec, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some(back), Summary: lathe.Some(totals(diffs))})
	return undone(rec, at.message, changes), err // an answer goes with the prompt it answers
}

// restoreFiles brings the files back. When the session is undone already, all between is done in one
// go: files that are to be undone less far come forward, others go back further, the rest is not
// touched; and whoever is killed in the middle finds either the one or the other.
func restoreFiles(ctx context.Context, w *snapshot.Work, s lathe.Session, at point, steps []snapshot.Done, dry bool) (*lathe.Revert, []snapshot.Change, error) {
	back := &lathe.Revert{Message: at.message, Part: at.part}
	if w == nil {
		return back, nil, nil
	}
	key := string(s.ID)
	var plan snapshot.Plan
	var err error
	if had := s.Revert; had != nil {
		back.Snapshot = had.Snapshot
		plan, err = w.UndoAnew(ctx, key, steps)
	} else {
		plan, err = w.Undo(ctx, steps)
	}
	if err != nil || dry {
		return back, plan.Changes, err
	}
	done, err := w.Apply(ctx, key, plan)
	if err != nil {
		return nil, nil, err
	}
	if back.Snapshot == "" {
		back.Snapshot = done.Tree
	}
	back.Diff = done.Diff
	return back, done.Changes, nil
}

// unrevert brings back what was undone.
func (r *runner) unrevert(ctx context.Context, dry bool) (lathe.Undone, error) {
	s, err := r.load(ctx)
	if err != nil || s.session.Revert == nil {
		return undone(s.session, "", nil), err
	}
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return lathe.Undone{}, err
	}
	var changes []snapshot.Change
	if key := string(s.session.ID); w != nil {
		plan, err := w.Redo(ctx, key)
		if err != nil || dry {
			return undone(s.session, "", plan.Changes), err
		}
		done, err := w.Apply(ctx, key, plan)
		if err == nil {
			err = w.Forget(ctx, key)
		}
		if err != nil {
			return lathe.Undone{}, err
		}
		changes = done.Changes
	}
	if dry {
		return undone(s.session, "", nil), nil
	}
	warnOfConflicts(r.log, changes)
	rec, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some[*lathe.Revert](nil)})
	if err != nil {
		return lathe.Undone{}, err
	}
	r.jobs.changed = true
	return undone(rec, "", changes), nil
}

// below lists messages with those of the sessions that were begun since the first of them, by
// sub-agents: what they did is undone as well, and counts as a change of the session. What such a
// session has undone itself is not done. The oldest is first.
func (e *Engine) below(ctx context.Context, id lathe.SessionID, messages []lathe.Message) ([]lathe.Message, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	out := slices.Clone(messages)
	err := e.descend(ctx, id, messages[0].Created, func(_ lathe.Session, since []lathe.Message) error {
		out = append(out, since...)
		return nil
	})
	slices.SortStableFunc(out, func(a, b lathe.Message) int { return int(a.Created - b.Created) })
	return out, err
}

// descend visits the sessions below one with their steps since a time that are not undone.
func (e *Engine) descend(ctx context.Context, id lathe.SessionID, since lathe.Time, visit func(lathe.Session, []lathe.Message) error) error {
	for todo := []lathe.SessionID{id}; len(todo) > 0; {
		children, err := e.Children(ctx, todo[0])
		if err != nil {
			return err
		}
		todo = todo[1:]
		for _, c := range children {
			todo = append(todo, c.ID)
			messages, err := e.store.Steps(ctx, c.ID)
			if err != nil {
				return err
			}
			messages = notUndone(messages, c.Revert)
			at := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.Created >= since })
			if at < 0 {
				continue
			}
			if err := visit(c, messages[at:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// undoBelow marks as undone what sub-agents did since a time, when the undo of their parent
// becomes final: its calls go, and nothing else would tell that their changes are no more.
func (e *Engine) undoBelow(ctx context.Context, id lathe.SessionID, since lathe.Time) error {
	return e.descend(ctx, id, since, func(c lathe.Session, undone []lathe.Message) error {
		_, err := e.store.Edit(ctx, c.ID, lathe.Edit{Revert: lathe.Some(&lathe.Revert{Message: undone[0].ID})})
		return err
	})
}

// notUndone leaves out what an undo has taken back of a history. Of a message that is undone in part
// the step is: what it changed is noted at its end.
func notUndone(messages []lathe.Message, back *lathe.Revert) []lathe.Message {
	if back == nil {
		return messages
	}
	at := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == back.Message })
	if at < 0 {
		return messages
	}
	return messages[:at]
}

// warnOfConflicts tells clients which files were left alone: nothing in the session's record has a
// place for that.
func warnOfConflicts(log *sessionLog, changes []snapshot.Change) {
	var left []string
	for _, c := range changes {
		if c.Conflict != "" {
			left = append(left, fmt.Sprintf("%s (%s)", c.Path, c.Conflict))
		}
	}
	if len(left) == 0 {
		return
	}
	log.publish(&lathe.TUIToast{Title: "Left as they are", Message: strings.Join(left, "\n"), Variant: "warning"})
}
