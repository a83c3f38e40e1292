package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// These run the program in a real terminal, as a user does: they type, paste, resize, scroll, interrupt and
// kill, and look at the screen.

// tuiStart runs the program in a terminal of tmux, and waits until it has taken the screen and the model
// is known.
func tuiStart(t *testing.T, script string, columns, rows int, line string, env ...string) *pane {
	t.Helper()
	x := inTmux(t, screenHome(t, script), columns, rows, env...)
	x.run(line)
	x.until("the screen is taken", func() bool { return x.flag("alternate_on") == "1" })
	if !strings.Contains(line, "--prompt") {
		x.see(" own")
	}
	return x
}

// screenHome is a home whose model follows a script; titles are another's.
func screenHome(t *testing.T, script string) string {
	t.Helper()
	home, _ := viewHome(t, script)
	titles := modeltest.Start(t, modeltest.MustParse(strings.Repeat("text \"A title\"\nfinish stop\n--\n", 300)+"text \"A title\"\nfinish stop"))
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	src, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	more := fmt.Sprintf(`"small_model":"small/t","provider":{"small":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},"models":{"t":{}}},`, titles.URL+"/v1")
	text := strings.Replace(string(src), `"provider":{`, more, 1)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// signalled sends a signal to the program.
func (x *pane) signalled(s syscall.Signal) {
	x.t.Helper()
	if err := syscall.Kill(x.pid(), s); err != nil {
		x.t.Fatal(err)
	}
}

// leave leaves by the key, which must be pressed twice where a turn is not over.
func (x *pane) leave() {
	x.t.Helper()
	x.until("it is left", func() bool {
		if x.flag("alternate_on") == "0" { // from here on the key is a signal
			return x.isBack()
		}
		x.keys("C-c")
		<-time.After(300 * time.Millisecond)
		return false
	})
}

// agree says yes to a permission, once it can have been read.
func (x *pane) agree() {
	x.t.Helper()
	x.until("yes is taken", func() bool {
		<-time.After(time.Second)
		x.keys("Enter")
		<-time.After(100 * time.Millisecond)
		return !strings.Contains(x.screen(), "Permission required")
	})
}

// However the program ends, the terminal is as it was.
func TestTUIScreen_Killed(t *testing.T) {
	const notice = "lathe exited unexpectedly"
	for s, received := range map[syscall.Signal]string{syscall.SIGTERM: "code 143.", syscall.SIGINT: "code 130.", syscall.SIGKILL: notice, syscall.SIGABRT: notice} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			x := tuiStart(t, "text \"Half of \"\nstall", 80, 24, "lathe --prompt go; echo co''de $?.")
			x.see("Half of")
			x.signalled(s)
			x.restored()
			x.see(received)
			if s == syscall.SIGTERM || s == syscall.SIGINT {
				noneLeft(t, x.home)
			}
		})
	}
}

// A terminal that is closed ends the program in order.
func TestTUIScreen_Closed(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Half of \"\nstall", 80, 24, "lathe --prompt go")
	x.see("Half of")
	n := x.pid()
	x.do("kill-server")
	x.untilThen("it has ended", func() bool { return syscall.Kill(n, 0) != nil }, func() string { return "" })
	noneLeft(t, x.home)
	if list := must(t, x.home, "session", "list", "--all"); strings.Count(list, "ses_") != 1 || !strings.Contains(list, "interrupted") {
		t.Errorf("there is\n%s", list)
	}
}

// A conversation: what is typed is seen, the answer comes, and after the end the way back is
// reported.
func TestTUIScreen_Conversation(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Hello **there**, 世界 👍🏽.\\n\"\nfinish stop\n--\ntext \"Second answer.\\n\"\nfinish stop", 100, 30, "lathe")
	x.typed("say hello")
	x.see("say hello")
	x.keys("Enter")
	x.see("Hello there, 世界")
	x.leave()
	x.restored()
	seen := x.screen()
	found := regexp.MustCompile(`Continue +lathe -s (ses_[0-9A-Za-z]{26})`).FindStringSubmatch(strings.ReplaceAll(seen, "\n", ""))
	if found == nil {
		t.Fatalf("the way back is not told:\n%s", seen)
	}
	x.run("clear; lathe -s " + found[1])
	x.see("Hello there, 世界")
	x.leave()
	x.restored()
	noneLeft(t, x.home)
}

