package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pane is a shell in a real terminal, that of tmux, in which the program is run as a user would.
type pane struct {
	t            *testing.T
	socket, home string
	tmux         string
	before       string // how the terminal was, by stty
}

// inTmux opens a terminal of so many columns and rows.
func inTmux(t *testing.T, home string, columns, rows int, env ...string) *pane {
	t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux here, which these tests look through")
	}
	lathe, err := exec.LookPath("lathe")
	if err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "lt") // a socket has a short name
	if err != nil {
		t.Fatal(err)
	}
	x := &pane{t: t, socket: filepath.Join(short, "s"), home: home, tmux: program}
	t.Cleanup(func() {
		_ = exec.Command(program, "-S", x.socket, "kill-server").Run() // it may be gone
		_ = os.RemoveAll(short)
	})
	conf := filepath.Join(short, "conf")
	text := "set -g default-terminal tmux-256color\nset -g escape-time 10\nset -g history-limit 5000\nset -g focus-events on\nset -g set-clipboard off\nset -s extended-keys on\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-S", x.socket, "-f", conf, "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "sh")
	cmd.Dir = filepath.Join(home, "p")
	cmd.Env = append(os.Environ(), "HOME="+home, "LATHE_DATA="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"TZ=UTC", "PS1=$ ", "ENV=", "PATH="+filepath.Dir(lathe)+":"+os.Getenv("PATH"), "SHELL=/bin/sh", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "CI=",
		"GORACE=atexit_sleep_ms=0", "TMUX=", "COLORTERM=", usedBefore)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	x.see("$")
	x.before = x.stty()
	return x
}

// do runs a command of tmux.
func (x *pane) do(args ...string) string {
	x.t.Helper()
	out, err := exec.Command(x.tmux, append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// run types a command for the shell.
func (x *pane) run(line string) {
	x.t.Helper()
	x.typed(line)
	x.keys("Enter")
}

// keys presses keys by their names in tmux.
func (x *pane) keys(names ...string) {
	x.t.Helper()
	x.do(append([]string{"send-keys"}, names...)...)
}

// typed types a text as it is.
func (x *pane) typed(text string) {
	x.t.Helper()
	x.do("send-keys", "-l", text)
}

// paste pastes a text as terminals do, marked where the program asks for it.
func (x *pane) paste(text string) {
	x.t.Helper()
	file := filepath.Join(x.t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.do("load-buffer", file)
	x.do("paste-buffer", "-p", "-r")
}

// resize changes the size of the terminal.
func (x *pane) resize(columns, rows int) {
	x.t.Helper()
	x.do("resize-window", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows))
}

// screen is what is seen.
func (x *pane) screen() string {
	x.t.Helper()
	return x.do("capture-pane", "-p")
}

// until waits until something is so.
func (x *pane) until(what string, is func() bool) {
	x.t.Helper()
	x.untilThen(what, is, x.screen)
}

// untilThen is until that shows something else if it never is.
func (x *pane) untilThen(what string, is func() bool, show func() string) {
	x.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			x.t.Fatalf("never: %s\n%s", what, show())
		}
	}
}

// see waits until a text is on the screen, and returns all that is.
func (x *pane) see(text string) (all string) {
	x.t.Helper()
	x.until(fmt.Sprintf("%q is shown", text), func() bool {
		all = x.screen()
		return strings.Contains(all, text)
	})
	return all
}

// gone waits until a text is not on the screen.
func (x *pane) gone(text string) {
	x.t.Helper()
	x.until(fmt.Sprintf("%q is gone", text), func() bool { return !strings.Contains(x.screen(), text) })
}

// flag is a value of tmux about the terminal.
func (x *pane) flag(name string) string {
	x.t.Helper()
	return strings.TrimSpace(x.do("display-message", "-p", "#{"+name+"}"))
}

// stty is the state of the terminal, printed by the shell in it.
func (x *pane) stty() string {
	x.t.Helper()
	file := filepath.Join(x.t.TempDir(), "stty")
	x.run("stty -g > " + file + ".new; mv " + file + ".new " + file)
	var out []byte
	x.until("stty has told", func() bool {
		var err error
		out, err = os.ReadFile(file)
		return err == nil
	})
	return strings.TrimSpace(string(out))
}

// shell waits until the shell has the terminal back.
func (x *pane) shell() {
	x.t.Helper()
	x.until("the shell is back", x.isBack)
}

// isBack reports whether the shell has the terminal. A program that was stopped has not.
func (x *pane) isBack() bool {
	x.t.Helper()
	if x.flag("pane_current_command") != "sh" {
		return false
	}
	for _, one := range x.running() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", one))
		if err == nil && !strings.Contains(string(stat), ") T ") {
			return false
		}
	}
	return true
}

// restored holds the terminal against what it was.
func (x *pane) restored() {
	x.t.Helper()
	x.shell()
	x.until("the other screen is left", func() bool { return x.flag("alternate_on") == "0" })
	for name, want := range map[string]string{"mouse_any_flag": "0", "mouse_button_flag": "0", "mouse_all_flag": "0", "cursor_flag": "1", "keypad_cursor_flag": "0", "insert_flag": "0"} {
		if got := x.flag(name); got != want {
			x.t.Errorf("%s is %s", name, got)
		}
	}
	if after := x.stty(); after != x.before {
		x.t.Errorf("the terminal was %s and is %s\n%s", x.before, after, x.screen())
	}
}

// pid is the process of the program.
func (x *pane) pid() int {
	x.t.Helper()
	all := x.running()
	if len(all) == 0 {
		x.t.Fatal("it does not run")
	}
	return all[0]
}

// running are the processes of the program nearest to the shell.
func (x *pane) running() (out []int) {
	x.t.Helper()
	for level := []string{x.flag("pane_pid")}; len(level) > 0 && len(out) == 0; {
		var next []string
		for _, one := range level {
			name, err := os.ReadFile("/proc/" + one + "/comm")
			if err == nil && strings.TrimSpace(string(name)) == "lathe" {
				n, _ := strconv.Atoi(one) // the kernel wrote it
				out = append(out, n)
			}
			children, _ := os.ReadFile("/proc/" + one + "/task/" + one + "/children") // it may have ended
			next = append(next, strings.Fields(string(children))...)
		}
		level = next
	}
	return out
}
