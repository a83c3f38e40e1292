//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/cli/debug"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// These tests open hostile repositories with the whole program, as their user would who does not
// know yet what is in them. Package workspace/hostiletest has the same question for the parts that
// read settings; here it is every command and many routes, and what must not happen is looked for
// outside of the program: a trap that leaves a mark, a host that counts who connects, files that
// change, and the system calls where strace is.

// hostileSecret is what the user has and no repository may see.
const hostileSecret = "hunter2-of-the-user"

// hostileRepo is one kind of hostility. In its files TRAP is a program that leaves a mark, EVIL a
// host that counts, and OUTSIDE a folder beside the repository.
type hostileRepo struct {
	name   string
	files  map[string]string // a name that begins with OUTSIDE/ or ABOVE/ is not in the repository
	build  func(s *hostileScene)
	open   string // the directory to open, below the repository
	broken bool   // its settings cannot be read: commands say so and continue
}

// hostileScene is such a repository, and its user.
type hostileScene struct {
	*testing.T
	base, dir, outside, home string
	trap, marks              string // the program, and the folder of the marks it leaves
	bin                      string // programs that a repository might have run, all of them the trap
	evil                     net.Listener
	calls                    atomic.Int64 // of the host
	model                    *modeltest.Server
	lathe                    string
}

func newHostile(t *testing.T, lathe string, f hostileRepo) *hostileScene {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	s := &hostileScene{
		T: t, base: base, dir: at("work/repo"), outside: at("outside"), home: at("home"), trap: at("traps/trap"), marks: at("marks"), bin: at("traps"),
		lathe: lathe,
	}
	for _, dir := range []string{s.dir, s.outside, s.bin, s.marks, at("tmp"), at("home/.config/lathe")} {
		s.ok(os.MkdirAll(dir, 0o755))
	}
	s.listen()
	s.model = modeltest.Start(t, nil)
	hello := modeltest.MustParse("text \"Hello.\"\nfinish stop")[0]
	s.model.Respond(func(modeltest.Request) modeltest.Answer { return hello })
	s.ok(os.WriteFile(s.trap, []byte("#!/bin/sh\n: > '"+s.marks+"/'$$\n"), 0o755))
	for _, name := range strings.Fields("node bun npm npx pnpm yarn deno tsx gopls prettier biome eslint rust-analyzer typescript-language-server pyright clangd direnv mise make cargo go python3 uvx docker gh ssh curl wget open xdg-open") {
		s.ok(os.Symlink(s.trap, filepath.Join(s.bin, name)))
	}
	s.ok(os.WriteFile(at("outside/secret"), []byte(hostileSecret+"\n"), 0o644))
	s.ok(os.WriteFile(at("home/.config/lathe/lathe.json"), fmt.Appendf(nil, debug.ScriptConfig, s.model.URL), 0o644))
	s.git("init", "-q", "-b", "main")
	s.git("commit", "-q", "--allow-empty", "-m", "first")
	for name, text := range f.files {
		s.write(name, text)
	}
	if f.build != nil {
		f.build(s)
	}
	return s
}

// listen is the host that must not be called.
func (s *hostileScene) listen() {
	var err error
	s.evil, err = net.Listen("tcp", "127.0.0.1:0")
	s.ok(err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := s.evil.Accept()
			if err != nil {
				return
			}
			s.calls.Add(1)
			_ = c.Close()
		}
	})
	s.Cleanup(func() {
		_ = s.evil.Close()
		open.Wait()
	})
}

func (s *hostileScene) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// path is where a file of a fixture belongs.
func (s *hostileScene) path(name string) string {
	for prefix, dir := range map[string]string{"OUTSIDE/": s.outside, "ABOVE/": filepath.Dir(s.dir)} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return filepath.Join(dir, rest)
		}
	}
	return filepath.Join(s.dir, name)
}

func (s *hostileScene) fill(text string) string {
	return strings.NewReplacer("TRAP", s.trap, "EVIL", s.evil.Addr().String(), "OUTSIDE", s.outside, "SECRET_NAME", "HOSTILE_SECRET").Replace(text)
}

func (s *hostileScene) write(name, text string) {
	s.Helper()
	path := s.path(s.fill(name))
	if rest, ok := strings.CutPrefix(name, "OUTSIDE/"); ok {
		path = filepath.Join(s.outside, rest)
	}
	s.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	s.ok(os.WriteFile(path, []byte(s.fill(text)), 0o755))
}

func (s *hostileScene) link(target, name string) {
	s.Helper()
	path := s.path(name)
	s.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	_ = os.Remove(path)
	s.ok(os.Symlink(s.fill(target), path))
}

func (s *hostileScene) pipe(name string) {
	s.Helper()
	path := s.path(name)
	s.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	s.ok(syscall.Mkfifo(path, 0o644))
}

