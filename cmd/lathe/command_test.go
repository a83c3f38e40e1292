package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

// eachCommand walks the tree.
func eachCommand(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, f)
	}
}

func TestCommands_TeachByExample(t *testing.T) {
	root := newRoot(newApp())
	eachCommand(root, func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s has no short description or no example", c.CommandPath())
		}
		if !c.Runnable() {
			t.Errorf("%s does nothing", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			checkExample(t, root, line)
		}
	})
}

// latheCall finds calls in a line; it is made when a test wants it, since this program is also
// what is measured below.
var latheCall = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[|&$(;]\s*|ssh build )lathe ([a-z][^|&;)]*)`) })

// checkExample holds a shell line against the commands and flags that exist.
func checkExample(t *testing.T, root *cobra.Command, line string) {
	t.Helper()
	for _, m := range latheCall().FindAllStringSubmatch(strings.TrimSpace(line), -1) {
		call, _, _ := strings.Cut(m[1], " > ")
		call, _, _ = strings.Cut(call, "#")
		words := strings.Fields(call)
		c, rest, err := root.Find(words)
		if err != nil || c == root {
			t.Errorf("%q: there is no such command", strings.TrimSpace(line))
			continue
		}
		if i := slices.Index(rest, "--"); i >= 0 {
			rest = rest[:i] // the words of another command
		}
		if c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.Contains(c.Use, " ") {
			t.Errorf("%q: there is no command %s %s", strings.TrimSpace(line), c.CommandPath(), rest[0])
		}
		for _, w := range rest {
			if w == "--" { // what follows is another's
				break
			}
			name, long := strings.CutPrefix(w, "--")
			if long && c.Flag(name) == nil && name != "help" {
				t.Errorf("%q: %s has no flag %s", strings.TrimSpace(line), c.CommandPath(), w)
			}
		}
	}
}

// The version is asked often; how little is done for it [TestStart_LittleIsDoneBeforeMain] holds.
func TestVersion_LeavesNothing(t *testing.T) {
	cmd := exec.Command("lathe", "version")
	cmd.Env = []string{"GORACE=atexit_sleep_ms=0"}
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("version left %v behind (%v)", left, err)
	}
}
