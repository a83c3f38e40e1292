package confine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// box is a machine with a home and a project, and commands in it.
type box struct {
	session lathe.SessionID // "" is the one of a command without one
	Host
	t       testing.TB
	base    string
	runner  *sandbox.Runner
	confine *Policy
	stderr  string
	shown   []string // what of the temporary folders stays visible
}

func newBox(t testing.TB, kernel *sandbox.Kernel) *box {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sandbox.RemoveTree(base + "/data") }) // tools leave folders that cannot be written
	vars := map[string]string{"HOME": base + "/home", "LATHE_DATA": base + "/data", "PATH": os.Getenv("PATH"), "TMPDIR": base + "/temp"}
	env := func(name string) string { return vars[name] }
	f, err := os.Create(base + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	host := Host{
		Env: env, Home: base + "/home", UserDir: base + "/home/.config", Now: time.Now, Environ: os.Environ, Log: slog.New(slog.DiscardHandler),
		Notify: func(format string, args ...any) { _, _ = fmt.Fprintf(f, format+"\n", args...) },
	}
	r := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Kernel: kernel, Grace: 300 * time.Millisecond})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, dir := range []string{"home", "temp", "project"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	confine := New(host, r.Kernel)
	t.Cleanup(confine.Close)
	return &box{Host: host, t: t, base: base, runner: r, confine: confine, stderr: f.Name()}
}

// in runs a script in a folder as a command of a model would be.
func (b *box) in(dir, agent, script string, c config.Config) (sandbox.Result, string) {
	b.t.Helper()
	return b.line(dir, agent, script, c, bash.Line{})
}

// line is in, of a script that is known to be a line.
func (b *box) line(dir, agent, script string, c config.Config, line bash.Line) (sandbox.Result, string) {
	b.t.Helper()
	root := dir
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		root = "/"
	}
	res, out, err := b.run(b.t.Context(), dir, root, agent, script, c, line)
	if err != nil {
		b.t.Fatal(err)
	}
	return res, out
}

func (b *box) run(ctx context.Context, dir, root, agent, script string, c config.Config, line bash.Line) (sandbox.Result, string, error) {
	p, err := b.confine.Profile(c, &tool.Call{Session: b.session, Agent: agent, Dir: dir, Root: root}, line)
	if err != nil {
		return sandbox.Result{}, "", err
	}
	p.Show = append(p.Show, b.shown...)
	// All is below the folder for temporary files here.
	p.Write = slices.DeleteFunc(p.Write, func(path string) bool { return strings.HasPrefix(b.base, path+"/") })
	var out strings.Builder
	res, err := b.runner.Run(ctx, sandbox.Command{
		Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Profile: p,
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + b.base + "/home", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
			"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.org", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.org",
		},
	}, func(piece []byte) { out.Write(piece) })
	return res, out.String(), err
}

func testHost(home string, vars map[string]string) Host {
	return Host{
		Env: func(name string) string { return vars[name] }, Home: home, UserDir: home + "/.config", Now: time.Now, Environ: os.Environ, Log: slog.New(slog.DiscardHandler),
		Notify: func(string, ...any) {},
	}
}

func confinable(t *testing.T) {
	t.Helper()
	if err := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel().Available(true); err != nil {
		t.Skip(err)
	}
}

func TestBoxOf(t *testing.T) {
	c := config.Config{
		Sandbox: config.Sandbox{Network: &config.Network{}, Write: []string{"/a"}},
		Agents: map[string]config.Agent{
			"free": {Sandbox: config.Sandbox{Mode: "off"}}, "other": {Sandbox: config.Sandbox{Write: []string{"/b"}}},
		},
	}
	for _, tt := range []struct {
		agent, mode string
		asked       bool
		write       string
	}{
		{"build", "workspace", false, "/a"}, {"plan", "read-only", false, "/a"}, {"free", "off", true, "/a"}, {"other", "workspace", false, "/b"},
	} {
		got, asked := SandboxOf(c, tt.agent)
		if got.Mode != tt.mode || asked != tt.asked || got.Write[0] != tt.write || got.Network.All {
			t.Errorf("%s: %+v, %v", tt.agent, got, asked)
		}
	}
	c.Sandbox.Mode = "off"
	if got, asked := SandboxOf(c, "plan"); got.Mode != "off" || !asked {
		t.Errorf("plan where it is off: %+v, %v", got, asked)
	}
}

