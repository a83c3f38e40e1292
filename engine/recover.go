package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/background"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/subagent"
	"github.com/lathe-agent/lathe/store"
)

// recoverers is how many sessions are looked after at the same time: their commits go in
// groups.
const recoverers = 32

// recovery looks after sessions and background tasks whose process has died.
type recovery struct {
	*services
	*lifetime
	*composer
	actors    *actors
	files     *sessionFiles
	subagents *subagent.Registry
	sweeps    bool // see [Node]
	*background.Registry
}

// Recover looks after all sessions that a dead process left: what it left open is closed.
// With resume, their turns continue by themselves; otherwise they wait for a word. It returns
// how many there were, and does not wait for their turns. A node of a cluster continues them later in any case.
func (e *recovery) Recover(ctx context.Context, resume bool) (int, error) {
	if e.sweeps {
		return 0, nil
	}
	left, err := e.store.Interruptions(ctx, "")
	if err != nil {
		return 0, err
	}
	errs := make([]error, len(left))
	forEach(len(left), func(i int) { errs[i] = e.recover(ctx, left[i], resume) })
	return len(left), errors.Join(append(errs, e.RecoverTasks(ctx, "", resume))...)
}

// forEach calls f with the numbers below n, several at the same time.
func forEach(n int, f func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, recoverers) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	group.Wait()
}

func (e *recovery) recover(ctx context.Context, one store.Interruption, resume bool) error {
	task, err := e.store.Task(ctx, one.Session)
	switch {
	case err != nil:
	case task == lathe.Awaited:
		err = e.recoverAwaited(ctx, one)
	case resume && task == lathe.Background:
		err = e.resumeBackground(ctx, one.Session, one.Dead)
	case resume:
		err = e.resume(ctx, one.Session, one.Dead)
	case one.Dead:
		err = e.actors.runIfIdle(ctx, one.Session, func(r *runner) error { return r.repairSession(ctx) })
	}
	switch lathe.CodeOf(err) {
	case lathe.Conflict, lathe.NotFound: // someone else looks after it, or has removed it
		return nil
	default:
		return err
	}
}

// Resume resumes a session: it runs paused prompts and continues an interrupted turn. It closes
// open parts and names the interrupted calls to the model, so that the model checks their
// effects before it repeats them.
func (e *recovery) Resume(ctx context.Context, id lathe.SessionID) error {
	return e.resume(ctx, id, false)
}

// resume is Resume. taken says that the process with the session has died, and that this one may have its lease already.
func (e *recovery) resume(ctx context.Context, id lathe.SessionID, taken bool) error {
	if _, err := e.store.Admit(ctx, id, lathe.Resume{}); err != nil {
		return err
	}
	found, err := e.store.Interruptions(ctx, id)
	if err != nil {
		return err
	}
	if taken || len(found) == 1 && found[0].Dead {
		err := e.actors.runIfIdle(ctx, id, func(r *runner) error {
			r.unfinished = true // this node may die before the turn continues
			return r.repairSession(ctx)
		})
		if lathe.CodeOf(err) == lathe.Conflict {
			return nil // another one has taken it up
		}
		if err != nil {
			return err
		}
		if found, err = e.store.Interruptions(ctx, id); err != nil {
			return err
		}
	}
	if len(found) == 1 && found[0].Closed && !found[0].HasQueued {
		return e.resumeTurn(ctx, id)
	}
	_, err = e.actors.wake(id)
	return err
}

// repairSession closes what a dead process left open, and notes whether the turn was cut off: a
// process may also have died when all was done.
func (r *runner) repairSession(ctx context.Context) error {
	if err := r.loadConversation(ctx); err != nil {
		return err
	}
	s, err := r.load(ctx)
	if err != nil {
		return err
	}
	if s.session.Compacting != 0 {
		r.publishCompacting(ctx, 0)
	}
	next := plan(s)
	if c, ok := next.(endCheck); ok && len(c.ToModel) == 0 { // all was done but the report to the user
		if err := r.check(ctx, s, c.Result); err != nil {
			return err
		}
		if s, err = r.load(ctx); err != nil {
			return err
		}
		next = plan(s)
	}
	switch next := next.(type) {
	case repair:
		return r.repair(ctx, next.left)
	case stop:
		left, err := r.withdrawAll(ctx) // of a slash command that asked before its prompt was sent
		if r.engine.Member.continues(s.messages) {
			left = append(left, &lathe.Interrupted{Session: r.log.lease.Session})
		}
		if err != nil || len(left) == 0 {
			return err
		}
		return r.log.write(ctx, left...)
	default:
		return r.log.write(ctx, &lathe.Interrupted{Session: r.log.lease.Session})
	}
}

// resumeTurn continues a turn which was cut off. If its last answer was, a prompt says so; between
// two steps the next one is all it needs.
func (e *recovery) resumeTurn(ctx context.Context, id lathe.SessionID) error {
	page, err := e.store.History(ctx, id, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	last := lastPrompt(page.Messages)
	if last == nil || !isBroken(page.Messages[len(page.Messages)-1]) {
		_, err = e.actors.wake(id)
		return err
	}
	// Two processes that resume at the same time send the same message, which is stored once.
	sum := sha256.Sum256([]byte(page.Messages[len(page.Messages)-1].ID))
	m := lathe.Message{ID: lathe.MessageID("msg_" + hex.EncodeToString(sum[:])[:26]), Session: id, Data: samePrompt(last.Data.(*lathe.User))}
	m.Parts = append([]lathe.Part{{Body: history.Synthetic(interruptedText(page.Messages))}}, tasksLeft(*last, page.Messages)...)
	for i := range m.Parts {
		m.Parts[i].ID, m.Parts[i].Session, m.Parts[i].Message = e.ids.Part(), id, m.ID
	}
	if again := compactAgain(page.Messages); again != nil { // a summary is not continued but made again
		m.Data, m.Parts[0].Body = again.Data, again.Parts[0].Body
	}
	if _, err := e.store.Admit(ctx, id, lathe.Submission{Message: m, Digest: string(m.ID)}); err != nil {
		return err
	}
	_, err = e.actors.wake(id)
	return err
}

// isBroken reports whether a message is an answer that has failed.
func isBroken(m lathe.Message) bool {
	a, ok := m.Data.(*lathe.Assistant)
	return ok && a.Error != nil
}

func lastPrompt(messages []lathe.Message) *lathe.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if _, ok := messages[i].Data.(*lathe.User); ok {
			return &messages[i]
		}
	}
	return nil
}

// interruptedText names the interrupted calls to the model. A started call may have done its work
// or not. The model must check, because lathe never runs it again.
func interruptedText(messages []lathe.Message) string {
	var calls []string
	if n := len(messages); n > 0 {
		for _, p := range messages[n-1].Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok && history.HasMark(history.MetadataOf(c.State), history.InterruptedMark) {
				calls = append(calls, c.Tool+" "+string(history.InputOf(c.State))+fold.ResumeHint(c))
			}
		}
	}
	words := "The program ended before your last answer was complete. Continue where it broke off."
	if len(calls) > 0 {
		words += " These calls had started and may have taken effect; check before you repeat them:\n" + strings.Join(calls, "\n")
	}
	return words
}
