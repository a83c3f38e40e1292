package builtin

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
)

// ask gives a text to a program that only parses it, and reports whether it found nothing
// wrong. The word FILE stands for a file with the text. A program that does not exist, does not
// start or takes too long has found nothing.
func (s *SyntaxChecker) ask(ctx context.Context, text, name string, args ...string) (said string, ok bool) {
	program := environ.Find(s.Env, "", name)
	if program == "" || s.isBrought(program) {
		return "", true
	}
	dir, err := os.MkdirTemp("", "lathe-syntax-")
	if err != nil {
		return "", true
	}
	defer os.RemoveAll(dir)
	for i, arg := range args {
		if arg == "FILE" {
			args[i] = filepath.Join(dir, "script")
			if os.WriteFile(args[i], []byte(text), 0o600) != nil {
				return "", true
			}
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + environ.Variable(s.Env, "PATH"), "HOME=" + environ.Variable(s.Env, "HOME"), "LC_ALL=C"}
	cmd.Stdin = strings.NewReader(text)
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 50 * time.Millisecond
	err = cmd.Run()
	if _, exited := err.(*exec.ExitError); !exited || ctx.Err() != nil {
		return "", true
	}
	return out.String(), false
}

// isBrought reports whether a program lies in the project: it could be anything.
func (s *SyntaxChecker) isBrought(program string) bool {
	for _, dir := range s.avoid {
		if rel, err := filepath.Rel(dir, program); err == nil && filepath.IsLocal(rel) && filepath.Dir(dir) != dir {
			return true
		}
	}
	return false
}
