package terminal

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/environ"
)

// Shell is a shell on this machine.
type Shell struct {
	Path string `json:"path"`
	Name string `json:"name"`
	// Acceptable says that commands of models can run in it: its language is that of sh.
	Acceptable bool `json:"acceptable"`
}

// Shells lists those that people can log in with, the preferred one first.
func (s *Set) Shells() []Shell {
	paths := []string{environ.Find(s.Env, "", s.shell())}
	if text, err := os.ReadFile("/etc/shells"); err == nil {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				paths = append(paths, line)
			}
		}
	}
	for _, name := range []string{"bash", "zsh", "fish", "sh"} {
		paths = append(paths, environ.Find(s.Env, "", name))
	}
	var out []Shell
	seen := map[string]bool{}
	for _, path := range paths {
		if path == "" || seen[path] || !environ.IsExecutable(path) {
			continue
		}
		seen[path] = true
		name := shellName(path)
		out = append(out, Shell{Path: path, Name: name, Acceptable: !slices.Contains(foreign, name)})
	}
	return out
}

// foreign are shells with a language of their own.
var foreign = []string{"fish", "nu", "csh", "tcsh", "elvish", "xonsh", "rbash", "git-shell", "nologin", "false", "tmux", "screen"}

// login are the shells that know -l.
var login = []string{"bash", "dash", "fish", "ksh", "sh", "zsh"}

func shellName(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
}

// shell is the one the user prefers, if it is there, or what the machine has.
func (s *Set) shell() string {
	for _, name := range []string{s.Shell, environ.Variable(s.Env, "SHELL"), "bash", "zsh"} {
		if path := environ.Find(s.Env, "", name); path != "" {
			return path
		}
	}
	if runtime.GOOS == "windows" {
		return environ.Variable(s.Env, "COMSPEC")
	}
	return "/bin/sh"
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// environment is the environment of a terminal: ours, that of the client, and variables that
// describe the terminal.
func (s *Set) environment(more map[string]string) []string {
	set := map[string]string{}
	maps.Copy(set, more)
	set["TERM"], set["OPENCODE_TERMINAL"] = "xterm-256color", "1"
	return environ.With(s.Env, set)
}
