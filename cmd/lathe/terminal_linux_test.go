package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// terminal is a program on its own terminal.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	user *os.File // what the user types and sees

	before unix.Termios // as it was when nothing had been started

	mu   sync.Mutex // guards what follows
	seen strings.Builder
	more *sync.Cond
	gone bool
	deaf bool // its output has no reader
}

// onTerminal starts lathe on a terminal that does not tell its size.
func onTerminal(t *testing.T, home string, env []string, args ...string) *terminal {
	t.Helper()
	return onScreen(t, home, 0, 0, env, args...)
}

// onScreen starts lathe on a terminal of so many columns and rows.
func onScreen(t *testing.T, home string, columns, rows uint16, env []string, args ...string) *terminal {
	t.Helper()
	return onScreenBy(t, "lathe", home, columns, rows, env, args...)
}

// stateOf is how a terminal is set.
func stateOf(t *testing.T, user *os.File) unix.Termios {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(user.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *state
}

// usedBefore are rules of the user's that change nothing: who has some is not asked for a permission mode.
const usedBefore = `LATHE_PERMISSION={"doom_loop":"ask"}`

// onScreenBy starts another program there, one of the scripts.
func onScreenBy(t *testing.T, program, home string, columns, rows uint16, env []string, args ...string) *terminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, user: user, cmd: command(t, home, args...)}
	x.more = sync.NewCond(&x.mu)
	x.cmd.Env = append(append(x.cmd.Env, "TERM=xterm", usedBefore), env...)
	if x.cmd.Path, err = exec.LookPath(program); err != nil {
		t.Fatal(err)
	}
	x.cmd.Args[0] = program
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = screen, screen, screen
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	x.before = stateOf(t, user) // it is untouched
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = screen.Close()
	late := time.AfterFunc(90*time.Second, func() { // so that the screen is reported
		_ = x.cmd.Process.Kill()
		x.leave()
	})
	t.Cleanup(func() { late.Stop() })
	go x.watch()
	return x
}

