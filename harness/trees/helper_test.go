package trees

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// plain is the environment of an engine without models and tools.
type plain struct{ settings engine.StepSettings }

func (p plain) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	out := p.settings
	return &out, nil
}

func (plain) Model(context.Context, workspace.Place, lathe.ModelRef) (*engine.Model, error) {
	return nil, lathe.Errorf(lathe.NotFound, "there are no models here")
}

// openTrees opens the trees of a data folder, as a process does.
func openTrees(ctx context.Context, data string, onStep func(string)) (Trees, error) {
	d, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(data, "lathe.db")})
	if err != nil {
		return Trees{}, err
	}
	e, err := engine.Open(ctx, engine.Options{
		Driver: d, Blobs: filepath.Join(data, "blobs"), Version: "1.2.3", Environment: plain{},
		Snapshots: snapshot.New(snapshot.Options{Dir: filepath.Join(data, "snapshot")}),
		Worktrees: worktree.Root{Dir: data + workspace.TreesSuffix, OnStep: onStep, Leases: &worktree.Leases{}},
	})
	return Trees{Engine: e}, err
}

// bench is a repository and the trees of it.
type bench struct {
	*testing.T
	Trees
	git       gittest.Git
	data, dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	base := gittest.RealTemp(t)
	b := &bench{T: t, git: gittest.New(t), data: filepath.Join(base, "lathe"), dir: filepath.Join(base, "app")}
	b.ok(os.MkdirAll(b.data, 0o755))
	b.ok(os.MkdirAll(b.dir, 0o755))
	b.git.Run(b.dir, "init", "-q", "-b", "main")
	b.write(b.dir, "a.txt", "one\ntwo\nthree\nfour\nfive\n")
	b.write(b.dir, "b.txt", "b\n")
	b.git.Run(b.dir, "add", "-A")
	b.git.Run(b.dir, "commit", "-q", "-m", "first")
	b.write(b.dir, "b.txt", "b\nuncommitted\n")
	var err error
	b.Trees, err = openTrees(t.Context(), b.data, nil)
	b.ok(err)
	t.Cleanup(func() { b.ok(b.Engine.Close()) })
	return b
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) write(dir, name, text string) {
	b.Helper()
	b.ok(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func (b *bench) read(dir, name string) string {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	b.ok(err)
	return string(data)
}
