package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tui/inline/inlinetest"
)

// viewHome is a home whose settings name a scripted model.
func viewHome(t *testing.T, script string) (home string, server *modeltest.Server) {
	t.Helper()
	server = modeltest.Start(t, modeltest.MustParse(script))
	home = t.TempDir()
	settings := fmt.Sprintf(`{"model":"own/m","disabled_providers":["opencode"],"permission":{"bash":{"*":"allow","touch *":"ask"}},
"checks":{"todos":false,"checklist":false,"unverified":false},"subagents":{"brief":10},
"agent":{"finder":{"mode":"subagent","description":"finds things","prompt":"You find things."}},
"provider":{"own":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},"models":{"m":{"cost":{"input":1,"output":5}}}}}}`, server.URL+"/v1")
	for name, text := range map[string]string{".config/lathe/lathe.json": settings, "p/a.txt": "one\ntwo\n", "p/hello.sh": "greet\n"} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, server
}

// steady replaces what differs from run to run by something as wide.
func steady(seen, home string) string {
	seen = regexp.MustCompile(`ses_[0-9A-Za-z]{26}`).ReplaceAllString(seen, "ses_00000000000000000000000000")
	seen = regexp.MustCompile(`\b\d\.\ds`).ReplaceAllString(seen, "0.0s")
	return strings.ReplaceAll(seen, home, "HOME")
}

// steadyTime replaces what a turn took, where its tenths are rounded.
func steadyTime(seen string) string {
	return regexp.MustCompile(`(?m)\d+(\.\d)?m?s$`).ReplaceAllString(seen, "0s")
}

// seenOn is what a terminal shows that was sent these bytes.
func seenOn(width, height int, sent string) *inlinetest.Terminal {
	g := inlinetest.New(width, height)
	g.Write(sent)
	return g
}

// The picture of a whole turn, at three widths: markdown, tools that end well and badly, a file that
// changes, an agent that works for another, and the last row.
func TestView_Golden(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile(filepath.Join("testdata", "view", "turn.script"))
			if err != nil {
				t.Fatal(err)
			}
			home, _ := viewHome(t, string(script))
			code, sent := onScreen(t, home, uint16(width), 24, nil, "-C", "p", "run", "--title", "A view", "show all").end()
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			g := seenOn(width, 24, sent)
			for i, line := range g.Rows {
				if len(line) > width-2 {
					t.Errorf("row %d has %d columns", i, len(line))
				}
			}
			got := steady(g.String(), home)
			golden := filepath.Join("testdata", "view", fmt.Sprintf("%d.golden", width))
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// Where nothing may be styled the text is printed as it comes, and tools have their line when they end.
func TestView_Plain(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			home, _ := viewHome(t, "text \"**Plain**\\n\"\ncall bash {\"command\":\"echo hi\"}\nfinish tool-calls\n--\ntext \"End.\"\nfinish stop")
			code, sent := onScreen(t, home, 40, 24, []string{env}, "-C", "p", "run", "--title", "A view", "show all").end()
			if want := "**Plain**\r\n$ echo hi\r\nEnd.\r\n"; code != 0 || strings.Contains(sent, "\x1b") || !strings.Contains(sent, want) {
				t.Errorf("%d %q", code, sent)
			}
		})
	}
}

// For screen readers the turn is lines of words, also with colors.
func TestView_Accessible(t *testing.T) {
	t.Parallel()
	home, _ := viewHome(t, "text \"**Plain**\\n\"\ncall bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"End.\"\nfinish stop")
	x := onScreen(t, home, 80, 24, nil, "-C", "p", "run", "--accessible", "--title", "A view", "show all")
	x.see("type a reason:")
	x.enter("y\r")
	code, sent := x.end()
	told := steadyTime(steady(strings.ReplaceAll(sent, "\r\n", "\n"), home))
	for _, want := range []string{"\n**Plain**\nTool: bash touch x, started\nPermission needed: bash touch x\nType y once, ", "\nTool: bash touch x, done in 0.0s, exit 0\nEnd.\nDone: "} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
	if code != 0 || strings.Contains(sent, "\x1b") || strings.ContainsAny(sent, "✓·→") {
		t.Errorf("%d %q", code, sent)
	}
}

