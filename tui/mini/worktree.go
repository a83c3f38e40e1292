package mini

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/worktree"
)

// worktree lists the worktrees, makes one and opens its session, or runs an action on one.
func (p slash) worktree(arguments string) {
	if p.isBusy() {
		p.face.note("A turn is running: interrupt it with Ctrl-C first")
		return
	}
	switch action, name := worktree.Parse(arguments); action {
	case worktree.List:
		p.listWorktrees()
	case worktree.New:
		p.startWorktree(name)
	case worktree.Compare:
		p.compareWorktree(name)
	case worktree.Merge:
		p.mergeWorktree(name)
	case worktree.Drop:
		p.dropWorktree(name)
	case worktree.Open:
		p.openWorktree(name)
	default:
		p.face.note(worktree.Usage)
	}
}

// openWorktree opens the session of a worktree.
func (p slash) openWorktree(name string) {
	p.call("list the worktrees", func(ctx context.Context, e Engine) (func(), error) {
		all, err := e.ListWorktrees(ctx, p.dir())
		return func() {
			for _, w := range all {
				if w.Name == name && w.Session != "" {
					conversation(p).openSession(w.Session, false)
					return
				}
			}
			p.face.note("No worktree with a session is called " + name)
		}, err
	})
}

// listWorktrees prints the worktrees with their state. The names serve as arguments of the other actions.
func (p slash) listWorktrees() {
	p.call("list the worktrees", func(ctx context.Context, e Engine) (func(), error) {
		all, err := e.ListWorktrees(ctx, p.dir())
		return func() {
			if len(all) == 0 && err == nil {
				p.face.note("No worktrees. /worktree NAME makes one and starts a session in it")
			}
			for _, w := range all {
				p.face.note(w.Name + ": " + worktree.StateText(w))
			}
		}, err
	})
}

// startWorktree makes a worktree and opens its session. The setup command of the config may take a while, which is why the
// note comes after it.
func (p slash) startWorktree(name string) {
	p.call("make the worktree", func(ctx context.Context, e Engine) (func(), error) {
		w, err := e.StartWorktree(ctx, p.dir(), name)
		if err != nil {
			return nil, err
		}
		return func() {
			p.face.note("This session works in worktree " + w.Name + ". /worktree merge " + w.Name + " merges its changes")
			conversation(p).openSession(w.Session, false)
		}, nil
	})
}

// compareWorktree prints the changes of a worktree since it was made or last merged.
func (p slash) compareWorktree(name string) {
	p.call("read the changes", func(ctx context.Context, e Engine) (func(), error) {
		all, err := e.CompareWorktree(ctx, p.dir(), name)
		return func() {
			if len(all) == 0 && err == nil {
				p.face.note("Worktree " + name + " has no changes")
			}
			p.printDiffs(all)
		}, err
	})
}

// mergeWorktree merges into the checkout. The merge is a step of a session of its own, so that the session here needs
// no undo for it.
func (p slash) mergeWorktree(name string) {
	p.call("merge the worktree", func(ctx context.Context, e Engine) (func(), error) {
		r, err := e.ApplyWorktree(ctx, p.dir(), name, api.WorktreeMerge{})
		return func() {
			for line := range strings.Lines(r.Text) {
				p.face.note(strings.TrimRight(line, "\n"))
			}
			if r.Session != "" {
				p.face.note("The merge is a step of session " + string(r.Session) + ": open it with /sessions to undo it or to resolve conflicts")
			}
		}, err
	})
}

// dropWorktree removes a worktree, unless it has changes that are not merged: this screen cannot ask whether to lose
// them. The command line can be told to.
func (p slash) dropWorktree(name string) {
	p.call("drop the worktree", func(ctx context.Context, e Engine) (func(), error) {
		_, err := e.DropWorktree(ctx, p.dir(), name, false)
		return func() {
			if err == nil {
				p.face.note("Dropped worktree " + name)
			}
		}, err
	})
}
