package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// EditObserver looks at the files that calls change, as language servers and formatters do. It is called by many
// goroutines.
type EditObserver interface {
	// BeforeEdit is called right before a call writes or removes files, by their real paths.
	BeforeEdit(c *tool.Call, paths []string)
	// AfterCall is called when a call has ended well. It may add to the result, and take a moment.
	AfterCall(ctx context.Context, e EndedCall) tool.Result
	// AfterStep is called when all calls of a step have ended. Unlike AfterCall it cannot add to a result, since clients
	// have it already.
	AfterStep(ctx context.Context, s EndedStep)
	// Late returns what came too late for the calls of a session, for its model, and waits for it until the context ends. With
	// errorsOnly it returns nothing unless there are new errors, and keeps the rest.
	Late(ctx context.Context, id lathe.SessionID, errorsOnly bool) string
}

// EndedCall is a call that has ended well.
type EndedCall struct {
	Call   *tool.Call
	Result tool.Result
	// Paths are the real paths that the call announced; Commands are files that a command changed.
	Paths    []string
	Commands []snapshot.ChangedFile
	// IsLast waits until the model has made all calls of the step, and reports whether this is the last one: of all that ask,
	// one gets true. It reports false when the context ends.
	IsLast func(ctx context.Context) bool
}

// EndedStep is a step whose calls have ended.
type EndedStep struct {
	Session lathe.SessionID
	Message lathe.MessageID
	Call    *tool.Call // the one that started last
}

// editLog has the files that a call changes.
type editLog struct {
	counted atomic.Bool // the call no longer counts among those that run

	mu       sync.Mutex // guards the fields below
	paths    []string
	commands []snapshot.ChangedFile
}

// noteEdit tells the observer that the call is about to change files.
func (h *host) noteEdit(paths []string) {
	o := h.step.settings.Edits
	if o == nil {
		return
	}
	o.BeforeEdit(&tool.Call{Session: h.step.session.ID, Message: h.by.Message, ID: h.by.Call, Dir: h.step.place.Directory, Root: h.step.place.Worktree}, paths)
	h.edits.mu.Lock()
	defer h.edits.mu.Unlock()
	h.edits.paths = append(h.edits.paths, paths...)
}

// noteCommand remembers the files that a command changed.
func (h *host) noteCommand(files []snapshot.ChangedFile) {
	h.edits.mu.Lock()
	defer h.edits.mu.Unlock()
	h.edits.commands = append(h.edits.commands, files...)
}

// observe has the observer look at a call that ended well.
func (h *host) observe(ctx context.Context, c *tool.Call, r tool.Result) tool.Result {
	o := h.step.settings.Edits
	if o == nil || h.step.userInvoked {
		return r
	}
	// A call without changes is passed on too: it may be the last one of a step with changes.
	h.edits.mu.Lock()
	paths, commands := h.edits.paths, h.edits.commands
	h.edits.mu.Unlock()
	return o.AfterCall(ctx, EndedCall{Call: c, Result: r, Paths: paths, Commands: commands, IsLast: h.isLast})
}

// isLast counts the call out when all calls of the step are known, and reports whether no other one runs.
func (h *host) isLast(ctx context.Context) bool {
	select {
	case <-h.queue.complete:
		return h.countOut() == 0
	case <-ctx.Done():
		return false
	}
}

// countOut takes the call out of those that run, once, and returns how many are left.
func (h *host) countOut() int32 {
	if h.edits.counted.Swap(true) {
		return h.queue.calls.Load()
	}
	return h.queue.calls.Add(-1)
}

// observeStep has the observer look at the step before its changes are recorded.
func (s *stepRun) observeStep(ctx context.Context) {
	if o := s.settings.Edits; o != nil && s.lastCall != nil && ctx.Err() == nil {
		o.AfterStep(ctx, EndedStep{Session: s.session.ID, Message: s.fold.Message.ID, Call: s.lastCall})
	}
}

const (
	lateWait = 10 * time.Second // for results before a turn without a user ends: its process may end with it
	mostLate = 2                // times that late errors continue a turn: a model that cannot repair them may end
)

// lateErrors returns errors that were found after the last call, "" if there are none. With a user they come with the next
// prompt if they are not known yet: nobody waits for a server.
func lateErrors(ctx context.Context, r *runner) string {
	if r.settings == nil || r.settings.Edits == nil || r.late >= mostLate || r.settings.Checks[check.NewErrors] == check.Off {
		return ""
	}
	wait, cancel := context.WithTimeout(ctx, lateWait)
	defer cancel()
	if !r.settings.Headless {
		cancel()
	}
	text := r.settings.Edits.Late(wait, r.log.lease.Session, true)
	if text == "" {
		return ""
	}
	r.late++
	r.engine.log.Info("check reported an issue", "session", r.log.lease.Session, "check", check.NewErrors, "recipient", "the model")
	return text + "\n\nLanguage servers found this after your last call. Fix these errors, or say why they stay."
}

// lateNote is what came since the last turn of a session, for its next prompt.
func (c *stepConfig) lateNote(ctx context.Context, id lathe.SessionID) []string {
	now, cancel := context.WithCancel(ctx)
	cancel()
	if o := c.settings.Edits; o != nil {
		if text := o.Late(now, id, false); text != "" {
			return []string{"<system-reminder>\nSince your last answer, language servers and formatters reported:\n" + text + "\n</system-reminder>"}
		}
	}
	return nil
}
