//go:build unix

package othertool

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/auth"
)

const codexKey = `{"OPENAI_API_KEY":"sk-secret-0123456789"}`

// A file of another user, one that others can read, a link, a pipe, a folder, a huge and a broken file:
// none is believed, none blocks, and no error shows the content. The same file is read when it is the
// user's own.
func TestRead_Hostile(t *testing.T) {
	at := func(m Machine) string { return filepath.Join(m.Home, ".codex", "auth.json") }
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		want  string
	}{
		"the user's own": {func(*testing.T, string) {}, ""},
		"another user's": {func(t *testing.T, path string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			check(t, os.Chown(path, 12345, -1))
		}, "belongs to another user (uid 12345)"},
		"readable by the group": {func(t *testing.T, path string) { check(t, os.Chmod(path, 0o640)) }, "can be read by other users (mode 0640): run `chmod 600"},
		"writable by all":       {func(t *testing.T, path string) { check(t, os.Chmod(path, 0o602)) }, "can be read by other users"},
		"a link": {func(t *testing.T, path string) {
			check(t, os.Rename(path, path+".real"))
			check(t, os.Symlink(path+".real", path))
		}, "is a symbolic link"},
		"a link to nowhere": {func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, os.Symlink("/nowhere", path))
		}, "is a symbolic link"},
		"a pipe": {func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, syscall.Mkfifo(path, 0o600))
		}, "is not a regular file"},
		"a folder": {func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, os.Mkdir(path, 0o700))
		}, "is not a regular file"},
		"a huge file": {func(t *testing.T, path string) { check(t, os.Truncate(path, 3<<30)) }, "too large"},
		"half a file": {func(t *testing.T, path string) { check(t, os.WriteFile(path, []byte(codexKey[:30]), 0o600)) }, "is not a JSON object"},
		"a list": {func(t *testing.T, path string) {
			check(t, os.WriteFile(path, []byte(`["sk-secret-0123456789"]`), 0o600))
		}, "is not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t, map[string]string{".codex/auth.json": codexKey})
			c.spoil(t, at(m))
			found, problems, err := m.Find("codex")
			if err != nil {
				t.Fatal(err)
			}
			ref := auth.Reference{Tool: "codex", Path: at(m), Entry: "OPENAI_API_KEY"}
			if c.want == "" {
				if got, err := m.Resolve(ref); len(found) != 1 || len(problems) != 0 || err != nil || got == nil {
					t.Errorf("the control: %v %v %v", found, problems, err)
				}
				return
			}
			if len(found) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), c.want) || strings.Contains(problems[0].Err.Error(), "sk-secret") {
				t.Errorf("%v %v", found, problems)
			}
			if got, err := m.Resolve(ref); got != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a reference to it: %v %v", got, err)
			}
			if _, err := m.FindIn("codex", at(m)); lathe.CodeOf(err) == "" {
				t.Errorf("named by the user: %v", err)
			}
		})
	}
}

// Values that would break a header, or lead a token to another host, are no credentials.
func TestRead_HostileValues(t *testing.T) {
	m := machine(t, map[string]string{
		".codex/auth.json":                 `{"OPENAI_API_KEY":"sk-1\r\nX-Evil: 1","tokens":{"access_token":"a b","account_id":"x\r\ny"}}`,
		".config/github-copilot/apps.json": `{"github.com@evil.test:1":{"oauth_token":"ghu_1"},"evil.test/x":{"oauth_token":"ghu_2"},"":{"oauth_token":"ghu_3"},"github.com":{"oauth_token":"ghu 4"}}`,
		".config/gh/hosts.yml":             "https://evil.test/?q=:\n  oauth_token: gho_1\n",
	})
	for _, tool := range []string{"codex", "copilot", "gh"} {
		if found, _, err := m.Find(tool); err != nil || len(found) != 0 {
			t.Errorf("%s: %v %v", tool, found, err)
		}
	}
	if l := chatGPT(auth.NewSecret("x"), ends, "acc\r\nX-Evil: 1"); l.Credential.(auth.OAuth).AccountID != "" {
		t.Error("the account breaks a header")
	}
}

// A config file that everybody may read is no matter as long as it holds no secret.
func TestRead_OpenWithoutSecret(t *testing.T) {
	m := machine(t, map[string]string{".claude.json": `{"projects":{}}`})
	check(t, os.Chmod(filepath.Join(m.Home, ".claude.json"), 0o644))
	if found, problems, err := m.Find("claude"); err != nil || len(found)+len(problems) != 0 {
		t.Errorf("%v %v %v", found, problems, err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
