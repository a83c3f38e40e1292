package secret

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	home := "/home/dev"
	for path, want := range map[string]bool{
		".ssh/id_ed25519": true, ".ssh": true, ".ssh/known_hosts": false, ".ssh/id_ed25519.pub": false, ".ssh/config": false, ".ssh/config.d/work": false,
		".ssh/keys/id.pub": true, ".sshx": false, ".aws/credentials": true, ".aws/config": true, ".netrc": true, ".config/gh/hosts.yml": true, ".docker/config.json": true,
		".docker/cli-plugins/x": false, ".kube/cache/x": true, ".config/gcloud/x": true, ".azure/x": true, ".config/google-chrome/Default/Cookies": true,
		".mozilla/firefox/x": true, "snap/firefox/common/.mozilla/x": true, ".var/app/org.mozilla.firefox/x": true, ".local/share/keyrings/login.keyring": true,
		".password-store/x.gpg": true, ".claude/.credentials.json": true, ".claude/skills/x/SKILL.md": false, ".codex/auth.json": true, ".gemini/oauth_creds.json": true,
		".local/share/opencode/auth.json": true, ".git-credentials": true, ".config/git/credentials": true, ".config/git/config": false, ".pypirc": true,
		".cargo/credentials.toml": true, ".cargo/registry/x": false, ".npmrc": true, ".bash_history": true, ".pgpass": true, ".my.cnf": true, "Passwords.kdbx": true,
		"app/main.go": false, "": false, ".config": false, ".config/github-copilot/hosts.json": true, ".cursor/x": true, ".aider.conf.yml": true,
	} {
		place, ok := Find(home, nil).Containing(filepath.Join(home, path))
		if ok != want || ok == (place.Reason == "") {
			t.Errorf("%s: %v %+v", path, ok, place)
		}
	}
	if _, ok := Find("", nil).Containing("/etc/passwd"); ok {
		t.Error("a user without a home folder has secrets in /etc")
	}
}

// Variables move places, and none of them can hide what is no place of credentials.
func TestFind_Moved(t *testing.T) {
	env := map[string]string{
		"XDG_CONFIG_HOME": "/cfg", "AWS_SHARED_CREDENTIALS_FILE": "/keys/aws", "KUBECONFIG": "/a/kube:/b/kube", "CARGO_HOME": "/cargo",
		"GNUPGHOME": "/home", "CODEX_HOME": "relative",
	}
	ps := Find("/home/dev", func(name string) string { return env[name] })
	for path, want := range map[string]bool{
		"/cfg/gh/hosts.yml": true, "/home/dev/.config/gh/hosts.yml": true, "/keys/aws": true, "/a/kube": true, "/b/kube": true, "/cargo/credentials.toml": true,
		"/cargo/bin/x": false, "/home/dev/x": false, "/home/other": false,
	} {
		if _, ok := ps.Containing(path); ok != want {
			t.Errorf("%s: %v", path, ok)
		}
	}
}

func TestPlace_There(t *testing.T) {
	home := t.TempDir()
	err := errors.Join(os.MkdirAll(home+"/.ssh", 0o700), os.WriteFile(home+"/.ssh/id", nil, 0o600), os.WriteFile(home+"/.ssh/id.pub", nil, 0o600),
		os.WriteFile(home+"/.ssh/known_hosts", nil, 0o600), os.WriteFile(home+"/p.kdbx", nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Symlink("id", home+"/.ssh/link.pub") // systems without links have nothing to show
	var hide, show []string
	for _, p := range Find(home, nil) {
		h, s := p.Existing()
		hide, show = append(hide, h...), append(show, s...)
	}
	slices.Sort(hide)
	slices.Sort(show)
	if want := []string{filepath.Join(home, ".ssh"), filepath.Join(home, "p.kdbx")}; !slices.Equal(hide, want) {
		t.Errorf("hidden %v", hide)
	}
	if want := []string{filepath.Join(home, ".ssh", "id.pub"), filepath.Join(home, ".ssh", "known_hosts")}; !slices.Equal(show, want) {
		t.Errorf("shown %v", show)
	}
}

// Each row has a reason, and one that people read in a sentence.
func TestRows(t *testing.T) {
	for _, r := range rows() {
		if r.reason == "" || r.path == "" || strings.HasPrefix(r.path, "/") || strings.HasSuffix(r.reason, ".") || !slices.Contains([]base{home, config, data}, r.base) {
			t.Errorf("%+v", r)
		}
	}
	for _, tool := range []string{"gh", "aws", "docker", "kubectl", "gcloud", "npm"} {
		if !slices.Contains(Tools(), tool) {
			t.Errorf("%s has no place", tool)
		}
	}
}

func TestRedact(t *testing.T) {
	for _, c := range []struct {
		format   Format
		in, want string
	}{
		{
			Lines, "registry=https://r.example/\n//r.example/:_authToken=abc\n@me:registry=https://m.example/\n//m.example/:_password=\"x\"\nstrict-ssl=true\n_auth=abc\nemail=a@b\n",
			"registry=https://r.example/\n@me:registry=https://m.example/\nstrict-ssl=true\nemail=a@b\n",
		},
		{Lines, "[global]\nindex-url = https://u:p@x.example/simple\ntimeout = 9\n", "[global]\ntimeout = 9\n"},
		{Lines, "key: |\n  -----BEGIN\n  abc\nnext: 1\n", "next: 1\n"},
		{Lines, "---\nBUNDLE_PATH: \"v\"\nBUNDLE_GEMS__EXAMPLE__COM: \"u:p\"\n", "---\nBUNDLE_PATH: \"v\"\n"},
		{JSON, `{"auths": {"x": {"auth": "y"}}}`, "{}\n"},
		{
			XML, "<settings><servers><server><id>a</id><password>p</password></server></servers><mirrors><mirror><url>https://u:p@m/</url></mirror></mirrors></settings>",
			"<settings><servers><server><id>a</id></server></servers><mirrors><mirror><url>https://m/</url></mirror></mirrors></settings>",
		},
		{XML, `<c><add key="Username" value="u"/><add key="ClearTextPassword" value="p"/></c><apikeys><add key="a" value="b"/></apikeys>`, `<c><add key="Username" value="u"/></c>`},
	} {
		if got := Redact(c.format, c.in); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", c.format, c.in, got, c.want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	ps := Find("/home/dev", nil)
	for b.Loop() {
		ps.Containing("/home/dev/app/main.go")
	}
}
