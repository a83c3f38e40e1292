package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// TestChecks_Results holds when a line is added to the result of the last of some calls.
func TestChecks_Results(t *testing.T) {
	list := func(calls ...*lathe.ToolCall) []*lathe.ToolCall { return calls }
	repeat := func(n int, calls ...*lathe.ToolCall) (out []*lathe.ToolCall) {
		for range n {
			out = append(out, calls...)
		}
		return out
	}
	gone := readCall("a", "1")
	gone.State.(*lathe.Completed).Compacted = 1
	allowed := shellCall("make", "x", 0)
	allowed.State.(*lathe.Completed).Metadata = []byte(`{"doom_loop":true}`)
	read, other, run := readCall("a", "1"), readCall("b", "2"), shellCall("make", "x", 0)
	for _, tt := range []struct {
		name  string
		calls []*lathe.ToolCall
		want  []Check
	}{
		{"the first", list(read), nil},
		{"the same again", list(read, read), []Check{CheckLoop}},
		{"a third time is the guard's", list(read, read, read), nil},
		{"the same, another result", list(read, readCall("a", "2")), nil},
		{"others between", list(read, other, shellCall("ls", "", 0), read), []Check{CheckLoop}},
		{"a change between", list(read, writeCall("/p/x", true), read), nil},
		{"a command between", list(read, run, read), nil},
		{"a command again", list(run, run), []Check{CheckLoop}},
		{"a wait", list(shellCall("sleep 5 && cat log", "", 0), shellCall("sleep 5 && cat log", "", 0)), nil},
		{"no longer in view", list(gone, read), nil},
		{"the same write", list(writeCall("/p/x", true), writeCall("/p/x", true)), nil},
		{"a cycle of two", repeat(3, read, run), []Check{CheckLoop}},
		{"a cycle of four", repeat(3, readCall("a", "1"), run, readCall("b", "1"), shellCall("go vet", "y", 0)), []Check{CheckLoop}},
		{"a cycle twice", repeat(2, run, shellCall("go vet", "y", 0)), nil},
		{"a cycle that a person allowed", append(repeat(2, shellCall("go vet", "y", 0), run), shellCall("go vet", "y", 0), allowed), nil},
		{"four edits that failed", list(editFailed("a", "1"), editFailed("a", "2"), other, editFailed("a", "3"), editFailed("a", "4")), []Check{CheckLoop}},
		{"of two files", list(editFailed("a", "1"), editFailed("b", "2"), editFailed("a", "3"), editFailed("a", "4")), nil},
		{"with success between", list(editFailed("/p/a", "1"), editFailed("/p/a", "2"), writeCall("/p/a", true), editFailed("/p/a", "3"), editFailed("/p/a", "4")), nil},
		{"tests edited", list(shellCall("go test", "", 1), writeCall("/p/a_test.go", true)), []Check{CheckTestsEdited}},
		{"tests edited, with documents", list(shellCall("go test", "", 1), writeCall("/p/a.md", true), writeCall("/p/a_test.go", true)), []Check{CheckTestsEdited}},
		{"source was edited before", list(writeCall("/p/a.go", true), shellCall("go test", "", 1), writeCall("/p/a_test.go", true)), nil},
		{"tests passed", list(shellCall("go test", "", 1), shellCall("go test ./b", "", 0), writeCall("/p/a_test.go", true)), nil},
		{"nothing new", append(list(shellCall("rg 0", "", 0)), idle(15)...), []Check{CheckNoProgress}},
		{"nearly nothing new", append(list(shellCall("rg 0", "", 0)), idle(14)...), nil},
		{"something new between", append(append(list(shellCall("rg 0", "", 0)), idle(8)...), append(list(read), idle(17)[9:]...)...), nil},
		{"a change between them", append(append(list(shellCall("rg 0", "", 0)), idle(8)...), append(list(writeCall("/p/a.md", true)), idle(8)...)...), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := watcher{checks: DefaultChecks(true)}
			for _, c := range tt.calls[:len(tt.calls)-1] {
				w.before = append(w.before, readDeed(c))
			}
			got := w.look(readDeed(tt.calls[len(tt.calls)-1]), nil)
			var names []Check
			for _, f := range got {
				names = append(names, f.check)
				if words := f.words(); len(words) > 240 {
					t.Errorf("%d characters: %s", len(words), words)
				}
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Error(diff)
			}
			w.checks = Checks{}
			if got := w.look(readDeed(tt.calls[len(tt.calls)-1]), nil); got != nil {
				t.Errorf("although it is off: %v", got)
			}
		})
	}
}

