package demo

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
)

// What is said in the demo: scripts of the model that the program carries with it. It speaks real
// HTTP on the loopback, so that everything between is real too.
var (
	//go:embed demo.script
	demoScript string
	//go:embed demo-shell.script
	demoShellScript string
)

// demoProject is what the demo mends: a small program, a mistake in it, and a test that finds it.
type demoProject struct {
	name   string // what it is, in a word
	test   string // the command that tests it
	script string // what the model says
	files  map[string]string
	env    []string // for its commands, as name=value
	remark string   // what is to be said of it, "" for nothing
}

// demoRepository makes a project a repository, also where there is no git.
func demoRepository() map[string]string {
	return map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/keep": "", ".git/refs/keep": "",
	}
}

func demoGo() demoProject {
	return demoProject{name: "Go", test: "go test ./...", script: demoScript, files: map[string]string{
		"go.mod": "module example.test/slug\n\ngo 1.21\n",
		"slug.go": `// Package slug makes names for addresses.
package slug

import "strings"

// Make turns a title into a name: small letters, words joined by dashes.
func Make(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
`,
		"slug_test.go": `package slug

import "testing"

func TestMake(t *testing.T) {
	for title, want := range map[string]string{
		"Hello World":   "hello-world",
		" Two  spaces ": "two-spaces",
	} {
		if got := Make(title); got != want {
			t.Errorf("Make(%q) = %q, want %q", title, got, want)
		}
	}
}
`,
	}}
}

// demoShell is for machines without Go.
func demoShell() demoProject {
	const remark = "There is no Go on this machine, so a shell script is mended instead of a Go program."
	return demoProject{name: "shell", test: "sh test.sh", script: demoShellScript, remark: remark, files: map[string]string{
		"slug.sh": `# slug TITLE makes a name for an address: small letters, words joined by dashes.
slug() {
	printf '%s' "$1" | tr 'A-Z ' 'a-z-'
}
`,
		"test.sh": `. ./slug.sh
failed=0
check() {
	got=$(slug "$1")
	if [ "$got" != "$2" ]; then
		echo "FAIL: slug \"$1\" gives \"$got\", want \"$2\""
		failed=1
	fi
}
check "Hello World" hello-world
check " Two  spaces " two-spaces
[ $failed = 1 ] || echo ok
exit $failed
`,
	}}
}

// demoFor takes the project in Go where there is Go, else one that a shell can test.
func demoFor(ctx context.Context, a *cli.App, root string) (demoProject, error) {
	if p, ok := goDemo(ctx, a, root); ok {
		return p, nil
	}
	if _, err := exec.LookPath("sh"); err == nil && runtime.GOOS != "windows" {
		return demoShell(), nil
	}
	return demoProject{}, lathe.Errorf(lathe.Unavailable, "the demo mends a small program and runs its test, and this machine has neither go nor a shell for it: install Go, or begin with `lathe auth login`")
}

// goDemo is the project in Go. What Go keeps goes into the throw-away folder; only a build cache
// that is there already is used, as by every go command, since building the library again would
// take most of a minute.
func goDemo(ctx context.Context, a *cli.App, root string) (demoProject, bool) {
	program, err := exec.LookPath("go")
	if err != nil {
		return demoProject{}, false
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "env", "GOCACHE")
	cmd.Dir, cmd.Env = root, a.Environ()
	if dir, err := os.UserConfigDir(); err == nil { // it counts its runs there, and those of the demo are none
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(root, "home", ".config"))
		if a.Env("GOENV") == "" {
			cmd.Env = append(cmd.Env, "GOENV="+filepath.Join(dir, "go", "env"))
		}
	}
	out, err := cmd.Output()
	if err != nil {
		return demoProject{}, false // it is there and does not work
	}
	cache, p := strings.TrimSpace(string(out)), demoGo()
	if !isWritable(cache) {
		cache = filepath.Join(root, "go-build")
		p.remark = "Go has no build cache here, so the first test takes a while: its library is built for it."
	}
	p.env = []string{
		"GOCACHE=" + cache, "GOPATH=" + filepath.Join(root, "go"), "GOENV=off", "GOFLAGS=", "GOPROXY=off",
		"GOTOOLCHAIN=local", "GOWORK=off", "GO111MODULE=on",
	}
	return p, true
}

// isWritable tries it: rights alone do not tell.
func isWritable(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	f, err := os.CreateTemp(dir, "lathe-demo-")
	if err != nil {
		return false
	}
	_ = f.Close() // it is empty
	return os.Remove(f.Name()) == nil
}
