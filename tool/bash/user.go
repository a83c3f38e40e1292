package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
)

// Shell runs commands that the user typed: in the user's own shell with its rc files and
// aliases, unasked, without a time limit, and with the whole environment.
type Shell struct{ bash *bash }

// NewShell makes one; it takes what [New] takes. Its Timeout is not used.
func NewShell(cfg Config) *Shell { return &Shell{newBash(cfg)} }

// ModelShell names the shell that commands of models are written for; "" if there is none.
func (s *Shell) ModelShell() string {
	if path := s.bash.shell().path; path != "" {
		return strings.TrimSuffix(filepath.Base(path), ".exe")
	}
	return ""
}

// UserCommand is a command that the user typed in a session.
type UserCommand struct {
	Session lathe.SessionID
	Agent   string // of the session
	Dir     string
	Root    string // as in [Call]
	Command string
	// Local says that the user typed it into this program. A command from elsewhere has the
	// sandbox of the agent.
	Local bool
}

// confine returns the sandbox of a command.
func (s *Shell) confine(in UserCommand) (sandbox.Profile, error) {
	if in.Local || s.bash.Confine == nil {
		return sandbox.Profile{}, nil
	}
	p, err := s.bash.Confine(&tool.Call{Session: in.Session, Agent: in.Agent, Dir: in.Dir, Root: in.Root}, Line{})
	if err != nil {
		return p, fmt.Errorf("run a shell command: %w", err)
	}
	return p, nil
}

// Run runs a command in a directory and shows metadata with the output while it runs, as [New]
// does. The result is its output, for any exit code. When ctx ends, the command is ended and
// the result has the output so far, with a note. An error means that it could not be run.
func (s *Shell) Run(ctx context.Context, in UserCommand, show func(metadata json.RawMessage)) (tool.Result, error) {
	b, sh, dir := s.bash, s.bash.own(), in.Dir
	if sh.path == "" {
		return tool.Result{}, lathe.Errorf(lathe.Invalid, "no shell found on this machine; set \"shell\" in the config")
	}
	profile, err := s.confine(in)
	if err != nil {
		return tool.Result{}, err
	}
	env, err := b.environment(ctx, withoutTerminal(b.Env), dir, nil)
	if err != nil {
		return tool.Result{}, err
	}
	p := b.newPrinted(in.Session, show)
	res, err := b.Runner.Run(ctx, sandbox.Command{
		Path: sh.path, Args: sh.asUser(dir, in.Command), Dir: dir, Env: env, Leftovers: b.Leftovers, Profile: profile, UserTyped: true,
	}, p.write)
	p.end()
	if err != nil {
		p.spool.finish(false)
		return tool.Result{}, fmt.Errorf("run a shell command: %w", err)
	}
	text, meta := b.outcome(res, p)
	if res.Canceled {
		text = strings.TrimRight(text, "\n") + "\n\n<metadata>\nUser aborted the command\n</metadata>"
	}
	return tool.Result{Output: text, Metadata: meta}, nil
}

// asUser makes a command line that knows what the user's own terminal knows. Rc files may print,
// and may change the directory.
func (s shell) asUser(dir, command string) []string {
	const back = `; __dir=$1 __command=$2; shift 2; cd -- "$__dir" && eval "$__command"`
	switch s.kind {
	case "bash":
		return []string{"-l", "-c", `shopt -s expand_aliases; [ -f ~/.bashrc ] && . ~/.bashrc >/dev/null 2>&1` + back, "bash", dir, command}
	case "zsh":
		return []string{"-l", "-c", `[ -f "${ZDOTDIR:-$HOME}/.zshrc" ] && . "${ZDOTDIR:-$HOME}/.zshrc" >/dev/null 2>&1` + back, "zsh", dir, command}
	}
	return s.args(command)
}
