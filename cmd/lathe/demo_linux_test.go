package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// cmdTools makes a folder of some programs of this machine and no others: tools bin sh tr.
func cmdTools(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range append(args[1:], "lathe") {
		path, err := exec.LookPath(name)
		ts.Check(err)
		ts.Check(os.Symlink(path, filepath.Join(ts.MkAbs(args[0]), name)))
	}
}

// demoOn starts the demo on a terminal of so many columns.
func demoOn(t *testing.T, home string, width uint16, env []string, args ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go on this machine")
	}
	return onTerminalSized(t, home, width, append(env, "GOCACHE="+goCache()), append([]string{"demo"}, args...)...)
}

// onTerminalSized is a program on a terminal of a width.
func onTerminalSized(t *testing.T, home string, width uint16, env []string, args ...string) *terminal {
	t.Helper()
	x := onTerminal(t, home, env, args...)
	if err := unix.IoctlSetWinsize(int(x.user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	return x
}

// On a screen the story has colors unless they are not wanted, and fits into few columns.
func TestDemo_OnATerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	code, seen := demoOn(t, home, 100, nil, "--fast").end()
	if code != 0 || !strings.Contains(seen, "\x1b[1m$ lathe run") || !strings.Contains(seen, "\x1b[32m+\treturn strings.Join") {
		t.Errorf("%d\n%s", code, seen)
	}
	noneLeft(t, home)
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		code, seen = demoOn(t, home, 40, []string{env, "COLUMNS=40"}, "--fast").end()
		if code != 0 || strings.Contains(seen, "\x1b") || !strings.Contains(seen, "\r\n  lathe auth login\r\n      save an API key") {
			t.Errorf("%s: %d\n%s", env, code, seen)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// With its pauses it says the same.
func TestDemo_ForReaders(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	code, seen := demoOn(t, home, 100, nil).end()
	text := regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]").ReplaceAllString(seen, "")
	if code != 0 || !strings.Contains(text, "I'll run the test first.") || !strings.Contains(text, "The test passes. ") || !strings.Contains(text, "lathe auth login") {
		t.Errorf("%d\n%s", code, text)
	}
	noneLeft(t, home)
}

// An interrupt at any place of the story leaves nothing behind, and neither does a second one.
func TestDemo_Interrupted(t *testing.T) {
	t.Parallel()
	for at, all := range map[string][]string{
		"A small Go": {"\x03"}, "I'll run": {"\x03"}, "? bash": {"\x03", "\x03\x03"}, "answers for you": {"\x03"},
		"FAIL: TestMake": {"\x03", "\x03\x03"}, "Changes:": {"\x03"}, "fails again:": {"\x03"},
	} {
		for _, keys := range all {
			t.Run(at+" "+map[bool]string{true: "once", false: "twice"}[len(keys) == 1], func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				x := demoOn(t, home, 80, nil)
				x.see(at)
				x.enter(keys)
				code, seen := x.end()
				if code != 130 || strings.Contains(seen, "Error") || strings.Contains(seen, "lathe auth login") {
					t.Errorf("%d\n%s", code, seen)
				}
				if left, err := os.ReadDir(home); err != nil && !errors.Is(err, os.ErrNotExist) || len(left) > 0 {
					t.Errorf("left behind: %v %v", left, err)
				}
			})
		}
	}
}
