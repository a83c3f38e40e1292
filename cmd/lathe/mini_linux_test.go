package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tui/ask"
)

// miniHome is screenHome with the variables that the front end needs.
func miniHome(t *testing.T, script string) (home string, env []string) {
	t.Helper()
	home = screenHome(t, script)
	return home, []string{"XDG_CONFIG_HOME=" + home + "/.config", "CI="}
}

// pauseToRead is a person who reads a request before the first key: earlier keys count for the prompt.
func pauseToRead() { <-time.After(ask.Quiet + 100*time.Millisecond) }

// Escape sequences and direction marks of a model, as they would reach the terminal.
const hostileWords = `Red \u001b[31mred \u001b]0;title\u0007 \u202edrawkcab`

// A conversation in the scrollback: Markdown, a hostile answer, a permission, a question, a mistyped command, a shell
// command, and the way back at the end. The screen is never taken, and the terminal is left as it was.
func TestMini_Conversation(t *testing.T) {
	t.Parallel()
	home, env := miniHome(t, "text \"Here **is** "+hostileWords+"\"\ncall bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\n"+
		"call bash {\"command\":\"touch y\"}\nfinish tool-calls\n--\n"+
		"call question {\"questions\":[{\"question\":\"Which color?\",\"header\":\"Color\",\"options\":[{\"label\":\"Red\",\"description\":\"warm\"},{\"label\":\"Blue\",\"description\":\"cold\"}]}]}\nfinish tool-calls\n--\n"+
		"text \"Blue it is.\"\nusage 100 20\nfinish stop")
	x := onScreen(t, home, 80, 24, env, "-C", "p", "--mini")
	x.see("/help")
	x.enter("hello there\r")
	x.see("Allow once")
	pauseToRead()
	x.enter("2\r") // for this session, so that the next one is not asked
	x.see("Type your own answer")
	pauseToRead()
	x.enter("2\r")
	x.see("165 tokens")
	x.enter("/modles\r")
	x.see("Did you mean /models?")
	x.enter("\x15!printf '\\033[32mfrom the she''ll\\n'\r")
	x.see("from the shell")
	x.enter("/context\r")
	x.see("System prompt")
	x.enter("/themes\r")
	x.see("needs the full-screen UI")
	x.enter("\x04")
	code, sent := x.end()
	g := seenOn(80, 24, sent)
	seen := steady(g.Plain(), home)
	for _, want := range []string{
		"› hello there\n", "Here is Red ␛[31mred ␛]0;title␇ \uFFFDdrawkcab\n", "Permission for bash touch x: allowed for this session\n", "✓ bash touch x", "✓ bash touch y",
		"Blue it is.\n", "Unknown command /modles. Did you mean /models?", "\n from the shell\n", "Continue  lathe -C p --mini -s ses_",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is missing in\n%s", want, seen)
		}
	}
	if strings.Count(seen, "Permission for") != 1 || strings.Contains(seen, "Could not") { // the Enter after the answer is not a second one
		t.Error(seen)
	}
	if code != 0 || strings.Contains(sent, "\x1b[?1049h") || strings.Contains(sent, "\x1b[31mred") || strings.Contains(sent, "\x1b[32mfrom") || strings.Contains(sent, "\x1b]0;title") || strings.Contains(sent, "\u202e") || len(g.Unknown) > 0 {
		t.Errorf("exit code %d, unknown %v, %q", code, g.Unknown, sent)
	}
	if _, err := os.Stat(filepath.Join(home, "p", "x")); err != nil {
		t.Errorf("the permission had no effect: %v", err)
	}
	if stateOf(t, x.user) != x.before {
		t.Error("the terminal is left in another state")
	}
	noneLeft(t, home)
}

