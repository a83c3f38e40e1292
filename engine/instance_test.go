package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
)

// opened counts how often a directory was opened, by the published project.
func opened(events []lathe.Event) int {
	n := 0
	for _, e := range events {
		if _, ok := e.Fact.(*lathe.ProjectChanged); ok {
			n++
		}
	}
	return n
}

func TestInstance_SharedOpening(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := repo(t)
	l := w.listen(lathe.Scope{})
	got := make([]directory.Instance, 50)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range got {
		all.Go(func() {
			<-start
			inst, err := w.Instance(t.Context(), top)
			if err != nil {
				t.Error(err)
			}
			got[i] = inst
		})
	}
	close(start)
	all.Wait()
	for _, inst := range got {
		w.same("instance", inst, got[0])
	}
	if n := opened(l.received()); n != 1 || engine.Held(w.Engine) != 1 {
		t.Errorf("opened %d times, %d are held", n, engine.Held(w.Engine))
	}
}

func TestInstance_ByDirectoryAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	l := w.listen(lathe.Scope{})
	first := must(w.Instance(t.Context(), w.dir))(w)
	second := must(w.Instance(t.Context(), w.dir+"/."))(w)
	w.same("the same place", second.Place, first.Place)
	if n := opened(l.received()); n != 2 || engine.Held(w.Engine) != 2 {
		t.Errorf("opened %d times, %d are held", n, engine.Held(w.Engine))
	}
}

func TestInstance_FailureIsNotSaved(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	dir := filepath.Join(w.dir, "later")
	for range 2 {
		_, err := w.Instance(t.Context(), dir)
		w.is(err, lathe.NotFound)
		_, err = w.Locate(t.Context(), dir)
		w.is(err, lathe.NotFound)
	}
	mkdir(t, dir)
	must(w.Instance(t.Context(), dir))(w)

	file := filepath.Join(w.dir, "file")
	w.ok(os.WriteFile(file, nil, 0o600))
	_, err := w.Instance(t.Context(), file)
	w.is(err, lathe.Invalid)
	_, err = w.Instance(t.Context(), "")
	w.is(err, lathe.Invalid)
	if n := engine.Held(w.Engine); n != 1 {
		t.Errorf("%d instances are held", n)
	}
}

func TestInstance_NoWayIn(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may look everywhere")
	}
	w := newFixture(t)
	shut := mkdir(t, filepath.Join(w.dir, "shut"))
	mkdir(t, filepath.Join(shut, "in"))
	w.ok(os.Chmod(shut, 0))
	t.Cleanup(func() { _ = os.Chmod(shut, 0o755) })
	_, err := w.Instance(t.Context(), filepath.Join(shut, "in"))
	w.is(err, lathe.Denied)
}

// A directory without git is one place, also through a symlink; what an earlier version filed under
// the link is there too.
func TestInstance_Symlink(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	link := filepath.Join(gittest.RealTemp(t), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	old := w.session()
	must(w.Update(t.Context(), old.ID, lathe.Edit{Directory: lathe.Some(link)}))(w)
	made := must(w.Create(t.Context(), link, lathe.NewSession{}))(w)
	w.same("directory", made.Directory, w.dir)
	w.same("path", *made.Path, *old.Path)
	moved := must(w.Get(t.Context(), old.ID))(w)
	w.same("directory of the old one", moved.Directory, w.dir)

	held := engine.Held(w.Engine)
	w.Dispose(w.dir)
	if n := engine.Held(w.Engine); n != held-2 {
		t.Errorf("%d instances of %d are held after the directory was let go, reached by two names", n, held)
	}
}

// Locate notes nothing.
func TestLocate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	l := w.listen(lathe.Scope{})
	place := must(w.Locate(t.Context(), w.dir))(w)
	w.same("events", kinds(l.received()), []string{})
	if n := engine.Held(w.Engine); n != 0 {
		t.Errorf("%d instances are held", n)
	}
	w.same("projects", must(w.Projects(t.Context()))(w), []lathe.Project{})
	w.same("place", place, must(w.Instance(t.Context(), w.dir))(w).Place)
}

