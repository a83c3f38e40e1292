package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/workspace"
)

// childEnv names the scene that this program plays when a test starts it again, the point at which it
// dies, the work tree and the store.
const childEnv = "LATHE_SNAPSHOT_CHILD"

func TestMain(m *testing.M) {
	if scene := os.Getenv(childEnv); scene != "" {
		if err := playChild(strings.Split(scene, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func playChild(args []string) error {
	point, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	dir, store := args[2], New(Options{Dir: args[3], MaxBytes: 32 << 10})
	n := 0
	store.disk.before = func(string, string) {
		if n++; n == point {
			p, _ := os.FindProcess(os.Getpid()) // never fails for one's own
			_ = p.Kill()
			select {} // until it arrives
		}
	}
	place, err := workspace.Locate(context.Background(), dir, nil)
	if err != nil {
		return err
	}
	w := store.Worktree(place)
	switch args[0] {
	case "capture":
		return errors.Join(captureScene(w, dir, store), store.Close())
	case "apply":
		p, err := w.Undo(context.Background(), []StepRef{{Key: "msg_one"}, {Key: "msg_two"}})
		if err == nil {
			_, err = w.ApplyWith(context.Background(), "ses", p, "commit")
		}
		return errors.Join(err, store.Close())
	case "tidy":
		return errors.Join(store.Tidy(context.Background()), store.Close())
	}
	return fmt.Errorf("no scene %q", args[0])
}

// captureScene is a step with two tools and a command.
func captureScene(w *Worktree, dir string, s *Store) error {
	ctx := context.Background()
	st := w.Step("msg_dead")
	write := func(name, text string) error {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return s.disk.write(path, []byte(text), false) // the kill may come here too
	}
	if _, err := st.Tree(ctx); err != nil {
		return err
	}
	for _, name := range [...]string{"a", "new/b"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(st.Capture(ctx, path), write(name, "agent\n"), st.RecordWrite(ctx, path)); err != nil {
			return err
		}
	}
	f, err := st.BeginCommand(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(write("c", "command\n"), f.End(ctx)); err != nil {
		return err
	}
	_, err = st.End(ctx)
	return err
}

// killAt plays a scene that dies at a point. It reports false when the scene ended before.
func killAt(t *testing.T, scene string, point int, dir, store string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{scene, fmt.Sprint(point), dir, store}, "\n"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if code := cmd.ProcessState.ExitCode(); code == 1 {
		t.Fatalf("the scene %s failed instead of dying at %d: %s", scene, point, out)
	}
	return true
}

// everyPoint kills a scene at each of its points, on a copy of a work tree and store that prepare made.
func everyPoint(t *testing.T, scene string, prepare, check func(b *bench, point int)) {
	t.Helper()
	points := 0
	for point := 1; ; point++ {
		b := newBench(t, gittest.RealTemp(t))
		prepare(b, point)
		must(t, b.store.Close())
		died := killAt(t, scene, point, b.dir, b.store.o.Dir)
		c := b.again()
		check(c, point)
		must(t, c.store.Close())
		noDamage(t, c.store.o.Dir)
		if !died {
			break
		}
		points++
	}
	t.Logf("%s: killed at %d points", scene, points)
	if points < 5 {
		t.Errorf("only %d points", points)
	}
}

// noDamage reads every object and record of a store.
func noDamage(t *testing.T, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == objectsDir {
			o := newObjects(&disk{}, path, &project{})
			must(t, o.find())
			for id := range o.where {
				if _, _, err := o.get(id); err != nil {
					t.Errorf("object %s: %v", id, err)
				}
			}
			must(t, o.close())
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), tempPrefix) {
			return err
		}
		if strings.HasSuffix(d.Name(), recordSuffix) {
			if _, err := readRecord(path); err != nil {
				t.Errorf("record %s: %v", path, err)
			}
		}
		return nil
	}))
}

func TestKill_Capture(t *testing.T) {
	first := map[string]string{"a": "first\n", "c": "first\n", "user": "mine\n"}
	everyPoint(t, "capture", func(b *bench, _ int) {
		for name, text := range first {
			b.write(name, text)
		}
	}, func(b *bench, point int) {
		t := b.t
		left := b.files()
		p, err := b.work.Recover(t.Context(), "msg_dead")
		must(t, err)
		plan, err := b.work.Undo(t.Context(), []StepRef{{Key: "msg_dead", Before: p.Before, After: p.After, Files: p.Files}})
		must(t, err)
		for _, c := range plan.Changes {
			if c.Conflict != "" {
				t.Errorf("point %d: conflict %+v", point, c)
			}
		}
		b.apply("ses", plan)
		want := maps.Clone(first)
		if _, known := slices.BinarySearch(p.Files, b.work.t.abs("c")); !known {
			want["c"] = left["c"] // the command died with us, and its changes belong to no step
		}
		got := b.files()
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(filepath.Base(name), tempPrefix) })
		if !maps.Equal(got, want) {
			t.Errorf("point %d: after undo %q, want %q; it left %q, patch %q", point, got, want, left, p.Files)
		}
	})
}