// A turn that ends in the middle, wherever that is, leaves what was said, the way to continue,
// the exit code of its signal, and a terminal as it was.
func TestView_Interrupt(t *testing.T) {
	touch := "text \"Here **is**\\nsome\"\ncall bash {\"command\":\"touch x\"}\nfinish tool-calls"
	for _, tt := range []struct {
		name, script, until string
		signal              syscall.Signal // 0 types Ctrl-C
		code                int
		want                []string
	}{
		{"text", "text \"Here **is**\\nsome\"\nstall", "some", 0, 130, []string{"Here is\nsome\n", "Interrupted. Resume with `lathe run --resume"}},
		{"thought", "stall", "working", 0, 130, []string{"Interrupted. Resume with `lathe run --resume"}},
		{"tool", "call bash {\"command\":\"sleep 60\"}\nfinish tool-calls", "sleep 60", 0, 130, []string{"✗ bash sleep 60 · ", "Interrupted."}},
		{"question", touch, "type a reason:", 0, 130, []string{"Here is\nsome\n", "Interrupted."}},
		{"retry", "status 429 retry-after=60 \"{}\"", "Retrying in", 0, 130, []string{"Retrying in", "Interrupted. Resume with `lathe run --resume"}},
		{
			"task", "when \"You find things.\"\ncall bash {\"command\":\"sleep 60\"}\nfinish tool-calls\n--\nwhen \"show all\"\ncall task {\"description\":\"find it\",\"prompt\":\"IT one two three four five six seven eight nine ten eleven\",\"subagent_type\":\"finder\"}\nfinish tool-calls",
			"sleep 60", 0, 130,
			[]string{"✗ task find it · ", "✗ bash sleep 60 · ", "Interrupted."},
		},
		{"table", "text \"Here **is**\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\"\nstall", "working", 0, 130, []string{"Here is\n\na │ b\n──┼──\n1 │ 2\n", "Interrupted."}},
		{"terminate", "text \"Here **is**\\nsome\"\nstall", "some", syscall.SIGTERM, 143, []string{"Here is\nsome\n", "Interrupted."}},
		{"kill", "text \"Here **is**\\nsome\"\nstall", "some", syscall.SIGKILL, -1, []string{"Here is\nsome\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, _ := viewHome(t, tt.script)
			x := onScreen(t, home, 60, 24, nil, "-C", "p", "run", "--title", "A view", "show all")
			x.see(tt.until)
			if tt.signal == 0 {
				x.enter("\x03")
			} else if err := x.cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			code, sent := x.end()
			g := seenOn(60, 24, sent)
			if g.Style != "" || code != tt.code || len(g.Unknown) > 0 {
				t.Errorf("exit code %d, not %d; look %q; %v\n%s", code, tt.code, g.Style, g.Unknown, sent)
			}
			if stateOf(t, x.user) != x.before {
				t.Error("the terminal is left in another state")
			}
			seen := g.Plain()
			for _, want := range tt.want {
				if strings.Count(seen, want) != 1 {
					t.Errorf("%q is there %d times:\n%s", want, strings.Count(seen, want), seen)
				}
			}
		})
	}
}

// A question stands below what is under way; when it is answered a row says how, and the turn goes on.
func TestView_Question(t *testing.T) {
	why := strings.Repeat("because it is not wanted here ", 4)
	for _, tt := range []struct {
		name, typed, answer, rest string
		code                      int
	}{
		{"yes", "y\r", "y", "✓ bash touch x · 0.0s\n\nEnd.\n\n", 0},
		{"no", "\r", "no", "✗ bash touch x · The user reje… · 0.0s\n\n", 3},
		{"words", why + "\r", "because it is not\n  wanted here because it is not wanted\n  here because it is not wanted here\n  because it is not wanted here", "✗ bash touch x · The user reje… · 0.0s\n\nEnd.\n\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, _ := viewHome(t, "text \"I touch it.\"\ncall bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"End.\"\nfinish stop")
			x := onScreen(t, home, 40, 24, nil, "-C", "p", "run", "--title", "A view", "show all")
			x.see("reason:")
			x.enter(tt.typed)
			code, sent := x.end()
			seen := steady(seenOn(40, 24, sent).Plain(), home)
			want := "> build · own/m\n  ses_00000000000000000000000000\n\nI touch it.\n\n? bash touch x → " + tt.answer + "\n\n" + tt.rest
			if code != tt.code || !strings.HasPrefix(seen, want) {
				t.Errorf("%d\n%s\nnot\n%s", code, seen, want)
			}
		})
	}
}

