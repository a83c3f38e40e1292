//go:build unix

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// On a kernel that cannot hold it, a command with a profile does not run.
func TestRun_SandboxUnavailable(t *testing.T) {
	tests := map[string]struct {
		kernel sandbox.Kernel
		strict bool
		words  string // "" means that it runs, if the real kernel can
	}{
		"no Landlock":         {sandbox.Kernel{}, false, "no Landlock"},
		"no Landlock, strict": {sandbox.Kernel{}, true, "no Landlock"},
		"too old":             {sandbox.Kernel{Landlock: 1}, false, "too old"},
		"old, strict":         {sandbox.Kernel{Landlock: 2}, true, "truncate"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := open(t, sandbox.Config{Launcher: sandbox.Self(), Kernel: &tt.kernel})
			c := shell(t.TempDir(), "echo x > ran")
			c.Profile = sandbox.Profile{Mode: sandbox.Workspace, Strict: tt.strict, Write: []string{c.Dir}}
			_, err := r.Run(t.Context(), c, func([]byte) {})
			if !errors.Is(err, sandbox.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			if sandbox.Self() != "" && (err == nil || !strings.Contains(err.Error(), tt.words) || !strings.Contains(err.Error(), "sandbox")) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(c.Dir, "ran")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// A runner without a launcher refuses what it cannot hold.
func TestRun_SandboxWithoutLauncher(t *testing.T) {
	r := open(t, sandbox.Config{})
	c := shell(t.TempDir(), "true")
	c.Profile.Mode = sandbox.Workspace
	if _, err := r.Run(t.Context(), c, func([]byte) {}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	c.Profile.Mode = sandbox.Off
	run(t, r, c)
}
