package demo

import (
	"context"
	"embed"
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
	//go:embed project
	demoFiles embed.FS
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
	return demoProject{name: "Go", test: "go test ./...", script: demoScript, files: filesOf("go")}
}

// demoShell is for machines without Go.
func demoShell() demoProject {
	const remark = "There is no Go on this machine, so a shell script is mended instead of a Go program."
	return demoProject{name: "shell", test: "sh test.sh", script: demoShellScript, remark: remark, files: filesOf("shell")}
}

// filesOf are the files of a project. Here their names end in .txt, or they would be files of this one.
func filesOf(project string) map[string]string {
	out := map[string]string{}
	files, _ := demoFiles.ReadDir("project/" + project) // it was built in, as they were
	for _, f := range files {
		text, _ := demoFiles.ReadFile("project/" + project + "/" + f.Name())
		out[strings.TrimSuffix(f.Name(), ".txt")] = string(text)
	}
	return out
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
