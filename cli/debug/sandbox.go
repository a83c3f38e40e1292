package debug

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/tool/bash"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// newDebugSandbox explains why the sandbox refuses something.
func newDebugSandbox(a *cli.App) *cobra.Command {
	agent := ""
	cmd := &cobra.Command{
		Use:   "sandbox [COMMAND]",
		Short: "Show the sandbox of this directory, or run a command in it",
		Long: `Show the sandbox profile of model commands in this directory: writable paths, protected paths inside
them, and the kernel features that enforce it. With COMMAND, run it in the sandbox and print what was
refused.

Protected paths are mounted read-only if the system allows mounts. While the command runs, an empty
folder replaces a missing one. Without mounts, changes to protected paths are undone when the
command ends, and new files are moved aside.`,
		Example: `  lathe debug sandbox
  lathe debug sandbox --agent plan --json
  lathe debug sandbox 'echo x > ~/.bashrc'`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return debugSandbox(c.Context(), a, agent, strings.Join(args, " "))
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "build", "`NAME` of the agent whose profile to use")
	return a.JSONFlag(cmd)
}

// sandboxJSON is the output of --json.
type sandboxJSON struct {
	Available bool            `json:"available"`
	Why       string          `json:"why,omitempty"` // it is not
	Landlock  int             `json:"landlock"`
	Seatbelt  bool            `json:"seatbelt,omitempty"` // macOS
	Profile   sandbox.Profile `json:"profile"`
	Report    *sandbox.Report `json:"report,omitempty"` // of a command that does nothing
	Command   *commandJSON    `json:"command,omitempty"`
}

