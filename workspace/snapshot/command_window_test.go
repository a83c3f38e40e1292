package snapshot

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/workspace"
)

// Rules that a command changes make files come and go in our eyes only.
func TestFrame_IgnoreRulesChange(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write(".gitignore", "secret\nbuild/\n")
	b.write("secret", "mine\n")
	b.write("build/out", "mine\n")
	b.write("plain", "mine\n")
	st := b.step()
	b.command(st, func() {
		b.write(".gitignore", "plain\n")
		b.write("made", "by command\n")
		b.write("build/made", "by command\n") // its content was unknown
	})
	done := b.end(st)
	if got := b.rels(done.Files); !slices.Equal(got, []string{".gitignore", "made"}) {
		t.Errorf("files %q", got)
	}
	b.undo("ses", done)
	want := map[string]string{".gitignore": "secret\nbuild/\n", "secret": "mine\n", "build/out": "mine\n", "build/made": "by command\n", "plain": "mine\n"}
	if got := b.files(); !maps.Equal(got, want) {
		t.Errorf("after undo %q, want %q", got, want)
	}
}

// What a pattern ignores stays out also if git tracks it, and rules of info/exclude and of the user count.
func TestFrame_IgnoredButTracked(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	b.write("tracked.log", "1\n")
	b.write("out/x", "1\n")
	git.repo(b.dir)
	b.write(".gitignore", "*.log\n")
	must(t, os.WriteFile(b.path(".git/info/exclude"), []byte("out/\n"), 0o644))
	mine := filepath.Join(gittest.RealTemp(t), "mine")
	must(t, os.WriteFile(mine, []byte("*.swp\n"), 0o644))
	b = newBench(t, b.dir)
	b.store.o.Excludes = func() string { return mine }
	st := b.step()
	b.command(st, func() {
		b.write("tracked.log", "2\n")
		b.write("scratch.swp", "2\n")
		b.write("out/x", "2\n")
		b.write("f", "2\n")
	})
	if got := b.rels(b.end(st).Files); !slices.Equal(got, []string{"f"}) {
		t.Errorf("files %q", got)
	}
}

// A tool captures what it writes, ignored or not, and a walk does not look into what is ignored because
// of that.
func TestCapture_Ignored(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write(".gitignore", "build/\n.env\n")
	b.write(".env", "KEY=1\n")
	b.write("build/huge", "x\n")
	st := b.step()
	b.tool(st, ".env", func() { b.write(".env", "KEY=2\n") })
	b.tool(st, "build/cfg", func() { b.write("build/cfg", "made\n") })
	b.command(st, func() { b.write("build/other", "made\n") })
	done := b.end(st)
	if got := b.rels(done.Files); !slices.Equal(got, []string{".env", "build/cfg"}) {
		t.Errorf("files %q", got)
	}
	if it, _ := b.work.t.known.at("build/huge"); it != nil && !it.passed() {
		t.Errorf("the walk read an ignored folder: %+v", it)
	}
	b.undo("ses", done)
	want := map[string]string{".gitignore": "build/\n.env\n", ".env": "KEY=1\n", "build/huge": "x\n", "build/other": "made\n"}
	if got := b.files(); !maps.Equal(got, want) {
		t.Errorf("after undo %q, want %q", got, want)
	}
}

// A file that a tool is writing while a command runs is not a change of the command.
func TestFrame_TemporaryFiles(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write(workspace.TempName("1"), "half\n")
	b.write("other.tmp", "whole\n")
	st := b.step()
	b.command(st, func() {
		b.remove(workspace.TempName("1"))
		b.write(workspace.TempName("2"), "half\n")
		b.remove("other.tmp")
	})
	done := b.end(st)
	if got := b.rels(done.Files); !slices.Equal(got, []string{"other.tmp"}) {
		t.Errorf("files %q", got)
	}
	b.undo("ses", done)
	if got, want := b.files(), map[string]string{"other.tmp": "whole\n", workspace.TempName("2"): "half\n"}; !maps.Equal(got, want) {
		t.Errorf("after undo %q, want %q", got, want)
	}
}

