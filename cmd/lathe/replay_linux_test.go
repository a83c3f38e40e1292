package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/cli/debug"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// visits counts requests by the first part of their path.
type visits struct {
	mu   sync.Mutex // guards the field below
	seen map[string]int
}

func (v *visits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	v.mu.Lock()
	v.seen[name]++
	v.mu.Unlock()
	fmt.Fprintln(w, "reached")
}

// since returns the visits since the last call.
func (v *visits) since() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := v.seen
	v.seen = map[string]int{}
	return out
}

// replayed is a session whose calls reached a listener, a git remote and an MCP server.
type replayed struct {
	t          *testing.T
	home, work string
	outside    string // a file that a tool wrote, below the temporary folder of the machine
	visits     *visits
}

func newReplayed(t *testing.T) *replayed {
	t.Helper()
	confinable(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	r := &replayed{t: t, home: home, work: filepath.Join(home, "work"), outside: filepath.Join(t.TempDir(), "file"), visits: &visits{seen: map[string]int{}}}
	listener := httptest.NewServer(r.visits)
	t.Cleanup(listener.Close)
	port := listener.URL[strings.LastIndexByte(listener.URL, ':')+1:]
	if err := os.MkdirAll(r.work, 0o755); err != nil {
		t.Fatal(err)
	}
	visit := "exec 3<>/dev/tcp/127.0.0.1/" + port + "\nprintf 'GET /bash HTTP/1.0\\r\\n\\r\\n' >&3\ncat <&3\n"
	for name, text := range map[string]string{"visit.sh": visit, ".gitignore": "*.log\n"} {
		if err := os.WriteFile(filepath.Join(r.work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.git("init", "-q", "-b", "main")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	r.git("clone", "-q", "--bare", ".", "../remote.git")
	r.git("remote", "add", "origin", filepath.Join(home, "remote.git"))
	var script strings.Builder
	for _, c := range [][2]string{
		{"bash", "bash visit.sh"},
		{"bash", "git ls-remote " + listener.URL + "/remote"},
		{"bash", "g=git; $g ls-remote " + listener.URL + "/hidden"},
		{"bash", "g=git; $g ls-remote origin"},
		{"bash", "git ls-remote " + listener.URL + "/beside; bash visit.sh"},
		{"bash", "git tag planted; git branch planted-too; echo a > a.txt; git add a.txt; git commit -qm planted"},
		{"webfetch", listener.URL + "/web"},
		{"write", r.outside},
	} {
		input := map[string]string{"command": c[1]}
		switch c[0] {
		case "webfetch":
			input = map[string]string{"url": c[1], "format": "text"}
		case "write":
			input = map[string]string{"filePath": c[1], "content": "outside\n"}
		}
		raw, _ := json.Marshal(input)
		fmt.Fprintf(&script, "call %s %s\nfinish tool-calls\n--\n", c[0], raw)
	}
	script.WriteString("text \"Done.\"\nfinish stop\n")
	provider := modeltest.Start(t, modeltest.MustParse(script.String()))
	spy := filepath.Join(home, "spy")
	if err := os.WriteFile(spy, []byte("#!/bin/sh\necho started >> "+filepath.Join(r.work, "plugin.log")+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := strings.Replace(fmt.Sprintf(debug.ScriptConfig, provider.URL), "{", fmt.Sprintf(
		`{"plugin": ["%s"], "sandbox": "off", "permission": {"*": "allow"}, "webfetch": {"private": true}, "mcp": {"spy": {"type": "local", "command": ["sh", "-c", "echo started >> %s; exit 1"]}}, `, spy, filepath.Join(r.work, "mcp.log")), 1)
	if err := os.WriteFile(filepath.Join(home, "lathe.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *replayed) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = r.work
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

func (r *replayed) lathe(args ...string) string {
	r.t.Helper()
	cmd := command(r.t, r.home, args...)
	cmd.Dir = r.work
	cmd.Env = append(cmd.Env, "LATHE_CONFIG="+filepath.Join(r.home, "lathe.json"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if exit := cmd.ProcessState; err != nil && (exit == nil || exit.ExitCode() != 1) {
		r.t.Fatalf("lathe %v: %v %s", args, err, out)
	}
	return string(out)
}

// started returns how often the MCP server or the plugin was started since the last call.
func (r *replayed) started(name string) int {
	data, _ := os.ReadFile(filepath.Join(r.work, name+".log")) // there is none before the first start
	_ = os.Remove(filepath.Join(r.work, name+".log"))
	return strings.Count(string(data), "started")
}

// A replay reaches no listener, no git remote and no MCP server, and leaves the repository alone, although the session
// did all of that. What is opened is reached, and nothing else.
func TestReplay_ReachesNothing(t *testing.T) {
	t.Parallel()
	r := newReplayed(t)
	out := r.lathe("run", "--title", "Far", "Go.")
	got := r.visits.since()
	for _, name := range []string{"bash", "remote", "hidden", "beside", "web"} {
		if got[name] == 0 {
			t.Errorf("the session did not reach %s, so the test shows nothing: %v", name, got)
		}
	}
	if r.started("mcp") == 0 || r.started("plugin") == 0 || !strings.Contains(r.git("tag"), "planted") {
		t.Errorf("the session started no server or plugin, or made no tag: %s", out)
	}
	if err := os.Remove(r.outside); err != nil {
		t.Errorf("the session wrote nothing outside: %v", err)
	}
	r.git("tag", "-d", "planted")
	r.git("branch", "-D", "planted-too")
	r.git("reset", "-q", "--hard", "HEAD~1")
	before := r.git("for-each-ref") + r.git("status", "--porcelain") + r.git("config", "--list", "--local") + r.git("worktree", "list")
	for _, c := range []struct {
		live    string
		reaches []string
		servers bool
	}{
		{},
		{live: "network", reaches: []string{"bash"}},
		{live: "git", reaches: []string{"remote"}},
		{live: "webfetch", reaches: []string{"web"}},
		{live: "mcp", servers: true},
	} {
		args := []string{"session", "replay", "last", "--json"}
		if c.live != "" {
			args = append(args, "--live", c.live)
		}
		out := r.lathe(args...)
		got, want := r.visits.since(), map[string]bool{}
		for _, name := range c.reaches {
			want[name] = true
		}
		reached := map[string]bool{}
		for name := range got {
			reached[name] = true
		}
		if !maps.Equal(reached, want) || r.started("mcp") > 0 != c.servers || r.started("plugin") > 0 {
			t.Errorf("--live %q reached %v, want %v: %s", c.live, got, c.reaches, out)
		}
		if _, err := os.Lstat(r.outside); err == nil {
			t.Errorf("--live %q wrote outside of the copy: %s", c.live, out)
		}
		if c.live == "" && strings.Count(out, `"from the record"`) != 3 {
			t.Errorf("calls from the record: %s", out)
		}
		if after := r.git("for-each-ref") + r.git("status", "--porcelain") + r.git("config", "--list", "--local") + r.git("worktree", "list"); after != before {
			t.Errorf("--live %q changed the checkout from\n%s\nto\n%s", c.live, before, after)
		}
	}
}

// A replay that is killed leaves its scratch copy, and the next one removes that with its temporary folder.
func TestReplay_Killed(t *testing.T) {
	t.Parallel()
	r := newReplayed(t)
	r.lathe("run", "--title", "Far", "Go.")
	script := filepath.Join(r.work, "visit.sh")
	visit, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("echo > /tmp/left; exec sleep 300\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	glob := func(pattern string) []string {
		found, err := filepath.Glob(filepath.Join(r.home, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	temps := len(glob("data/tmp/*"))
	cmd := command(t, r.home, "session", "replay", "last")
	cmd.Dir = r.work
	cmd.Env = append(cmd.Env, "LATHE_CONFIG="+filepath.Join(r.home, "lathe.json"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(20 * time.Millisecond); len(glob("data/tmp/*/left")) == 0; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the command did not run within a minute")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if len(glob("data/tmp/*")) != temps+1 || len(glob("data-worktrees/*/w*")) != 1 {
		t.Errorf("the kill left %v and %v, so the test shows nothing", glob("data/tmp/*"), glob("data-worktrees/*/w*"))
	}
	if err := os.WriteFile(script, visit, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.lathe("session", "replay", "last", "--from", "5"); !strings.Contains(out, "steps 5 to 9") {
		t.Error(out)
	}
	if len(glob("data/tmp/*")) != temps || len(glob("data-worktrees/*/w*")) != 0 {
		t.Errorf("left: %v and %v", glob("data/tmp/*"), glob("data-worktrees/*/w*"))
	}
}