// Only a line of one letter gives a permission: a word is asked about again, and a sentence is a no.
func TestView_QuestionWantsALetter(t *testing.T) {
	t.Parallel()
	home, _ := viewHome(t, "call bash {\"command\":\"touch x\"}\nfinish tool-calls\n--\ntext \"End.\"\nfinish stop")
	x := onScreen(t, home, 100, 24, nil, "-C", "p", "run", "--title", "A view", "show all")
	x.see("type a reason:")
	x.enter("yes\r")
	x.see("answer with one letter:")
	if _, err := os.Stat(filepath.Join(home, "p", "x")); err == nil {
		t.Error("a word gave the permission")
	}
	x.enter("yes, but not now\r")
	if code, sent := x.end(); code != 0 || !strings.Contains(seenOn(100, 24, sent).Plain(), "End.") {
		t.Errorf("exit code %d\n%s", code, seenOn(100, 24, sent).Plain())
	}
	if _, err := os.Stat(filepath.Join(home, "p", "x")); err == nil {
		t.Error("a sentence gave the permission")
	}
}

// Thoughts are shown where they are wanted, dim and as they are, and apart from the answer.
func TestView_Thinking(t *testing.T) {
	home, _ := viewHome(t, "reasoning \"so **it**\" \" is\"\ntext \"It is **it**.\"\nfinish stop")
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	src, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	src = []byte(strings.Replace(string(src), `"m":{`, `"m":{"interleaved":{"field":"reasoning_content"},`, 1))
	if err := os.WriteFile(settings, src, 0o600); err != nil {
		t.Fatal(err)
	}
	code, sent := onScreen(t, home, 60, 24, nil, "-C", "p", "run", "--thinking", "--title", "A view", "show all").end()
	if seen := seenOn(60, 24, sent).String(); code != 0 || !strings.Contains(seen, "\n\n‹2›so ‹1;2›it‹2› is‹›\n\nIt is ‹1›it‹›.\n") {
		t.Errorf("%d\n%s", code, seen)
	}
}

// What fails is told below the picture.
func TestView_Error(t *testing.T) {
	home, _ := viewHome(t, `status 400 "{\"error\":{\"message\":\"no such thing\"}}"`)
	code, sent := onScreen(t, home, 40, 24, nil, "-C", "p", "run", "--title", "A view", "show all").end()
	if seen := seenOn(40, 24, sent).Plain(); code != 1 || !strings.Contains(seen, "\nError: ") || strings.Contains(seen, "working") {
		t.Errorf("%d\n%s", code, seen)
	}
}

// A terminal that becomes narrower while something runs has nothing twice.
func TestView_Resize(t *testing.T) {
	t.Parallel()
	home, server := viewHome(t, "text \"A first line.\\nAnother that is open and long enough to be broken at forty columns\"\npause 2s\ntext \" now.\"\nfinish stop")
	x := onScreen(t, home, 100, 24, nil, "-C", "p", "run", "--title", "A view", "show all")
	before := x.see("forty columns")
	if err := unix.IoctlSetWinsize(int(x.user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 40, Row: 24}); err != nil {
		t.Fatal(err)
	}
	code, sent := x.end()
	g := seenOn(100, 24, before)
	g.Resize(40)
	g.Write(strings.TrimPrefix(sent, before))
	seen := g.Plain()
	if want := "A first line.\nAnother that is open and long enough\nto be broken at forty columns now.\n"; code != 0 || !strings.Contains(seen, want) || strings.Count(seen, "Another") != 1 {
		t.Errorf("%d %d\n%s", code, len(server.Requests()), seen)
	}
}

// Nobody can read what is said: that is no reason to hang, and the exit code tells.
func TestView_ClosedOutput(t *testing.T) {
	home, _ := viewHome(t, "text \"Said.\"\nfinish stop")
	cmd := command(t, home, "-C", "p", "run", "--title", "A view", "show all")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	err = cmd.Run()
	if e := w.Close(); e != nil {
		t.Error(e)
	}
	if code := exitCode(err); code != 0 { // who reads has seen enough
		t.Errorf("exit code %d: %v", code, err)
	}
	noneLeft(t, home)
}