// idle are different commands that all print nothing.
func idle(n int) (out []*lathe.ToolCall) {
	for i := range n {
		out = append(out, shellCall("rg x"+strings.Repeat("x", i), "", 0))
	}
	return out
}

// TestChecks_Budget holds that each mark is told once, and the highest of several at a time.
func TestChecks_Budget(t *testing.T) {
	w := watcher{checks: DefaultChecks(true)}
	var told []int
	for _, used := range []float64{0, 0.49, 0.5, 0.6, 0.96, 0.99, 1.2} {
		w.shares = []share{{0.1, "of one thing"}, {used, "of another"}}
		before := len(w.before)
		for _, f := range w.look(&deed{tool: "x", output: "new"}, nil) {
			told = append(told, f.level)
			w.before = append(w.before, &deed{tool: "x", levels: map[Check]int{f.check: f.level}})
		}
		if len(w.before) == before {
			w.before = append(w.before, &deed{tool: "y"})
		}
	}
	if diff := cmp.Diff([]int{50, 95}, told); diff != "" {
		t.Error(diff)
	}
}

// TestChecks_Commands holds what is taken for a test, for a look, and for neither.
func TestChecks_Commands(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./...":                        "test",
		"cd web && npm run test:unit":          "test",
		"CI=1 npx jest --run":                  "test",
		"python -m pytest -x":                  "test",
		"python3 manage.py test":               "test",
		"uv run pytest":                        "test",
		"timeout 60 make check":                "test",
		"./gradlew test":                       "test",
		"cargo nextest run | tail":             "test",
		"bundle exec rspec":                    "test",
		"go build ./...":                       "",
		"npm install jest":                     "",
		"echo go test":                         "look",
		"git status && git diff":               "look",
		"ls -la | head -3":                     "look",
		"find . -name x":                       "look",
		"find . -name x -delete":               "",
		"git commit -m test":                   "",
		"cat a > b":                            "",
		"echo $(rm x)":                         "",
		"rm -rf x":                             "",
		"grep -r test . ; sed -i s/a/b/ a.txt": "",
		"":                                     "",
	} {
		got := ""
		if runsTests(line) {
			got = "test"
		} else if onlyLooks(line) {
			got = "look"
		}
		if got != want {
			t.Errorf("%q is %q, not %q", line, want, got)
		}
	}
	for line, want := range map[string]string{
		" go test ./... ":                            "go test ./...",
		"TOKEN=x go test ./...":                      "",
		"cat <<E\nx\nE\ngo test":                     "",
		"cd a && TOKEN=x go test":                    "",
		"go test ./... 2>&1 | tail -20":              "go test ./...",
		"cd a && go test ./... >out.txt 2>&1":        "cd a && go test ./...",
		"go build ./... && go test ./... && echo ok": "go test ./...",
		"go test ./a && go test ./b | tail":          "go test ./a && go test ./b",
		"go test ./a; go test ./b":                   "",
		"set -o pipefail; npm test | tee log":        "npm test",
		"(cd a; go test)":                            "",
		"for i in 1 2; do go test; done":             "",
		`go test -run "A|B" ./...`:                   `go test -run "A|B" ./...`,
		`pytest -k "a > b"`:                          "",
		"npm run build":                              "",
	} {
		if got := testCommand(line); got != want {
			t.Errorf("%q is kept as %q", line, got)
		}
	}
}

