package confine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// A command reads nothing that is ours, except what a model is pointed at.
func TestConfineOwn(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	b.session = "ses_own"
	secrets := []string{
		"data/auth.json", "data/lathe.db", "data/blobs/a", "data/state/server-password", "data/log/lathe.log", "data/mcp-auth.json", "data/snapshot/x",
		"data/owners/a.sock", "data/tmp/ses_other/file", "data/tool-output/ses_other/tool_1", "home/.config/lathe/lathe.json", "home/.config/opencode/opencode.json",
	}
	open := []string{"data/tool-output/ses_own/tool_1", "data/cache/skills/x/SKILL.md", "home/.config/lathe/skill/y/SKILL.md"}
	var scripts []string
	for _, name := range append(open, secrets...) {
		path := filepath.Join(b.base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, "cat "+path)
	}
	all := strings.Join(scripts, "; ") + "; ls " + b.base + "/data"
	off, out := b.in(b.base+"/project", "build", all, config.Config{Sandbox: config.Sandbox{Mode: "off"}})
	if off.Exit != 0 || strings.Count(out, "text of") != len(open)+len(secrets) {
		t.Fatalf("not readable without a sandbox: %s", out)
	}
	for _, agent := range []string{"build", "plan"} {
		res, out := b.in(b.base+"/project", agent, all, config.Config{})
		for _, name := range secrets {
			if strings.Contains(out, "text of "+name) {
				t.Errorf("%s: %s was read: %+v", agent, name, res.Sandbox)
			}
		}
		for _, name := range open {
			if !strings.Contains(out, "text of "+name) {
				t.Errorf("%s: %s cannot be read: %s", agent, name, out)
			}
		}
		if res.Sandbox.Guard == sandbox.Bound && !strings.HasSuffix(out, "cache\ntool-output\n") {
			t.Errorf("%s: %s", agent, out)
		}
	}
}

// A language server that lathe installed can be started in its sandbox, which hides all else that is ours.
func TestConfineHelper_Installed(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	place := workspace.Place{Directory: b.base + "/project", Worktree: b.base + "/project"}
	modules := b.base + "/data/cache/lsp/node_modules"
	server := modules + "/.bin/server" // a link to its package, as npm makes it
	for path, text := range map[string]string{modules + "/server/main.sh": "#!/bin/sh\necho started; cat " + b.base + "/data/auth.json\n", b.base + "/data/auth.json": "secret\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(server), 0o755), os.Symlink("../server/main.sh", server)); err != nil {
		t.Fatal(err)
	}
	run := func(c config.Config) (out string) {
		p, err := b.confine.Helper(c, place, sandbox.ReadOnly, []string{server})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if _, err := b.runner.Run(t.Context(), sandbox.Command{Path: server, Dir: place.Directory, Env: os.Environ(), Profile: p}, func(b []byte) { text.Write(b) }); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	if got := run(config.Config{Sandbox: config.Sandbox{Mode: "off"}}); got != "started\nsecret\n" {
		t.Fatalf("without a sandbox: %q", got)
	}
	if got := run(config.Config{}); !strings.HasPrefix(got, "started\n") || strings.Contains(got, "secret") {
		t.Errorf("in the sandbox: %q", got)
	}
}
