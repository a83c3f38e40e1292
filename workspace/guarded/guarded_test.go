package guarded_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

// check resolves a path in a project and asks for it.
func check(t *testing.T, list guarded.List, p guarded.Project, path string) (string, bool) {
	t.Helper()
	f, err := workspace.Resolve(p.Dir, filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return list.Check(p, f)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
}

func newProject(t *testing.T) guarded.Project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "p")
	put(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	put(t, filepath.Join(dir, ".git", "config"), "[core]\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return guarded.Project{Dir: dir, Root: dir}
}

// Names are guarded in every spelling that some file system takes for them, at any depth.
func TestCheck_Names(t *testing.T) {
	p := newProject(t)
	for _, path := range []string{
		".git", ".git/config", ".git/lathe", ".git/lathe/config", ".git/lathe/config.lock", ".git/hooks/pre-commit", ".git/commondir", ".git/rebase-merge/git-rebase-todo", ".git/sequencer/todo", ".git/info/attributes",
		".GIT/config", ".Git/hooks/x", ".git./config", ".git /config", "GIT~1/config", "git~2/hooks/x", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "a/../.git/config", "./.git//hooks/x", "vendor/x/.git", "vendor/x/.git/hooks/y",
		"lathe.json", "lathe.jsonc", "opencode.json", "OpenCode.JSONC", "web/lathe.json", "LATHE~1.JSO",
		".lathe/plugins/x.js", ".opencode/plugin/x.ts", ".opencode/agent/x.md", ".lathe/plans", ".lathe/plans/x.js", ".lathe/plans/a/x.md", ".LATHE/plans/x.md", ".lathe/Plans/x.md",
		".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".VSCode/Tasks.json", ".idea/workspace.xml", ".envrc", "sub/.envrc", ".mcp.json",
		".claude/settings.json", ".cursor/mcp.json", ".codex/config.toml", ".gemini/settings.json", ".npmrc", "web/.npmrc", ".yarnrc", ".yarnrc.yml", ".yarnrc.x",
		".husky/pre-commit", ".pre-commit-config.yaml", "HEAD", "sub/HEAD",
	} {
		if runtime.GOOS == "windows" && filepath.VolumeName(path) == "" && containsColon(path) {
			continue // refused when it is resolved
		}
		if why, ok := check(t, guarded.List{}, p, path); !ok || why == "" {
			t.Errorf("%s is not guarded", path)
		}
	}
	for _, path := range []string{
		"main.go", ".gitignore", ".gitattributes", ".github/workflows/x.yml", ".git-blame-ignore-revs", "git/config", "config", "hooks/x", "objects/a", ".vscode/extensions.json",
		"lathe.json.md", "my.lathe.json", ".env", ".envrc.example", "npmrc", "docs/.claudeignore", ".lathe/plans/x.md", ".opencode/plans/x.md", "sub/.lathe/plans/x.md", "head.go", "refs/x", "~1", "x~1",
	} {
		if why, ok := check(t, guarded.List{}, p, path); ok {
			t.Errorf("%s is guarded: %s", path, why)
		}
	}
}

func containsColon(s string) bool {
	for _, r := range s {
		if r == ':' {
			return true
		}
	}
	return false
}

// Links lead to guarded files from elsewhere, and away from guarded names.
func TestCheck_Links(t *testing.T) {
	p := newProject(t)
	at := func(name string) string { return filepath.Join(p.Dir, name) }
	put(t, at("real/hooks/pre-commit"), "x")
	put(t, at("agents/settings.json"), "x")
	put(t, at("src/main.go"), "x")
	put(t, at(".lathe/plans/real.md"), "x")
	link(t, filepath.Join("..", "real", "hooks"), at(".git/hooks"))
	link(t, "agents", at(".claude"))
	link(t, ".git", at("docs"))
	link(t, filepath.Join(".git", "config"), at("notes.txt"))
	link(t, filepath.Join("..", "..", "src", "main.go"), at(".lathe/plans/x.md"))
	link(t, filepath.Join(".lathe", "plans"), at("plans"))
	for _, path := range []string{"real/hooks/pre-commit", "real/hooks/new", "agents/settings.json", "docs/config", "notes.txt", ".lathe/plans/x.md", "plans/real.md"} {
		if _, ok := check(t, guarded.List{}, p, path); !ok {
			t.Errorf("%s is not guarded", path)
		}
	}
	for _, path := range []string{"real/x", "src/main.go", ".lathe/plans/real.md"} {
		if why, ok := check(t, guarded.List{}, p, path); ok {
			t.Errorf("%s is guarded: %s", path, why)
		}
	}
}

// Git finds repositories without the name .git, and its settings name folders and files.
func TestCheck_Repositories(t *testing.T) {
	p := newProject(t)
	at := func(name string) string { return filepath.Join(p.Dir, name) }
	put(t, at("mirror.git/HEAD"), "ref: refs/heads/main\n")
	put(t, at("words/HEAD"), "not git's\n")
	put(t, at(".git/config"), "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.gitconfig\n")
	put(t, at("sub/.git/HEAD"), "ref: refs/heads/main\n")
	put(t, at("sub/.git/config"), "[core]\n\thooksPath = .\n")
	for _, d := range []string{"sub/.git/objects", "sub/.git/refs"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"mirror.git/config", "mirror.git/hooks/update", "mirror.git/objects/x", "mirror.git/commondir", "mirror.git/HEAD",
		"tools/hooks/pre-commit", "tools/hooks/lib/x", "shared.gitconfig", "sub/pre-commit",
	} {
		if _, ok := check(t, guarded.List{}, p, path); !ok {
			t.Errorf("%s is not guarded", path)
		}
	}
	for _, path := range []string{"mirror.git/description", "words/config", "tools/x", "sub/main.go", "shared.txt"} {
		if why, ok := check(t, guarded.List{}, p, path); ok {
			t.Errorf("%s is guarded: %s", path, why)
		}
	}
}

// What the user's programs obey is guarded, but for the project that lies there.
func TestCheck_Home(t *testing.T) {
	p := newProject(t)
	home := filepath.Dir(p.Dir)
	list := guarded.List{
		Home: home, Config: filepath.Join(home, "settings"), Own: []string{filepath.Join(home, "data")},
		Unguarded: []string{filepath.Join(home, "data", "tmp", "ses_1")}, PlanDir: filepath.Join(home, "data", "plans"),
	}
	for _, path := range []string{".bashrc", ".ssh/config", "bin/ls", ".config/x/y", ".local/share/applications/x", "settings/git/config", "data/auth.json", "data/plans/x.js", "data/tmp/ses_2/x"} {
		if _, ok := check(t, list, p, filepath.Join(home, path)); !ok {
			t.Errorf("~/%s is not guarded", path)
		}
	}
	for _, path := range []string{"notes/x", "data/tmp/ses_1/x", "data/tmp/ses_1/.git/config", "data/plans/x.md", "settings/other/x"} {
		if why, ok := check(t, list, p, filepath.Join(home, path)); ok {
			t.Errorf("~/%s is guarded: %s", path, why)
		}
	}
	inside := guarded.Project{Dir: filepath.Join(home, ".dotfiles"), Root: filepath.Join(home, ".dotfiles")}
	if why, ok := check(t, list, inside, "x"); ok {
		t.Errorf("a project in a folder with a dot is guarded: %s", why)
	}
}

// A linked work tree may lie below a guarded name: the user put it there.
func TestCheck_ProjectBelowName(t *testing.T) {
	p := newProject(t)
	tree := filepath.Join(p.Dir, ".claude", "worktrees", "x")
	put(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(p.Dir, ".git", "worktrees", "x")+"\n")
	own := guarded.Project{Dir: tree, Root: p.Dir}
	if why, ok := check(t, guarded.List{}, own, "main.go"); ok {
		t.Errorf("main.go is guarded: %s", why)
	}
	for _, path := range []string{".git", ".claude/settings.json", filepath.Join(p.Dir, ".git", "config"), filepath.Join(p.Dir, ".git", "worktrees", "x", "commondir")} {
		if _, ok := check(t, guarded.List{}, own, path); !ok {
			t.Errorf("%s is not guarded", path)
		}
	}
	if _, ok := check(t, guarded.List{}, guarded.Project{Dir: filepath.Join(p.Dir, ".git", "hooks"), Root: string(filepath.Separator)}, "pre-commit"); !ok {
		t.Error("a session in the folder of a repository guards nothing")
	}
}