// commandJSON is the result of a command that ran in the sandbox.
type commandJSON struct {
	Command  string          `json:"command"`
	Output   string          `json:"output"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // absent if no command was run
}

// debugSandbox builds the profile that a turn would use, and probes it or runs the command in it.
func debugSandbox(ctx context.Context, a *cli.App, agent, command string) (err error) {
	o, err := a.ConfigOptions()
	if err != nil {
		return err
	}
	loaded, err := config.Load(o)
	if err != nil {
		return err
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Forbidden: sandbox.ServedByLathe})
	defer func() { err = errors.Join(err, runner.Close()) }()
	policy := confine.New(a.ConfineHost(), runner.Kernel)
	policy.Warn, policy.NoCommands = func(error) {}, command == "" // printed below
	defer policy.Close()
	call := &tool.Call{Session: lathe.SessionID("debug-" + strconv.Itoa(os.Getpid())), Agent: agent, Dir: o.Directory, Root: o.Worktree}
	out := sandboxJSON{Landlock: runner.Kernel().Landlock, Seatbelt: runner.Kernel().Seatbelt, Available: true}
	if why := runner.Kernel().Available(false); why != nil {
		out.Available, out.Why = false, why.Error()
	}
	if out.Profile, err = policy.Profile(loaded.Config, call, bash.Line{}); err != nil {
		return lathe.Errorf(lathe.Invalid, "%w", err)
	}
	if command == "" {
		out.Report = probeSandbox(ctx, runner, out.Profile)
	} else {
		defer func() { _ = sandbox.RemoveTree(out.Profile.Temp) }()
		out.Command, err = trySandboxed(ctx, a, runner, *call, command, func(call *tool.Call, line bash.Line) (p sandbox.Profile, err error) {
			out.Profile, err = policy.Profile(loaded.Config, call, line)
			return out.Profile, err
		})
		if err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	showSandbox(a, out)
	return nil
}

// probeSandbox runs an empty command to find out which parts of the profile the system enforces.
func probeSandbox(ctx context.Context, r *sandbox.Runner, p sandbox.Profile) *sandbox.Report {
	if !p.Confined() {
		return nil
	}
	p.Temp, p.Mounts, p.Reads = "", nil, true // it may be missing and must not be created
	res, err := r.Run(ctx, sandbox.Command{Path: "/bin/sh", Args: []string{"-c", ":"}, Dir: "/", Profile: p, Leftovers: sandbox.EndLeftovers}, func([]byte) {})
	if err != nil {
		return &sandbox.Report{Missing: []string{err.Error()}}
	}
	return res.Sandbox
}

// typist runs a command of the user as the model would, without asking.
type typist struct{ tool.Host }

func (typist) Ask(context.Context, ...tool.Permission) error { return nil }

func (typist) Progress(string, json.RawMessage) {}

func (typist) Background() tool.Background { return nil }

// trySandboxed runs the command through the bash tool, so that it is confined like a command of the model.
func trySandboxed(ctx context.Context, a *cli.App, r *sandbox.Runner, call tool.Call, command string, confine func(*tool.Call, bash.Line) (sandbox.Profile, error)) (*commandJSON, error) {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return nil, err
	}
	call.Input, call.Host = input, typist{}
	res, err := tool.Run(ctx, bash.New(bash.Config{
		Runner: r, Env: a.Environ(), Leftovers: sandbox.EndLeftovers, Confine: confine,
	}), &call)
	var refused *tool.Failure
	switch {
	case errors.As(err, &refused) && refused.Err == nil: // the result for a model
		return &commandJSON{Command: command, Output: refused.Text}, nil
	case err != nil:
		return nil, err
	}
	return &commandJSON{Command: command, Output: res.Output, Metadata: res.Metadata}, nil
}

// showSandbox prints the profile, or the output of the command.
func showSandbox(a *cli.App, s sandboxJSON) {
	p := s.Profile
	a.Printf("Mode      %s\n", p.Mode)
	switch {
	case !s.Available:
		a.Printf("Kernel    %s\n", s.Why)
	case s.Seatbelt:
		a.Printf("Kernel    Seatbelt (sandbox-exec)\n")
	default:
		a.Printf("Kernel    Landlock %d\n", s.Landlock)
	}
	if s.Command == nil {
		a.Printf("Level     %s\n", s.level())
	}
	if p.Confined() && s.Command == nil {
		a.Printf("Network   %s\n", termtext.Plain(p.Network.String()))
		showPaths(a, "Write", p.Write)
		showPaths(a, "Protected", slices.Concat(p.Protect, p.Files, p.Watch))
		showPaths(a, "Hidden", p.Hide)
		showPaths(a, "Shown", p.Show)
		showPaths(a, "Sockets", p.Sockets)
		showReport(a, s)
		a.Printf("Aside     %s\n", termtext.Plain(p.QuarantineDir))
	}
	if s.Command != nil {
		a.Printf("\n")
		for line := range strings.Lines(s.Command.Output) {
			a.Printf("%s\n", termtext.Plain(strings.TrimRight(line, "\n")))
		}
	}
}

// level names what the system enforces, as `lathe doctor` does.
func (s sandboxJSON) level() string {
	switch {
	case !s.Available || !s.Profile.Confined():
		return "none: commands are not confined"
	case s.Report == nil:
		return "unknown"
	case s.Seatbelt || s.Report.Guard == sandbox.Bound && len(s.Report.Missing) == 0:
		return "full: commands are confined as the profile says"
	case s.Report.Guard != sandbox.Bound:
		return "basic: Landlock without mounts, as in a container without privileges"
	default:
		return "basic: some parts are missing"
	}
}

// showReport prints the temporary folder and the parts that the system does not enforce.
func showReport(a *cli.App, s sandboxJSON) {
	switch {
	case s.Report == nil || s.Profile.Temp == "":
	case s.Report.Guard != sandbox.Bound || s.Report.Seatbelt:
		a.Printf("Temp      the shared /tmp, because mounts are not available here\n")
	default:
		a.Printf("Temp      %s, as /tmp\n", termtext.Plain(s.Profile.Temp))
	}
	if s.Report != nil {
		for _, text := range s.Report.Missing {
			a.Printf("Missing   %s\n", termtext.Plain(text))
		}
	}
}

// showPaths lists existing paths and counts the others.
func showPaths(a *cli.App, head string, paths []string) {
	absent := 0
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			absent++
			continue
		}
		a.Printf("%-9s %s\n", head, termtext.Plain(path))
		head = ""
	}
	if absent > 0 {
		a.Printf("%-9s and %d that do not exist\n", head, absent)
	}
}