// Text that is pasted is not sent, and is shown as what it is.
func TestTUIScreen_Paste(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Got it.\"\nfinish stop", 80, 24, "lathe")
	x.paste("one\ntwo\nthree\nfour\n")
	x.see("[Pasted ~")
	x.typed(" and more")
	x.see("and more")
	x.keys("Enter")
	x.see("Got it.")
	x.paste("short")
	x.see("short")
	x.keys("C-c") // clears
	x.gone("short")
	x.leave()
	x.restored()
}

// A terminal that changes its size shows the same conversation, from 20 columns to 200.
func TestTUIScreen_Resize(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Some words that are long enough to be broken at forty columns, and end here.\"\nfinish stop", 100, 30, "lathe --prompt hello")
	x.see("end here.")
	for _, size := range [][2]int{{40, 15}, {20, 10}, {200, 50}, {60, 8}, {100, 30}} {
		x.resize(size[0], size[1])
		x.see("here.")
	}
	for i := range 20 { // and without a pause
		x.resize(30+i*5, 10+i)
	}
	x.see("here.")
	x.leave()
	x.restored()
}

// Long answers scroll, and the end is found again.
func TestTUIScreen_Scroll(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for i := range 200 {
		fmt.Fprintf(&words, `line-%03d\n\n`, i)
	}
	x := tuiStart(t, "text \""+words.String()+"\"\nfinish stop", 80, 24, "lathe --prompt hello")
	x.see("line-199")
	x.keys("PageUp", "PageUp", "PageUp")
	x.gone("line-199")
	x.keys("C-g") // the first
	x.see("line-000")
	x.keys("C-M-g") // the last
	x.see("line-199")
	x.leave()
	x.restored()
}

// Esc twice ends the turn, and the prompt is free for the next.
func TestTUIScreen_Interrupt(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Half of \"\nstall\n--\ntext \"Here again.\"\nfinish stop", 80, 24, "lathe --prompt hello")
	x.see("Half of")
	x.keys("Escape")
	x.see("again")
	x.keys("Escape")
	x.see("nterrupted")
	x.typed("next")
	x.keys("Enter")
	x.see("Here again.")
	x.leave()
	x.restored()
}

// A permission is asked for and given; what is typed into the question before it can be read does nothing.
func TestTUIScreen_Permission(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "call bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"It is there.\"\nfinish stop", 80, 30, "lathe --prompt hello")
	x.see("touch x")
	x.see("Permission required")
	if _, err := os.Stat(filepath.Join(x.home, "p", "x")); err == nil {
		t.Error("it was done before anybody said yes")
	}
	x.keys("Enter", "Enter", "Enter") // too fast to have been read
	x.agree()
	x.see("It is there.")
	if _, err := os.Stat(filepath.Join(x.home, "p", "x")); err != nil {
		t.Error(err)
	}
	x.leave()
	x.restored()
}

// A sentence that is typed at a permission rejects it: nothing is done, and the model reads the words.
func TestTUIScreen_SentenceRejects(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "call bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"Then not.\"\nfinish stop", 80, 30, "lathe --prompt hello")
	x.see("Permission required")
	<-time.After(time.Second) // it can have been read
	x.typed("no, stop it")
	x.see("Reason for rejecting:")
	x.see("› no, stop it")
	x.keys("Enter")
	x.see("Then not.")
	if _, err := os.Stat(filepath.Join(x.home, "p", "x")); err == nil {
		t.Error("a no was taken for a yes")
	}
	x.leave()
	x.restored()
}