func TestInstance_LetGoWhenIdle(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := gittest.RealTemp(t)
	const minute = lathe.Time(60_000)
	l := w.listen(lathe.Scope{})
	use := func(dir string) int {
		t.Helper()
		must(w.Instance(t.Context(), dir))(w)
		return opened(l.received())
	}
	use(w.dir)
	use(other)
	for range 8 { // one is used now and then, the other is not
		w.clock.forward(9 * minute)
		if use(w.dir) != 0 {
			t.Fatal("what is in use was let go")
		}
	}
	if n := engine.Held(w.Engine); n != 1 {
		t.Errorf("%d are held", n)
	}
	if use(other) != 1 {
		t.Error("what was idle was not opened again")
	}
	w.clock.forward(11 * minute)
	if use(w.dir) != 1 {
		t.Error("what was idle itself was not opened again")
	}
	w.clock.forward(-100 * minute)
	use(w.dir) // a clock that goes back breaks nothing
}

// gate is a driver that blocks writes while it is shut.
type gate struct {
	store.Driver
	mu      sync.Mutex
	shut    bool
	waiting chan struct{} // one for each who came while it was shut
	open    chan struct{}
}

func (g *gate) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut {
		g.waiting <- struct{}{}
		<-g.open
	}
	return g.Driver.Begin(ctx, durable)
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut = shut; shut {
		g.waiting, g.open = make(chan struct{}, 10), make(chan struct{})
	} else {
		close(g.open)
	}
}

// gated is a fixture whose engine writes through a gate.
func gated(t *testing.T) (*fixture, *gate) {
	t.Helper()
	w := newFixture(t)
	w.ok(w.Close())
	d, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(w.data, "lathe.db")})
	w.ok(err)
	g := &gate{Driver: d}
	w.Engine, err = engine.Open(t.Context(), engine.Options{Driver: g, Now: w.clock.now, IDs: w.ids})
	w.ok(err)
	t.Cleanup(func() { w.ok(w.Close()) })
	return w, g
}

// A client that waits for another's opening is not failed by the other's cancel.
func TestInstance_OpenerIsCanceled(t *testing.T) {
	t.Parallel()
	w, g := gated(t)
	g.set(true)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := w.Instance(ctx, w.dir)
		first <- err
	}()
	<-g.waiting
	go func() {
		_, err := w.Instance(t.Context(), w.dir)
		second <- err
	}()
	eventually(t, "the second waits for the first", func() bool {
		return slices.ContainsFunc(stacks(), func(g string) bool {
			return strings.Contains(g, "directory.(*Directories).Instance") && strings.Contains(g, "[select") && !strings.Contains(g, "writer")
		})
	})
	cancel(gone)
	if err := <-first; !errors.Is(err, gone) {
		t.Errorf("the first got %v", err)
	}
	g.set(false)
	if err := <-second; err != nil {
		t.Errorf("the second got %v", err)
	}
}

// No caller waits longer than its own context allows.
func TestInstance_WaiterIsCanceled(t *testing.T) {
	t.Parallel()
	w, g := gated(t)
	g.set(true)
	done := make(chan error, 1)
	go func() {
		_, err := w.Instance(t.Context(), w.dir)
		done <- err
	}()
	<-g.waiting
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := w.Instance(ctx, w.dir)
	w.is(err, lathe.Canceled)
	g.set(false)
	w.ok(<-done)
}

func TestDispose(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := gittest.RealTemp(t)
	all, here, there := w.listen(lathe.Scope{}), w.listen(lathe.Scope{Directory: w.dir}), w.listen(lathe.Scope{Directory: other})
	must(w.Instance(t.Context(), w.dir))(w)
	for _, l := range []*listener{all, here, there} {
		w.same("a project concerns everyone", kinds(l.received()), []string{"project.updated"})
	}
	w.Dispose(other) // not open
	w.Dispose(w.dir)
	w.Dispose(w.dir) // no longer open
	w.same("of all", all.received()[0].Fact, lathe.Fact(&lathe.InstanceDisposed{Directory: w.dir}))
	w.same("of this directory", kinds(here.received()), []string{"server.instance.disposed"})
	w.same("of another", kinds(there.received()), []string{})
	must(w.Instance(t.Context(), w.dir))(w)
	w.same("opened again", kinds(here.received()), []string{"project.updated"})
}

