package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
)

// What this test program does with these arguments: see [spin] and [holdGit].
const (
	spinWord = "spin-at-git"
	holdWord = "hold-git"
)

// spin tries without pause to get hold of the configuration of git in a folder, by each of its names, and
// to take the link and the folder away, until the file stop is there. It writes each way that worked to the
// file wins.
func spin(folder string) int {
	git := func(name string) string { return filepath.Join(".git", name) }
	wins := map[string]int{}
	note := func(way string, err error) bool {
		if err == nil {
			wins[way]++
		}
		return err == nil
	}
	open := func(name string, flags int) {
		fd, err := unix.Open(git(name), unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0o600)
		if note("open "+name, err) {
			_ = unix.Close(fd)
		}
	}
	for round := 0; ; round++ {
		open("config", 0)
		open("config.lock", 0)
		open("lathe/config", 0)
		open("lathe/config.lock", 0)
		if round%16 == 0 {
			open("lathe/new", unix.O_CREAT)
			note("move the link", unix.Rename(git("config"), git("moved")))
			note("move over the link", unix.Link(git("description"), git("config")))
			note("move the folder", unix.Rename(git("lathe"), git("moved")))
			note("remove the link", unix.Unlink(git("config")))
		}
		if round == 0 {
			_ = os.WriteFile(filepath.Join(folder, "spinning"), nil, 0o600)
		}
		if round%256 == 0 {
			if _, err := os.Stat(filepath.Join(folder, "stop")); err == nil {
				break
			}
		}
	}
	_ = os.WriteFile(filepath.Join(folder, "wins.new"), fmt.Append(nil, wins), 0o600)
	_ = os.Rename(filepath.Join(folder, "wins.new"), filepath.Join(folder, "wins"))
	return 0
}

// spinning starts it as a process that a command leaves behind, or as an MCP server, and returns what ends
// it and says what it won.
func (b *box) spinning(main string, service bool) (stop func() string) {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	b.shown = append(b.shown, filepath.Dir(self))
	if service {
		res, _ := b.in(b.base+"/home", "build", ":", config.Config{})
		b.bound(res)
		p, err := b.confine.Service(config.Config{}, workspace.Place{Directory: main, Worktree: main}, config.ServerSandbox{}, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		p.Write = slices.DeleteFunc(p.Write, func(path string) bool { return strings.HasPrefix(b.base, path+"/") })
		p.Show = append(p.Show, b.shown...)
		if _, err := b.runner.Start(sandbox.Command{Path: self, Args: []string{spinWord, b.base + "/temp"}, Dir: main, Profile: p}); err != nil {
			b.t.Fatal(err)
		}
	} else {
		res, _ := b.in(main, "build", self+" "+spinWord+" "+b.base+"/temp >/dev/null 2>&1 &", config.Config{})
		b.bound(res)
	}
	b.eventually("the attack", func() bool { return b.there("temp/spinning") })
	return func() string {
		b.put("temp/stop", "")
		b.eventually("its end", func() bool { return b.there("temp/wins") })
		text, err := os.ReadFile(b.base + "/temp/wins")
		if err != nil {
			b.t.Fatal(err)
		}
		return strings.TrimSuffix(strings.TrimPrefix(string(text), "map["), "]")
	}
}

// While git of the user changes its configuration, a process that tries without pause gets hold of neither
// the new file nor the old one, by any name. Without the link it does.
func TestConfine_GitConfigSpinning(t *testing.T) {
	for _, c := range []struct {
		name    string
		session lathe.SessionID
		service bool
		plain   bool
		calls   int
	}{{name: "not linked", plain: true, calls: 50}, {name: "a process of its own", calls: 100}, {name: "in a session", session: "ses_spin", calls: 100}, {name: "a server", service: true, calls: 50}} {
		t.Run(c.name, func(t *testing.T) {
			b, main := gitBox(t)
			b.session, b.confine.git.plain = c.session, c.plain
			stop := b.spinning(main, c.service)
			for i := range c.calls {
				if out, err := b.gitTry("-C", main, "config", "user.email", strconv.Itoa(i)); err != nil && !c.plain { // where the attack has won
					t.Fatalf("%v %s", err, out)
				}
			}
			switch wins := stop(); {
			case c.plain && wins == "":
				t.Error("the attack does not work where nothing is linked")
			case c.plain:
				return
			case wins != "":
				t.Errorf("it won: %s", wins)
			}
			if got := b.value(main, "user.email"); got != strconv.Itoa(c.calls-1) {
				t.Errorf("the user's setting is %q", got)
			}
			b.linked(main)
		})
	}
}

// holdGit runs a command in a project until the file of a name is there, and then ends as lathe does.
func holdGit(base, name string) int {
	vars := map[string]string{"HOME": base + "/home", "LATHE_DATA": base + "/data", "PATH": os.Getenv("PATH"), "TMPDIR": base + "/temp"}
	b := &box{base: base}
	b.runner = sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
	b.confine = New(testHost(base+"/home", vars), b.runner.Kernel)
	main := base + "/project"
	_, _, err := b.run(context.Background(), main, main, "build", "touch "+base+"/temp/held."+name+"; until [ -e "+base+"/temp/"+name+" ]; do sleep 0.01; done", config.Config{}, bash.Line{})
	if err = errors.Join(err, b.runner.Close()); err != nil {
		return 1
	}
	b.confine.Close()
	return 0
}

// holding starts another lathe that runs a command in the project.
func (b *box) holding(name string) *exec.Cmd {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(self, holdWord, b.base, name)
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = cmd.Process.Kill() }) // most often it is gone
	b.eventually("another lathe", func() bool { return b.there("temp/held." + name) })
	return cmd
}

