package engine_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// rewindChild has the orders of a child process: the data, the session, and the operation before which it kills itself.
const rewindChild = "LATHE_TEST_REWIND"

// noModels is the environment of an engine without models and tools.
type noModels struct{}

func (noModels) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	return &engine.StepSettings{}, nil
}

func (noModels) Model(context.Context, workspace.Place, lathe.ModelRef) (*engine.Model, error) {
	return nil, lathe.Errorf(lathe.NotFound, "there are no models here")
}

// countingDriver calls a function before each write transaction.
type countingDriver struct {
	store.Driver
	at func()
}

func (d countingDriver) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	d.at()
	return d.Driver.Begin(ctx, durable)
}

func openRewind(ctx context.Context, data string, at func()) (*engine.Engine, *snapshot.Store, error) {
	d, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(data, "lathe.db")})
	if err != nil {
		return nil, nil, err
	}
	snaps := snapshot.New(snapshot.Options{Dir: filepath.Join(data, "snapshot"), OnWrite: func(string, string) { at() }})
	e, err := engine.Open(ctx, engine.Options{
		Driver: countingDriver{d, at}, Blobs: filepath.Join(data, "blobs"), Version: "1.2.3", Environment: noModels{}, Snapshots: snaps,
	})
	return e, snaps, err
}

// playRewindChild rewinds and redoes, and dies at a point of that.
func playRewindChild(orders string) int {
	w := strings.Split(orders, "\n")
	point, _ := strconv.Atoi(w[2])
	var armed atomic.Bool
	var n atomic.Int64
	ctx := context.Background()
	e, _, err := openRewind(ctx, w[0], func() {
		if armed.Load() && n.Add(1) == int64(point) {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		}
	})
	if err == nil {
		armed.Store(true)
		for _, in := range []lathe.Rewind{{Step: 1}, {Step: 2}, {Redo: true}} {
			if err == nil {
				_, err = e.Rewind(ctx, lathe.SessionID(w[1]), in)
			}
		}
		armed.Store(false)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// rewindScene is a session with three steps that changed files.
type rewindScene struct {
	*testing.T
	data, dir string
	id        lathe.SessionID
	states    []map[string]string // the files after each step; the first before all
}

func newRewindScene(t *testing.T) *rewindScene {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &rewindScene{T: t, data: filepath.Join(base, "data"), dir: filepath.Join(base, "app")}
	c.ok(os.MkdirAll(c.data, 0o755))
	c.ok(os.MkdirAll(c.dir, 0o755))
	c.write("a", "0\n")
	c.write("sub/gone", "0\n")
	e, snaps, err := openRewind(t.Context(), c.data, func() {})
	c.ok(err)
	s, err := e.Create(t.Context(), c.dir, lathe.NewSession{Title: "Rewind"})
	c.ok(err)
	c.id = s.ID
	c.states = []map[string]string{c.files()}
	at, err := e.Locate(t.Context(), c.dir)
	c.ok(err)
	lease, err := e.Store().Acquire(t.Context(), s.ID)
	c.ok(err)
	now := lathe.Now()
	prompt := lathe.Message{ID: "msg_000000000001aaaaaaaaaaaaaa", Session: s.ID, Created: now, Data: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}}}
	c.commit(e, lease, prompt, &lathe.Text{Text: "change"})
	for i := range 3 {
		id := lathe.MessageID(fmt.Sprintf("msg_00000000000%daaaaaaaaaaaaaa", i+2))
		p := c.step(snaps.Worktree(at), string(id), i)
		m := lathe.Message{ID: id, Session: s.ID, Created: now + lathe.Time(i+1), Data: &lathe.Assistant{
			Parent: prompt.ID, Agent: "build", Mode: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: now + lathe.Time(i+1), Finish: "stop",
		}}
		c.commit(e, lease, m, &lathe.StepFinish{Reason: "stop", Snapshot: p.After}, &lathe.Patch{Hash: p.Before, Files: p.Files})
		c.states = append(c.states, c.files())
	}
	c.ok(e.Store().Release(t.Context(), lease))
	c.ok(e.Close())
	return c
}

// step changes files as a tool and as a command does.
func (c *rewindScene) step(w *snapshot.Worktree, key string, i int) snapshot.Patch {
	c.Helper()
	st := w.Step(key)
	a := filepath.Join(c.dir, "a")
	c.ok(st.Capture(c.Context(), a))
	c.write("a", fmt.Sprintf("%d\n", i+1))
	c.ok(st.RecordWrite(c.Context(), a))
	f, err := st.BeginCommand(c.Context())
	c.ok(err)
	if i == 1 {
		c.ok(os.RemoveAll(filepath.Join(c.dir, "sub")))
	}
	c.write(fmt.Sprintf("new/%d", i), "\x00\xff binary\n")
	c.ok(f.End(c.Context()))
	p, err := st.End(c.Context())
	c.ok(err)
	return p
}

func (c *rewindScene) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *rewindScene) write(name, text string) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	c.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	c.ok(os.WriteFile(path, []byte(text), 0o644))
}

func (c *rewindScene) commit(e *engine.Engine, l store.Lease, m lathe.Message, bodies ...lathe.Body) {
	c.Helper()
	facts := []lathe.Fact{&lathe.MessageChanged{Info: m}}
	for i, b := range bodies {
		id := lathe.PartID("prt_" + strings.TrimPrefix(string(m.ID), "msg_")[:25] + fmt.Sprint(i))
		facts = append(facts, &lathe.PartChanged{Time: m.Created, Part: lathe.Part{ID: id, Session: m.Session, Message: m.ID, Body: b}})
	}
	_, err := e.Store().Commit(c.Context(), l, facts...)
	c.ok(err)
}

// files are the files of the project with their contents. Temporary ones of a killed process do not count.
func (c *rewindScene) files() map[string]string {
	c.Helper()
	out := map[string]string{}
	c.ok(filepath.WalkDir(c.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".tmp") {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(c.dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return out
}

// check holds that files and conversation are at the same step.
func (c *rewindScene) check(point int) {
	c.Helper()
	e, _, err := openRewind(c.Context(), c.data, func() {})
	c.ok(err)
	defer func() { c.ok(e.Close()) }()
	list, err := e.Steps(c.Context(), c.id, lathe.StepQuery{})
	c.ok(err)
	if got := c.files(); !maps.Equal(got, c.states[list.At]) {
		c.Errorf("point %d: the conversation is at step %d, the files are %q", point, list.At, got)
	}
	if _, err := e.Rewind(c.Context(), c.id, lathe.Rewind{Step: 3}); err != nil {
		c.Errorf("point %d: %v", point, err)
	}
	if got := c.files(); !maps.Equal(got, c.states[3]) {
		c.Errorf("point %d: redone files are %q", point, got)
	}
}

// A process that is killed before any change of a file or of the store leaves a rewind whole or not at all: files and
// conversation are at the same step, for the next process. One scene is enough, because check brings it back.
func TestCampaign_RewindKilled(t *testing.T) {
	t.Parallel()
	c := newRewindScene(t)
	step := 1
	if !isWhole() {
		step = 5
	}
	for point := 1 + rand.New(rand.NewPCG(campaignSeed(t), 1)).IntN(step); ; point += step {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), rewindChild+"="+strings.Join([]string{c.data, string(c.id), strconv.Itoa(point)}, "\n"))
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState.ExitCode() == 1 {
			t.Fatalf("the child failed instead of dying at %d: %s", point, out)
		}
		c.check(point)
		if err == nil {
			if point < 20 {
				t.Errorf("a rewind has only %d points", point)
			}
			return
		}
	}
}
