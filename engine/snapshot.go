package engine

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// startSnapshot begins to save what the step changes.
func (s *stepRun) startSnapshot() {
	if w := s.engine.files.undoable(s.place, s.settings); w != nil {
		s.snap = w.Step(string(s.fold.Message.ID))
	}
}

// prepareSnapshot looks at what the model is about to say: with its first word the step begins, and
// a command that is being written has the tree looked at meanwhile.
func (s *stepRun) prepareSnapshot(ctx context.Context, ev model.Event) {
	if s.snap == nil {
		return
	}
	if !s.fold.Opened {
		tree, err := s.snap.Tree(ctx)
		if err != nil && ctx.Err() == nil {
			s.engine.log.Warn("snapshot before the step failed", "session", s.session.ID, "error", err)
		}
		s.fold.Before = tree
	}
	name := ""
	switch ev := ev.(type) {
	case model.InputStart:
		name = ev.Name
	case model.ToolCall:
		name = ev.Name
	default:
		return
	}
	if t, _ := s.tools.Resolve(name, "{}"); t != nil && t.Spec().Anywhere && !s.last {
		s.snap.Warm()
	}
}

// endSnapshot ends the snapshot, and returns the changes of the step. An error here fails
// nothing: the files stay as they are.
func (s *stepRun) endSnapshot(ctx context.Context) snapshot.Patch {
	if s.snap == nil {
		return snapshot.Patch{}
	}
	ctx, cancel := settleContext(ctx)
	defer cancel()
	p, err := s.snap.End(ctx)
	if err != nil {
		s.engine.log.Warn("changes of the step not recorded", "session", s.session.ID, "error", err)
	}
	s.snap = nil
	return p
}

// runFramed runs a tool that may change any file between two looks at the tree.
func (h *host) runFramed(ctx context.Context, t tool.Tool, c *tool.Call) (tool.Result, error) {
	if h.snap == nil || !t.Spec().Anywhere {
		return tool.Run(ctx, t, c)
	}
	frame, err := h.snap.BeginCommand(ctx)
	if err != nil {
		h.reportNoUndo(ctx, err)
		return tool.Run(ctx, t, c)
	}
	h.frame = frame
	defer func() {
		ctx, cancel := settleContext(ctx)
		defer cancel()
		if err := frame.End(ctx); err != nil {
			h.step.engine.log.Warn("changes of a tool call not recorded", "session", h.step.session.ID, "tool", t.Spec().Name, "error", err)
		}
		h.noteCommand(frame.Changed())
	}()
	return tool.Run(ctx, t, c)
}

// reportNoUndo reports a call whose changes cannot be undone, such as a command in a directory
// with more files than can be looked at. The user sees it once.
func (h *host) reportNoUndo(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s := h.step
	s.engine.log.Warn("changes of a tool call cannot be undone", "session", s.session.ID, "error", err)
	s.noUndo.Do(func() {
		h.Publish(&lathe.TUIToast{Title: "Commands cannot be undone here", Message: err.Error(), Variant: "warning"})
	})
}

// BeginChange saves files before a tool changes them.
func (h *host) BeginChange(ctx context.Context, paths ...string) (done func(), err error) {
	snap := h.snap
	h.noteEdit(paths)
	if snap == nil {
		return func() {}, nil
	}
	if err := snap.Capture(ctx, paths...); err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := settleContext(ctx)
		defer cancel()
		if err := snap.RecordWrite(ctx, paths...); err != nil {
			h.step.engine.log.Warn("changes of a tool call not recorded", "session", h.step.session.ID, "error", err)
		}
	}, nil
}

// markStarted says that a call that had to ask starts only now: what was changed until here, the
// user has changed.
func (h *host) markStarted(ctx context.Context) {
	if h.frame == nil {
		return
	}
	if err := h.frame.Restart(ctx); err != nil {
		h.reportNoUndo(ctx, err)
	}
}

// rescuedPatch is the patch of an answer whose process died, if it had changed anything.
func (r *runner) rescuedPatch(ctx context.Context, h *history.Message) []lathe.Fact {
	w := r.engine.files.undoable(r.config.place, &StepSettings{})
	if w == nil {
		return nil
	}
	p, err := w.Recover(ctx, string(h.ID))
	if err != nil {
		r.engine.log.Warn("changes of an interrupted step not recorded", "session", r.log.lease.Session, "error", err)
	}
	if len(p.Files) == 0 {
		return nil
	}
	return []lathe.Fact{&lathe.PartChanged{Time: r.engine.now(), Part: r.log.newPart(h.ID, &lathe.Patch{Hash: p.Before, Files: p.Files})}}
}