// A kernel without Landlock: asked for it is an error, by default it is said once and never again.
func TestConfine_Unavailable(t *testing.T) {
	b := newBox(t, &sandbox.Kernel{})
	call := &tool.Call{Agent: "build", Dir: b.base + "/project", Root: "/"}
	if _, err := b.confine.Profile(config.Config{Sandbox: config.Sandbox{Mode: "workspace"}}, call, bash.Line{}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	for _, limited := range []config.Network{{}, {Hosts: []string{"example.com"}}} { // which is never left out
		_, err := b.confine.Profile(config.Config{Sandbox: config.Sandbox{Network: &limited}}, call, bash.Line{})
		if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "sandbox.network") {
			t.Errorf("a limited network: %v", err)
		}
	}
	for range 3 {
		p, err := b.confine.Profile(config.Config{}, call, bash.Line{})
		if err != nil || p.Confined() {
			t.Errorf("%+v, %v", p, err)
		}
		b.confine = New(b.Host, b.runner.Kernel) // the next process
	}
	warning, err := os.ReadFile(b.stderr)
	if err != nil || strings.Count(string(warning), "commands are not confined") != 1 || !strings.Contains(string(warning), "no Landlock") {
		t.Errorf("told %q, %v", warning, err)
	}
}

func TestConfine_Project(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	dir := b.base + "/project"
	for script, works := range map[string]bool{
		"echo x > a": true, "echo x > $HOME/.bashrc": false, "mkdir -p $HOME/.ssh": false, "echo x > ../other": false, "echo x > ../data/x": false,
		"echo x > ../temp/x": true,
	} {
		if res, out := b.in(dir, "build", script, config.Config{}); (res.Exit == 0) != works {
			t.Errorf("%s: %+v %s", script, res, out)
		}
	}
	if res, out := b.in(dir, "plan", "echo x > b", config.Config{}); res.Exit == 0 {
		t.Errorf("plan writes: %s", out)
	}
	if res, out := b.in(dir, "build", "echo x > ../other", config.Config{Sandbox: config.Sandbox{Write: []string{b.base}}}); res.Exit != 0 {
		t.Errorf("a further folder: %s", out)
	}
}

// Commits work in a checkout and in a linked work tree of it; what git runs cannot be changed.
func TestConfine_Git(t *testing.T) {
	t.Parallel()
	confinable(t)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	b := newBox(t, nil)
	main, linked := b.base+"/project", b.base+"/linked"
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", main},
		{"-C", main, "-c", "user.name=dev", "-c", "user.email=dev@example.org", "commit", "-q", "--allow-empty", "-m", "first"},
		{"-C", main, "worktree", "add", "-q", linked, "-b", "side"},
	} {
		cmd := exec.Command(git, args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+b.base+"/home")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	config0, err := os.ReadFile(main + "/.git/config")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{main, linked} {
		if res, out := b.in(dir, "build", "echo x > x && git add -A && git commit -q -m second && git branch new-$(basename $PWD) && git log --oneline | wc -l", config.Config{}); res.Exit != 0 || strings.TrimSpace(out) != "2" {
			t.Errorf("%s: %+v %s", dir, res, out)
		}
	}
	for _, dir := range []string{linked, main} {
		for _, script := range []string{
			"git config core.fsmonitor /tmp/evil", "git config --worktree core.pager evil", "echo x > $(git rev-parse --git-common-dir)/hooks/post-commit",
			"echo /tmp > $(git rev-parse --git-dir)/commondir", "echo 'gitdir: /tmp/evil' > .git", "d=$(git rev-parse --git-common-dir); mv $d $d.old && cp -r $d.old $d",
			"[ -d .git ] && rm -rf .git; mkdir .git; echo x > .git/config",
		} {
			res, out := b.in(dir, "build", script, config.Config{})
			if res.Exit == 0 && len(res.Restored)+len(res.Notes) == 0 {
				t.Errorf("%s in %s: %+v %s", script, dir, res, out)
			}
		}
	}
	if now, err := os.ReadFile(main + "/.git/config"); err != nil || string(now) != string(config0) {
		t.Errorf("the settings are %q, %v", now, err)
	}
	if _, err := os.Lstat(main + "/.git/commondir"); err == nil {
		t.Error("another common folder is named")
	}
}