func TestFrame_Large(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	large := strings.Repeat("0123456789abcde\n", maxUntracked/16) + "x"
	b.write("tracked", large)
	b.write("grows", "small\n")
	git.repo(b.dir)
	b.write("untracked", large)
	b = newBench(t, b.dir)
	st := b.step()
	b.command(st, func() {
		b.write("tracked", large+"y")
		b.write("grows", large)
		b.write("untracked", "now small\n") // its former state is unknown, so it belongs to no step
		b.write("new", large)
	})
	b.tool(st, "by tool", func() { b.write("by tool", large) })
	done := b.end(st)
	if got := b.rels(done.Files); !slices.Equal(got, []string{"by tool", "grows", "tracked"}) {
		t.Errorf("files %q", got)
	}
	b.undo("ses", done)
	want := map[string]string{"tracked": large, "grows": "small\n", "untracked": "now small\n", "new": large}
	if got := b.files(); !maps.Equal(got, want) {
		t.Errorf("after undo %q", slices.Sorted(maps.Keys(got)))
	}
}

// Above the limit the change is reported and cannot be undone.
func TestCapture_TooLarge(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	must(t, os.WriteFile(b.path("huge"), nil, 0o644))
	must(t, os.Truncate(b.path("huge"), maxContent+1))
	st := b.step()
	b.tool(st, "huge", func() { b.write("huge", "small\n") })
	done := b.end(st)
	plan := must2(b.work.Undo(t.Context(), []StepRef{done}))(t)
	if len(plan.Changes) != 1 || plan.Changes[0].Conflict != whyNotStored {
		t.Errorf("plan %+v", plan)
	}
	b.apply("ses", plan)
	if got := b.files()["huge"]; got != "small\n" {
		t.Errorf("after undo %q", got)
	}
}

func TestFrame_SpecialFiles(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("f", "1\n")
	makeSpecial(t, b.path("pipe"), b.path("socket"))
	st := b.step()
	b.command(st, func() {
		b.write("f", "2\n")
		b.remove("pipe")
		b.write("pipe", "a file now\n")
	})
	done := b.end(st)
	if got := b.rels(done.Files); !slices.Equal(got, []string{"f"}) {
		t.Errorf("files %q", got)
	}
	b.undo("ses", done)
	if got := b.files(); got["f"] != "1\n" || got["pipe"] != "a file now\n" {
		t.Errorf("after undo %q", got)
	}
}

func TestFrame_UnreadableFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	b := newBench(t, gittest.RealTemp(t))
	b.write("shut/f", "1\n")
	b.write("closes/f", "1\n")
	must(t, os.Chmod(b.path("shut"), 0))
	t.Cleanup(func() {
		_ = os.Chmod(b.path("shut"), 0o755)
		_ = os.Chmod(b.path("closes"), 0o755)
	})
	st := b.step()
	b.command(st, func() {
		must(t, os.Chmod(b.path("closes"), 0))
		must(t, os.Chmod(b.path("shut"), 0o755))
		b.write("f", "2\n")
	})
	if got := b.rels(b.end(st).Files); !slices.Equal(got, []string{"f"}) {
		t.Errorf("files %q", got)
	}
}

func TestFrame_Renames(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("name", "1\n")
	b.write("dir/a", "2\n")
	b.write("dir/b", "3\n")
	b.write("file", "4\n")
	must(t, os.Symlink("name", b.path("link")))
	before := b.files()
	st := b.step()
	b.command(st, func() {
		must(t, os.Rename(b.path("name"), b.path("NAME"))) // by its letters alone
		must(t, os.Rename(b.path("dir"), b.path("moved")))
		must(t, os.Rename(b.path("file"), b.path("tmp")))
		must(t, os.Mkdir(b.path("file"), 0o755))
		must(t, os.Rename(b.path("tmp"), b.path("file/inside"))) // a folder where a file was
		b.remove("link")
		b.write("link/x", "5\n")
		must(t, os.Chmod(b.path("moved/a"), 0o755))
	})
	done := b.end(st)
	want := []string{"NAME", "dir/a", "dir/b", "file", "file/inside", "link", "link/x", "moved/a", "moved/b", "name"}
	if got := b.rels(done.Files); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	after := b.files()
	b.undo("ses", done)
	if got := b.files(); !maps.Equal(got, before) {
		t.Errorf("after undo %q, want %q", got, before)
	}
	b.redo("ses")
	if got := b.files(); !maps.Equal(got, after) {
		t.Errorf("after redo %q, want %q", got, after)
	}
}

