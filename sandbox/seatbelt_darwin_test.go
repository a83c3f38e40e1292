package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// A confined command writes where its profile says, reads no hidden file and no network; each of that works
// without the profile.
func TestSeatbelt_Holds(t *testing.T) {
	r := sandbox.Open(sandbox.Config{})
	t.Cleanup(func() { _ = r.Close() })
	if err := r.Kernel().Available(false); err != nil {
		t.Skipf("this machine has no sandbox: %v", err)
	}
	base := t.TempDir()
	for _, dir := range []string{"app/.git/hooks", "home", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "home", "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sandbox.Profile{
		Mode: sandbox.Workspace, Write: []string{base + "/app"}, Protect: []string{base + "/app/.git/hooks", base + "/app/lathe.json"},
		Hide: []string{base + "/home"}, Network: sandbox.Network{Limited: true},
	}
	for line, held := range map[string]bool{
		"touch made": true, "mkdir -p .git/objects/x": true, "echo x > /dev/null": true,
		"touch ../other/x": false, "touch .git/hooks/x": false, "touch .GIT/HOOKS/y": false, "touch lathe.json": false,
		"mv .git g && mv g .git": false, "cat ../home/key": false,
	} {
		for _, profile := range []sandbox.Profile{{}, p} {
			c := shell(base+"/app", line)
			c.Profile = profile
			res, err := r.Run(context.Background(), c, func([]byte) {})
			if err != nil {
				t.Fatal(err)
			}
			want := held || !profile.Confined()
			if got := res.Exit == 0; got != want {
				t.Errorf("%q with %q: %v", line, profile.Mode, got)
			}
			_ = os.Remove(base + "/app/lathe.json")
		}
	}
}
