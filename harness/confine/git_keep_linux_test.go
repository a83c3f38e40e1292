package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/sandbox"
)

// gitBox is a project with a repository of two commits, and a repository that it can push to.
func gitBox(t *testing.T) (b *box, main string) {
	t.Helper()
	confinable(t)
	requireGit(t)
	b = newBox(t, nil)
	main = b.base + "/project"
	b.git("init", "-q", "-b", "main", main)
	b.git("-C", main, "commit", "-q", "--allow-empty", "-m", "first")
	return b, main
}

// bound skips what cannot be where commands have no mounts.
func (b *box) bound(res sandbox.Result) {
	b.t.Helper()
	if res.Sandbox.Guard != sandbox.Bound {
		b.t.Skip("commands can have no mounts of their own here")
	}
}

// value is what git of the user reads.
func (b *box) value(repo, key string) string {
	out, _ := b.gitTry("-C", repo, "config", "--local", "--get-all", key) // unset is an error
	return strings.TrimSpace(out)
}

// What git writes into its configuration in the course of a day is there for the user afterwards.
func TestConfine_GitSettingsAreTakenOver(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	b.git("init", "-q", "--bare", main+"/srv.git")
	b.git("init", "-q", "-b", "main", b.base+"/lib")
	b.git("-C", b.base+"/lib", "commit", "-q", "--allow-empty", "-m", "lib")
	for _, step := range []struct{ script, repo, key, want string }{
		{"git remote add origin ./srv.git", main, "remote.origin.url", "./srv.git"},
		{"git push -q -u origin main", main, "branch.main.merge", "refs/heads/main"},
		{"git checkout -q -b x --track origin/main", main, "branch.x.remote", "origin"},
		{"git checkout -q -b y && git branch --set-upstream-to=origin/main", main, "branch.y.merge", "refs/heads/main"},
		{"git config user.name 'A Model'", main, "user.name", "A Model"},
		{"git config branch.y.rebase true && git branch --unset-upstream && git config --get branch.y.rebase", main, "branch.y.remote", ""},
		{"git branch -M y z && git config branch.z.rebase", main, "branch.z.rebase", "true"},
		{"git remote rename origin up && git fetch -q up", main, "remote.up.fetch", "+refs/heads/*:refs/remotes/up/*"},
		{"git remote remove up", main, "remote.up.url", ""},
		{"git -c protocol.file.allow=always submodule --quiet add " + b.base + "/lib deps/lib", main, "submodule.deps/lib.active", "true"},
		{"git commit -q -m lib && git submodule --quiet sync && git submodule --quiet update", main, "submodule.deps/lib.active", "true"},
		{"git -C deps/lib checkout -q -b w && git -C deps/lib config user.email m@example.org", main + "/deps/lib", "user.email", "m@example.org"},
		{"git worktree add -q trees/one -b one && cd trees/one && echo a > a && git add a && git commit -q -m a", main, "core.bare", "false"},
		{"echo s > s && git add s && git stash -q && git stash pop -q && git commit -q -m s", main, "core.bare", "false"},
	} {
		res, out := b.in(main, "build", step.script, config.Config{})
		b.bound(res)
		if res.Exit != 0 || len(res.Restored)+len(res.Notes) > 0 {
			t.Errorf("%s: %+v %s", step.script, res, out)
		}
		if got := b.value(step.repo, step.key); got != step.want {
			t.Errorf("%s: the user's git reads %s = %q, want %q", step.script, step.key, got, step.want)
		}
	}
	second := b.base + "/second" // where the submodule is not yet
	b.git("clone", "-q", main, second)
	res, out := b.in(second, "build", "git -c protocol.file.allow=always submodule --quiet update --init && git submodule status", config.Config{})
	if res.Exit != 0 || len(res.Notes) > 0 || b.value(second, "submodule.deps/lib.url") != b.base+"/lib" || !strings.HasPrefix(b.git("-C", second, "submodule", "status"), " ") {
		t.Errorf("submodule update: %+v %s", res, out)
	}
	if out := b.git("-C", main, "fsck"); strings.Contains(out, "error") {
		t.Error(out)
	}
	if out := b.git("-C", main, "worktree", "list"); !strings.Contains(out, main+"/trees/one") {
		t.Error(out)
	}
	for _, left := range []string{".git/commondir", ".git/config.lock", ".git/config.worktree"} {
		if _, err := os.Lstat(filepath.Join(main, left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}

// gitTraps are what a command can leave so that git of the user runs a program: in the project, and
// how the user meets it. Each makes the file that $MARK names when it works.
var gitTraps = map[string]struct{ script, meet, says string }{
	"bare repository at the top": {
		`git init -q --bare . 2>/dev/null; git init -q --bare x; cp -r x/HEAD x/objects x/refs x/config .; rm -rf x; git config --file config core.fsmonitor "touch $MARK; false"; git config --file config core.bare false; git config --file config core.worktree .; rm -f .git/HEAD`,
		`git status`, "core.fsmonitor",
	},
	"bare repository below": {
		`git init -q --bare sub; git config --file sub/config core.fsmonitor "touch $MARK; false"; git config --file sub/config core.bare false; git config --file sub/config core.worktree .`,
		`cd sub && git status`, "core.fsmonitor",
	},
	"nested repository": {
		`git init -q sub; git -C sub config core.fsmonitor "touch $MARK; false"`, `cd sub && git status`, "core.fsmonitor",
	},
	"nested repository as a gitlink": {
		`git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub; git -C sub config core.fsmonitor "touch $MARK; false"`, `git status`, "core.fsmonitor",
	},
	"gitlink in a folder that is not looked into": {
		`git init -q node_modules/sub; git -C node_modules/sub commit -q --allow-empty -m x; git add -f node_modules/sub; git -C node_modules/sub config core.fsmonitor "touch $MARK; false"`,
		`git status`, "core.fsmonitor",
	},
	"hook of a nested one": {
		`git init -q sub; mkdir -p sub/.git/hooks; printf '#!/bin/sh\ntouch $MARK\n' > sub/.git/hooks/post-index-change; sed -i "s|.MARK|$MARK|" sub/.git/hooks/*; chmod +x sub/.git/hooks/post-index-change; touch sub/f`,
		`cd sub && git add f`, "post-index-change",
	},
	"nested one with the settings of another": {
		`git init -q sub; git init -q far; git -C far config core.fsmonitor "touch $MARK; false"; echo $PWD/far/.git > sub/.git/commondir`, `cd sub && git status`, "commondir",
	},
	"a file that names a hidden one": {
		`git init -q sub; git -C sub config core.fsmonitor "touch $MARK; false"; mv sub/.git h; mv h/HEAD h/H2; mv h/H2 h/HEAD; printf 'gitdir: %s\n' $PWD/h > sub/.git`, `cd sub && git status`, "core.fsmonitor",
	},
	"linked work tree of another": {
		`git init -q far; git -C far commit -q --allow-empty -m x; git -C far worktree add -q $PWD/wt; git -C far config core.fsmonitor "touch $MARK; false"; mkdir -p .git/worktrees/wt; cp far/.git/worktrees/wt/* .git/worktrees/wt/; echo $PWD/far/.git > .git/worktrees/wt/commondir; echo "gitdir: $PWD/.git/worktrees/wt" > wt/.git`,
		`cd wt && git status`, "work tree",
	},
	"submodule": {
		`git init -q --bare .git/modules/m; git config --file .git/modules/m/config core.fsmonitor "touch $MARK; false"; git config --file .git/modules/m/config core.bare false; git config --file .git/modules/m/config core.worktree ../../../m; mkdir m; echo 'gitdir: ../.git/modules/m' > m/.git`,
		`cd m && git status`, "core.fsmonitor",
	},
	"submodule that works elsewhere": {
		`git init -q --bare .git/modules/m; git config --file .git/modules/m/config core.bare false; git config --file .git/modules/m/config core.worktree $OUT; mkdir m; echo 'gitdir: ../.git/modules/m' > m/.git`,
		`cd m && [ "$(git rev-parse --show-toplevel)" = $OUT ] && touch $MARK`, "core.worktree",
	},
	"rebase that goes on": {
		`git commit -q --allow-empty -m 2; git commit -q --allow-empty -m 3; GIT_SEQUENCE_EDITOR=true git rebase -q -x "touch $MARK" -x false HEAD~1 >/dev/null 2>&1; rm -f $MARK; printf 'exec touch %s\n' $MARK > .git/rebase-merge/git-rebase-todo; true`,
		`git rebase --continue`, "rebase",
	},
	"settings by git": {
		`git config core.fsmonitor "touch $MARK; false"; git config alias.st "!touch $MARK"`, `git status; git st`, "core.fsmonitor, alias.st",
	},
	"remote that is a program": {
		`git remote add evil "ext::sh -c touch% $MARK"`, `git -c protocol.ext.allow=always fetch evil`, "remote.evil.url",
	},
}

// user runs a script as the user does.
func (b *box) user(dir, script, mark string) string {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+b.base+"/home", "MARK="+mark, "OUT="+b.base+"/home", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.org", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.org")
	out, _ := cmd.CombinedOutput() // traps fail as they like
	return string(out)
}

// What a command left is not run when the user works with git there. Each trap works where the user
// sets it.
func TestConfine_GitTraps(t *testing.T) {
	t.Parallel()
	for name, trap := range gitTraps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, main := gitBox(t)
			mark := b.base + "/home/mark"
			script := "MARK=" + mark + " OUT=" + b.base + "/home; " + trap.script
			own := b.base + "/own"
			b.git("clone", "-q", main, own)
			b.user(own, script, mark)
			_ = os.Remove(mark)
			said := b.user(own, trap.meet, mark)
			if _, err := os.Lstat(mark); err != nil {
				t.Errorf("the trap does not work where nothing holds it: %s", said)
			}
			_ = os.Remove(mark)
			res, out := b.in(main, "build", script, config.Config{})
			said = b.user(main, trap.meet, mark)
			if _, err := os.Lstat(mark); err == nil {
				t.Errorf("the user ran it: %+v %s\n%s", res, out, said)
			}
			if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, trap.says) {
				t.Errorf("it says %q, want %q: %s", notes, trap.says, out)
			}
			if got := b.git("-C", main, "rev-parse", "--git-dir"); got != ".git\n" {
				t.Errorf("the repository is %s", got)
			}
		})
	}
}

