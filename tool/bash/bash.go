// Package bash is the tool that runs commands. It analyzes a command line, asks for permission,
// sets up the environment and the sandbox, and limits the output that a model sees.
//
// Commands of users (user.go) run the same way without a permission. Start at New.
package bash

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed bash.md
var bashText string

// Config configures how commands run.
type Config struct {
	// Runner runs them. Its opener closes it.
	Runner *sandbox.Runner
	// Shell is the user's preferred shell, a path or a name; "" is the machine's default.
	Shell string
	// Env is the environment of the program, and of its commands but for the secrets.
	Env []string
	// Secrets names the variables that hold credentials of providers; it is asked when the
	// first command runs. Keep names variables that commands get anyway. See [Scrub].
	Secrets func() []string
	KeepEnv []string
	// ExtraEnv returns variables that a command gets beside those, in this directory; the call is nil
	// for one that the user typed. nil adds none.
	ExtraEnv func(ctx context.Context, dir string, c *tool.Call) (map[string]string, error)
	// Output is where long outputs go. Its limits are 1,000 lines and 30 KB where it has none.
	Output tool.Output
	// FileBytes limits one output in a file; 0 is 100 MB.
	FileBytes int64
	// Timeout is how long a command may run that has none of its own; 0 is two minutes.
	Timeout time.Duration
	// NonInteractive says that no user answers questions, so that no option is offered that
	// needs an answer.
	NonInteractive bool
	// Leftovers is the policy for background processes.
	Leftovers sandbox.LeftoverPolicy
	// Confine returns the sandbox for the command line of a call; nil confines none. The
	// commands of a [Shell] are the user's own and never confined.
	Confine func(*tool.Call, Line) (sandbox.Profile, error)
}

// The default limits of a command.
const (
	defaultTimeout   = 2 * time.Minute
	defaultFileBytes = 100 << 20
	bashLines        = 1000
	bashBytes        = 30 << 10
	// longestTimeout is in milliseconds, some 35 years: more would not fit a duration.
	longestTimeout = 1 << 40
)

type bash struct {
	Config
	home  string
	shell func() shell    // that models write for
	own   func() shell    // the user's, of any kind
	env   func() []string // of a model's command
}

func newBash(cfg Config) *bash {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.FileBytes <= 0 {
		cfg.FileBytes = defaultFileBytes
	}
	if l := &cfg.Output.Limits; l.Lines <= 0 {
		l.Lines = bashLines
	}
	if l := &cfg.Output.Limits; l.Bytes <= 0 {
		l.Bytes = bashBytes
	}
	home := environ.Variable(cfg.Env, "HOME")
	if home == "" {
		home = environ.Variable(cfg.Env, "USERPROFILE")
	}
	return &bash{
		Config: cfg, home: home,
		shell: sync.OnceValue(func() shell { return chooseShell(cfg.Shell, cfg.Env, false) }),
		own:   sync.OnceValue(func() shell { return chooseShell(cfg.Shell, cfg.Env, true) }),
		env:   sync.OnceValue(func() []string { return withoutTerminal(Scrub(cfg.Env, secrets(cfg), cfg.KeepEnv)) }),
	}
}

func secrets(cfg Config) []string {
	if cfg.Secrets == nil {
		return nil
	}
	return cfg.Secrets()
}

// bashInput is a command. Some models add a description, which is ignored.
type bashInput struct {
	Command    string `json:"command" jsonschema:"the command line: go test ./..."`
	Timeout    int64  `json:"timeout,omitempty" jsonschema:"the most time it may take, in milliseconds, 120000 without: 600000"`
	Workdir    string `json:"workdir,omitempty" jsonschema:"the directory to run in, the project's without: web/app"`
	Background bool   `json:"background,omitempty" jsonschema:"do not wait for its end: true for a server"`
	Outside    string `json:"outside,omitempty" jsonschema:"why it must run outside of the sandbox that refused it, which the user is asked: it installs a hook"`
}