// watch reads what is on the screen until the program is gone.
func (x *terminal) watch() {
	b := make([]byte, 4096)
	for {
		n, err := x.user.Read(b)
		x.mu.Lock()
		x.seen.Write(b[:n])
		x.gone = x.gone || err != nil
		x.more.Broadcast()
		for x.deaf {
			x.more.Wait()
		}
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// leave takes the program for gone after a while: now and then the kernel does not tell who reads.
func (x *terminal) leave() *time.Timer {
	return time.AfterFunc(10*time.Second, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.gone = true
		x.more.Broadcast()
	})
}

// reads says whether what is shown is read.
func (x *terminal) reads(on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deaf = !on
	x.more.Broadcast()
}

// see waits until a text is on the screen and returns all that is.
func (x *terminal) see(text string) string {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	for !strings.Contains(x.seen.String(), text) {
		if x.gone {
			x.t.Fatalf("%q is never shown:\n%s", text, x.seen.String())
		}
		x.more.Wait()
	}
	return x.seen.String()
}

// resize makes it so wide and high.
func (x *terminal) resize(columns, rows uint16) {
	x.t.Helper()
	if err := unix.IoctlSetWinsize(int(x.user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		x.t.Fatal(err)
	}
}

// enter types something.
func (x *terminal) enter(text string) {
	x.t.Helper()
	if _, err := io.WriteString(x.user, text); err != nil {
		x.t.Fatal(err)
	}
}

// end waits for the program and returns its code and all that was shown.
func (x *terminal) end() (int, string) {
	x.t.Helper()
	code := exitCode(x.cmd.Wait())
	defer x.leave().Stop()
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.gone {
		x.more.Wait()
	}
	return code, x.seen.String()
}

func credentialsIn(t *testing.T, home string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(home, "data", "auth.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(src)
}

// The provider is found by a part of its name, the key is typed unseen.
func TestTerminal_Login(t *testing.T) {
	home := t.TempDir()
	x := onTerminal(t, home, nil, "auth", "login")
	x.see("Number or name: ")
	x.enter("nonesuch\r")
	x.see(`No match for "nonesuch".`)
	x.enter("anthro\r")
	x.see("   2  Vertex (Anthropic) (google-vertex-anthropic)")
	x.enter("1\r")
	x.see("Anthropic API key (input hidden): ")
	x.enter("sk-hidden-1\r")
	code, seen := x.end()
	if code != 0 || strings.Contains(seen, "sk-hidden-") || !strings.Contains(seen, "Saved the Anthropic API key") || !strings.Contains(seen, "   1  Anthropic (anthropic)") {
		t.Errorf("%d\n%s", code, seen)
	}
	if !strings.Contains(credentialsIn(t, home), `"sk-hidden-1"`) {
		t.Error(credentialsIn(t, home))
	}
	x = onTerminal(t, home, nil, "auth", "logout")
	x.see("Number or name: ")
	x.enter("1\r")
	if code, seen := x.end(); code != 0 || !strings.Contains(seen, "Logged out: anthropic") || strings.Contains(credentialsIn(t, home), "hidden") {
		t.Errorf("%d\n%s", code, seen)
	}
}

// An interrupt while a key is typed: nothing is kept, and the terminal shows again what is
// typed.
func TestTerminal_LoginInterrupted(t *testing.T) {
	home := t.TempDir()
	x := onTerminal(t, home, nil, "auth", "login", "anthropic")
	x.see("(input hidden): ")
	x.enter("sk-half\x03")
	code, seen := x.end()
	if code != 130 || strings.Contains(seen, "sk-half") || strings.Contains(seen, "Error") || credentialsIn(t, home) != "" {
		t.Errorf("%d\n%s", code, seen)
	}
	state, err := unix.IoctlGetTermios(int(x.user.Fd()), unix.TCGETS)
	if err != nil || state.Lflag&unix.ECHO == 0 {
		t.Errorf("the terminal is left without an echo: %v", err)
	}
	x = onTerminal(t, home, nil, "auth", "login")
	x.see("Number or name: ")
	x.enter("\x04") // the end of the input
	if code, seen := x.end(); code != 1 || !strings.Contains(seen, "no choice made") {
		t.Errorf("%d\n%s", code, seen)
	}
}

// A code is shown, typed elsewhere, and the login is kept.
func TestTerminal_DeviceLogin(t *testing.T) {
	t.Parallel()
	polls := 0
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login/device/code":
			_, _ = io.WriteString(w, `{"device_code":"d-hidden","user_code":"AB12-CD34","verification_uri":"https://github.example/device","interval":1,"expires_in":900}`)
		case "/login/oauth/access_token":
			if polls++; polls == 1 {
				_, _ = io.WriteString(w, `{"error":"authorization_pending"}`)
				return
			}
			_, _ = io.WriteString(w, `{"access_token":"gho_hidden","token_type":"bearer"}`)
		default:
			http.NotFound(w, r)
		}
		if r.FormValue("client_id") != "app-1" {
			t.Errorf("%s: the app is %q", r.URL.Path, r.FormValue("client_id"))
		}
	}))
	defer vendor.Close()
	for _, args := range [][]string{
		{"auth", "login", "github-copilot", "--enterprise-url", vendor.URL},
		{"auth", "login", "github-copilot", "--enterprise-url", vendor.URL, "--client-id", "app-1", "--no-browser"},
	} {
		polls = 0
		loginByCode(t, &polls, vendor.URL, args)
	}
}

