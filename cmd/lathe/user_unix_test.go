//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

const nobody = 65534

// cmdAsUser runs lathe as someone whom file permissions hold back, which they do not for root:
// as-user 1 session list. The first argument is the exit code.
func cmdAsUser(ts *testscript.TestScript, _ bool, args []string) {
	if os.Geteuid() != 0 {
		cmdCode(ts, false, append([]string{args[0], "lathe"}, args[1:]...))
		return
	}
	work := ts.Getenv("WORK")
	for dir := work; dir != filepath.Dir(os.TempDir()) && len(dir) > 1; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o5 != 0o5 {
			ts.Check(os.Chmod(dir, info.Mode().Perm()|0o055))
		}
	}
	program := filepath.Join(work, "bin", "lathe")
	ts.Check(copyProgram(program))
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir = work
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	for _, name := range []string{"HOME", "LATHE_DATA", "TZ", "GORACE", "PATH"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	_, _ = ts.Stdout().Write(stdout.Bytes())
	_, _ = ts.Stderr().Write(stderr.Bytes())
	ts.Logf("[stdout]\n%s[stderr]\n%s", stdout.String(), stderr.String())
	got := "0"
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = string(rune('0' + exit.ExitCode()))
	} else {
		ts.Check(err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, not %s", got, args[0])
	}
}

func copyProgram(to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// By another process: one that a test beside this one starts would inherit a file that is open for
	// writing, and what is being written cannot be run.
	return exec.Command("cp", self, to).Run()
}

// enter starts a command below another root.
func enter(cmd *exec.Cmd, root string) {
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Chroot: root}, "/"
}