// Ctrl-Z gives the terminal back for a while. Alt-Enter and Ctrl-J start a line, and Ctrl-L draws the screen again.
func TestTUIScreen_Suspend(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Said before.\"\nfinish stop", 80, 24, "lathe --prompt hello")
	x.see("Said before.")
	x.keys("C-z")
	x.restored()
	x.run("fg")
	x.until("the screen is taken again", func() bool { return x.flag("alternate_on") == "1" })
	x.see("Said before.")
	x.typed("alive")
	x.see("alive")
	x.keys("M-Enter")
	x.typed("second")
	x.keys("C-j")
	x.typed("third")
	x.see("┃ second")
	x.see("┃ third")
	if err := os.WriteFile(x.flag("pane_tty"), []byte("\x1b[2J"), 0); err != nil { // another program spoils the screen
		t.Fatal(err)
	}
	x.gone("┃ third")
	x.keys("C-l")
	x.see("┃ third")
	x.see("Said before.")
	x.keys("C-c")
	x.leave()
	x.restored()
	noneLeft(t, x.home)
}

// editing is the program with something typed, which an editor of the user's has now: a script.
func editing(t *testing.T, script string) *pane {
	t.Helper()
	home := screenHome(t, "text \"Said.\"\nfinish stop")
	editor := filepath.Join(home, "edit")
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	x := inTmux(t, home, 80, 24, "EDITOR="+editor)
	x.run("lathe")
	x.see(" own")
	x.typed("by hand")
	x.see("by hand")
	x.keys("C-x", "e")
	return x
}

// The user's own editor has the terminal, and what it wrote is in the prompt.
func TestTUIScreen_Editor(t *testing.T) {
	t.Parallel()
	x := editing(t, "#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && printf ' and on a terminal' >> \"$1\"\n")
	x.see("by hand and on a terminal")
	x.keys("C-c")
	x.leave()
	x.restored()
}

// An interrupt that is typed while an editor has the terminal is the editor's.
func TestTUIScreen_EditorInterrupted(t *testing.T) {
	t.Parallel()
	x := editing(t, "#!/bin/sh\necho edi''ting\nexec sleep 60\n")
	x.see("editing")
	x.keys("C-c")
	x.see("Could not open your editor")
	x.see("by hand")
	x.keys("C-c")
	x.gone("by hand")
	x.leave()
	x.restored()
}

// What is piped in is the first prompt.
func TestTUIScreen_Piped(t *testing.T) {
	t.Parallel()
	x := tuiStart(t, "text \"Read it.\"\nfinish stop", 80, 24, "echo from a pipe | lathe --prompt 'and words'")
	seen := x.see("Read it.")
	if !strings.Contains(seen, "from a pipe") || !strings.Contains(seen, "and words") {
		t.Errorf("the prompt is not there:\n%s", seen)
	}
	x.typed("keys")
	x.see("keys")
	x.leave()
	x.restored()
}