// TestChecks_Verdict holds what the exit code of a line says of the tests in it: theirs, or nothing.
func TestChecks_Verdict(t *testing.T) {
	for line, want := range map[string][2]int{ // where the line ended with 0, and with 3
		"go test ./...":                              {0, 3},
		"cd a && go test ./...":                      {0, 3},
		"go test ./... 2>&1":                         {0, 3},
		"go test ./... | tail -5":                    {-1, -1},
		"go test ./... |& tail -5":                   {-1, -1},
		"set -o pipefail; go test ./... | tail -5":   {0, 3},
		"set -euo pipefail\ngo test ./... | tail -5": {0, 3},
		"yes | go test ./...":                        {0, 3},
		"go test ./... && echo ok":                   {0, 3},
		"go test ./... && git push":                  {0, -1},
		"go build ./... && go test ./...":            {0, -1},
		"go build ./...; go test ./...":              {0, 3},
		"go test ./...; echo done":                   {-1, -1},
		"set -e; go test ./...; echo done":           {0, 3},
		"go test ./... || true":                      {-1, -1},
		"go test ./... || exit 3":                    {0, 3},
		"go vet ./... || go test ./...":              {-1, -1},
		"go test ./... &":                            {-1, -1},
		"(go test ./...)":                            {-1, -1},
		"if go test; then echo; fi":                  {-1, -1},
		"! go test ./...":                            {-1, -1},
		"go test ./a && go test ./b":                 {0, 3},
		"go test ./a | cat && go test ./b":           {-1, -1},
		"go test ./... && echo a | cat":              {0, 3},
		`go test -run "A|B;C" ./...`:                 {0, 3},
		"ls":                                         {-1, -1},
	} {
		got := [2]int{verdict(line, 0, isTest), verdict(line, 3, isTest)}
		if got != want {
			t.Errorf("%q tells %v, not %v", line, got, want)
		}
		if verdict(line, -1, isTest) != -1 {
			t.Errorf("%q tells something although its end is not known", line)
		}
	}
}

// TestChecks_Lines holds for any line that taking it apart ends and loses no word.
func TestChecks_Lines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOfN(rapid.RuneFrom([]rune("a \\'\"`&|;()<>\n1é=")), 0, 40, -1).Draw(t, "line")
		n := 0
		for _, c := range clauses(line) {
			n += strings.Count(c.text, "a")
		}
		if n != strings.Count(line, "a") {
			t.Fatalf("%q: %d words are left", line, n)
		}
		for _, exit := range []int{-1, 0, 1} {
			if got := verdict(line+" go test", exit, isTest); got != -1 && got != exit {
				t.Fatalf("%q tells %d", line, got)
			}
		}
		testCommand(line + " go test")
	})
}

// TestChecks_SaidNotDone holds what announces a call.
func TestChecks_SaidNotDone(t *testing.T) {
	for text, want := range map[string]bool{
		"Now let me run the tests:":                         true,
		"I found it. I'll fix the loop now.":                true,
		"Great! Next, I will update the docs.":              true,
		"**Let me check the config.**":                      true,
		"Let me know if you need more.":                     false,
		"I'll be here.":                                     false,
		"I'll add it if you want.":                          false,
		"Should I run it? Let me check with you?":           false,
		"I ran the tests. All pass.":                        false,
		"Let me run this:\n```\ngo test\n```":               false,
		"I'll run the tests.\n\nThey pass, and I am done.":  false,
		"Once you confirm, I'll delete it.":                 false,
		"The next step would be: let me run the tests too.": false,
	} {
		s := headless("fix", text)
		if _, got := s.turn().saidNotDone(s); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestChecks_CutOff holds what is said of an answer that is as long as it may be.
func TestChecks_CutOff(t *testing.T) {
	cut := lathe.Assistant{Finish: "length", Tokens: lathe.Tokens{Output: 90, Reasoning: 10}}
	call := &lathe.ToolCall{Tool: "write", State: &lathe.Failed{Metadata: []byte(`{"interrupted":true}`)}}
	for name, tt := range map[string]struct {
		last *held
		want string
	}{
		"words":    {a("m2", cut, &lathe.Text{Text: "Once"}), "length (100 tokens). Go on exactly"},
		"a call":   {a("m2", cut, call), "in the middle of a call of write, which was not run. Make the call again"},
		"thoughts": {a("m2", cut, &lathe.Reasoning{Text: "Hm"}), "Go on exactly"},
		"whole":    {a("m2", stopped, &lathe.Text{Text: "Once"}), ""},
	} {
		s := headless("tell", "")
		s.messages[len(s.messages)-1] = tt.last
		got := ""
		if c, ok := plan(s).(check); ok {
			got = c.say[0].words()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