func TestKill_Apply(t *testing.T) {
	var before map[string]string
	after := map[string]string{"a": "first\n", "b": "first\n", "gone/c": "x first\n", "way": "-> a"}
	everyPoint(t, "apply", func(b *bench, _ int) {
		for name, text := range after {
			if name == "way" {
				continue
			}
			b.write(name, strings.TrimPrefix(text, "x "))
		}
		must(b.t, os.Chmod(b.path("gone/c"), 0o755))
		must(b.t, os.Symlink("a", b.path("way")))
		one := b.work.Step("msg_one")
		b.tool(one, "a", func() { b.write("a", "one\n") })
		b.command(one, func() { must(b.t, os.RemoveAll(b.path("gone"))) })
		b.end(one)
		two := b.work.Step("msg_two")
		b.tool(two, "new/deep/d", func() { b.write("new/deep/d", "two\n") })
		b.command(two, func() {
			b.write("b", "two\n")
			must(b.t, os.Symlink("b", b.path("link")))
			b.remove("way")
			b.write("way/x", "two\n")
		})
		b.end(two)
		before = b.files()
	}, func(b *bench, point int) {
		t := b.t
		steps := []StepRef{{Key: "msg_one"}, {Key: "msg_two"}}
		plan, err := b.work.Undo(t.Context(), steps) // the next reader repairs
		must(t, err)
		got := b.files() // without a temporary file of the dead process
		if !maps.Equal(got, before) && !maps.Equal(got, after) {
			t.Errorf("point %d: the tree is neither before nor after: %q", point, got)
		}
		if _, err := os.Lstat(b.path("gone")); err == nil && maps.Equal(got, before) {
			t.Errorf("point %d: an empty directory is left", point)
		}
		applied, err := b.work.Applied("ses") // the intent is saved with the files or not at all
		must(t, err)
		if done := applied != nil && applied.Intent == "commit"; done != maps.Equal(got, after) {
			t.Errorf("point %d: the tree is done: %v, its intent is %+v", point, maps.Equal(got, after), applied)
		}
		must(t, b.work.ClearIntent(t.Context(), "ses"))
		b.apply("ses", plan)
		if got := b.files(); !maps.Equal(got, after) {
			t.Errorf("point %d: repeated undo left %q, want %q\n%+v", point, got, after, plan)
		}
		b.redo("ses")
		if got := b.files(); !maps.Equal(got, before) {
			t.Errorf("point %d: redo left %q, want %q", point, got, before)
		}
	})
}

// The recovery of a killed rewind removes only directories: what someone put in the place of one is theirs.
func TestRemoveLeftovers_OfOthers(t *testing.T) {
	made := fileChange{After: state{Mode: 0o100644, ID: "x"}, Made: 2}
	for name, put := range map[string]func(b *bench){
		"a file":           func(b *bench) { b.write("new", "mine\n") },
		"a link":           func(b *bench) { must(b.t, os.Symlink("elsewhere", b.path("new"))) },
		"a link to a copy": func(b *bench) { b.write("other/deep/x", "mine\n"); must(b.t, os.Symlink("other", b.path("new"))) },
		"a file in it":     func(b *bench) { b.write("new/mine", "mine\n") },
		"a file below":     func(b *bench) { b.write("new/deep/mine", "mine\n") },
	} {
		b := newBench(t, gittest.RealTemp(t))
		put(b)
		want := b.files()
		removeLeftovers(b.work.t, "new/deep/f", made, "temp")
		if got := b.files(); !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestKill_Tidy(t *testing.T) {
	const steps = 12
	everyPoint(t, "tidy", func(b *bench, _ int) {
		b.write("f", "first\n")
		for i := range steps {
			st := b.work.Step(fmt.Sprintf("msg_%02d", i))
			b.tool(st, "f", func() { b.write("f", fmt.Sprintf("%d\n", i)) })
			b.end(st)
		}
		age(b.t, b.work.t.path(objectsDir))
	}, func(b *bench, point int) {
		t := b.t
		records := 0
		for i := steps - 1; i >= 0; i-- {
			r, err := readRecord(b.work.t.recordPath(fmt.Sprintf("msg_%02d", i)))
			must(t, err)
			if r == nil {
				continue
			}
			records++
			for _, s := range r.Files[0].Changes {
				if !b.work.t.available(s.Before) || !b.work.t.available(s.After) {
					t.Errorf("point %d: step %d has a record and no content", point, i)
				}
			}
			for _, tree := range []string{r.Before, r.After} {
				if _, err := b.work.DiffFull(t.Context(), tree, r.After); err != nil {
					t.Errorf("point %d: step %d: %v", point, i, err)
				}
			}
		}
		if records == 0 || records == steps && point > 200 {
			t.Errorf("point %d: %d records are left", point, records)
		}
		must(t, b.store.Tidy(t.Context()))
		b.undo("ses", StepRef{Key: fmt.Sprintf("msg_%02d", steps-1)})
		if got := b.files()["f"]; got != fmt.Sprintf("%d\n", steps-2) {
			t.Errorf("point %d: after undo %q", point, got)
		}
	})
}

// age makes all files of a directory old.
func age(t testing.TB, dir string) {
	t.Helper()
	past := time.Now().Add(-48 * time.Hour)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), tempPrefix) {
			err = os.Chtimes(path, past, past)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}))
}