// Git in commands of models has settings that no repository takes away, and the user's own beside
// them.
func TestGitEnv(t *testing.T) {
	b, main := gitBox(t)
	at, err := datadir.Find(b.Env)
	if err != nil {
		t.Fatal(err)
	}
	b.git("-C", main, "config", "core.hooksPath", "tools/hooks")
	vars := map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "mine"}
	env := gitEnv(func(name string) string { return vars[name] }, main, at)
	run := func(dir string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+b.base+"/home")
		for _, list := range []map[string]string{vars, env} {
			for name, value := range list {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
		}
		out, _ := cmd.CombinedOutput() // unset is an error
		return strings.TrimSpace(string(out))
	}
	b.git("-C", main, "config", "core.fsmonitor", "evil")
	b.git("init", "-q", "--bare", main+"/bare")
	b.git("init", "-q", main+"/nested")
	b.git("-C", main+"/nested", "config", "core.hooksPath", "own")
	b.git("-C", main, "config", "core.hooksPath", "changed/later")
	for _, c := range []struct{ dir, key, want string }{
		{main, "user.name", "mine"}, {main, "core.fsmonitor", "false"}, {main, "core.hooksPath", main + "/tools/hooks"}, {main + "/nested", "core.hooksPath", "own"},
	} {
		if got := run(c.dir, "config", c.key); got != c.want {
			t.Errorf("%s in %s is %q, want %q", c.key, c.dir, got, c.want)
		}
	}
	if got := run(main+"/bare", "rev-parse", "--git-dir"); !strings.Contains(got, "cannot use bare repository") && !strings.Contains(got, "not a git repository") {
		t.Errorf("git enters a bare repository: %q", got)
	}
}

