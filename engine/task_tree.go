package engine

import (
	"context"
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// taskTree is the worktree of an isolated task. A nil one is the directory of the parent, so that callers need not
// ask which it is.
type taskTree struct {
	engine Trees
	tree   *worktree.Tree
	leave  func()
}

// isolate makes the worktree of a task that asks for one. A task that is continued stays where it worked before: its
// session names the directory.
func isolate(ctx context.Context, h *host, a tool.Assignment) (*taskTree, error) {
	if !a.Isolated || a.Resume != "" {
		return nil, nil
	}
	e := h.step.engine.Trees()
	t, leave, err := e.Create(ctx, h.step.place, worktree.Options{Parent: h.step.session.ID})
	if err != nil {
		return nil, tool.Failf("No worktree could be made for the task: %w", err)
	}
	return &taskTree{engine: e, tree: t, leave: leave}, nil
}

// directory is where the child works.
func (t *taskTree) directory(parent string) string {
	if t == nil {
		return parent
	}
	return t.tree.Directory
}

// prepare writes down whose tree it is, so that it can be found after a crash, and runs the setup command.
func (t *taskTree) prepare(ctx context.Context, child lathe.Session) error {
	if t == nil {
		return nil
	}
	if err := t.tree.Update(ctx, func(r *worktree.Record) { r.Session, r.Parent = child.ID, child.Parent }); err != nil {
		return err
	}
	if err := t.engine.SetUp(ctx, t.tree, ""); err != nil {
		return tool.Failf("Worktree %s of the task could not be set up: %w", t.tree.Name, err)
	}
	return nil
}

// release gives the lease back when the child has ended. The tree stays for a merge.
func (t *taskTree) release() {
	if t != nil {
		t.leave()
	}
}

// describe adds to the report of a child in a worktree what it changed there, and how to merge it. The model cannot
// merge: that is for the user.
func (e Trees) describe(ctx context.Context, child lathe.Session, text string) string {
	t := e.files.trees.Of(child.Directory)
	if t == nil || t.Parent == "" { // or the parent works in the same tree
		return text
	}
	if parent, err := e.store.Session(ctx, child.Parent); err != nil || e.isIn(parent.Directory, t) {
		return text
	}
	r, err := e.Report(ctx, t)
	switch {
	case err != nil:
		return text + fmt.Sprintf("\n\nIts worktree %s cannot be compared: %v", t.Name, err)
	case len(r.Files) == 0:
		return text + "\n\n" + r.Text()
	}
	return text + "\n\n" + r.Text() + "Your files are unchanged. The user merges with `lathe worktree merge " + t.Name + "`, or /worktree."
}

// isIn reports whether a directory is in a tree.
func (e Trees) isIn(dir string, t *worktree.Tree) bool {
	other := e.files.trees.Of(dir)
	return other != nil && other.Path == t.Path
}
