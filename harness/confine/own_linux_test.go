package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
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
