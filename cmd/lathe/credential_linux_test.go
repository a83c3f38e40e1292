package main

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/sandbox"
)

// pusher is a user with a repository and the program, as it is built.
type pusher struct {
	t          *testing.T
	base, home string
	project    string
	lathe      string
	env        []string
	remote     string
}

func newPusher(t *testing.T) *pusher {
	t.Helper()
	confinable(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &pusher{t: t, base: base, home: base + "/home", project: base + "/project", lathe: base + "/bin/lathe", remote: base + "/remote.git"}
	if err := errors.Join(os.MkdirAll(base+"/bin", 0o755), os.MkdirAll(p.home, 0o755), os.Symlink(self, p.lathe)); err != nil {
		t.Fatal(err)
	}
	p.env = append(gittest.Env(p.home), "LATHE_DATA="+base+"/data", "PATH="+base+"/bin:"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+p.home+"/.config",
		"GIT_CONFIG_GLOBAL="+p.home+"/.gitconfig", "GIT_ALLOW_PROTOCOL=file:https:ssh")
	p.git("", "init", "-q", "--bare", p.remote)
	p.git("", "-C", p.remote, "config", "http.receivepack", "true")
	p.git("", "init", "-q", "-b", "main", p.project)
	p.git(p.project, "commit", "-q", "--allow-empty", "-m", "first")
	return p
}

func (p *pusher) run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, p.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *pusher) git(dir string, args ...string) string {
	p.t.Helper()
	out, err := p.run(dir, "git", args...)
	if err != nil {
		p.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return out
}

func (p *pusher) write(name, text string, mode os.FileMode) {
	p.t.Helper()
	path := filepath.Join(p.base, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		p.t.Fatal(err)
	}
}

// line runs a command line as a model's and reports whether the remote has what was committed.
func (p *pusher) line(line string) (out string, arrived bool) {
	p.t.Helper()
	p.git(p.project, "commit", "-q", "--allow-empty", "-m", line)
	out, err := p.run(p.project, p.lathe, "debug", "sandbox", line)
	if err != nil {
		p.t.Fatalf("%s: %v %s", line, err, out)
	}
	there, _ := p.run("", "git", "-C", p.remote, "rev-parse", "main") // it may have none yet
	return out, there == p.git(p.project, "rev-parse", "main")
}

// gitServer serves the remote over TLS to one user with a password, and sends askers of /moved/ on to
// another server. It returns its address and host, and what counts the passwords that came.
func (p *pusher) gitServer(moved string) (server *url.URL, passwords *atomic.Int32) {
	p.t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	backend := strings.TrimSpace(string(path)) + "/git-http-backend"
	if _, statErr := os.Stat(backend); err != nil || statErr != nil {
		p.t.Skip("git has no http-backend here")
	}
	passwords = &atomic.Int32{}
	h := &cgi.Handler{Path: backend, Env: append([]string{"GIT_PROJECT_ROOT=" + p.base, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=dev"}, p.env...), Stderr: os.Stderr}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/moved/"); ok {
			http.Redirect(w, r, moved+"/"+rest+"?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		user, password, ok := r.BasicAuth()
		if ok {
			passwords.Add(1)
		}
		if user != "dev" || password != "PASSWORD" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	p.t.Cleanup(s.Close)
	if server, err = url.Parse(s.URL); err != nil {
		p.t.Fatal(err)
	}
	p.write("home/ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})), 0o644) // the same for all
	return server, passwords
}

// A line of git pushes over HTTPS with the user's password, which no other line finds, and
// which no other host is reported: not one that the host of the remote sends git to either.
func TestPush_Password(t *testing.T) {
	t.Parallel()
	p := newPusher(t)
	other, received := p.gitServer("")
	server, _ := p.gitServer(other.String())
	var store string
	for _, u := range []*url.URL{server, other} {
		store += "https://dev:PASSWORD@" + strings.ReplaceAll(u.Host, ":", "%3a") + "\n"
	}
	p.write("home/.git-credentials", store, 0o600)
	p.write("home/.gitconfig", "[credential]\n\thelper = store\n[http]\n\tsslCAInfo = "+p.home+"/ca.pem\n", 0o600)
	p.git(p.project, "remote", "add", "origin", server.String()+"/remote.git")
	p.git(p.project, "remote", "add", "moved", server.String()+"/moved/remote.git")
	p.git(p.project, "push", "-q", "origin", "main")
	p.git(p.project, "commit", "-q", "--allow-empty", "-m", "second")
	if p.git(p.project, "push", "-q", "moved", "main"); received.Swap(0) == 0 {
		t.Fatal("the user's own git is not sent to the other host")
	}
	if out, arrived := p.line("git push origin main"); !arrived {
		t.Errorf("not pushed: %s", out)
	}
	if out, arrived := p.line("true; git push origin main"); arrived || !strings.Contains(out, "sandbox.credentials") {
		t.Errorf("pushed by a line that runs more than git, or nothing names the setting: %s", out)
	}
	for _, line := range []string{
		"cat ~/.git-credentials", "git push " + server.String() + "/remote.git main", "git -c alias.x='!env' push origin main",
		`printf 'protocol=https\nhost=` + server.Host + `\n\n' | git credential fill`, "git push moved main",
	} {
		if out, arrived := p.line(line); arrived || strings.Contains(out, "PASSWORD") {
			t.Errorf("%s: %s", line, out)
		}
	}
	if n := received.Load(); n != 0 {
		t.Errorf("the other host was told %d passwords", n)
	}
}

// A tool finds its credentials in lines of its own once the settings name it, and its failure names
// the setting before.
func TestPush_Tool(t *testing.T) {
	t.Parallel()
	p := newPusher(t)
	p.write("bin/gh", "#!/bin/sh\ngrep -q TOKEN ~/.config/gh/hosts.yml || { echo 'run: gh auth login' >&2; exit 4; }\necho created\n", 0o755)
	p.write("home/.config/gh/hosts.yml", "oauth_token: TOKEN\n", 0o600)
	if out, err := p.run(p.project, p.base+"/bin/gh", "pr", "create"); err != nil || out != "created\n" {
		t.Fatal(out, err)
	}
	if out, _ := p.line("gh pr create"); strings.Contains(out, "created\n") || !strings.Contains(out, `they add "gh" to sandbox.credentials`) {
		t.Errorf("without the setting: %s", out)
	}
	p.write("home/.config/lathe/lathe.json", `{"sandbox": {"credentials": ["gh"]}}`, 0o600)
	if out, _ := p.line("gh pr create"); !strings.Contains(out, "created\n") {
		t.Errorf("with the setting: %s", out)
	}
	for _, line := range []string{"gh pr create; cat ~/.config/gh/hosts.yml", "cat ~/.config/gh/hosts.yml", "$(echo gh) pr create", "./gh pr create; grep . ~/.config/gh/hosts.yml"} {
		if out, _ := p.line(line); strings.Contains(out, "TOKEN\n") {
			t.Errorf("%s: %s", line, out)
		}
	}
	p.write("home/.config/lathe/lathe.json", `{}`, 0o600)
	p.write("project/lathe.json", `{"sandbox": {"credentials": ["gh"], "read": ["~/.config/gh"]}}`, 0o600)
	if out, _ := p.line("gh pr create"); strings.Contains(out, "created\n") {
		t.Errorf("a project opens it without trust: %s", out)
	}
}

// confinable skips a test on a machine whose kernel confines nothing.
func confinable(t *testing.T) {
	t.Helper()
	if err := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel().Available(true); err != nil {
		t.Skip(err)
	}
}