// loginByCode logs in on a terminal whose machine has a browser, which notes that it was opened.
func loginByCode(t *testing.T, polls *int, vendor string, args []string) {
	t.Helper()
	home := t.TempDir()
	opened := filepath.Join(home, "opened")
	if err := os.WriteFile(filepath.Join(home, "xdg-open"), []byte("#!/bin/sh\n: > '"+opened+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env, byFlag := []string{"PATH=" + home}, slices.Contains(args, "--client-id")
	if !byFlag {
		env = append(env, `LATHE_CONFIG_CONTENT={"provider":{"github-copilot":{"options":{"clientId":"app-1"}}}}`)
	}
	x := onTerminal(t, home, env, args...)
	if !byFlag { // an app of one's own is for one way alone
		x.see("Number or name: ")
		x.enter("1\r")
	}
	code, seen := x.end()
	if _, err := os.Stat(opened); (err != nil) != slices.Contains(args, "--no-browser") {
		t.Errorf("%v: the browser: %v", args, err)
	}
	if code != 0 || !strings.Contains(seen, "Open https://github.example/device and enter this code: AB12-CD34") || strings.Contains(seen, "hidden") || *polls != 2 {
		t.Errorf("%d, %d polls\n%s", code, *polls, seen)
	}
	for _, want := range []string{`"refresh": "gho_hidden"`, `"expires": 0`, `"clientId": "app-1"`, `"enterpriseUrl": "` + vendor + `"`} {
		if got := credentialsIn(t, home); !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// An organisation's command runs only after a yes.
func TestTerminal_WellKnown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"auth":{"command":["sh","-c","echo tok-hidden"],"env":"CORP_TOKEN"}}`)
	}))
	defer server.Close()
	home := t.TempDir()
	for answer, kept := range map[string]bool{"\r": false, "no\r": false, "y\r": true} {
		x := onTerminal(t, home, nil, "auth", "login", server.URL)
		x.see("Run it? [y/N] ")
		x.enter(answer)
		code, seen := x.end()
		if code != 0 || strings.Contains(seen, "Canceled; the command did not run.") == kept || strings.Contains(strings.ReplaceAll(seen, "echo tok-hidden", ""), "tok-hidden") {
			t.Errorf("%q: %d\n%s", answer, code, seen)
		}
		if strings.Contains(credentialsIn(t, home), "tok-hidden") != kept {
			t.Errorf("%q: %s", answer, credentialsIn(t, home))
		}
		if err := os.RemoveAll(filepath.Join(home, "data")); err != nil {
			t.Fatal(err)
		}
	}
}

// Thoughts are dim on a screen that shows colors, and nothing a model says moves the cursor.
func TestTerminal_Ask(t *testing.T) {
	script := "reasoning \"who \" \"is it\"\ntext \"He\\x1b[2Jllo\" \" you\\u202e\"\nusage 10 5"
	s := modeltest.Start(t, modeltest.MustParse(script+"\n--\n"+script))
	home := t.TempDir()
	settings := fmt.Sprintf(`LATHE_CONFIG_CONTENT={"provider":{"own":{"options":{"baseURL":%q},"models":{"m":{"interleaved":true}}}}}`, s.URL+"/v1")
	code, seen := onTerminal(t, home, []string{settings}, "debug", "ask", "-m", "own/m", "hi").end()
	want := "\x1b[2mThinking: who is it\x1b[0m\r\nHe␛[2Jllo you\uFFFD\r\nown/m · 10 in, 5 out · "
	if code != 0 || !strings.HasPrefix(strings.ReplaceAll(seen, "\x1b[0m\x1b[2m", ""), want) {
		t.Errorf("%d %q", code, seen)
	}
	_, seen = onTerminal(t, home, []string{settings, "NO_COLOR=1"}, "debug", "ask", "-m", "own/m", "hi").end()
	if strings.Contains(seen, "\x1b") || !strings.HasPrefix(seen, "Thinking: who is it\r\n") {
		t.Errorf("%q", seen)
	}
}

// At a terminal a mistake is reported and the next question awaited; answers are tables.
func TestTerminal_SQL(t *testing.T) {
	home := t.TempDir()
	must(t, home, "import", sample(t, "first.json"))
	x := onTerminal(t, home, nil, "db")
	x.see("lathe> ")
	x.enter("SELECT nosuch;\n")
	x.see("no such column")
	x.enter("SELECT title\n")
	x.see("  ...> ")
	x.enter("FROM session;\n")
	x.see("Fix the flaky checkout test")
	x.see("1 row.")
	x.enter(".quit\n")
	if code, seen := x.end(); code != 0 || !strings.Contains(seen, "───") {
		t.Errorf("exit code %d:\n%s", code, seen)
	}
	for typed, want := range map[string]int{"\x03": 130, "\x04": 0} { // Ctrl-C, Ctrl-D
		x := onTerminal(t, home, nil, "db")
		x.see("lathe> ")
		x.enter(typed)
		if code, seen := x.end(); code != want || strings.Contains(seen, "Error") {
			t.Errorf("%q: exit code %d:\n%s", typed, code, seen)
		}
	}
}
