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

// The scripts of the built-in model. It serves real HTTP on loopback, so that everything in between is real too.
var (
	//go:embed demo.script
	demoScript string
	//go:embed demo-shell.script
	demoShellScript string
	//go:embed project
	demoFiles embed.FS
)

// demoProject is a small program with a bug, and a test that finds it.
type demoProject struct {
	name   string // Go or shell
	test   string // test command
	script string // script of the model
	files  map[string]string
	env    []string // variables of commands, as name=value
	remark string   // notice about the project, or ""
}

// demoRepository makes the project a repository, without git.
func demoRepository() map[string]string {
	return map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/keep": "", ".git/refs/keep": "",
	}
}

func demoGo() demoProject {
	return demoProject{name: "Go", test: "go test ./...", script: demoScript, files: filesOf("go")}
}

// demoShell is the project without Go.
func demoShell() demoProject {
	const remark = "Go is not installed, so the demo fixes a shell script instead of a Go program."
	return demoProject{name: "shell", test: "sh test.sh", script: demoShellScript, remark: remark, files: filesOf("shell")}
}

// filesOf returns the files of a project. Their embedded names end in .txt, so that Go does not compile them.
func filesOf(project string) map[string]string {
	out := map[string]string{}
	files, _ := demoFiles.ReadDir("project/" + project) // embedded, so it exists
	for _, f := range files {
		text, _ := demoFiles.ReadFile("project/" + project + "/" + f.Name())
		out[strings.TrimSuffix(f.Name(), ".txt")] = string(text)
	}
	return out
}

// demoFor returns the Go project if Go is installed, else the shell project.
func demoFor(ctx context.Context, a *cli.App, root string) (demoProject, error) {
	if p, ok := goDemo(ctx, a, root); ok {
		return p, nil
	}
	if _, err := exec.LookPath("sh"); err == nil && runtime.GOOS != "windows" {
		return demoShell(), nil
	}
	return demoProject{}, lathe.Errorf(lathe.Unavailable, "the demo needs Go or a shell to run its test, and neither is installed: install Go, or start with `lathe auth login`")
}

// goDemo is the Go project. Go's files go to the temporary folder. Only an existing build cache is shared, since
// building the standard library again takes most of a minute.
func goDemo(ctx context.Context, a *cli.App, root string) (demoProject, bool) {
	program, err := exec.LookPath("go")
	if err != nil {
		return demoProject{}, false
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "env", "GOCACHE")
	cmd.Dir, cmd.Env = root, a.Environ()
	if dir, err := os.UserConfigDir(); err == nil { // keeps the demo out of Go's telemetry
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(root, "home", ".config"))
		if a.Env("GOENV") == "" {
			cmd.Env = append(cmd.Env, "GOENV="+filepath.Join(dir, "go", "env"))
		}
	}
	out, err := cmd.Output()
	if err != nil {
		return demoProject{}, false // installed but broken
	}
	cache, p := strings.TrimSpace(string(out)), demoGo()
	if !isWritable(cache) {
		cache = filepath.Join(root, "go-build")
		p.remark = "Go has no build cache here, so the first test takes a while."
	}
	p.env = []string{
		"GOCACHE=" + cache, "GOPATH=" + filepath.Join(root, "go"), "GOENV=off", "GOFLAGS=", "GOPROXY=off",
		"GOTOOLCHAIN=local", "GOWORK=off", "GO111MODULE=on",
	}
	return p, true
}

// isWritable tries to write, since permission bits are not enough.
func isWritable(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	f, err := os.CreateTemp(dir, "lathe-demo-")
	if err != nil {
		return false
	}
	_ = f.Close() // an empty file
	return os.Remove(f.Name()) == nil
}
