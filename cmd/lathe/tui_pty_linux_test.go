package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What the program asks of a terminal, and what takes it back.
var tuiModes = map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1006h": "\x1b[?1006l", "\x1b]2;lathe": "\x1b]2;\a"}

// takenBack looks that everything that was asked of the terminal was undone.
func takenBack(t *testing.T, sent string) {
	t.Helper()
	if !strings.Contains(sent, "\x1b[?1049h") {
		t.Errorf("the screen was never taken: %q", sent)
	}
	for on, off := range tuiModes {
		if at := strings.LastIndex(sent, on); at >= 0 && !strings.Contains(sent[at:], off) {
			t.Errorf("%q is not taken back", on)
		}
	}
}

// The program on a bare terminal, with and without colors: it takes the screen, answers, and
// leaves the terminal as it was, by keys and by signals.
func TestTUIPty_Leaves(t *testing.T) {
	for _, tt := range []struct {
		name   string
		env    []string
		keys   string
		signal syscall.Signal
		code   int
	}{
		{"ctrl-c", nil, "\x03\x03", 0, 0},
		{"ctrl-d", []string{"TERM=xterm-256color"}, "\x04\x04", 0, 0},
		{"word", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, "exit\r", 0, 0},
		{"no colours", []string{"NO_COLOR=1"}, "\x03\x03", 0, 0},
		{"no mouse", []string{"OPENCODE_DISABLE_MOUSE=1"}, "\x03\x03", 0, 0},
		{"terminated", nil, "", syscall.SIGTERM, 143},
		{"interrupted", nil, "", syscall.SIGINT, 130},
		{"hangup", nil, "", syscall.SIGHUP, 129},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := screenHome(t, "text \"Hello there.\"\nfinish stop")
			env := append([]string{"XDG_CONFIG_HOME=" + home + "/.config", "CI="}, tt.env...)
			x := onScreen(t, home, 80, 24, env, "-C", "p", "--prompt", "hello")
			var err error
			x.see("there.")
			x.see("▣") // the answer is whole
			if tt.signal != 0 {
				err = x.cmd.Process.Signal(tt.signal)
			} else {
				x.enter(tt.keys)
			}
			if err != nil {
				t.Fatal(err)
			}
			code, sent := x.end()
			if code != tt.code {
				t.Errorf("exit code %d, not %d", code, tt.code)
			}
			takenBack(t, sent)
			if stateOf(t, x.user) != x.before {
				t.Error("the terminal is left in another state")
			}
			if mouse := strings.Contains(sent, "\x1b[?1006h"); mouse == (tt.name == "no mouse") {
				t.Errorf("the mouse is taken: %v", mouse)
			}
			if tail := sent[strings.LastIndex(sent, "\x1b[?1049l"):]; !strings.Contains(tail, "lathe -C p -s ses_") {
				t.Errorf("the way back is not told: %q", tail)
			}
			noneLeft(t, home)
		})
	}
}

// fill lets a terminal without a reader take as much as it can: each size is a whole screen,
// and it holds a few.
func (x *terminal) fill() {
	x.t.Helper()
	x.reads(false)
	for i := range 60 {
		x.resize(180+uint16(i%2), 50)
		<-time.After(20 * time.Millisecond)
	}
}

// A terminal that takes nothing for a while: keys count meanwhile, and when it continues it
// shows what is then.
func TestTUIPty_Held(t *testing.T) {
	t.Parallel()
	home := screenHome(t, "text \"Hello there.\"\nfinish stop")
	x := onScreen(t, home, 180, 50, []string{"XDG_CONFIG_HOME=" + home + "/.config", "CI="}, "-C", "p", "--prompt", "hello")
	x.see("▣")
	x.fill()
	x.enter("§") // one, since what changes later is drawn in pieces
	x.reads(true)
	x.see("§")
	x.enter("\x03\x03")
	code, sent := x.end()
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	takenBack(t, sent)
	noneLeft(t, home)
}

// A terminal that takes nothing any more, and a flood of keys besides: a client that leaves is
// out all the same, and what the screen needs to be in order comes when it is read again.
func TestTUIPty_Deaf(t *testing.T) {
	for _, tt := range []struct {
		name   string
		keys   string
		signal syscall.Signal
		code   int
	}{
		{"keys", "\x03\x03", 0, 0},
		{"terminated", "", syscall.SIGTERM, 143},
		{"hangup", "", syscall.SIGHUP, 129},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := screenHome(t, "text \"Hello there.\"\nfinish stop")
			x := onScreen(t, home, 180, 50, []string{"XDG_CONFIG_HOME=" + home + "/.config", "CI="}, "-C", "p", "--prompt", "hello")
			x.see("▣")
			x.fill()
			began := time.Now()
			if tt.signal != 0 {
				x.enter(strings.Repeat("flood ", 500))
				if err := x.cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			} else {
				x.enter(tt.keys)
			}
			err := x.cmd.Wait()
			if took := time.Since(began); took > 15*time.Second || exitCode(err) != tt.code {
				t.Errorf("it was left after %v with the code %d, not %d", took, exitCode(err), tt.code)
			}
			if stateOf(t, x.user) != x.before {
				t.Error("the terminal is left in another state")
			}
			x.reads(true)
			_, sent := x.end()
			takenBack(t, sent)
			noneLeft(t, home)
		})
	}
}

