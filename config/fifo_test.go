//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe waits for a writer, so that none may be opened.
func TestFault_Pipes(t *testing.T) {
	w := newFixture(t)
	for _, name := range []string{
		"home/.config/lathe/lathe.json", "top/lathe.json", "top/AGENTS.md", "top/.lathe/agent/a.md", "top/.lathe/lathe.json", "top/.lathe/plugin/p.ts",
		"top/.claude/skills/x/SKILL.md", "top/docs/x.md", "top/tui.json", "home/.config/lathe/key",
	} {
		if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(w.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.write("top/opencode.json", `{"instructions": ["docs/*.md"], "model": "a/b"}`)
	l := w.load()
	equal(t, l.Config.Model, "a/b")
	equal(t, len(l.Config.Agents)+len(l.Skills)+len(l.Instructions), 0)
	if err := Edit(w.path("top/lathe.json"), []byte(`{"model": "c/d"}`)); err == nil {
		t.Error("a pipe was edited")
	}
	w.write("home/.config/opencode/opencode.json", `{"model": "{file:../lathe/key}"}`)
	equal(t, w.fail().Problems[0].Message, "{file:../lathe/key}: "+w.path("home/.config/lathe/key")+": is not a file")
}