// A session in a folder of a repository sees only what is below it, under the names of the whole.
func TestFrame_Subdirectory(t *testing.T) {
	git := newGit(t)
	b := newBench(t, gittest.RealTemp(t))
	b.write("top", "1\n")
	b.write("sub/in/f", "1\n")
	b.write(".gitignore", "*.o\n")
	git.repo(b.dir)
	b = newBench(t, b.dir)
	b.work = b.at(b.path("sub/in"))
	st := b.step()
	b.command(st, func() {
		b.write("top", "2\n")
		b.write("sub/in/f", "2\n")
		b.write("sub/in/x.o", "2\n")
	})
	done := b.end(st)
	if got := b.rels(done.Files); !slices.Equal(got, []string{"sub/in/f"}) {
		t.Errorf("files %q", got)
	}
	diffs := must2(b.work.Diffs(t.Context(), []StepRef{done}))(t)
	if len(diffs) != 1 || diffs[0].File != "sub/in/f" {
		t.Errorf("diffs %+v", diffs)
	}
	if full := must2(b.work.DiffFull(t.Context(), done.Before, done.After))(t); len(full) != 1 || full[0].Patch != diffs[0].Patch {
		t.Errorf("between the trees %+v", full)
	}
	b.undo("ses", done)
	if got := b.files(); got["top"] != "2\n" || got["sub/in/f"] != "1\n" {
		t.Errorf("after undo %q", got)
	}
}

// Sessions side by side: a path that another captured while a command ran is that one's.
func TestFrame_OverlappingSteps(t *testing.T) {
	for _, process := range []string{"one process", "two processes"} {
		t.Run(process, func(t *testing.T) {
			b := newBench(t, gittest.RealTemp(t))
			b.write("a", "1\n")
			b.write("b", "1\n")
			other := b
			if process == "two processes" {
				other = b.again()
				must(t, other.work.t.walk(t.Context(), ""))
			}
			one, two, three, four := b.step(), other.step(), other.step(), other.step()
			must(t, four.Capture(t.Context(), b.path("d"))) // before the window, and it writes in it
			f := must2(one.BeginCommand(t.Context()))(t)
			other.tool(two, "a", func() { b.write("a", "by two\n") })
			other.tool(three, "c", func() { b.write("c", "by three\n") })
			ended := other.end(three)
			b.write("b", "by one\n")
			b.write("d", "by four\n")
			must(t, f.End(t.Context()))
			must(t, four.RecordWrite(t.Context(), b.path("d")))
			done := b.end(one)
			if got := b.rels(other.end(four).Files); !slices.Equal(got, []string{"d"}) {
				t.Errorf("files of four %q", got)
			}
			if got := b.rels(done.Files); !slices.Equal(got, []string{"b"}) {
				t.Errorf("files of one %q", got)
			}
			if got := b.rels(other.end(two).Files); !slices.Equal(got, []string{"a"}) {
				t.Errorf("files of two %q", got)
			}
			b.undo("ses", done)
			other.undo("ses2", ended)
			if got := b.files(); !maps.Equal(got, map[string]string{"a": "by two\n", "b": "1\n", "d": "by four\n"}) {
				t.Errorf("after undo %q", got)
			}
		})
	}
}

// While a person is asked whether a command may run, what changes is the user's.
func TestFrame_Again(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("f", "1\n")
	st := b.step()
	st.Warm()
	f := must2(st.BeginCommand(t.Context()))(t)
	b.write("user", "mine\n")
	must(t, f.Restart(t.Context()))
	b.write("f", "2\n")
	must(t, f.End(t.Context()))
	if got := b.rels(b.end(st).Files); !slices.Equal(got, []string{"f"}) {
		t.Errorf("files %q", got)
	}
}

// A file that is written all the time is taken as it was at some moment.
func TestFrame_FileChangesWhileRead(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	stop, done := make(chan struct{}), make(chan struct{})
	line := strings.Repeat("x", 1<<16)
	f, err := os.OpenFile(b.path("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	must(t, err)
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				if i%20 == 0 {
					_ = f.Truncate(0)
				}
				_, _ = f.WriteString(line)
			}
		}
	}()
	for range 5 {
		st := b.step()
		b.command(st, func() {})
		_ = b.end(st)
	}
	close(stop)
	<-done
	must(t, f.Close())
	st := b.step()
	b.command(st, func() { b.write("log", "end\n") })
	ended := b.end(st)
	b.undo("ses", ended)
	if got := b.files()["log"]; len(got)%(1<<16) != 0 {
		t.Errorf("after undo the log has %d bytes", len(got))
	}
	noDamage(t, b.store.o.Dir)
}

