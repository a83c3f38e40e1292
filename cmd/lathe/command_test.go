package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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

var latheCall = regexp.MustCompile(`(?:^|[|&$(;]\s*|ssh build )lathe ([a-z][^|&;)]*)`)

// checkExample holds a shell line against the commands and flags that exist.
func checkExample(t *testing.T, root *cobra.Command, line string) {
	t.Helper()
	for _, m := range latheCall.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
		call, _, _ := strings.Cut(m[1], " > ")
		call, _, _ = strings.Cut(call, "#")
		words := strings.Fields(call)
		c, rest, err := root.Find(words)
		if err != nil || c == root {
			t.Errorf("%q: there is no such command", strings.TrimSpace(line))
			continue
		}
		if c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			t.Errorf("%q: there is no command %s %s", strings.TrimSpace(line), c.CommandPath(), rest[0])
		}
		for _, w := range rest {
			name, long := strings.CutPrefix(w, "--")
			if long && c.Flag(name) == nil && name != "help" {
				t.Errorf("%q: %s has no flag %s", strings.TrimSpace(line), c.CommandPath(), w)
			}
		}
	}
}

// The commands of the README are those of the program.
func TestReadme_Commands(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(newApp())
	n := 0
	for line := range strings.Lines(string(page)) {
		if call, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
			checkExample(t, root, call)
			n++
		}
	}
	if n < 10 {
		t.Errorf("the README shows %d commands; that is too few to learn from", n)
	}
}

// Nothing is worked out before main begins: the version is asked often. Time cannot be tested on
// a busy machine, what is allocated can.
func TestVersion_StartsLight(t *testing.T) {
	cmd := exec.Command("lathe", "version")
	cmd.Env = []string{"GODEBUG=inittrace=1", "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes, (\d+) allocs$`)
	bytes, allocs := 0, 0
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		b, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		if b > 128<<10 {
			t.Errorf("package %s takes %d bytes before main begins", m[1], b)
		}
		bytes, allocs = bytes+b, allocs+n
	}
	if bytes == 0 || bytes > 384<<10 || allocs > 2000 {
		t.Errorf("%d bytes in %d pieces are taken before main begins", bytes, allocs)
	}
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("version left %v behind (%v)", left, err)
	}
}