// A prompt during a turn steers it, Ctrl-C ends the turn and not the program, a narrower terminal has nothing twice,
// and -c continues where it was left.
func TestMini_InterruptAndContinue(t *testing.T) {
	t.Parallel()
	home, env := miniHome(t, "text \"Slowly\"\nstall\n--\ntext \"Again.\"\nfinish stop")
	x := onScreen(t, home, 80, 24, env, "-C", "p", "--mini", "--prompt", "first", "-m", "own/m", "--agent", "build")
	x.see("Slowly")
	x.enter("and this")
	x.see("and this")
	x.resize(50, 20)
	x.enter("\r")
	x.see("(steers the turn)")
	x.enter("\x03")
	x.see("Interrupted")
	x.enter("\x03")
	x.see("again to leave")
	x.enter("\x04")
	code, sent := x.end()
	if seen := seenOn(80, 24, sent).Plain(); code != 0 || strings.Count(seen, "› first\n") != 1 || strings.Count(seen, "› and this") != 1 {
		t.Errorf("%d\n%s", code, seen)
	}
	x = onScreen(t, home, 120, 40, env, "-C", "p", "--mini", "-c")
	x.see("and this")
	x.enter("\x1b[A") // the history is that of the terminal UI
	x.see("/help")
	x.enter("\x15more\x0alines\r")
	x.see("Again.")
	x.enter("\x04")
	code, sent = x.end()
	if seen := seenOn(120, 40, sent).Plain(); code != 0 || !strings.Contains(seen, "Session: ") || !strings.Contains(seen, "› more\n  lines\n") {
		t.Errorf("%d\n%s", code, seen)
	}
}

// For screen readers nothing moves the cursor: what is sent is text and line ends. Lines typed before a request can be
// heard, and words, allow nothing.
func TestMini_Accessible(t *testing.T) {
	t.Parallel()
	home, env := miniHome(t, "text \"Here **is** "+hostileWords+"\"\ncall bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"Touched.\"\nusage 100 20\nfinish stop")
	x := onScreen(t, home, 80, 24, append(env, "TERM=xterm-256color"), "-C", "p", "--accessible")
	x.see("\n> ")
	x.enter("hello there\r")
	x.see("4 to reject")
	pauseToRead()
	x.enter("yes\r")
	x.see("Type a number from 1 to 4")
	if _, err := os.Stat(filepath.Join(home, "p", "x")); err == nil {
		t.Error("a word gave the permission")
	}
	x.enter("1\r")
	x.see("135 tokens")
	x.enter("/cost\r")
	x.see("output")
	x.enter("/models\r")
	x.see("Type a number, or press Enter")
	x.enter("1\r")
	x.see("Model: ")
	x.enter("\x04")
	code, sent := x.end()
	if code != 0 || strings.Contains(sent, "\x1b") || strings.Contains(sent, "\u202e") || strings.ContainsAny(sent, "┃│╭✓⠋") {
		t.Errorf("exit code %d: %q", code, sent)
	}
	told := regexp.MustCompile(`\d\.\ds`).ReplaceAllString(strings.ReplaceAll(sent, "\r\n", "\n"), "0.0s")
	for _, want := range []string{"\nPermission needed: bash touch x\n", "\nTool: bash touch x, done in 0.0s, exit 0\n", "\nTouched.\n", "\n135 tokens, "} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}

// On a server: the turn runs there, and a session is published only after a yes.
func TestMini_Attach(t *testing.T) {
	t.Parallel()
	home, env := miniHome(t, "text \"From afar.\"\nusage 100 20\nfinish stop")
	s := startServe(t, home, nil, "--socket", filepath.Join(home, "s"))
	defer s.end()
	x := onScreen(t, home, 80, 24, env, "attach", "unix://"+filepath.Join(home, "s"), "-C", filepath.Join(home, "p"), "--mini")
	x.see("/help")
	x.enter("hello\r")
	x.see("120 tokens")
	x.enter("/share\r")
	x.see("Everyone who has the link")
	x.enter("\r")
	x.enter("/share\r")
	x.see("Yes, publish it")
	x.enter("\x1b[B\r")
	x.see("Shared:")
	x.enter("/unshare\r")
	x.see("No longer shared")
	x.enter("\x04")
	code, sent := x.end()
	if seen := seenOn(80, 24, sent).Plain(); code != 0 || !strings.Contains(seen, "From afar.") || strings.Count(seen, "Shared:") != 1 || !strings.Contains(seen, "lathe attach unix://") {
		t.Errorf("%d\n%s", code, seen)
	}
}
