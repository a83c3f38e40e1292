//go:build unix

package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// attempt runs a command with a config and returns its exit code and all of its output.
func attempt(t *testing.T, home, config, input string, args ...string) (code int, out string) {
	t.Helper()
	cmd := command(t, home, args...)
	cmd.Env = append(cmd.Env, "LATHE_CONFIG_CONTENT="+config, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "CI=1")
	cmd.Stdin = strings.NewReader(input)
	src, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(src)
}

// put writes a private file below a home.
func put(t *testing.T, home, name, text string) string {
	t.Helper()
	path := filepath.Join(home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// plan is Codex's file with a token that ends at a time.
func plan(end time.Time) string {
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, end.Unix()))
	return `{"OPENAI_API_KEY":null,"tokens":{"id_token":"x","access_token":"e30.` + claims + `.c2ln","refresh_token":"rt-rotates","account_id":"acc-1"}}`
}

// The login of Codex answers a prompt. When it has expired, the command of Codex is named. Its file stays as
// it is, and its refresh token goes nowhere.
func TestImport_Codex(t *testing.T) {
	t.Parallel()
	s := modeltest.Start(t, modeltest.MustParse("text \"From the plan.\""))
	home := t.TempDir()
	path := put(t, home, ".codex/auth.json", plan(time.Now().Add(time.Hour)))
	config := fmt.Sprintf(`{"provider":{"openai":{"options":{"baseURL":%q}}}}`, s.URL+"/backend-api/codex")
	if code, out := attempt(t, home, config, "", "auth", "import", "codex"); code == 0 || !strings.Contains(out, "pass --yes") || strings.Contains(out, "rt-rotates") {
		t.Fatalf("nobody agreed: %d\n%s", code, out)
	}
	if code, out := attempt(t, home, config, "", "auth", "import", "codex", "--yes"); code != 0 || !strings.Contains(out, "lathe now reads the Codex login for OpenAI from ~/.codex/auth.json") {
		t.Fatalf("%d\n%s", code, out)
	}
	if code, out := attempt(t, home, config, "", "auth", "import", "codex", "--yes"); code != 0 || !strings.Contains(out, "already imported") {
		t.Errorf("a second time: %d\n%s", code, out)
	}
	if code, out := attempt(t, home, config, "", "run", "--title", "t", "hello"); code != 0 || !strings.Contains(out, "From the plan.") {
		t.Fatalf("%d\n%s", code, out)
	}
	if last := s.Last(); last.Header.Get("ChatGPT-Account-Id") != "acc-1" || last.Path != "/backend-api/codex/responses" {
		t.Errorf("%s %v", last.Path, last.Header)
	}
	saved, err := os.ReadFile(filepath.Join(home, "data", "auth.json"))
	if err != nil || strings.Contains(string(saved), "e30.") || strings.Contains(string(saved), "rt-rotates") {
		t.Errorf("a secret was copied: %s %v", saved, err)
	}
	expired := plan(time.Now().Add(-time.Hour))
	put(t, home, ".codex/auth.json", expired)
	if code, out := attempt(t, home, config, "", "run", "--title", "t", "hello"); code == 0 || !strings.Contains(out, "run `codex login`") {
		t.Errorf("expired: %d\n%s", code, out)
	}
	if src, err := os.ReadFile(path); err != nil || string(src) != expired {
		t.Errorf("Codex's file was changed: %s %v", src, err)
	}
	if code, out := attempt(t, home, config, "", "auth", "logout", "openai"); code != 0 {
		t.Errorf("%d\n%s", code, out)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// However many processes need a token for the Copilot login, GitHub is asked once.
func TestImport_CopilotOnce(t *testing.T) {
	t.Parallel()
	const processes = 4
	var asked atomic.Int64
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/copilot_internal/v2/token" || r.Header.Get("Authorization") != "Bearer ghu_lasting" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, `{"token":"tid=short","expires_at":%d}`, time.Now().Add(time.Hour).Unix())
	}))
	defer github.Close()
	s := modeltest.Start(t, nil)
	s.Respond(func(r modeltest.Request) modeltest.Answer {
		if !r.HasKey("tid=short") {
			t.Errorf("a request without the token")
		}
		return modeltest.MustParse("text \"Here I am.\"")[0]
	})
	home := t.TempDir()
	put(t, home, "data/auth.json", fmt.Sprintf(`{"github-copilot":{"type":"oauth","refresh":"ghu_lasting","access":"","expires":0,"enterpriseUrl":%q}}`, github.URL))
	config := fmt.Sprintf(`{"provider":{"github-copilot":{"options":{"baseURL":%q}}}}`, s.URL)
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			if code, out := attempt(t, home, config, "", "run", "--title", "t", "-m", "github-copilot/claude-sonnet-4.6", "hello"); code != 0 || !strings.Contains(out, "Here I am.") {
				t.Errorf("%d\n%s", code, out)
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A token file of another user, and others that are not to be believed: a clear error, nothing saved.
func TestImport_Hostile(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(path string) error{
		"": func(string) error { return nil }, // the control
		"belongs to another user": func(path string) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return os.Chown(path, 12345, -1)
		},
		"can be read by other users": func(path string) error { return os.Chmod(path, 0o644) },
		"is a symbolic link":         func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) },
		"is not a regular file":      func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"too large":                  func(path string) error { return os.Truncate(path, 3<<30) },
		"is not a JSON object":       func(path string) error { return os.WriteFile(path, []byte(`{"OPENAI_API_KEY":"sk-hid`), 0o600) },
	} {
		if want == "belongs to another user" && os.Geteuid() != 0 {
			t.Log("only root can give a file to another user")
			continue
		}
		home := t.TempDir()
		path := put(t, home, ".codex/auth.json", `{"OPENAI_API_KEY":"sk-hidden-0123456789"}`)
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		code, out := attempt(t, home, "{}", "", "auth", "import", "codex", "--yes", "--no-check")
		if (code == 0) != (want == "") || !strings.Contains(out, want) || strings.Contains(out, "sk-hidden") {
			t.Errorf("%s: %d\n%s", want, code, out)
		}
		if _, err := os.Stat(filepath.Join(home, "data", "auth.json")); (err == nil) != (want == "") {
			t.Errorf("%s: saved: %v", want, err == nil)
		}
	}
}