// The flags of attach: who logs in, who answers and how, and which session it is.
func TestTUIPty_AttachFlags(t *testing.T) {
	t.Parallel()
	home := screenHome(t, `text "A plan of sorts."
finish stop
--
call bash {"command":"touch made","description":"make it"}
finish tool-calls
--
text "It is made."
finish stop`)
	config := "XDG_CONFIG_HOME=" + home + "/.config"
	s := startServe(t, home, []string{"OPENCODE_SERVER_USERNAME=usr", "OPENCODE_SERVER_PASSWORD=word"}, "--port", "0")
	defer s.end()
	env := []string{config, "CI=", "LATHE_DATA=" + home + "/other"} // no password of a server of ours is here

	x := onScreen(t, home, 80, 24, env, "attach", s.url, "-u", "usr", "-p", "wrong")
	if code, seen := x.end(); code != 1 || !strings.Contains(seen, "password") || strings.Contains(seen, "wrong") {
		t.Errorf("a wrong password: %d %q", code, seen)
	}

	x = onScreen(t, home, 80, 24, env, "-C", home+"/p", "attach", s.url, "-u", "usr", "-p", "word", "--agent", "plan", "-m", "own/m", "--prompt", "plan it")
	x.see("sorts.")
	x.see("▣")
	x.see("Plan")
	x.enter("\x03\x03")
	code, seen := x.end()
	id := regexp.MustCompile(`-s (ses_\w+)`).FindStringSubmatch(seen)
	if code != 0 || id == nil {
		t.Fatalf("%d %q", code, seen)
	}

	x = onScreen(t, home, 80, 24, env, "-C", home+"/p", "attach", s.url, "-u", "usr", "-p", "word", "--continue", "--agent", "build", "--auto", "--prompt", "make it")
	x.see("sorts.")
	x.see("made.") // the user was not asked
	x.enter("\x03\x03")
	if code, seen := x.end(); code != 0 || !strings.Contains(seen, id[1]) {
		t.Errorf("going on: %d %q", code, seen)
	}

	x = onScreen(t, home, 80, 24, env, "-C", home+"/p", "attach", s.url, "-u", "usr", "-p", "word", "--session", id[1])
	x.see("sorts.")
	x.see("made.")
	x.enter("\x03\x03")
	if code, _ := x.end(); code != 0 {
		t.Errorf("by its name: %d", code)
	}
}

// A session is named by a part of its id, or as the last one, as for every other command.
func TestTUIPty_SessionByPart(t *testing.T) {
	for _, name := range []string{"last", "4fc0", "WcVyLk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := screenHome(t, "")
			must(t, home, "import", "-C", "p", sample(t, "first.json"))
			env := []string{"XDG_CONFIG_HOME=" + home + "/.config", "CI="}
			x := onScreen(t, home, 80, 24, env, "-C", "p", "-s", name)
			x.see("checkout_test")
			x.enter("\x03\x03")
			if code, seen := x.end(); code != 0 || !strings.Contains(seen, "lathe -C p -s ses_4fc0a81bbffeQ2mTzX8rWcVyLk") {
				t.Errorf("%d %q", code, seen)
			}
		})
	}
}

// A session that does not exist, or settings that make no sense, are reported on the terminal
// that is left.
func TestTUIPty_Errors(t *testing.T) {
	t.Parallel()
	home := screenHome(t, "")
	env := []string{"XDG_CONFIG_HOME=" + home + "/.config", `LATHE_CONFIG_CONTENT={"model":3}`}
	if code, seen := onScreen(t, home, 80, 24, env, "-C", "p").end(); code != 1 || !strings.Contains(seen, "model") || strings.Contains(seen, "\x1b[?1049h") {
		t.Errorf("%d %q", code, seen)
	}
}

// The first start of a new user asks once for a permission mode, before the prompt of the command line is sent. What
// is chosen there or with Shift+Tab stands in the user's config, and the next start does not ask.
func TestTUIPty_FirstMode(t *testing.T) {
	t.Parallel()
	home := screenHome(t, "text \"Hello there.\"\nfinish stop")
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, regexp.MustCompile(`"permission":.*\n`).ReplaceAll(text, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_CONFIG_HOME=" + home + "/.config", "CI=", "LATHE_PERMISSION="}
	x := onScreen(t, home, 180, 50, env, "-C", "p", "--prompt", "hello")
	x.see("What can lathe do without asking?")
	x.enter("\r")
	x.see("▣")
	x.enter("\x1b[Z")
	x.see("read only")
	x.enter("\x03\x03")
	if code, _ := x.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	own, err := os.ReadFile(settings)
	if err != nil || !strings.Contains(string(own), `"permission_mode": "read-only"`) {
		t.Errorf("the config is %s, %v", own, err)
	}
	x = onScreen(t, home, 180, 50, env, "-C", "p", "-c")
	x.see("read only")
	x.enter("\x03\x03")
	if code, sent := x.end(); code != 0 || strings.Contains(sent, "without asking") {
		t.Errorf("exit code %d, or it asked again", code)
	}
	noneLeft(t, home)
}