// New returns the tool that runs a command in the user's shell.
func New(cfg Config) tool.Tool {
	return tool.Define(tool.Spec{Name: "bash", Description: strings.TrimSpace(bashText), Tail: true, Anywhere: true}, newBash(cfg).run)
}

// run executes a command line and returns its output, cleaned and cut to the limits.
func (b *bash) run(ctx context.Context, c *tool.Call, in bashInput) (tool.Result, error) {
	dir, timeout, err := b.check(c, in)
	if err == nil && in.Background {
		err = checkBackground(ctx, c)
	}
	if err != nil {
		return tool.Result{}, err
	}
	env, err := b.environment(ctx, b.env(), dir.Path, c)
	if err != nil {
		return tool.Result{}, err
	}
	scan := b.scan(in.Command, dir, env)
	scan.consult(c)
	profile, err := b.confine(c, in, scan)
	if err != nil {
		return tool.Result{}, err
	}
	if err := b.permit(ctx, c, in.Command, dir, scan); err != nil {
		return tool.Result{}, err
	}
	if now, err := target.Locate(c, in.Workdir); err != nil || now.Path != dir.Path {
		return tool.Result{}, tool.Failf("The workdir %s leads elsewhere than when the user was asked, so nothing was run. Look at it and call bash again.", dir.Shown)
	}
	if profile, err = leaveSandbox(ctx, c, in, profile); err != nil {
		return tool.Result{}, err
	}
	owner := string(c.Session)
	line, env := b.withJobs(owner, in.Command, env)
	x := &execution{bash: b, call: c, in: in, dir: dir.Path, timeout: timeout, profile: profile, line: scan.line}
	return x.run(ctx, sandbox.Command{
		Path: b.shell().path, Args: b.shell().args(line), Dir: dir.Path, Env: env, Leftovers: b.Leftovers, Profile: profile, Owner: owner,
	})
}

// check refuses commands that cannot run before the user is asked.
func (b *bash) check(c *tool.Call, in bashInput) (dir target.Target, timeout time.Duration, err error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return target.Target{}, 0, tool.Failf("The command is empty. Give the command line to run, such as {\"command\":\"git status\"}.")
	case strings.ContainsRune(in.Command, 0):
		return target.Target{}, 0, tool.Failf("The command has a NUL character, which no shell can be given. Write such data with printf, as printf '\\0'.")
	case in.Timeout < 0:
		return target.Target{}, 0, tool.Failf("The timeout is %d; it must be more than 0, in milliseconds: {\"timeout\":120000} is two minutes.", in.Timeout)
	case b.shell().path == "":
		return target.Target{}, 0, tool.Failf("No shell found on this machine. Use the other tools, and tell the user to set \"shell\" in the config.")
	}
	if timeout = b.Timeout; in.Timeout > 0 {
		timeout = time.Duration(min(in.Timeout, longestTimeout)) * time.Millisecond
	}
	dir, err = target.Locate(c, in.Workdir)
	if err != nil {
		return target.Target{}, 0, err
	}
	if !dir.Inside && !dir.IsDir() { // not yet allowed to reveal what exists
		return target.Target{}, 0, tool.Failf("The workdir %s is not a directory. Name an existing directory, or omit workdir to run in %s.", dir.Shown, c.Dir)
	}
	if dir.Info == nil {
		return target.Target{}, 0, target.NotFound(dir, "bash")
	}
	if dir.Temporary && !workspace.Inside(target.RealDir(target.TempDirs[0]), dir.Path) { // it is there for commands only
		return target.Target{}, 0, tool.Failf("The workdir cannot be a temporary folder. Call bash without workdir and begin the command with cd %s &&.", dir.Shown)
	}
	if !dir.IsDir() {
		return target.Target{}, 0, tool.Failf("The workdir %s is not a directory. Give its directory, %s, or leave workdir out to run in %s.",
			dir.Shown, filepath.Dir(dir.Shown), c.Dir)
	}
	return dir, timeout, nil
}