func TestProjects(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := repo(t)
	linked := filepath.Join(gittest.RealTemp(t), "linked")
	git(t, top, "worktree", "add", "-q", linked)
	must(w.Instance(t.Context(), w.dir))(w)
	created := w.clock.now()
	must(w.Instance(t.Context(), top))(w)
	w.clock.forward(1000)
	inst := must(w.Instance(t.Context(), linked))(w)
	want := lathe.Project{
		ID: git(t, top, "rev-parse", "HEAD"), Worktree: top, VCS: "git",
		Time: lathe.ProjectTime{Created: created, Updated: w.clock.now()}, Sandboxes: []string{linked},
	}
	w.same("the linked checkout is of the same project", inst.Project, want)
	global := lathe.Project{ID: lathe.GlobalProject, Worktree: "/", Time: lathe.ProjectTime{Created: created, Updated: created}}
	w.same("opened last first", must(w.Projects(t.Context()))(w), []lathe.Project{want, global})

	w.ok(os.RemoveAll(linked))
	w.Dispose(top)
	want.Sandboxes = nil
	w.same("a checkout that is gone is dropped", must(w.Instance(t.Context(), top))(w).Project, want)
}

// Sessions of a directory that becomes a repository become the new project's. (spec 2.1)
func TestProject_AdoptsWhatWasGlobal(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := gittest.RealTemp(t)
	sub := mkdir(t, filepath.Join(top, "sub"))
	create := func(dir string) lathe.Session { return must(w.Create(t.Context(), dir, lathe.NewSession{}))(w) }
	mine, below, other := create(top), create(sub), create(w.dir)
	git(t, top, "init", "-q", "-b", "main")
	git(t, top, "commit", "-q", "--allow-empty", "-m", "one")
	if again := create(top); again.Project != lathe.GlobalProject {
		t.Fatalf("an open instance changed its project to %s", again.Project)
	}
	w.Dispose(top)
	l := w.listen(lathe.Scope{})
	inst := must(w.Instance(t.Context(), top))(w)
	if inst.Place.ProjectID != git(t, top, "rev-parse", "HEAD") {
		t.Fatalf("the project is %s", inst.Place.ProjectID)
	}
	w.same("events", kinds(l.received()), []string{"session.updated", "session.updated", "project.updated"})
	moved := w.get(mine.ID)
	mine.Project = inst.Place.ProjectID
	w.same("only its project has changed", moved, mine)
	w.same("elsewhere", []string{w.get(below.ID).Project, w.get(other.ID).Project}, []string{"global", "global"})
}

// A repository that gets a remote is the same project under another id: its sessions go
// along, and no instance stays behind.
func TestProject_ChangesItsIdentity(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := repo(t)
	sub := mkdir(t, filepath.Join(top, "sub"))
	create := func(dir string) lathe.Session { return must(w.Create(t.Context(), dir, lathe.NewSession{}))(w) }
	a, b := create(top), create(sub)
	old := a.Project
	created := w.clock.now()
	w.clock.forward(1000)
	git(t, top, "remote", "add", "origin", "https://forge.example/owner/app.git")
	w.Dispose(top)
	inst := must(w.Instance(t.Context(), top))(w)
	if id := inst.Project.ID; id == old || id != inst.Place.ProjectID || id == lathe.GlobalProject {
		t.Fatalf("the project is %s, was %s", id, old)
	}
	for _, s := range []lathe.Session{a, b} {
		s.Project = inst.Project.ID
		w.same("moved", w.get(s.ID), s)
	}
	w.same("projects", must(w.Projects(t.Context()))(w), []lathe.Project{inst.Project})
	if inst.Project.Time.Created != created {
		t.Errorf("created %v, was %v", inst.Project.Time.Created, created)
	}
	if late := create(sub); late.Project != inst.Project.ID {
		t.Errorf("a directory that was open files under %s, which is gone", late.Project)
	}
}