// linked checks that the configuration is linked where it can be.
func (b *box) linked(main string) {
	b.t.Helper()
	if !sandbox.CanMount() {
		b.t.Skip("commands can have no mounts of their own here, so nothing is linked")
	}
	if got, err := os.Readlink(main + "/.git/config"); err != nil || got != "lathe/config" {
		b.t.Fatalf("the link says %q, %v", got, err)
	}
}

// asBefore checks that the configuration is a file again that says something, and nothing is left.
func (b *box) asBefore(main, text string, mode os.FileMode) {
	b.t.Helper()
	info, err := os.Lstat(main + "/.git/config")
	got, _ := os.ReadFile(main + "/.git/config") // the text tells
	if err != nil || info.Mode() != mode || string(got) != text {
		b.t.Errorf("the configuration is %v %v and says %q, want %v and %q", info, err, got, mode, text)
	}
	left, _ := filepath.Glob(main + "/.git/*lathe*")
	if more, _ := filepath.Glob(main + "/.git/*.lock"); len(left)+len(more) > 0 {
		b.t.Errorf("%q is left", append(left, more...))
	}
}

// A lathe that is killed leaves a repository that works, and the next one puts the file back as the user
// left it.
func TestConfine_GitLinkKilled(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	b.git("-C", main, "config", "alias.mine", "!true")
	if err := os.Chmod(main+"/.git/config", 0o640); err != nil {
		t.Fatal(err)
	}
	other := b.holding("never")
	_ = other.Process.Kill()
	_ = other.Wait() // it was killed
	b.linked(main)
	b.git("-C", main, "config", "user.email", "me@example.org")
	b.git("-C", main, "status")
	b.git("clone", "-q", main, b.base+"/clone")
	b.user(b.base, "cp -r project copy; git -C copy config user.email copy", "")
	if got := b.value(b.base+"/copy", "user.email") + b.value(main, "user.email"); got != "copyme@example.org" {
		t.Errorf("the copy and the project say %q", got)
	}
	text, err := os.ReadFile(main + "/.git/config")
	if err != nil {
		t.Fatal(err)
	}
	res, out := b.in(main, "build", "git status && git config user.email", config.Config{})
	if res.Exit != 0 || !strings.HasSuffix(out, "me@example.org\n") || len(res.Notes) > 0 {
		t.Errorf("%+v %s", res, out)
	}
	if err := b.runner.Close(); err != nil {
		t.Fatal(err)
	}
	b.confine.Close()
	b.asBefore(main, string(text), 0o640)
}

// Of two lathes in one project the last one puts the file back.
func TestConfine_GitLinkOfTwo(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	text, err := os.ReadFile(main + "/.git/config")
	if err != nil {
		t.Fatal(err)
	}
	first, second := b.holding("first"), b.holding("second")
	for _, cmd := range []*exec.Cmd{first, second} {
		b.linked(main)
		b.put("temp/"+cmd.Args[3], "")
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	b.asBefore(main, string(text), 0o644)
}