func (s *hostileScene) sparse(name string, size int64) {
	s.Helper()
	s.write(name, "")
	s.ok(os.Truncate(s.path(name), size))
}

// git builds the repository; it never opens it.
func (s *hostileScene) git(args ...string) {
	s.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		s.Skip("hostile repositories are built with git, which is not installed")
	}
	for i, a := range args {
		args[i] = s.fill(a)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.base, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// config writes git settings, as key=value.
func (s *hostileScene) config(settings ...string) {
	s.Helper()
	for _, one := range settings {
		key, value, _ := strings.Cut(one, "=")
		s.git("config", "--add", key, value)
	}
}

// command is the program in the repository, with nothing of the developer's own surroundings.
func (s *hostileScene) command(ctx context.Context, open string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.lathe, args...)
	if t := tracer(); t != nil && slices.Contains([]string{"run", "serve", "mcp"}, args[0]) { // the rest only reads
		log := filepath.Join(s.base, "calls")
		cmd = exec.CommandContext(ctx, t[0], slices.Concat(t[1:], []string{"-o", log, s.lathe}, args)...)
	}
	cmd.Dir = filepath.Join(s.dir, open)
	cmd.Env = []string{
		"PATH=" + s.bin + ":" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + filepath.Join(s.base, "tmp"), "LATHE_DATA=" + filepath.Join(s.base, "data"),
		"HOSTILE_SECRET=" + hostileSecret, "LATHE_NO_AUTH=1", "TZ=UTC",
	}
	return cmd
}

// hostileTime is how long any command may take, with many beside it.
const hostileTime = time.Minute

// said is what a command printed, and how it ended.
type said struct {
	stdout, stderr string
	code           int
}

// lathes runs a command to its end.
func (s *hostileScene) lathes(open string, args ...string) said {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), hostileTime)
	defer stop()
	cmd := s.command(ctx, open, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Fatalf("lathe %v: %v", args, err)
	}
	got := said{out.String(), errs.String(), exitCode(err)}
	s.sane(strings.Join(args, " "), got.stdout+got.stderr)
	if got.code != 0 && got.code != 1 {
		s.Errorf("lathe %v: exit code %d\n%.2000s", args, got.code, got.stderr)
	}
	var own syscall.Rusage // a child counts from what its parent had when it began
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil && use.Maxrss > max(1<<20, own.Maxrss) {
		s.Errorf("lathe %v: %d MB of memory", args, use.Maxrss>>10)
	}
	return got
}

// sane holds what the program shows: no secret, no end in a panic.
func (s *hostileScene) sane(what, text string) {
	s.Helper()
	for _, word := range []string{hostileSecret, "panic:", "goroutine 1 "} {
		if i := strings.Index(text, word); i >= 0 {
			s.Errorf("%s shows %q: …%s", what, word, text[max(0, i-200):min(len(text), i+200)])
		}
	}
}

// clean holds that nothing was run, no host was called, and the secret was not revealed.
func (s *hostileScene) clean() {
	s.Helper()
	if !s.unmarked() {
		s.Error("a program of the repository was run")
	}
	if n := s.calls.Load(); n > 0 {
		s.Errorf("its host was called %d times", n)
	}
	for _, r := range s.model.Requests() {
		s.sane("the request to the model", string(r.Body))
	}
	if calls, _ := s.foreignCalls(); len(calls) > 0 {
		s.Errorf("it made these calls:\n%s", strings.Join(calls, "\n"))
	}
}

// unmarked reports whether the trap was never run.
func (s *hostileScene) unmarked() bool {
	left, err := os.ReadDir(s.marks)
	return err == nil && len(left) == 0
}

// files is every file that is not the program's own, with what it is.
func (s *hostileScene) files() map[string]string {
	s.Helper()
	own := []string{"data", "home/.cache/lathe", "home/.local", "marks", "calls"}
	all := map[string]string{}
	s.ok(filepath.WalkDir(s.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(s.base, path)
		if slices.Contains(own, name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular() && info.Size() < 32<<20:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			what += " " + to
		}
		all[name] = what
		return nil
	}))
	return all
}

// changes are the files that are not as they were before.
func (s *hostileScene) changes(before map[string]string) (out []string) {
	s.Helper()
	after := s.files()
	for name, is := range after {
		if was := before[name]; was != is {
			out = append(out, fmt.Sprintf("%q was %q and is %s", name, was, is))
		}
	}
	for name, was := range before {
		if after[name] == "" {
			out = append(out, fmt.Sprintf("%q was %s and is gone", name, was))
		}
	}
	return out
}

// builtLathe is the program as users have it, but for what CGO_ENABLED=0 does: packages that are built so
// for nothing else would take most of the time of these tests.
func builtLathe(t *testing.T) string {
	t.Helper()
	dir := plainLathe()
	if dir == "" {
		t.Fatal("the program cannot be built")
	}
	return filepath.Join(dir, "lathe")
}
