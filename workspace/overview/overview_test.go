package overview_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace/overview"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// taken is a overview without what differs between machines.
func taken(t *testing.T, dir, path string) string {
	t.Helper()
	text := overview.Describe(context.Background(), dir, overview.Config{Path: path})
	return regexp.MustCompile(`(?m)^Machine: .*$`).ReplaceAllString(text, "Machine: …")
}

func TestTake(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	write(t, bin, map[string]string{"go": "", "rg": "", "other": ""})
	write(t, dir, map[string]string{
		"Makefile":       "VERSION := 1\nbuild: dep\n\tgo build\ntest:\n\ttouch executed\nodd%: x\n",
		"package.json":   `{"scripts":{"test":"touch executed","lint":"x","deploy":"y"},"packageManager":"pnpm@9"}`,
		"pyproject.toml": "[tool.pytest.ini_options]", "go.mod": "module a",
		".gitignore": "/dist\n*.log\n", "dist/a": "", "a.log": "", "src/main.go": "", "src/.gitignore": "gen*\n", "src/gen.go": "", "src/deep/x": "",
		"many/1": "", "many/2": "", "many/3": "", "many/4": "", "many/5": "", "many/6": "", "many/7": "", "many/8": "", "many/9": "",
	})
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if !(&lathe.Text{Text: overview.Heading, Synthetic: lathe.Yes}).IsReminder() {
		t.Error("a prompt with an overview would look like the user's own")
	}
	want := overview.Heading + `
many/ 1 2 3 4 5 6 7 8 (and 1 more)
src/ deep/ .gitignore main.go
.gitignore Makefile go.mod link package.json pyproject.toml
Manifests: Makefile, package.json, go.mod, pyproject.toml
Commands they name (not tried): make build; make test; pnpm run lint; pnpm run test; go build ./...; go test ./...; pytest
On PATH: go, rg
Machine: …`
	if diff := cmp.Diff(want, taken(t, dir, bin)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "executed")); err == nil {
		t.Error("something was executed")
	}
}

func TestTake_Git(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "1", "b": "1", "sub/c": "1", ".gitignore": "ignored\n", "sub/ignored": ""})
	for _, args := range [][]string{{"init", "-q", "-b", "topic"}, {"add", "-A"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(t.TempDir(), "gitconfig"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	write(t, dir, map[string]string{"a": "changed"})
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if got := taken(t, filepath.Join(dir, "sub"), ""); got != overview.Heading+"\nc\nGit: branch topic, 2 tracked files changed\nMachine: …" {
		t.Error(got)
	}
}

// However much there is, the overview stays short and every directory of the first level has
// its name.
func TestTake_Large(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 50 {
		for j := range 20 {
			files[fmt.Sprintf("folder%02d/file-with-a-name-%02d", i, j)] = ""
		}
	}
	for i := range 100 {
		files[fmt.Sprintf("top%03d", i)] = ""
	}
	write(t, dir, files)
	got := taken(t, dir, "")
	if len(got) > 2100 || !strings.Contains(got, "\nfolder49/ (20)\n") || !strings.Contains(got, "top009 (and 90 more files)") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	wide := t.TempDir()
	files = map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%s%03d", strings.Repeat("long-name-", 10), i)] = ""
	}
	write(t, wide, files)
	if got := taken(t, wide, ""); len(got) > 2010 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestTake_NotThere(t *testing.T) {
	if got := overview.Describe(context.Background(), filepath.Join(t.TempDir(), "gone"), overview.Config{}); got != "" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := overview.Describe(ctx, t.TempDir(), overview.Config{}); got != "" {
		t.Error("after its end:", got)
	}
	if got := taken(t, t.TempDir(), ""); got != overview.Heading+"\nThe directory is empty.\nMachine: …" {
		t.Error(got)
	}
}
