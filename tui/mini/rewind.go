package mini

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
)

// rewinding goes back to steps of the session.
type rewinding struct{ *program }

// listBefore lists the steps before one; 0 the newest. A step leads to a dry run with the choice of what to rewind.
func (p rewinding) listBefore(before int) {
	if p.isBusy() {
		p.face.note("A turn is running: interrupt it with Ctrl-C first")
		return
	}
	id := p.state.Current
	p.call("list the steps", func(ctx context.Context, e Engine) (func(), error) {
		list, err := e.Steps(ctx, id, lathe.StepQuery{Before: before})
		if err != nil {
			return nil, err
		}
		return func() {
			p.show(&picker{title: dialog.RewindTitle, empty: "No steps yet", items: dialog.RewindItems(p.state.Info.Directory, list, time.Now()), choose: func(choice string) {
				switch step, err := strconv.Atoi(choice); {
				case choice == dialog.RewindRedo:
					p.to(id, lathe.Rewind{Redo: true})
				case choice == dialog.RewindEarlier:
					p.listBefore(list.Steps[0].Number)
				case err == nil:
					p.preview(id, step)
				}
			}})
		}, nil
	})
}

// preview prints what a rewind would do to files, and asks what to rewind.
func (p rewinding) preview(id lathe.SessionID, step int) {
	p.call("preview the rewind", func(ctx context.Context, e Engine) (func(), error) {
		plan, err := e.Rewind(ctx, id, lathe.Rewind{Step: step, DryRun: true})
		if err != nil {
			return nil, err
		}
		return func() {
			for _, f := range dialog.RewindFiles(plan) {
				p.face.note(f.Title + ": " + f.Detail)
			}
			p.show(&picker{title: fmt.Sprintf("Rewind to step %d", step), items: dialog.RewindActions(plan), choose: func(choice string) {
				switch choice {
				case dialog.RewindFork:
					p.forkStep(id, step)
				case dialog.RewindWorktree:
					p.forkTree(id, step)
				case dialog.RewindBoth, dialog.RewindCode, dialog.RewindConversation:
					p.to(id, lathe.Rewind{Step: step, Scope: lathe.RewindScope(choice)})
				}
			}})
		}, nil
	})
}

// to rewinds after the choice.
func (p rewinding) to(id lathe.SessionID, in lathe.Rewind) {
	p.call("rewind the session", func(ctx context.Context, e Engine) (func(), error) {
		done, err := e.Rewind(ctx, id, in)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("Rewound to step %d", done.Step)
		if in.Redo {
			what = "Redone"
		}
		return func() { slash(p).reportUndo(what, lathe.Undone{Session: done.Session, Files: done.Files}) }, nil
	})
}

// forkStep opens a copy of the session up to the end of a step.
func (p rewinding) forkStep(id lathe.SessionID, step int) {
	p.call("fork the session", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.ForkStep(ctx, "", id, step)
		if err != nil {
			return nil, err
		}
		return func() { conversation(p).openSession(s.ID, false) }, nil
	})
}

// forkTree opens a copy of the session in a copy of the checkout as of a step.
func (p rewinding) forkTree(id lathe.SessionID, step int) {
	p.call("fork into a worktree", func(ctx context.Context, e Engine) (func(), error) {
		w, err := e.ForkWorktree(ctx, id, step, "")
		if err != nil {
			return nil, err
		}
		return func() {
			p.face.note("This session works in worktree " + w.Name)
			conversation(p).openSession(w.Session, false)
		}, nil
	})
}