func TestTrack_Empty(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	if got := must2(b.work.Track(t.Context()))(t); got != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("an empty tree is %s", got)
	}
	if got := must2(b.work.Patch(t.Context(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904"))(t); len(got.Files) != 0 {
		t.Errorf("patch %+v", got)
	}
}

// Steps with file tools never walk, whatever the size of the tree: a file that no tool named is not
// even looked at.
func TestStep_ToolsDoNotWalk(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("f", "1\n")
	b.write("unseen/deep", "1\n")
	st := b.step()
	b.tool(st, "f", func() { b.write("f", "2\n") })
	b.end(st)
	if it, _ := b.work.t.known.at("unseen/deep"); it != nil {
		t.Errorf("somebody ensureWalked: %+v", it)
	}
}

// A hundred thousand files, in the campaign.
func TestTrack_HundredThousand(t *testing.T) {
	if os.Getenv("LATHE_CAMPAIGN") == "" {
		t.Skip("set LATHE_CAMPAIGN=all to make 100,000 files")
	}
	git := newGit(t)
	dir := gittest.RealTemp(t)
	plant(t, dir, 100_000)
	git.Run(dir, "init", "-q")
	b := newBench(t, dir)
	began := time.Now()
	got := must2(b.work.Track(t.Context()))(t)
	first := time.Since(began)
	if want := git.writeTree(dir); got != want {
		t.Errorf("tree %s, git has %s", got, want)
	}
	st := b.step()
	began = time.Now()
	b.command(st, func() { b.write("pkg00/part00/file00.go", "changed\n") })
	t.Logf("first walk %v, a window %v", first, time.Since(began))
	if got := b.rels(b.end(st).Files); !slices.Equal(got, []string{"pkg00/part00/file00.go"}) {
		t.Errorf("files %q", got)
	}
}

// A large ignored folder costs nothing: it is not entered.
func TestFrame_IgnoredFolder(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write(".gitignore", "/big\n")
	must(t, os.MkdirAll(b.path("big/a/b"), 0o755))
	must(t, os.WriteFile(b.path("big/a/b/huge"), nil, 0o644))
	must(t, os.Truncate(b.path("big/a/b/huge"), 10<<30)) // it takes no space
	var opened []string
	must(t, b.work.t.walk(t.Context(), ""))
	compare(nil, b.work.t.known, "", func(path string, _, y *item) { opened = append(opened, fmt.Sprint(path, y.passed())) })
	if want := []string{".gitignorefalse", "bigtrue"}; !slices.Equal(opened, want) {
		t.Errorf("known %q, want %q", opened, want)
	}
	if size := sizeOf(t, b.store.o.Dir); size > 1<<20 {
		t.Errorf("the store has %d bytes", size)
	}
}

// Nothing is read or written through symlinks that lead out.
func TestApply_Symlinks(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	outside := gittest.RealTemp(t)
	must(t, os.WriteFile(filepath.Join(outside, "f"), []byte("agent\n"), 0o644))
	b.write("dir/f", "user\n")
	st := b.step()
	b.tool(st, "dir/f", func() { b.write("dir/f", "agent\n") })
	done := b.end(st)
	plan := must2(b.work.Undo(t.Context(), []StepRef{done}))(t)
	must(t, os.RemoveAll(b.path("dir")))
	must(t, os.Symlink(outside, b.path("dir")))
	applied := b.apply("ses", plan)
	if applied.Changes[0].Conflict == "" {
		t.Errorf("applied through a symlink: %+v", applied)
	}
	if plan := must2(b.work.Undo(t.Context(), []StepRef{done}))(t); plan.Changes[0].Conflict == "" {
		t.Errorf("planned through a symlink: %+v", plan)
	}
	if got, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(got) != "agent\n" {
		t.Errorf("outside is %q, %v", got, err)
	}
	if err := b.work.Step("x").Capture(t.Context(), filepath.Join(outside, "f")); err != nil {
		t.Errorf("what is outside is passed over: %v", err)
	}
}

// A file that was deleted comes back with the protection it had.
func TestApply_Permissions(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("secret", "1\n")
	must(t, os.Chmod(b.path("secret"), 0o600))
	st := b.step()
	b.command(st, func() { b.remove("secret") })
	b.undo("ses", b.end(st))
	info, err := os.Stat(b.path("secret"))
	must(t, err)
	if got := info.Mode().Perm(); got != fs.FileMode(0o600) {
		t.Errorf("mode %o", got)
	}
}