// A key is checked when it is saved: wrong, without credit, without a network, and right.
func TestLogin_CheckedKey(t *testing.T) {
	t.Parallel()
	answers := map[string]struct {
		status int
		body   string
	}{
		"sk-right-1": {200, `{"data":[]}`},
		"sk-poor-12": {429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`},
		"sk-wrong-1": {401, `{"error":{"message":"Incorrect API key provided: sk-wrong-1"}}`},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(a.body))
	}))
	config := fmt.Sprintf(`{"provider":{"openai":{"options":{"baseURL":%q}}}}`, s.URL+"/v1")
	home := t.TempDir()
	for _, c := range []struct {
		key, want string
		code      int
		flags     []string
	}{
		{"sk-wrong-1", "OpenAI refused this API key (401: Incorrect API key provided: [scrubbed]); nothing was changed. Create a key at https://platform.openai.com", 1, nil},
		{"sk-wrong-1", "Warning: OpenAI refuses this key", 0, []string{"--force"}},
		{"sk-wrong-1", "Replaced the OpenAI API key", 0, []string{"--no-check"}},
		{"sk-poor-12", "no credit or quota left (429: You exceeded your current quota)", 0, nil},
		{"sk-right-1", "OpenAI accepts the key.", 0, nil},
		{"sk-right-1", `"check": "works"`, 0, []string{"--json"}},
	} {
		code, out := attempt(t, home, config, c.key, append([]string{"auth", "login", "openai"}, c.flags...)...)
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, c.key) {
			t.Errorf("%s %v: %d\n%s", c.key, c.flags, code, out)
		}
	}
	if code, out := attempt(t, home, config, "", "auth", "check"); code != 0 || !strings.Contains(out, "works") {
		t.Errorf("%d\n%s", code, out)
	}
	s.Close()
	if code, out := attempt(t, home, config, "sk-right-1", "auth", "login", "openai"); code != 0 || !strings.Contains(out, "Warning: the key could not be checked") || !strings.Contains(out, "cannot be reached") {
		t.Errorf("no network: %d\n%s", code, out)
	}
}

// A provider of the user's own: a login with a device code, a prompt with its token, and one renewal.
func TestLogin_ConfiguredDevice(t *testing.T) {
	t.Parallel()
	var polls, renewals atomic.Int64
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/device":
			_, _ = fmt.Fprint(w, `{"device_code":"dev-secret","user_code":"AB-12","verification_uri":"https://acme.test/device","interval":1,"expires_in":60}`)
		case r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == "refresh-1":
			renewals.Add(1)
			_, _ = fmt.Fprint(w, `{"access_token":"access-2","refresh_token":"refresh-2","expires_in":3600,"token_type":"bearer"}`)
		case polls.Add(1) == 1:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":"authorization_pending"}`)
		default:
			_, _ = fmt.Fprint(w, `{"access_token":"access-1","refresh_token":"refresh-1","expires_in":1,"token_type":"bearer"}`)
		}
	}))
	defer issuer.Close()
	s := modeltest.Start(t, modeltest.MustParse("text \"Logged in.\""))
	config := fmt.Sprintf(`{"model":"acme/m","provider":{"acme":{"npm":"@ai-sdk/openai-compatible","models":{"m":{}},"options":{"baseURL":%q,"oauth":{"deviceUrl":%q,"tokenUrl":%q,"clientId":"app"}}}}}`,
		s.URL+"/v1", issuer.URL+"/device", issuer.URL+"/token")
	home := t.TempDir()
	if code, out := attempt(t, home, config, "", "run", "hello"); code == 0 || !strings.Contains(out, "lathe auth login acme") {
		t.Errorf("before the login: %d\n%s", code, out)
	}
	if code, out := attempt(t, home, config, "", "auth", "login", "acme", "--method", "device"); code != 0 || !strings.Contains(out, "enter this code: AB-12") || !strings.Contains(out, "Saved the acme login") {
		t.Fatalf("%d\n%s", code, out)
	}
	if code, out := attempt(t, home, config, "", "run", "--title", "t", "hello"); code != 0 || !strings.Contains(out, "Logged in.") || !s.Last().HasKey("access-2") || renewals.Load() != 1 {
		t.Errorf("%d, %d renewals\n%s", code, renewals.Load(), out)
	}
}
