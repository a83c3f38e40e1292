package trees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// killVariable has the orders of a child: data folder, checkout, seed, and the step at which it kills itself.
const killVariable = "LATHE_TEST_TREES"

func TestMain(m *testing.M) {
	if orders := os.Getenv(killVariable); orders != "" {
		if err := work(strings.Split(orders, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// slots is how many trees a campaign can have. Each changes lines of its own in two files.
const slots = 1500

// work makes, merges and drops trees until it is killed. What it has done is in a journal.
func work(orders []string) error {
	ctx := context.Background()
	seed, _ := strconv.ParseUint(orders[2], 10, 64)
	last, _ := strconv.Atoi(orders[3])
	steps := 0
	t, err := openTrees(ctx, orders[0], func(string) {
		if steps++; steps == last {
			kill()
		}
	})
	if err != nil {
		return err
	}
	log, err := os.OpenFile(orders[0]+"/journal", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	fmt.Println("ready")
	for range 50 {
		if err := workOnce(ctx, t, orders[1], random, log); err != nil {
			return err
		}
	}
	return nil
}

func workOnce(ctx context.Context, t Trees, dir string, random *rand.Rand, log *os.File) error {
	all, err := t.ListWorktrees(ctx, dir)
	if err != nil {
		return err
	}
	if len(all) < 3 {
		return workCreate(ctx, t, dir, log)
	}
	w := all[random.IntN(len(all))]
	if w.Changed > 0 {
		_, err := t.ApplyWorktree(ctx, dir, w.Name, api.WorktreeMerge{})
		if err == nil {
			fmt.Fprintln(log, "merged", w.Name)
		}
		return err
	}
	fmt.Fprintln(log, "drop", w.Name)
	_, err = t.DropWorktree(ctx, dir, w.Name, false)
	return err
}

func workCreate(ctx context.Context, t Trees, dir string, log *os.File) error {
	journal, err := os.ReadFile(log.Name())
	if err != nil {
		return err
	}
	n := strings.Count(string(journal), "try ")
	if n >= slots {
		return errors.New("no slots are left")
	}
	fmt.Fprintln(log, "try", n)
	w, err := t.StartWorktree(ctx, dir, fmt.Sprintf("t%d", n))
	if err != nil {
		return err
	}
	fmt.Fprintln(log, "made", w.Name)
	for _, name := range []string{"p.txt", "q.txt"} {
		data, err := os.ReadFile(filepath.Join(w.Path, name))
		if err != nil {
			return err
		}
		text := strings.Replace(string(data), fmt.Sprintf("line %d\n", n), fmt.Sprintf("line %d by %s\n", n, w.Name), 1)
		if err := os.WriteFile(filepath.Join(w.Path, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintln(log, "written", w.Name)
	return nil
}

// TestKill kills a process that makes, merges and drops trees, LATHE_KILLS times at random points. After each kill no
// tree is lost, no merge is there by half, and nothing dangles in the repository.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, err := strconv.Atoi(os.Getenv("LATHE_KILLS"))
	if err != nil {
		kills = 14
	}
	seed, err := strconv.ParseUint(os.Getenv("LATHE_SEED"), 10, 64)
	if err != nil || seed == 0 {
		seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	t.Logf("seed %d", seed)
	b := newBench(t)
	var text strings.Builder
	for i := range slots {
		fmt.Fprintf(&text, "line %d\n\n", i)
	}
	b.write(b.dir, "p.txt", text.String())
	b.write(b.dir, "q.txt", text.String())
	b.write(b.data, "journal", "")
	b.git.Run(b.dir, "add", "-A")
	b.git.Run(b.dir, "commit", "-q", "-m", "lines")
	random, left := rand.New(rand.NewPCG(seed, 2)), map[worktree.State]int{}
	for i := range kills {
		b.killOnce(random, i)
		b.check(fmt.Sprintf("kill %d of seed %d", i, seed), left)
	}
	t.Logf("%d kills left trees in these states: %v", kills, left)
	b.git.Run(b.dir, "fsck", "--strict")
}

// killOnce runs a child that kills itself at a step, or is killed after a time.
func (b *bench) killOnce(random *rand.Rand, i int) {
	b.Helper()
	step, after := 0, time.Duration(random.IntN(150))*time.Millisecond
	if i%2 == 0 {
		step, after = 1+random.IntN(100), time.Minute
	}
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d|%d", killVariable, b.data, b.dir, random.Uint64(), step))
	out, err := cmd.StdoutPipe()
	b.ok(err)
	var failed strings.Builder
	cmd.Stderr = &failed
	b.ok(cmd.Start())
	_, _ = out.Read(make([]byte, 10)) // it is ready, or dead
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	if failed.Len() > 0 {
		b.Fatalf("the child failed: %v: %s", err, failed.String())
	}
}

// check compares the trees, the repository and the checkout with the journal, after a repair.
func (b *bench) check(when string, left map[worktree.State]int) {
	b.Helper()
	at, err := b.Engine.Locate(b.Context(), b.dir)
	b.ok(err)
	all, err := b.Engine.Trees().Root().List(at)
	b.ok(err)
	for _, t := range all {
		left[t.State]++
	}
	_, err = b.ListWorktrees(b.Context(), b.dir) // repairs
	b.ok(err)
	all, err = b.Engine.Trees().Root().List(at)
	b.ok(err)
	var names, branches, admins, folders []string
	for _, t := range all {
		if t.State != worktree.Ready {
			b.Errorf("%s: %s is %s", when, t.Name, t.State)
		}
		names, branches, admins, folders = append(names, t.Name), append(branches, t.Branch), append(admins, t.Admin), append(folders, t.Path)
	}
	for _, path := range folders {
		if got := b.git.Run(path, "rev-parse", "--abbrev-ref", "HEAD"); got != "lathe/"+filepath.Base(path) {
			b.Errorf("%s: %s is on %s", when, path, got)
		}
	}
	b.same(when+": branches", filesBelow(b.dir+"/.git/refs/heads/lathe", "lathe/"), branches)
	b.same(when+": folders in the repository", filesIn(b.dir+"/.git/worktrees"), admins)
	if len(all) > 0 {
		b.same(when+": folders of trees", slices.DeleteFunc(filesIn(filepath.Dir(all[0].Path)), func(n string) bool { return n == ".lathe" }), names)
	}
	b.checkJournal(when, names, folders)
}

// checkJournal holds that no tree is lost and no merge is there by half.
func (b *bench) checkJournal(when string, names, folders []string) {
	b.Helper()
	p, q := b.read(b.dir, "p.txt"), b.read(b.dir, "q.txt")
	if strings.Contains(p+q, "<<<<<<<") {
		b.Fatalf("%s: a conflict", when)
	}
	did := map[string]bool{}
	for line := range strings.Lines(b.read(b.data, "journal")) {
		did[strings.TrimSpace(line)] = true
	}
	for n := range slots {
		name := fmt.Sprintf("t%d", n)
		i, mark := slices.Index(names, name), fmt.Sprintf("line %d by %s\n", n, name)
		switch {
		case did["written "+name] && strings.Contains(p, mark) != strings.Contains(q, mark):
			b.Errorf("%s: half of the merge of %s is there", when, name)
		case did["merged "+name] && !strings.Contains(p, mark):
			b.Errorf("%s: the merge of %s is lost", when, name)
		case did["made "+name] && !did["drop "+name] && i < 0:
			b.Errorf("%s: the tree %s is lost", when, name)
		case did["written "+name] && i >= 0 && !strings.Contains(b.read(folders[i], "q.txt"), mark) && !did["drop "+name]:
			b.Errorf("%s: the work in %s is lost", when, name)
		}
	}
}

func (b *bench) same(what string, got, want []string) {
	b.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.Errorf("%s: %q; want %q", what, got, want)
	}
}

func filesIn(dir string) (out []string) {
	entries, _ := os.ReadDir(dir) // there may be none
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func filesBelow(dir, prefix string) (out []string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, prefix+filepath.Base(path))
		}
		return nil
	})
	return out
}
