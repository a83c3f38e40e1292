package hostiletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
)

// Whatever stands in the settings of a project that is not trusted, none of it runs, redirects
// or allows anything.
func FuzzUntrusted(f *testing.F) {
	for _, x := range settingFixtures {
		for name, text := range x.files {
			if len(text) < 2000 && !strings.HasPrefix(name, "USER/") {
				f.Add(text, strings.HasSuffix(name, ".md"))
			}
		}
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	folder := filepath.Join(dir, ".opencode", "agent")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		path, other := filepath.Join(dir, "lathe.json"), filepath.Join(folder, "a.md")
		if markdown {
			path, other = other, path
		}
		_ = os.Remove(other)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(config.Options{
			Directory: dir, Worktree: dir, Home: filepath.Join(dir, "home"), Managed: []string{},
			Env: func(name string) (string, bool) {
				if name != secName {
					return "", false
				}
				return secret, true
			},
		})
		if err != nil {
			return
		}
		if found := dangers(l); len(found) > 0 {
			t.Errorf("these settings count: %q", found)
		}
		if strings.Contains(string(l.Config.Raw), secret) && !strings.Contains(text, secret) {
			t.Error("the secret was put in")
		}
	})
}
