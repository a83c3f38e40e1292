package sandbox_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// No command has a capability, for any user.
func TestEscape_Capabilities(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		_, out := run(t, y.runner, y.shell("grep -E 'Cap|NoNew' /proc/self/status"))
		for line := range strings.Lines(out) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			if name == "CapBnd" && y.guard == sandbox.Restored && os.Getuid() != 0 {
				continue // only the administrator can empty it, and no program gives any of it
			}
			if want := map[bool]string{true: "1", false: "0000000000000000"}[name == "NoNewPrivs"]; value != want {
				t.Errorf("%s is %s", name, value)
			}
		}
	})
}

// System calls that get around the rules are missing or refused.
func TestEscape_SystemCalls(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		for name, want := range map[string]string{
			"467": "function not implemented", "468": "function not implemented", "471": "function not implemented", "472": "function not implemented",
			"600": "function not implemented", "100000": "function not implemented", "1073741863": "function not implemented", // x32's getpid
			"425": "operation not permitted", "426": "operation not permitted", "427": "operation not permitted", // rings
			"435": "function not implemented", // clone3
		} {
			if res, out := run(t, y.runner, y.shell("$SELF call "+name)); res.Exit == 0 || !strings.Contains(out, want) {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
}

func TestEscape_UserNamespace(t *testing.T) {
	yards(t, func(t *testing.T, y *yard) {
		for _, script := range []string{"$SELF unshare 0", "$SELF child 0"} {
			if res, out := run(t, y.runner, free(y.shell(script))); res.Exit != 0 {
				t.Skipf("nobody can make one here: %s", out)
			}
			if res, out := run(t, y.runner, y.shell(script)); res.Exit == 0 {
				t.Errorf("%s: %s", script, out)
			}
		}
	})
}

// A program for 32 bits, whose system calls have other numbers, does nothing.
func TestEscape_ThirtyTwoBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is one for x86")
	}
	yards(t, func(t *testing.T, y *yard) {
		program := filepath.Join(y.project, "exit")
		if err := os.WriteFile(program, exit32, 0o755); err != nil {
			t.Fatal(err)
		}
		if res, _ := run(t, y.runner, free(y.shell("./exit"))); res.Exit != 7 {
			t.Skipf("this kernel runs no programs for 32 bits: %+v", res)
		}
		if res, _ := run(t, y.runner, y.shell("./exit")); res.Exit == 7 {
			t.Errorf("%+v", res)
		}
	})
}

// exit32 is an ELF program for x86 that exits with 7 by int 0x80, and faults if that does nothing.
var exit32 = append([]byte{
	0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 1, 0, 0, 0, 0x54, 0x80, 0x04, 0x08, 52, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 52, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0,
	1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x04, 0x08, 0, 0x80, 0x04, 0x08, 96, 0, 0, 0, 96, 0, 0, 0, 5, 0, 0, 0, 0, 0x10, 0, 0,
}, 0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80)

// All attacks are tried by an ordinary user as well where the tests run as the administrator.
func TestEscape_AsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user; this run is the ordinary user's, and the other half needs root")
	}
	if raced {
		t.Skip("the ordinary user's half runs without the race detector: make wires")
	}
	if testing.CoverMode() != "" {
		t.Skip("what another user runs is not counted")
	}
	dir, err := os.MkdirTemp("/tmp", "u")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self := filepath.Join(dir, "sandbox.test")
	if err := copyProgram(self); err != nil {
		t.Fatal(err)
	}
	const user = 1000
	if err := os.Chown(dir, user, user); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^Test(Confine|Session|Gate|Escape)_", "-test.timeout", "8m")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func copyProgram(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		return err
	}
	return f.Close()
}
