//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// clockVariable moves the clock of a test build, in seconds.
const clockVariable = "LATHE_TORTURE_CLOCK"

// change is an edit of a source file for a test build. The file on the disk stays as it is.
type change struct {
	file     string // below the repository, or below GOROOT if it begins with $GOROOT
	old, new string
}

// skewedClock lets a process live in another time. Everything that reads the time of day sees it; timers do not, as with
// a clock that somebody has set wrong. (libfaketime does not act on a static Go program.)
func skewedClock() []change {
	return []change{
		{"$GOROOT/src/time/time.go", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += tortureSkew\n"},
		{"$GOROOT/src/time/sys_unix.go", "// for testing: whatever interrupts a sleep\n", `
// tortureSkew is the error of the clock in seconds.
var tortureSkew = readSkew()

func readSkew() (n int64) {
	text, _ := syscall.Getenv("` + clockVariable + `")
	sign := int64(1)
	for _, c := range text {
		switch {
		case c == '-':
			sign = -1
		case c >= '0' && c <= '9':
			n = 10*n + int64(c-'0')
		}
	}
	return sign * n
}

// for testing: whatever interrupts a sleep
`},
	}
}

// control names test builds without one of the protections. A campaign with such a build must fail: otherwise it
// would not notice if the protection were broken.
func control(name string) ([]change, error) {
	switch name {
	case "epoch": // commits of a former owner are not refused
		return []change{{"store/lease.go", "WHERE session.id = $1 AND epoch = $2 AND owner = $3`", "WHERE session.id = $1 AND ($2 > 0 OR $3 <> '')`"}}, nil
	case "fence": // commands and files do not stop with the lease of their node
		return []change{{"internal/fence/now_linux.go", "return time.Duration(ts.Nano())", "return time.Duration(ts.Nano()) / 1_000_000"}}, nil
	default:
		return nil, fmt.Errorf("the control %q is not known; use epoch or fence", name)
	}
}

// build builds lathe with changes into a file. The repository is the working directory or above it.
func build(ctx context.Context, to string, changes []change) error {
	env, err := exec.CommandContext(ctx, "go", "env", "GOMOD", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	mod, goroot, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	repository := filepath.Dir(mod)
	args := []string{"build", "-trimpath", "-o", to}
	if len(changes) > 0 {
		dir, err := os.MkdirTemp("", "lathe-build-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		overlay, err := writeOverlay(dir, repository, goroot, changes)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/lathe")...)
	cmd.Dir, cmd.Env = repository, append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// writeOverlay writes the changed files and the list that go build reads.
func writeOverlay(dir, repository, goroot string, changes []change) (string, error) {
	replace := map[string]string{}
	for i, c := range changes {
		path := filepath.Join(repository, c.file)
		if below, ok := strings.CutPrefix(c.file, "$GOROOT/"); ok {
			path = filepath.Join(goroot, below)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), c.old) != 1 {
			return "", fmt.Errorf("%s has changed: it does not have %q once; adapt scripts/cluster/build.go", c.file, c.old)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	path := filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, list, 0o600))
}
