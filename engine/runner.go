package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// settleTime bounds writes that must outlive a cancel. It is longer than the store waits for
// another process: a release that failed would leave the session busy until this one ends.
const settleTime = 20 * time.Second

// runner works on a session for as long as it holds the lease. It is for one goroutine.
//
// The store holds all durable state. The fields of a runner are copies of it, or may be lost with the
// process at any time: a crash then costs a repeated request for a title or a summary, retries that
// count from zero, or another attempt with a failed model.
type runner struct {
	engine       *Engine
	actor        *actor // nil for one that only edits or repairs
	log          *sessionLog
	config       *turnConfig
	systemPrompt *savedSystemPrompt
	jobs         *jobs
	wasCut       bool      // a dead process left the turn; see [runner.continueCut]
	unfinished   bool      // something is left to do that this node may not get to; see [Member.release]
	leaveTree    func()    // gives back the lease of the session's worktree; nil outside of one
	noUndo       sync.Once // warns once that commands cannot be undone
	turnState
	stepConfig // loaded again in each round
}

// turnState is the state of a turn between rounds. The next turn begins without it.
type turnState struct {
	failures int // requests in a row that failed
	fallback fallbackState
	read     check.Reader // of the turn's calls
	// stepped says that the model was asked, continued how often hooks kept the turn from ending, late how often errors did.
	stepped         bool
	continued, late int
}

// newIdleRunner takes the lease of an idle session and returns its runner; a busy session is a conflict.
func (all *actors) newIdleRunner(ctx context.Context, id lathe.SessionID) (*runner, error) {
	e := all.engine
	l, err := all.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	texts := &growingTexts{store: e.store, bus: e.bus, work: &e.work, lease: l, open: map[lathe.PartID]*growing{}}
	r := &runner{engine: e, wasCut: l.Busy || l.Cut, log: &sessionLog{store: e.store, lease: l, ids: e.ids, now: e.now, texts: texts, isBusy: l.Busy}}
	r.config = &turnConfig{engine: e, log: r.log}
	r.systemPrompt = &savedSystemPrompt{config: r.config}
	r.jobs = &jobs{engine: e, log: r.log, config: r.config, results: make(chan jobResult, 1), summarized: e.now()}
	return r, nil
}

// acquire takes the lease of a session that is idle, or that this node has just taken over.
func (all *actors) acquire(ctx context.Context, id lathe.SessionID) (store.Lease, error) {
	if l, ok := all.taken.LoadAndDelete(id); ok {
		return l.(store.Lease), nil
	}
	if l, ok := all.unreleased.Load(id); ok {
		if err := all.engine.Member.release(ctx, l.(store.Lease), true); err != nil {
			return store.Lease{}, err
		}
		all.unreleased.CompareAndDelete(id, l) // another may have taken and added it meanwhile
	}
	return all.engine.store.Acquire(ctx, id)
}

// newRunner makes the runner of an actor and loads the conversation.
func (all *actors) newRunner(ctx context.Context, a *actor) (*runner, error) {
	r, err := all.newIdleRunner(ctx, a.id)
	if err != nil {
		return nil, err
	}
	r.actor, r.log.received = a, a.takeEvents
	if err := r.loadConversation(ctx); err != nil {
		return nil, errors.Join(err, r.release(ctx))
	}
	return r, nil
}

// loadConversation takes the conversation from the cache, or reads it.
func (r *runner) loadConversation(ctx context.Context) (err error) {
	e := r.engine
	if r.log.mem, err = e.actors.cache.Load(ctx, e.store, r.log.lease.Session); err != nil {
		return err
	}
	inst, err := e.Instance(ctx, r.log.mem.Session.Directory)
	if err != nil && ctx.Err() != nil {
		return err
	}
	r.config.place = inst.Place
	if inst.Place.Isolated {
		if t := e.files.trees.Of(inst.Place.Directory); t != nil {
			if r.leaveTree, err = t.Share(); err != nil {
				return err
			}
		}
	}
	if err != nil { // the directory was deleted: its tools will report that
		r.config.place = workspace.Place{Directory: r.log.mem.Session.Directory, Worktree: "/"}
	}
	return nil
}

// result is the answer that callers get: the newest, else the newest message.
func (r *runner) result() lathe.Message {
	messages := r.log.mem.Messages
	if h := history.LastAnswer(messages); h != nil {
		return h.Message
	}
	if n := len(messages); n > 0 {
		return messages[n-1].Message
	}
	return lathe.Message{}
}

// publishIdle publishes that the session is idle, if it was last published as busy.
func (r *runner) publishIdle(ctx context.Context) error {
	if !r.log.isBusy || r.actor != nil && r.actor.isWoken() && ctx.Err() == nil {
		return nil // or continues at once
	}
	if r.engine.Member.Fence != nil && r.engine.ctx.Err() != nil {
		return nil // another node continues
	}
	r.log.isBusy = false
	return r.log.write(ctx, &lathe.StatusChanged{Session: r.log.lease.Session, Status: lathe.Status{Type: lathe.Idle}})
}

// release gives the lease back, also after a cancel.
func (r *runner) release(ctx context.Context) error {
	if err := r.log.texts.release(); err != nil {
		r.engine.log.Warn("end of a streamed text not saved", "session", r.log.lease.Session, "error", err)
	}
	if r.leaveTree != nil {
		r.leaveTree()
	}
	ctx, cancel := settleContext(ctx)
	defer cancel()
	err := r.engine.Member.release(ctx, r.log.lease, r.unfinished || r.wasCut)
	if err != nil {
		r.engine.actors.unreleased.Store(r.log.lease.Session, r.log.lease)
	}
	return err
}

// settleContext returns a context that outlives its parent's cancel for a limited time.
func settleContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTime)
}
