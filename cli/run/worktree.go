package run

import (
	"context"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// chosenName stands for a worktree without a name. No worktree can be called that.
const chosenName = "*"

// JoinWorktreeName joins --worktree and the word after it, if that can be a name: pflag knows no optional values.
func JoinWorktreeName(args []string) []string {
	at := slices.Index(args, "--worktree")
	if at < 0 || at+1 >= len(args) || worktree.CheckName(args[at+1]) != nil {
		return args
	}
	if end := slices.Index(args, "--"); end >= 0 && end < at {
		return args
	}
	out := append(slices.Clone(args[:at]), "--worktree="+args[at+1])
	return append(out, args[at+2:]...)
}

// checkTrees checks the flags for worktrees.
func (f *runFlags) checkTrees(a *cli.App) error {
	t := f.tries
	if f.until != "" {
		if err := f.checkUntil(); err != nil {
			return err
		}
		t.count = 0
	}
	switch {
	case t.count < 0 || t.count > maxTries:
		return cli.Usagef("--tries %d: want 1 to %d", t.count, maxTries)
	case t.count == 0 && (t.check != "" || t.merge || t.json):
		return cli.Usagef("--check, --merge and --json need --tries N")
	case t.count > 0 && t.check == "":
		return cli.Usagef("--tries needs --check COMMAND, which decides which try wins")
	case t.count > 0 && (f.format != "default" || f.schema != "" || f.record != "" || f.command != ""):
		return cli.Usagef("--tries cannot be combined with --format, --output-schema, --record or --command")
	case f.worktree == "" && t.count == 0:
		return nil
	case a.Attach != "":
		return cli.Usagef("--worktree and --tries cannot be combined with --attach")
	case f.next || f.session != "" || f.resume:
		return cli.Usagef("--worktree and --tries start new sessions; leave out -c, -s and --resume. A session in a worktree continues there with -s")
	case f.worktree != "" && f.worktree != chosenName:
		if err := worktree.CheckName(f.worktree); err != nil {
			return cli.Usagef("--worktree: %v", err)
		}
	}
	return nil
}

// treeName is the wanted name; "" lets lathe choose.
func (f *runFlags) treeName() string {
	if f.worktree == chosenName {
		return ""
	}
	return f.worktree
}

// openedTree is the worktree of a run. It is nil without one.
type openedTree struct {
	engine  *engine.Engine
	tree    *worktree.Tree
	release func()
}

// openTree makes the worktree of --worktree, or takes the lease of the one that a continued session works in.
func openTree(ctx context.Context, a *cli.App, e *engine.Engine, f *runFlags) (*openedTree, error) {
	if e == nil || f.worktree == "" {
		return nil, nil
	}
	o, err := newTree(ctx, a, e, worktree.Options{Name: f.treeName()})
	if err == nil {
		f.treeDir = o.tree.Directory
	}
	return o, err
}

// newTree makes a worktree as the config says.
func newTree(ctx context.Context, a *cli.App, e *engine.Engine, opts worktree.Options) (*openedTree, error) {
	at, err := e.Locate(ctx, a.Dir)
	if err != nil {
		return nil, err
	}
	t, release, err := e.Trees().Create(ctx, at, opts)
	if err != nil {
		return nil, err
	}
	return &openedTree{engine: e, tree: t, release: release}, nil
}

// begin writes down the owner, and runs the setup command of the config.
func (o *openedTree) begin(ctx context.Context, s lathe.Session) error {
	if o == nil {
		return nil
	}
	if err := o.tree.Update(ctx, func(r *worktree.Record) { r.Session, r.Parent = s.ID, s.Parent }); err != nil {
		return err
	}
	return o.engine.Trees().SetUp(ctx, o.tree, "")
}

// end gives the lease back and says how to continue. A worktree that no session used is removed.
func (o *openedTree) end(ctx context.Context, a *cli.App, f runFlags) {
	if o == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := o.engine.Get(ctx, o.tree.Session); o.tree.Session == "" || lathe.CodeOf(err) == lathe.NotFound {
		o.release()
		_, _ = o.tree.Drop(ctx, false) // one with changes stays, and is listed
		return
	}
	changes, err := o.tree.Changes(ctx)
	o.release()
	if f.format != "default" || err != nil {
		return
	}
	a.Flush()
	a.Notify("Worktree %s: %s. `lathe worktree diff %s` shows the changes, `lathe worktree merge %s` merges them.", o.tree.Name, strings.ToLower(termtext.Plural(len(changes), "changed file")), o.tree.Name, o.tree.Name)
}