// Where there is no repository a command can make one, and what it says is checked.
func TestConfine_GitInit(t *testing.T) {
	t.Parallel()
	confinable(t)
	requireGit(t)
	b := newBox(t, nil)
	dir := b.base + "/project"
	res, out := b.in(dir, "build", "git init -q -b main . && echo a > a && git add a && git commit -q -m a && git remote add origin https://example.org/x.git", config.Config{})
	if res.Exit != 0 || len(res.Restored)+len(res.Notes) > 0 || b.value(dir, "remote.origin.url") != "https://example.org/x.git" {
		t.Errorf("%+v %s", res, out)
	}
	b = newBox(t, nil)
	dir = b.base + "/project"
	res, out = b.in(dir, "build", "git init -q . && git config core.fsmonitor evil", config.Config{})
	if !strings.Contains(strings.Join(res.Notes, ""), "core.fsmonitor") || b.value(dir, "core.fsmonitor") != "" {
		t.Errorf("%+v %s", res, out)
	}
}

// A .git that is a file and names what does not know it opens nothing and breaks nothing.
func TestConfine_GitFileOfOthers(t *testing.T) {
	t.Parallel()
	confinable(t)
	requireGit(t)
	b := newBox(t, nil)
	victim, dir := b.base+"/victim", b.base+"/project"
	b.git("init", "-q", victim)
	before := listing(t, victim)
	for _, text := range []string{"gitdir: " + victim + "/.git\n", "gitdir: " + strings.Repeat("x/", 5000), "gitdir: \x00", "gitdir: .\n", ""} {
		if err := os.WriteFile(dir+"/.git", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		res, out := b.in(dir, "build", "git config user.name evil; git commit --allow-empty -m x; echo x > "+victim+"/.git/hooks/x; echo x > .git; echo ran", config.Config{})
		if !strings.HasSuffix(out, "ran\n") {
			t.Errorf("%.40q: %+v %s", text, res, out)
		}
		for path, is := range listing(t, victim) {
			if before[path] != is {
				t.Errorf("%.40q: %s is %q", text, path, is)
			}
		}
		if got, err := os.ReadFile(dir + "/.git"); err != nil || string(got) != text {
			t.Errorf("%.40q became %.40q, %v", text, got, err)
		}
	}
}

// Settings in the user's own folder are not the project's to protect, and stop nothing.
func TestConfine_GitSettingsElsewhere(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	for key, value := range map[string]string{"include.path": "~/more", "core.hooksPath": "~/hooks"} {
		b.git("-C", main, "config", key, value)
	}
	if res, out := b.in(main, "build", "git commit -q --allow-empty -m x && git config user.name a", config.Config{}); res.Exit != 0 || b.value(main, "user.name") != "a" {
		t.Errorf("%+v %s", res, out)
	}
}

// A repository costs a command little: compare with the folder.
func BenchmarkConfine_GitStart(bb *testing.B) {
	for _, name := range []string{"folder", "repository"} {
		bb.Run(name, func(bb *testing.B) {
			b := newBox(bb, nil)
			dir := b.base + "/project"
			if name == "repository" {
				b.git("init", "-q", dir)
			}
			for bb.Loop() {
				b.in(dir, "build", ":", config.Config{})
			}
		})
	}
}

// Files that other programs obey are held in the folder of a session. In folders below it they are
// named: those that a command made and those that it changed, once.
func TestConfine_NamesBelow(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	b.put("project/sub/.npmrc", "a=b\n")
	b.put("project/other/.vscode/settings.json", "{}")
	b.put("project/other/.claude/settings.json", "{}")
	const make = `mkdir -p sub/.vscode sub/.cursor && echo {} > sub/.vscode/tasks.json && echo x=y >> sub/.npmrc && touch sub/tasks.json && echo x > other/.claude/x`
	res, out := b.in(main, "build", make, config.Config{})
	if res.Exit != 0 || len(res.Notes) != 1 || strings.Count(res.Notes[0], "\n- ") != 3 {
		t.Errorf("%+v %s", res, out)
	}
	for _, want := range []string{"/sub/.vscode/tasks.json: editors", "/sub/.npmrc: package managers", "/sub/.cursor: other coding agents"} {
		if !strings.Contains(strings.Join(res.Notes, ""), main+want) {
			t.Errorf("%s is not named: %q", want, res.Notes)
		}
	}
	if res, out := b.in(main+"/sub", "build", "echo [] > .vscode/tasks.json", config.Config{}); res.Exit == 0 && len(res.Restored) == 0 {
		t.Errorf("the folder of the session: %+v %s", res, out)
	}
	if res, out := b.in(main, "build", "rm -rf sub other", config.Config{}); res.Exit != 0 || len(res.Notes) > 0 {
		t.Errorf("%+v %s", res, out)
	}
}
