package confine

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/sandbox"
)

// Settings of git come after those that the environment has already, and git reads all of them.
func TestSetGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	env := []string{"GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir(), "GIT_CONFIG_KEY_0=a.one", "GIT_CONFIG_VALUE_0=1"}
	var p sandbox.Profile
	for _, key := range []string{"a.two", "a.three"} {
		setGit(&p, func(string) string { return "1" }, key, "x")
	}
	cmd := exec.Command(git, "config", "--get-regexp", `a\..*`)
	cmd.Env, cmd.Dir = append(env, p.Env...), t.TempDir()
	out, err := cmd.CombinedOutput()
	if want := "a.one 1\na.two x\na.three x\n"; err != nil || string(out) != want {
		t.Errorf("%v, got %q of %s", err, out, strings.Join(p.Env, " "))
	}
}
