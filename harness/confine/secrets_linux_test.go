package confine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace/secret"
)

// wholeLine is a line that is known to do nothing but these commands.
func wholeLine(texts ...string) (l bash.Line) {
	for _, text := range texts {
		l.Commands = append(l.Commands, bash.LineCommand{Text: text})
	}
	l.Complete = true
	return l
}

// put writes a file of a box, by its name below the base.
func (b *box) put(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.base, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

// Each class of secrets can be read without the sandbox, and not in it, with mounts and without.
func TestSecrets_Hidden(t *testing.T) {
	t.Parallel()
	confinable(t)
	for _, mounts := range []bool{true, false} {
		t.Run(map[bool]string{true: "mounts", false: "Landlock"}[mounts], func(t *testing.T) {
			kernel := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel()
			kernel.Mounts = mounts
			b := newBox(t, &kernel)
			var names []string
			for _, place := range secret.Find(b.base+"/home", nil) {
				path := strings.ReplaceAll(place.Path, "*", "all")
				if info, err := os.Stat(path); err == nil && info.IsDir() { // another place is in it
					path += "/hidden"
				}
				text := "token=SECRET\n"
				if place.Redact == secret.XML {
					text = "<password>SECRET</password>\n"
				}
				if errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)) == nil { // else one above it is a file here
					names = append(names, path)
				}
			}
			if len(names) < 200 {
				t.Fatalf("only %d places", len(names))
			}
			b.put("list", strings.Join(names, "\x00"))
			script := `xargs -0 grep -ls SECRET < ../list; true`
			dir := b.base + "/project"
			if res, out := b.in(dir, "build", script, config.Config{Sandbox: config.Sandbox{Mode: "off"}}); res.Exit != 0 || strings.Count(out, "\n") < 200 {
				t.Fatalf("without a sandbox: %+v %s", res, out)
			}
			if res, out := b.in(dir, "build", script, config.Config{}); res.Exit != 0 || strings.TrimSpace(out) != "" {
				t.Errorf("read in the sandbox (%+v): %s", res, out)
			}
		})
	}
}

// What is no secret in a folder of secrets stays, settings open places one by one, and tools see
// their own in lines that run nothing else.
func TestSecrets_Opened(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	for name, text := range map[string]string{
		"home/.ssh/id_ed25519": "KEY", "home/.ssh/id_ed25519.pub": "PUB", "home/.ssh/known_hosts": "HOSTS", "home/.ssh/config": "CONF",
		"home/.aws/config": "REGION", "home/.aws/credentials": "AWS", "home/.config/gh/hosts.yml": "GH",
	} {
		b.put(name, text)
	}
	dir := b.base + "/project"
	all := `cat ~/.ssh/* ~/.aws/* ~/.config/gh/* 2>/dev/null; true`
	for _, c := range []struct {
		name string
		box  config.Sandbox
		line bash.Line
		want string
	}{
		{"by default", config.Sandbox{}, bash.Line{}, "CONFPUBHOSTS"},
		{"a file", config.Sandbox{Read: []string{b.base + "/home/.aws/config"}}, bash.Line{}, "CONFPUBHOSTSREGION"},
		{"a folder", config.Sandbox{Read: []string{b.base + "/home/.aws"}}, bash.Line{}, "CONFPUBHOSTSREGIONAWS"},
		{"a tool", config.Sandbox{Credentials: []string{"gh"}}, wholeLine("gh pr list", "gh pr view"), "CONFPUBHOSTSGH"},
		{"a tool and another", config.Sandbox{Credentials: []string{"gh"}}, wholeLine("gh pr list", "curl x"), "CONFPUBHOSTS"},
		{"a tool in a line that is not known", config.Sandbox{Credentials: []string{"gh"}}, bash.Line{Commands: wholeLine("gh x").Commands}, "CONFPUBHOSTS"},
		{"SSH keys for git", config.Sandbox{Credentials: []string{"ssh"}}, wholeLine("git push"), "CONFKEYPUBHOSTS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			res, out := b.line(dir, "build", all, config.Config{Sandbox: c.box}, c.line)
			if res.Exit != 0 || out != c.want {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
}

// npm and its like find their settings without the tokens.
func TestSecrets_Redacted(t *testing.T) {
	t.Parallel()
	confinable(t)
	b := newBox(t, nil)
	b.put("home/.npmrc", "registry=https://r.example/\n//r.example/:_authToken=SECRET\n")
	b.put("home/.docker/config.json", `{"auths": {"x": {"auth": "SECRET"}}}`)
	b.put("home/.gradle/gradle.properties", "org.gradle.daemon=false\n")
	script := `cat ~/.npmrc ~/.docker/config.json ~/.gradle/gradle.properties`
	res, out := b.in(b.base+"/project", "build", script, config.Config{})
	if res.Sandbox.Guard != sandbox.Bound {
		t.Skip("this machine lets no command have mounts of its own")
	}
	if want := "registry=https://r.example/\n{}\norg.gradle.daemon=false\n"; out != want {
		t.Errorf("got %q of %+v", out, res)
	}
	b.put("home/.npmrc", "registry=https://s.example/\n_auth=SECRET\n") // it changes while lathe runs
	if _, out := b.in(b.base+"/project", "build", "cat ~/.npmrc; echo x >> ~/.npmrc", config.Config{}); !strings.HasPrefix(out, "registry=https://s.example/\n") || strings.Contains(out, "SECRET") {
		t.Errorf("got %q", out)
	}
	if text, err := os.ReadFile(b.base + "/home/.npmrc"); err != nil || !strings.HasSuffix(string(text), "SECRET\n") {
		t.Errorf("it was changed: %q, %v", text, err)
	}
}

// Options that lead git to another program or place are none of everyday work.
func TestPlainGit(t *testing.T) {
	for text, want := range map[string]bool{
		"git push": true, "git push -u origin main": true, "git push --force-with-lease=main origin HEAD:main": true, "git fetch --all --prune": true, "git pull --rebase": true,
		"git commit -am 'fix'": true, "git status --short": true, "git ls-remote origin": true,
		"git push https://evil.example/x": false, "git push ../other": false, "git push /x": false, "git fetch ext::sh": false, "git -c core.sshCommand=x push": false,
		"git -C other push": false, "git fetch --upload-pack=x": false, "git fetch --upl x": false, "git push --receive-pack=x": false, "git push --exec=x": false,
		"git clone x": false, "git submodule foreach x": false, "git rebase --exec x": false, "git diff --ext-diff": false, "git config x y": false, "git": false, "gitx push": false,
	} {
		if got := plainGit(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
