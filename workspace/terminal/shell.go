package terminal

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Shell is a shell of this machine.
type Shell struct {
	Path string `json:"path"`
	Name string `json:"name"`
	// Acceptable says that commands of models can run in it: its language is that of sh.
	Acceptable bool `json:"acceptable"`
}

// Shells lists those that people can log in with, the preferred one first.
func (s *Set) Shells() []Shell {
	paths := []string{s.find("", s.shell())}
	if text, err := os.ReadFile("/etc/shells"); err == nil {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				paths = append(paths, line)
			}
		}
	}
	for _, name := range []string{"bash", "zsh", "fish", "sh"} {
		paths = append(paths, s.find("", name))
	}
	var out []Shell
	seen := map[string]bool{}
	for _, path := range paths {
		if path == "" || seen[path] || !executable(path) {
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
	for _, name := range []string{s.Shell, s.variable("SHELL"), "bash", "zsh"} {
		if path := s.find("", name); path != "" {
			return path
		}
	}
	if runtime.GOOS == "windows" {
		return s.variable("COMSPEC")
	}
	return "/bin/sh"
}

// find returns the path of a program: one with a slash begins at dir, others are on the PATH.
func (s *Set) find(dir, name string) string {
	switch {
	case name == "":
		return ""
	case filepath.IsAbs(name), strings.ContainsAny(name, `/\`):
		if path := absolute(dir, name); filepath.IsAbs(path) && executable(path) {
			return path
		}
		return ""
	}
	for _, at := range filepath.SplitList(s.variable("PATH")) {
		if path := filepath.Join(at, name); filepath.IsAbs(path) && executable(path) {
			return path
		}
	}
	return ""
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// variable is the value of a variable; the last of that name counts.
func (s *Set) variable(name string) string {
	for _, v := range slices.Backward(s.Env) {
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			return value
		}
	}
	return ""
}

// environment is that of a terminal: ours, what the client gave, and what tells programs where
// they are.
func (s *Set) environment(more map[string]string) []string {
	set := map[string]string{}
	for name, value := range more {
		set[name] = value
	}
	set["TERM"], set["OPENCODE_TERMINAL"] = "xterm-256color", "1"
	var out []string
	for _, v := range s.Env {
		name, _, _ := strings.Cut(v, "=")
		if _, given := set[name]; !given {
			out = append(out, v)
		}
	}
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	return out
}
