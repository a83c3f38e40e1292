package main

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// pusher is a user with a repository and the program, as it is built.
type pusher struct {
	t            *testing.T
	base, home   string
	project      string
	lathe        string
	env          []string
	remote, head string
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
		"GIT_CONFIG_GLOBAL="+p.home+"/.gitconfig", "GIT_ALLOW_PROTOCOL=file:http:ssh")
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

// gitServer serves the remote to one user with a password.
func (p *pusher) gitServer() string {
	p.t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	backend := strings.TrimSpace(string(path)) + "/git-http-backend"
	if _, statErr := os.Stat(backend); err != nil || statErr != nil {
		p.t.Skip("git has no http-backend here")
	}
	h := &cgi.Handler{Path: backend, Env: append([]string{"GIT_PROJECT_ROOT=" + p.base, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=dev"}, p.env...), Stderr: os.Stderr}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "dev" || password != "PASSWORD" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	p.t.Cleanup(s.Close)
	return s.URL
}

// A line of git pushes over HTTP with the user's password, which no other line finds.
func TestPush_Password(t *testing.T) {
	t.Parallel()
	p := newPusher(t)
	server := p.gitServer()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p.write("home/.git-credentials", "http://dev:PASSWORD@"+strings.ReplaceAll(u.Host, ":", "%3a")+"\n", 0o600)
	p.write("home/.gitconfig", "[credential]\n\thelper = store\n", 0o600)
	p.git(p.project, "remote", "add", "origin", server+"/remote.git")
	if p.git(p.project, "push", "-q", "origin", "main"); t.Failed() {
		t.Fatal("the user cannot push")
	}
	if out, arrived := p.line("git push origin main"); !arrived {
		t.Errorf("not pushed: %s", out)
	}
	if out, arrived := p.line("true; git push origin main"); arrived || !strings.Contains(out, "sandbox.credentials") {
		t.Errorf("pushed by a line that runs more than git, or nothing names the setting: %s", out)
	}
	for _, line := range []string{
		"cat ~/.git-credentials", "git push " + server + "/remote.git main", "git -c alias.x='!env' push origin main",
		`printf 'protocol=http\nhost=` + u.Host + `\n\n' | git credential fill`,
	} {
		if out, arrived := p.line(line); arrived || strings.Contains(out, "PASSWORD") {
			t.Errorf("%s: %s", line, out)
		}
	}
}

// The lathe outside answers for the hosts of a grant, and nothing else.
func TestCredentials_Answer(t *testing.T) {
	c := credentials{log: slog.New(slog.DiscardHandler)}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("XDG_CONFIG_HOME", home)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	err := errors.Join(os.WriteFile(home+"/.gitconfig", []byte("[credential]\n\thelper = store\n"), 0o600),
		os.WriteFile(home+"/.git-credentials", []byte("https://dev:ONE@one.example\nhttps://dev:TWO@two.example\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	socket, name, err := c.grant([]string{"https://one.example"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for question, want := range map[string]string{
		name + "\nprotocol=https\nhost=one.example\n\n":                             "username=dev\npassword=ONE\n",
		name + "\nprotocol=https\nhost=two.example\n\n":                             "",
		name + "\nprotocol=http\nhost=one.example\n\n":                              "",
		name + "\nprotocol=https\nhost=one.example\nhost=two.example\n\n":           "",
		"other\nprotocol=https\nhost=one.example\n\n":                               "",
		"\nprotocol=https\nhost=one.example\n\n":                                    "",
		name + "\nprotocol=https\nhost=one.example\nurl=https://two.example/\n\n":   "username=dev\npassword=ONE\n",
		name + "\nprotocol=https\nhost=one.example\nusername=dev\npath=x/y.git\n\n": "username=dev\npassword=ONE\n",
	} {
		if got := string(c.answer(strings.NewReader(question))); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
	if info, err := os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others can enter: %v, %v", info, err)
	}
}

// A line of git pushes over SSH by the agent; other lines do not reach it. The server is a script
// that asks the agent as ssh does: real ones need a daemon and a login.
func TestPush_Agent(t *testing.T) {
	t.Parallel()
	p := newPusher(t)
	for _, name := range []string{"ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	sockets, err := os.MkdirTemp("", "agent") // its path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	agent := exec.Command("ssh-agent", "-D", "-a", sockets+"/s")
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it listens
		t.Fatal(err)
	}
	p.env = append(p.env, "SSH_AUTH_SOCK="+sockets+"/s", "GIT_SSH_COMMAND="+p.base+"/bin/ssh-stand-in")
	p.write("bin/ssh-stand-in", "#!/bin/sh\nssh-add -l >/dev/null || { echo 'Permission denied (publickey).' >&2; exit 255; }\nshift\nexec sh -c \"$*\"\n", 0o755)
	p.write("home/.config/lathe/lathe.json", `{"sandbox": {"write": ["`+p.remote+`"]}}`, 0o600)
	if err := os.MkdirAll(p.home+"/.ssh", 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := p.run(p.base, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", p.home+"/.ssh/id_ed25519"); err != nil {
		t.Fatal(out)
	}
	if out, err := p.run(p.base, "ssh-add", "-q", p.home+"/.ssh/id_ed25519"); err != nil {
		t.Fatal(out)
	}
	p.git(p.project, "remote", "add", "origin", "ssh://host"+p.remote)
	p.git(p.project, "push", "-q", "origin", "main")
	if out, arrived := p.line("git push origin main"); !arrived {
		t.Errorf("not pushed: %s", out)
	}
	if out, arrived := p.line("true; git push origin main"); arrived || !strings.Contains(out, `"ssh" to sandbox.credentials`) {
		t.Errorf("pushed by a line that runs more than git, or nothing names the setting: %s", out)
	}
	if out, _ := p.line("ssh-add -l"); strings.Contains(out, "ED25519") {
		t.Errorf("another line reaches the agent: %s", out)
	}
	p.write("home/.config/lathe/lathe.json", `{"sandbox": {"ssh_agent": true}}`, 0o600)
	if out, _ := p.line("ssh-add -l"); !strings.Contains(out, "ED25519") {
		t.Errorf("with the setting: %s", out)
	}
	p.write("home/.config/lathe/lathe.json", `{"sandbox": {"ssh_agent": false, "write": ["`+p.remote+`"]}}`, 0o600)
	if out, arrived := p.line("git push origin main"); arrived {
		t.Errorf("though it is off: %s", out)
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
