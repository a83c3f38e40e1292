package bash

import (
	"context"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/tool"
)

// shell is the program that runs commands.
type shell struct {
	path string
	kind string // its name without directory and extension, in lower case
}

func shellAt(path string) shell {
	return shell{path, strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")}
}

// posix reports whether it reads the grammar that package shell analyzes.
func (s shell) posix() bool {
	switch s.kind {
	case "cmd", "powershell", "pwsh", "fish", "nu", "csh", "tcsh", "elvish", "xonsh":
		return false
	}
	return s.path != ""
}

// args makes a command line of a command.
func (s shell) args(command string) []string {
	switch s.kind {
	case "powershell", "pwsh":
		return []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command}
	case "cmd":
		return []string{"/d", "/s", "/c", command}
	}
	return []string{"-c", command}
}

// chooseShell returns the one the user prefers, a path or a name, if it is there. Models write
// for bash, so shells with a language of their own are not taken unless foreign ones may be.
func chooseShell(preferred string, env []string, foreign bool) shell {
	if path := environ.Find(env, "", preferred); path != "" {
		s := shellAt(path)
		if foreign || s.kind != "fish" && s.kind != "nu" {
			return s
		}
	}
	names := []string{"bash", "/bin/sh"}
	switch runtime.GOOS {
	case "darwin":
		names = []string{"bash", "/bin/zsh", "/bin/sh"}
	case "windows":
		names = []string{"pwsh", "powershell", `C:\Program Files\Git\bin\bash.exe`, environ.Variable(env, "COMSPEC")}
	}
	for _, name := range names {
		if path := environ.Find(env, "", name); path != "" {
			return shellAt(path)
		}
	}
	return shell{}
}

// environment is the environment of a command, with the additions of others.
func (b *bash) environment(ctx context.Context, base []string, dir string, c *tool.Call) ([]string, error) {
	if b.ExtraEnv == nil {
		return base, nil
	}
	more, err := b.ExtraEnv(ctx, dir, c)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(more[name], 0) {
			return nil, tool.Failf("A plugin gave a variable that no command can have: %q. Nothing was run.", name)
		}
		base = append(slices.Clip(base), name+"="+more[name])
	}
	return base, nil
}

// unattended are the variables that make programs non-interactive. The first list replaces what
// the user has for a terminal, since a command has none: an editor would wait for ever. The
// second only fills in what is not set. (GIT_SSH_COMMAND is not in it: it would hide
// core.sshCommand of the user. Without a terminal and without a window to ask in, ssh fails by
// itself.)
var (
	unattended = []string{
		"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
		"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
	}
	quiet = []string{
		"NO_COLOR=1", "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never",
		"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1", "PIP_PROGRESS_BAR=off", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"npm_config_yes=true", "npm_config_fund=false", "PYTHONUNBUFFERED=1", "HOMEBREW_NO_AUTO_UPDATE=1",
	}
)

// withoutTerminal is an environment for a command without a terminal.
func withoutTerminal(env []string) []string {
	names := map[string]bool{}
	for _, v := range unattended {
		name, _, _ := strings.Cut(v, "=")
		names[name] = true
	}
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return names[name]
	})
	out = append(out, unattended...)
	for _, v := range quiet {
		name, _, _ := strings.Cut(v, "=")
		if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			out = append(out, v)
		}
	}
	return out
}

// Scrub takes the secrets of this program and of model providers out of an environment: a
// command that a model wrote has no use for them.
//
// A variable goes if a word of a secret is in its name (KEY, SECRET, TOKEN, PASSWORD, in any
// case) and the name is one of known, or has its first word up to the underscore in common with
// one of known that is a secret too (ANTHROPIC_API_KEY also stands for ANTHROPIC_AUTH_TOKEN), or
// begins with LATHE_ or OPENCODE_.
// What is in keep stays. All other variables stay too: those of the user's own programs are
// needed by their tests, and a rule that guesses would break them.
func Scrub(env, known, keep []string) []string {
	vendors := []string{"LATHE", "OPENCODE"}
	for _, name := range known {
		if i := secretWord(name); i > 0 {
			vendor, _, _ := strings.Cut(strings.ToUpper(name), "_")
			vendors = append(vendors, vendor)
		}
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		if IsClusterSecret(name) {
			return true
		}
		if secretWord(name) < 0 || slices.ContainsFunc(keep, func(k string) bool { return environ.SameName(k, name) }) {
			return false
		}
		if slices.ContainsFunc(known, func(k string) bool { return environ.SameName(k, name) }) {
			return true
		}
		vendor, _, _ := strings.Cut(strings.ToUpper(name), "_")
		return slices.Contains(vendors, vendor)
	})
}

// IsClusterSecret reports whether a variable holds the address of what nodes share, which may have a password.
func IsClusterSecret(name string) bool {
	switch strings.ToUpper(name) {
	case "LATHE_STORE", "LATHE_BUS", "LATHE_BLOBS":
		return true
	default:
		return false
	}
}

// secretWord returns where in a name the first word of a secret stands; -1 is nowhere.
func secretWord(name string) int {
	first := -1
	for _, word := range []string{"KEY", "SECRET", "TOKEN", "PASSWORD"} {
		if i := strings.Index(strings.ToUpper(name), word); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}