// The first run without a provider says what can be done, and the demo is one of it.
func TestTUIScreen_FirstRun(t *testing.T) {
	t.Parallel()
	home, _ := viewHome(t, "")
	if err := os.WriteFile(filepath.Join(home, ".config", "lathe", "lathe.json"), []byte(`{"disabled_providers":["opencode","ollama","lmstudio","llama.cpp","vllm"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x := inTmux(t, home, 80, 24)
	x.run("lathe")
	x.see("Log in to a provider")
	x.see("Watch the demo")
	x.leave()
	x.restored()
	noneLeft(t, x.home)
}

// Where there are no colors none are used; a terminal that cannot move its cursor is an error.
func TestTUIScreen_Colors(t *testing.T) {
	t.Parallel()
	for env, colored := range map[string]bool{"NO_COLOR=1": false, "NO_COLOR=": true} {
		x := tuiStart(t, "text \"A **bold** word.\"\nfinish stop", 80, 24, "lathe --prompt hello", env)
		x.see("A bold word.")
		if sent := x.do("capture-pane", "-p", "-e"); regexp.MustCompile(`\x1b\[[0-9;]*[34]8;[25]`).MatchString(sent) != colored {
			t.Errorf("%s: %q", env, sent)
		}
		x.leave()
		x.restored()
	}
	home, _ := viewHome(t, "")
	x := inTmux(t, home, 80, 24)
	x.run("TERM=dumb lathe; echo co''de $?.")
	x.see("cannot run with TERM=dumb")
	x.see("code 2.")
}

// The program on a server.
func TestTUIScreen_Attach(t *testing.T) {
	t.Parallel()
	home := screenHome(t, "text \"From afar.\"\nfinish stop")
	s := startServe(t, home, nil, "--socket", filepath.Join(home, "s"))
	defer s.end()
	x := inTmux(t, home, 80, 24)
	x.run("lathe attach unix:///nowhere/s")
	x.see("cannot be reached")
	x.run("clear; lathe attach " + s.url)
	x.until("the screen is taken", func() bool { return x.flag("alternate_on") == "1" })
	x.see(" own")
	x.typed("hello")
	x.keys("Enter")
	x.see("From afar.")
	x.leave()
	x.restored()
	if seen := strings.ReplaceAll(x.screen(), "\n", ""); !strings.Contains(seen, "lathe attach "+s.url+" -s ses_") {
		t.Errorf("the way back is not told:\n%s", seen)
	}
}

// The demo in the terminal UI, to its end.
func TestTUIScreen_Demo(t *testing.T) {
	t.Parallel()
	home, _ := viewHome(t, "")
	env := []string{"TMPDIR=" + home}
	if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil { // or its library is built first
		env = append(env, "GOCACHE="+strings.TrimSpace(string(out)))
	}
	x := inTmux(t, home, 100, 40, env...)
	x.run("lathe demo --tui --fast")
	x.see("Permission required")
	x.until("every question is answered", func() bool { // two that read the same, the second maybe in place of the first at once
		if strings.Contains(x.screen(), "Permission required") {
			x.agree()
		}
		return strings.Contains(x.screen(), "The test passes.")
	})
	x.typed("and now?")
	x.keys("Enter")
	x.see("end of the script")
	x.leave()
	x.restored()
	x.see("The demo is over.")
	noneLeft(t, x.home)
}

// Whatever is pressed, the program lives and leaves the terminal as it was.
func TestTUIScreen_AnyKeys(t *testing.T) {
	t.Parallel()
	names := []string{
		"a", "/", "@", "!", "?", "q", "1", "9", " ", "é", "世", "Enter", "Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown",
		"BSpace", "Delete", "C-x", "C-p", "C-n", "C-a", "C-e", "C-k", "C-u", "C-w", "C-t", "C-f", "C-b", "C-r", "C-j", "C-y", "M-f", "M-b", "M-Enter", "F2", "S-Left", "S-F2",
		"C-M-k", "C-M-u", "C-M-d", "M-a", "M-e", "[", "]", "h", "l", "s", "t", "m", "n", "g",
	}
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	script := strings.Repeat("text \"An answer with `code` and a [link](https://example.test).\"\nfinish stop\n--\n", 400) + "text \"End.\"\nfinish stop"
	// A client that leaves by some key is back at once, and what was pressed meanwhile goes to
	// the next.
	x := tuiStart(t, script, 90, 28, "until [ -e enough ]; do EDITOR=true lathe; done; rm enough")
	for range 60 {
		var some []string
		for range 15 {
			some = append(some, names[r.IntN(len(names))])
		}
		x.keys(some...)
		if r.IntN(10) == 0 {
			x.resize(20+r.IntN(150), 5+r.IntN(50))
		}
		<-time.After(10 * time.Millisecond) // a hand is not faster
	}
	enough := filepath.Join(x.home, "p", "enough")
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	received := map[int]bool{} // twice would be at once
	x.until("it ends", func() bool {
		for _, one := range x.running() {
			if !received[one] {
				_ = syscall.Kill(one, syscall.SIGTERM) // it may have ended
			}
			received[one] = true
		}
		_, err := os.Stat(enough)
		return err != nil
	})
	x.keys("C-c") // what was pressed last stands in the shell's line
	seen := x.do("capture-pane", "-p", "-S", "-")
	if strings.Contains(seen, "panic") || strings.Contains(seen, "goroutine ") {
		t.Errorf("it failed:\n%s", seen)
	}
	x.restored()
	noneLeft(t, x.home)
}
