package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
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
	gone := didRead("a", "1")
	gone.State.(*lathe.Completed).Compacted = 1
	allowed := ranShell("make", "x", 0)
	allowed.State.(*lathe.Completed).Metadata = []byte(`{"doom_loop":true}`)
	read, other, run := didRead("a", "1"), didRead("b", "2"), ranShell("make", "x", 0)
	for _, tt := range []struct {
		name  string
		calls []*lathe.ToolCall
		want  []Check
	}{
		{"the first", list(read), nil},
		{"the same again", list(read, read), []Check{Loop}},
		{"a third time is the guard's", list(read, read, read), nil},
		{"the same, another result", list(read, didRead("a", "2")), nil},
		{"others between", list(read, other, ranShell("ls", "", 0), read), []Check{Loop}},
		{"a change between", list(read, wroteFile("/p/x", true), read), nil},
		{"a command between", list(read, run, read), nil},
		{"a command again", list(run, run), []Check{Loop}},
		{"a wait", list(ranShell("sleep 5 && cat log", "", 0), ranShell("sleep 5 && cat log", "", 0)), nil},
		{"no longer in view", list(gone, read), nil},
		{"the same write", list(wroteFile("/p/x", true), wroteFile("/p/x", true)), nil},
		{"a cycle of two", repeat(3, read, run), []Check{Loop}},
		{"a cycle of four", repeat(3, didRead("a", "1"), run, didRead("b", "1"), ranShell("go vet", "y", 0)), []Check{Loop}},
		{"a cycle twice", repeat(2, run, ranShell("go vet", "y", 0)), nil},
		{"a cycle that a person allowed", append(repeat(2, ranShell("go vet", "y", 0), run), ranShell("go vet", "y", 0), allowed), nil},
		{"four edits that failed", list(failedEdit("a", "1"), failedEdit("a", "2"), other, failedEdit("a", "3"), failedEdit("a", "4")), []Check{Loop}},
		{"of two files", list(failedEdit("a", "1"), failedEdit("b", "2"), failedEdit("a", "3"), failedEdit("a", "4")), nil},
		{"with success between", list(failedEdit("/p/a", "1"), failedEdit("/p/a", "2"), wroteFile("/p/a", true), failedEdit("/p/a", "3"), failedEdit("/p/a", "4")), nil},
		{"tests edited", list(ranShell("go test", "", 1), wroteFile("/p/a_test.go", true)), []Check{TestsEdited}},
		{"tests edited, with documents", list(ranShell("go test", "", 1), wroteFile("/p/a.md", true), wroteFile("/p/a_test.go", true)), []Check{TestsEdited}},
		{"source was edited before", list(wroteFile("/p/a.go", true), ranShell("go test", "", 1), wroteFile("/p/a_test.go", true)), nil},
		{"tests passed", list(ranShell("go test", "", 1), ranShell("go test ./b", "", 0), wroteFile("/p/a_test.go", true)), nil},
		{"nothing new", append(list(ranShell("rg 0", "", 0)), idle(15)...), []Check{NoProgress}},
		{"nearly nothing new", append(list(ranShell("rg 0", "", 0)), idle(14)...), nil},
		{"something new between", append(append(list(ranShell("rg 0", "", 0)), idle(8)...), append(list(read), idle(17)[9:]...)...), nil},
		{"a change between them", append(append(list(ranShell("rg 0", "", 0)), idle(8)...), append(list(wroteFile("/p/a.md", true)), idle(8)...)...), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ResultChecker{checks: Defaults(true)}
			for _, c := range tt.calls[:len(tt.calls)-1] {
				w.before = append(w.before, ReadAction(c))
			}
			got := w.Check(ReadAction(tt.calls[len(tt.calls)-1]), nil)
			var names []Check
			for _, f := range got {
				names = append(names, f.Check)
				if words := f.Text(); len(words) > 240 {
					t.Errorf("%d characters: %s", len(words), words)
				}
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Error(diff)
			}
			w.checks = Checks{}
			if got := w.Check(ReadAction(tt.calls[len(tt.calls)-1]), nil); got != nil {
				t.Errorf("although it is off: %v", got)
			}
		})
	}
}