// A .git that points at a repository which does not know it opens nothing.
func TestLinkedTree_NotNamedBack(t *testing.T) {
	base := t.TempDir()
	for path, text := range map[string]string{
		"victim/.git/worktrees/w/commondir": "../..\n", "victim/.git/worktrees/w/gitdir": base + "/elsewhere/.git\n", "victim/.git/config": "",
		"evil/.git": "gitdir: " + base + "/victim/.git/worktrees/w\n", "elsewhere/.git": "gitdir: x\n", "plain/.git": "gitdir: " + base + "/victim/.git\n",
	} {
		path = filepath.Join(base, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"evil", "plain", "none"} {
		if own, common, ok := linkedTree(filepath.Join(base, name, ".git")); ok {
			t.Errorf("%s: %s %s", name, own, common)
		}
	}
	if err := os.WriteFile(base+"/elsewhere/.git", []byte("gitdir: "+base+"/victim/.git/worktrees/w\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, common, ok := linkedTree(base + "/elsewhere/.git"); !ok || filepath.Base(filepath.Dir(common)) != "victim" {
		t.Errorf("the right one: %s, %v", common, ok)
	}
}

func TestToolCaches(t *testing.T) {
	home := t.TempDir()
	vars := map[string]string{"PATH": home + "/bin", "GOCACHE": home + "/gocache", "PIP_CACHE_DIR": "relative"}
	for _, dir := range []string{"bin", ".cache/pip", ".npm"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(home+"/bin/go", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	got, missing := toolCaches(func(name string) string { return vars[name] }, home)
	if want := []foundCache{{home + "/.npm", "npm_config_cache"}, {home + "/.cache/pip", "PIP_CACHE_DIR"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []foundCache{{home + "/gocache", "GOCACHE"}, {home + "/go/pkg/mod", "GOMODCACHE"}, {home + "/go/pkg/sumdb", ""}}; !slices.Equal(missing, want) {
		t.Errorf("missing are %v, want %v", missing, want)
	}
}

// Folders for tools are made for a command of a model, and not by looking. None of them is writable
// itself.
func TestConfine_Caches(t *testing.T) {
	t.Parallel()
	confinable(t)
	for _, looks := range []bool{true, false} {
		b := newBox(t, nil)
		path := b.Env("PATH")
		b.Env = func(name string) string {
			return map[string]string{"HOME": b.base + "/home", "LATHE_DATA": b.base + "/data", "PATH": b.base + "/bin:" + path, "GOCACHE": b.base + "/home/gocache"}[name]
		}
		if err := errors.Join(os.Mkdir(b.base+"/bin", 0o755), os.WriteFile(b.base+"/bin/go", nil, 0o755)); err != nil {
			t.Fatal(err)
		}
		b.confine = New(b.Host, b.runner.Kernel)
		t.Cleanup(b.confine.Close)
		b.confine.NoCommands = looks
		p, err := b.confine.Profile(config.Config{}, &tool.Call{Agent: "build", Dir: b.base + "/project", Root: "/"}, bash.Line{})
		if err != nil {
			t.Fatal(err)
		}
		cache := b.base + "/home/gocache"
		used := slices.ContainsFunc(p.Mounts, func(m sandbox.Mount) bool { return m.Target == cache }) || slices.ContainsFunc(p.Env, func(v string) bool { return strings.HasPrefix(v, "GOCACHE=") })
		entries, err := os.ReadDir(b.base + "/home")
		if err != nil || (len(entries) == 0) != looks || used == looks || slices.Contains(p.Write, cache) {
			t.Errorf("looks %v: %v, %+v, %v", looks, entries, p, err)
		}
	}
}

// A weaker mode counts when every command of a line has it, a stricter one when any has it; what is
// not known weakens nothing, and neither does anything for an agent that only reads.
func TestModeOf(t *testing.T) {
	line := func(texts ...string) (l bash.Line) {
		for _, text := range texts {
			l.Commands = append(l.Commands, bash.LineCommand{Text: text})
		}
		l.Complete = true
		return l
	}
	unsure := line("docker ps")
	unsure.Complete = false
	wrapped := line("x")
	wrapped.Commands[0].Also = []string{"ssh host x", "docker x"}
	optioned := line("mytool --any x")
	optioned.Commands[0].Doubts = []string{"--any"}
	strange := line("other --any x")
	strange.Commands[0].Doubts = []string{"--any"}
	unnamed := line("docker image prune")
	unnamed.Commands[0].RequiredPrefix = "docker image"
	rules := map[string]string{"mytool *": "off", "mytool --any *": "off", "other *": "off", "docker *": "off", "docker rm *": "workspace", "curl *": "read-only", "ssh *": "read-only", "npm test*": "workspace"}
	for _, c := range []struct {
		base, want string
		line       bash.Line
	}{
		{"workspace", "off", line("docker ps")},
		{"workspace", "off", line("docker ps", "docker build .")},
		{"workspace", "workspace", line("docker ps", "ls")},
		{"workspace", "workspace", line("docker rm x")},
		{"workspace", "workspace", line("docker ps", "docker rm x")},
		{"workspace", "read-only", line("docker ps", "curl x")},
		{"workspace", "read-only", wrapped},
		{"workspace", "workspace", unsure},
		{"workspace", "workspace", bash.Line{}},
		{"workspace", "off", optioned},
		{"workspace", "workspace", strange},
		{"workspace", "workspace", unnamed},
		{"workspace", "workspace", line("dockerx ps")},
		{"off", "workspace", line("npm test")},
		{"off", "off", line("ls")},
		{"read-only", "read-only", line("docker ps")},
		{"read-only", "read-only", line("npm test")},
	} {
		if got := modeOf(config.Sandbox{Mode: c.base, Commands: rules}, c.line); got != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.base, c.line, got, c.want)
		}
	}
	if got := modeOf(config.Sandbox{Mode: "workspace"}, line("docker ps")); got != "workspace" {
		t.Errorf("without patterns: %s", got)
	}
}
