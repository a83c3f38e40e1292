package engine

import (
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

const (
	outputAge    = 7 * 24 * time.Hour // lifetime of long outputs
	cleanUpEvery = time.Hour
)

// sessionFiles are the files that sessions leave behind: long outputs of tools, and snapshots for an undo.
type sessionFiles struct {
	outputs   string // directory; "" saves none
	snapshots *snapshot.Store
	trees     worktree.Root // isolated trees
	deleted   func(lathe.SessionID)
	cleanMore func(before time.Time)
	cleaned   atomic.Int64 // when old files were last looked for, ms
}

// output is where long outputs of a session go.
func (f *sessionFiles) output(id lathe.SessionID, limits tool.Limits) tool.Output {
	return tool.Output{Dir: f.outputs, Limits: limits}.ForSession(id)
}

// undoable is the snapshot store of a session's directory; nil if snapshots are off.
func (f *sessionFiles) undoable(at workspace.Place, s *StepSettings) *snapshot.Worktree {
	if f.snapshots == nil || s == nil || s.NoSnapshots || at.Directory == "" {
		return nil
	}
	return f.snapshots.Worktree(at)
}

// isDue reports whether it is time to delete old files, and restarts the interval.
func (f *sessionFiles) isDue(now lathe.Time) bool {
	last := f.cleaned.Load()
	return (last == 0 || now-lathe.Time(last) >= lathe.Time(cleanUpEvery.Milliseconds())) && f.cleaned.CompareAndSwap(last, int64(now))
}

// cleanUp deletes old outputs of tools and old snapshots, at most once an hour, in the
// background. The age of an output is that of the file: names have no time.
func (e *Engine) cleanUp(k Retention) {
	now, f := e.now(), &e.files
	if !f.isDue(now) {
		return
	}
	e.work.Go(func() {
		if f.outputs != "" {
			n, err := tool.Prune(f.outputs, now.Std().Add(-outputAge))
			if n > 0 || err != nil {
				e.log.Info("deleted old tool outputs", "files", n, "error", err)
			}
		}
		if err := e.store.RemoveUnused(e.ctx); err != nil && e.ctx.Err() == nil {
			e.log.Warn("could not delete unused large values", "error", err)
		}
		if f.cleanMore != nil {
			f.cleanMore(now.Std().Add(-outputAge))
		}
		if f.snapshots == nil {
			return
		}
		f.snapshots.SetLimits(k.Age, k.Bytes)
		if err := f.snapshots.Tidy(e.ctx); err != nil && e.ctx.Err() == nil {
			e.log.Warn("snapshot cleanup failed", "error", err)
		}
	})
}
