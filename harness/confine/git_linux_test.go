package confine

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// git runs a command of git as the user would.
func (b *box) git(args ...string) string {
	b.t.Helper()
	out, err := b.gitTry(args...)
	if err != nil {
		b.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return out
}

func (b *box) gitTry(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=dev", "-c", "user.email=dev@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+b.base+"/home")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func requireGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// listing is all below a folder, with what files say. Where git keeps what it made is left out.
func listing(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() && e.Name() != "index" {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(b)
		}
		out[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gitYard is a checkout with all the places that git takes programs from.
func gitYard(t *testing.T) *box {
	confinable(t)
	requireGit(t)
	b := newBox(t, nil)
	main := b.base + "/project"
	for _, repo := range []string{b.base + "/lib", main, main + "/third/party"} {
		b.git("init", "-q", "-b", "main", "--template=", repo)
		b.git("-C", repo, "commit", "-q", "--allow-empty", "-m", "first")
	}
	b.git("-C", main, "submodule", "--quiet", "add", b.base+"/lib", "deps/lib")
	b.git("-C", main, "worktree", "add", "-q", main+"/trees/side", "-b", "side")
	b.git("-C", main, "config", "core.hooksPath", "tools/hooks")
	b.git("-C", main, "config", "extensions.worktreeConfig", "true")
	b.git("-C", main, "config", "include.path", "../shared.gitconfig")
	if err := errors.Join(os.MkdirAll(main+"/tools/hooks", 0o755), os.WriteFile(main+"/tools/hooks/pre-push", []byte("#!/bin/sh\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	b.git("-C", main, "add", "tools", "deps", ".gitmodules")
	b.git("-C", main, "commit", "-q", "-m", "all")
	return b
}

// gitEscapes are ways to have git of the user run something.
var gitEscapes = map[string]string{
	"hook in the folder of hooks":    `echo x > tools/hooks/pre-commit`,
	"hook replaced":                  `echo x > tools/hooks/pre-push`,
	"folder of hooks moved":          `mv tools/hooks tools/old && mkdir tools/hooks && echo x > tools/hooks/pre-commit`,
	"folder above moved":             `mv tools old && mkdir -p tools/hooks && echo x > tools/hooks/pre-commit`,
	"usual hooks":                    `mkdir -p .git/hooks; echo x > .git/hooks/pre-commit`,
	"included settings":              `printf '[core]\n\tfsmonitor = evil\n' > shared.gitconfig`,
	"attributes":                     `echo '* filter=evil' > .git/info/attributes`,
	"settings of the work tree":      `printf '[core]\n\tpager = evil\n' > .git/config.worktree`,
	"settings of a submodule":        `git -C deps/lib config core.fsmonitor evil`,
	"hook of a submodule":            `mkdir -p .git/modules/deps/lib/hooks; echo x > .git/modules/deps/lib/hooks/post-checkout`,
	"attributes of a submodule":      `echo '* filter=evil' > .git/modules/deps/lib/info/attributes`,
	"submodule leads elsewhere":      `echo 'gitdir: /tmp/evil' > deps/lib/.git`,
	"settings of a linked work tree": `echo x > .git/worktrees/side/config.worktree`,
	"linked work tree leads away":    `echo /tmp/evil > .git/worktrees/side/commondir`,
	"its pointer":                    `echo 'gitdir: /tmp/evil' > trees/side/.git`,
	"settings of a nested one":       `git -C third/party config core.fsmonitor evil`,
	"hook of a nested one":           `mkdir -p third/party/.git/hooks; echo x > third/party/.git/hooks/post-commit`,
	"nested one moved":               `mv third/party/.git third/party/g && mkdir third/party/.git`,
	"settings of ours":               `f=lathe; echo '{}' > $f.json; mkdir -p .lathe/agent; echo x > .opencode`,
}

func TestConfine_WhereGitRunsCodeFrom(t *testing.T) {
	t.Parallel()
	b := gitYard(t)
	main := b.base + "/project"
	b.in(main, "build", ":", config.Config{}) // from now on the configuration is linked
	before, status := listing(t, main), b.git("-C", main, "status", "--porcelain")
	for name, script := range gitEscapes {
		t.Run(name, func(t *testing.T) {
			res, out := b.in(main, "build", script, config.Config{})
			held := res.Exit != 0 && len(res.Restored) == 0 || strings.Contains(strings.Join(res.Notes, "\n"), "core.fsmonitor. If they are needed")
			if res.Sandbox.Guard == sandbox.Bound && !held {
				t.Errorf("not refused: %+v %s", res, out)
			}
			if after := listing(t, main); !maps.Equal(before, after) {
				for path := range after {
					if before[path] != after[path] {
						t.Errorf("%s is %q, was %q", path, after[path], before[path])
					}
				}
				t.Errorf("%+v %s", res, out)
			}
			if now := b.git("-C", main, "status", "--porcelain"); now != status {
				t.Errorf("git sees %q, saw %q", now, status)
			}
		})
	}
}

// What people do with git all day works in such a checkout, with all that stands in for names.
func TestConfine_GitWorks(t *testing.T) {
	t.Parallel()
	b := gitYard(t)
	main := b.base + "/project"
	for _, script := range []string{
		"echo x > a && git add a && git commit -q -m a", "git -C deps/lib status && git submodule status", "git -C third/party commit -q --allow-empty -m x",
		"cd trees/side && echo y > b && git add b && git commit -q -m b", "git branch other && git checkout -q other && git merge -q side -m merge",
		"git stash list && git gc -q && git fsck 2>&1", "git -c extensions.worktreeConfig=true log --oneline -3",
	} {
		if res, out := b.in(main, "build", script, config.Config{}); res.Exit != 0 || len(res.Restored) > 0 || strings.Contains(out, "fatal") {
			t.Errorf("%s: %+v %s", script, res, out)
		}
	}
}

// A folder of hooks with the whole project in it does not close the project.
func TestProtectHooks_All(t *testing.T) {
	for _, dir := range []string{"/p", "/", "/p/sub/.."} {
		var p sandbox.Profile
		protectHooks(&p, filepath.Clean(dir), "/p")
		if len(p.Protect) > 0 || len(p.Watch) == 0 {
			t.Errorf("%s: %+v", dir, p)
		}
	}
	var p sandbox.Profile
	if protectHooks(&p, "/p/.husky", "/p"); len(p.Protect) != 1 || len(p.Watch) > 0 {
		t.Errorf("%+v", p)
	}
}

// Looking for repositories inside ends soon, however large a project is.
func BenchmarkConfine_Profile(b *testing.B) {
	root := b.TempDir()
	for i := range 30 {
		for j := range 30 {
			if err := os.MkdirAll(filepath.Join(root, "d"+string(rune('a'+i)), "e"+string(rune('a'+j))), 0o755); err != nil {
				b.Fatal(err)
			}
		}
	}
	f := New(testHost(root, map[string]string{"HOME": root, "LATHE_DATA": root + "/data"}), func() sandbox.Kernel { return sandbox.Kernel{Landlock: 6, Mounts: true} })
	f.NoCommands = true
	call := &tool.Call{Agent: "build", Dir: root, Root: root}
	for b.Loop() {
		if _, err := f.Profile(config.Config{}, call, bash.Line{}); err != nil {
			b.Fatal(err)
		}
	}
}