// idle are different commands that all print nothing.
func idle(n int) (out []*lathe.ToolCall) {
	for i := range n {
		out = append(out, ranShell("rg x"+strings.Repeat("x", i), "", 0))
	}
	return out
}

// TestChecks_Budget holds that each mark is reported once, and the highest of several at a
// time.
func TestChecks_Budget(t *testing.T) {
	w := ResultChecker{checks: Defaults(true)}
	var marks []int
	for _, used := range []float64{0, 0.49, 0.5, 0.6, 0.96, 0.99, 1.2} {
		w.Used = []UsedFraction{{0.1, "of one thing"}, {used, "of another"}}
		before := len(w.before)
		for _, f := range w.Check(&Action{Tool: "x", output: "new"}, nil) {
			marks = append(marks, f.level)
			w.before = append(w.before, &Action{Tool: "x", levels: map[Check]int{f.Check: f.level}})
		}
		if len(w.before) == before {
			w.before = append(w.before, &Action{Tool: "y"})
		}
	}
	if diff := cmp.Diff([]int{50, 95}, marks); diff != "" {
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
		if RunsTests(line) {
			got = "test"
		} else if isReadOnly(line) {
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
		"cd a;TOKEN=x go test":                       "",
		"&a=& go test":                               "",
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
		if got := TestCommand(line); got != want {
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
		got := [2]int{ExitOf(line, 0, IsTest), ExitOf(line, 3, IsTest)}
		if got != want {
			t.Errorf("%q tells %v, not %v", line, got, want)
		}
		if ExitOf(line, -1, IsTest) != -1 {
			t.Errorf("%q tells something although its end is not known", line)
		}
	}
}

// TestChecks_Lines holds for any line that taking it apart ends, loses no word and breaks none of its readers.
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
			if got := ExitOf(line+" go test", exit, IsTest); got != -1 && got != exit {
				t.Fatalf("%q tells %d", line, got)
			}
		}
		TestCommand(line + " go test")
		_, _, _, _ = isReadOnly(line), isPolling(line), mentions(line, "a"), isEnded(line, "1 a")
	})
}

func ranShell(command, output string, exit int) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"command": command})
	meta, _ := json.Marshal(map[string]any{"output": output, "exit": exit})
	return &lathe.ToolCall{Tool: "bash", State: &lathe.Completed{Input: in, Output: output, Metadata: meta}}
}

func wroteFile(file string, existed bool) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"filePath": file})
	meta, _ := json.Marshal(map[string]any{"filepath": file, "exists": existed})
	return &lathe.ToolCall{Tool: "write", State: &lathe.Completed{Input: in, Output: "Wrote " + file, Metadata: meta}}
}

func didRead(file, output string) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"filePath": file})
	return &lathe.ToolCall{Tool: "read", State: &lathe.Completed{Input: in, Output: output}}
}

func failedEdit(file, old string) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"filePath": file, "oldString": old})
	return &lathe.ToolCall{Tool: "edit", State: &lathe.Failed{Input: in, Error: "not found"}}
}

// BenchmarkChecks is what checks cost for each call at the end of a turn of two thousand.
func BenchmarkChecks(b *testing.B) {
	in := Input{Checks: Defaults(true), Edits: true, Read: &Reader{}}
	in.Messages = []*history.Message{{Message: lathe.Message{ID: "m1", Data: &lathe.User{}}}}
	for i := range 2000 {
		c := ranShell(fmt.Sprint("go run ./", i), strings.Repeat(fmt.Sprint(i, "\n"), 2000), 0)
		in.Messages = append(in.Messages, &history.Message{Message: lathe.Message{Data: &lathe.Assistant{}, Parts: []lathe.Part{{Body: c}}}})
	}
	in.turn()
	now := ReadAction(ranShell("go test", "x", 0))
	b.Run("turn", func(b *testing.B) {
		for b.Loop() {
			in.turn()
		}
	})
	w := NewResultChecker(in)
	b.Run("result", func(b *testing.B) {
		for b.Loop() {
			w.Check(now, nil)
		}
	})
}
