//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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

// The credential file of another user is refused, whether it can be read or not: it would choose the account that prompts are
// sent to.
func TestCredentials_OfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can run lathe as another user")
	}
	dir, err := os.MkdirTemp("", "lathe-user")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, path := filepath.Join(dir, "bin", "lathe"), filepath.Join(dir, "data", "auth.json")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "data"), 0o755), os.Chown(filepath.Join(dir, "data"), nobody, nobody), copyProgram(program)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		owner int
		mode  os.FileMode
		want  string
	}{{nobody, 0o600, "anthropic"}, {0, 0o644, "belongs to another user (uid 0)"}, {0, 0o600, "belongs to another user (uid 0)"}} {
		if err := errors.Join(os.WriteFile(path, []byte(`{"anthropic":{"type":"api","key":"sk-hidden"}}`), c.mode), os.Chmod(path, c.mode), os.Chown(path, c.owner, -1)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "auth", "list")
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "LATHE_DATA=" + filepath.Dir(path), "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.owner == nobody) || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "sk-hidden") {
			t.Errorf("of %d with mode %o: %v\n%s", c.owner, c.mode, err, out)
		}
	}
}
