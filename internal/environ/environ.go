// Package environ reads environments given as lists of name=value, and finds programs by their PATH.
//
// It holds no state and reads no environment of its own. Start reading at [Find].
package environ

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// SameName reports whether two names are those of one variable.
func SameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// Variable returns the value of a variable; the last of that name counts.
func Variable(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if n, value, ok := strings.Cut(v, "="); ok && SameName(n, name) {
			return value
		}
	}
	return ""
}

// With returns the environment with these variables in place of its own.
func With(env []string, more map[string]string) []string {
	out := make([]string, 0, len(env)+len(more))
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if _, given := more[name]; !given {
			out = append(out, v)
		}
	}
	for name, value := range more {
		out = append(out, name+"="+value)
	}
	return out
}

// Find returns the absolute path of a program, "" if there is none: a path begins at dir, a
// name is looked for in the PATH of the environment. It ignores relative folders in PATH, so
// that the current directory cannot decide which program runs.
func Find(env []string, dir, name string) string {
	folders := []string{dir}
	switch {
	case name == "":
		return ""
	case filepath.IsAbs(name):
		folders = []string{""}
	case !strings.ContainsAny(name, `/\`):
		folders = filepath.SplitList(Variable(env, "PATH"))
	}
	endings := []string{""}
	if runtime.GOOS == "windows" {
		endings = append(strings.Fields(strings.ReplaceAll(strings.ToLower(Variable(env, "PATHEXT")), ";", " ")), ".exe", ".cmd", ".bat", "")
	}
	for _, folder := range folders {
		for _, ending := range endings {
			if path := filepath.Join(folder, name+ending); filepath.IsAbs(path) && IsExecutable(path) {
				return path
			}
		}
	}
	return ""
}

// IsExecutable reports whether there is a program at a path.
func IsExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
