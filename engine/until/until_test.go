package until_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/until"
)

func failing(output string) until.Round { return until.NewRound(1, output, nil) }

func TestDecide(t *testing.T) {
	spec := until.Spec{Command: "make test", Tries: 5}
	pass := until.NewRound(0, "ok", nil)
	a, b, c, d := failing("a"), failing("b"), failing("c"), failing("d")
	for _, tc := range []struct {
		name   string
		rounds []until.Round
		want   until.Verdict
	}{
		{"nothing ran", nil, until.Again},
		{"first failure", []until.Round{a}, until.Again},
		{"passed", []until.Round{a, pass}, until.Passed},
		{"the same twice", []until.Round{a, a}, until.Again},
		{"the same three times", []until.Round{a, a, a}, until.NoProgress},
		{"back and forth", []until.Round{a, b, a, b, a}, until.NoProgress},
		{"another exit code is progress", []until.Round{a, a, until.NewRound(2, "a", nil)}, until.Again},
		{"tries used up", []until.Round{a, b, c, d, a}, until.NoTries},
		{"the last try passes", []until.Round{a, b, c, d, pass}, until.Passed},
		{"passed with a changed check", []until.Round{until.NewRound(0, "ok", []string{"/p/Makefile"})}, until.Again},
		{"changed for the third time", []until.Round{until.NewRound(0, "", []string{"x"}), until.NewRound(0, "", []string{"x"}), until.NewRound(0, "", []string{"x"})}, until.NoProgress},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := until.Decide(spec, tc.rounds); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// A run ends whatever the command prints.
func TestDecide_Ends(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		spec := until.Spec{Tries: 1 + rnd.IntN(12)}
		var rounds []until.Round
		for until.Decide(spec, rounds) == until.Again {
			rounds = append(rounds, until.NewRound(rnd.IntN(2), fmt.Sprint(rnd.IntN(4)), []string{"x"}[:rnd.IntN(2)]))
			if len(rounds) > spec.Tries {
				t.Fatalf("%d rounds with %d tries", len(rounds), spec.Tries)
			}
		}
	}
}

func TestNormalize_SameFailure(t *testing.T) {
	for name, pair := range map[string][2]string{
		"go test":    {"--- FAIL: TestA (0.03s)\n    a_test.go:12: got 1, want 2\nFAIL\tx/y\t0.412s", "--- FAIL: TestA (1.20s)\n    a_test.go:19: got 1, want 2\nFAIL\tx/y\t2.1s"},
		"folders":    {"open /tmp/TestA123/001/x: no such file", "open /tmp/TestA999/002/x: no such file"},
		"checkout":   {"/home/a/proj/src/x.ts:3:4: error TS1", "/srv/lathe-worktrees/t1/src/x.ts:7:1: error TS1"},
		"addresses":  {"panic at 0xc000123: goroutine 7 [running]", "panic at 0xc000abc: goroutine 19 [running]"},
		"times":      {"2026-01-02T10:11:12.5Z failed at 10:11:12", "2026-03-04T01:02:03.9Z failed at 01:02:03"},
		"pytest":     {"=== 1 failed, 3 passed in 0.12s ===", "=== 1 failed, 3 passed in 12.90s ==="},
		"order":      {"FAIL a\nFAIL b", "FAIL b\nFAIL a"},
		"colors":     {"\x1b[31mFAIL\x1b[0m a", "FAIL a"},
		"progress":   {"10%\r50%\rdone: 1 failed", "30%\rdone: 1 failed"},
		"identifier": {"request 123e4567-e89b-12d3-a456-426614174000 failed", "request 00000000-e89b-12d3-a456-426614174999 failed"},
		"spaces":     {"a   b\n\n\nc", "a b\nc\n"},
	} {
		if a, b := until.Normalize(pair[0]), until.Normalize(pair[1]); a != b {
			t.Errorf("%s: taken for different failures:\n%s\n---\n%s", name, a, b)
		}
	}
}

func TestNormalize_OtherFailure(t *testing.T) {
	for name, pair := range map[string][2]string{
		"another test":  {"--- FAIL: TestA (0.03s)", "--- FAIL: TestB (0.03s)"},
		"another value": {"got 1, want 2", "got 3, want 2"},
		"fewer errors":  {"a.go:1: undefined: x\na.go:2: undefined: x", "a.go:1: undefined: x"},
		"count":         {"3 failed, 1 passed", "2 failed, 2 passed"},
		"another file":  {"/p/src/a.ts:3: error", "/p/src/b.ts:3: error"},
	} {
		if until.Normalize(pair[0]) == until.Normalize(pair[1]) {
			t.Errorf("%s: taken for the same failure: %s", name, until.Normalize(pair[0]))
		}
	}
}

func TestTail(t *testing.T) {
	if got := until.Tail("a\nb\n", 100); got != "a\nb" {
		t.Errorf("short: %q", got)
	}
	long := strings.Repeat("first line\n", 1000) + "the error"
	got := until.Tail(long, 100)
	if !strings.HasSuffix(got, "first line\nthe error") || !strings.HasPrefix(got, "… ") || len(got) > 150 {
		t.Errorf("long: %q", got)
	}
	for range 300 { // any bytes
		raw := make([]byte, 400)
		for i := range raw {
			raw[i] = byte(rand.Uint32())
		}
		if got := until.Tail(string(raw), 50); !utf8.ValidString(got) || len(got) > 100 || strings.ContainsRune(got, '\x1b') {
			t.Fatalf("%q becomes %q", raw, got)
		}
	}
}

func TestDecidingFiles(t *testing.T) {
	exists := map[string]bool{}
	for _, name := range []string{"Makefile", "check.sh", "sub/Makefile", "tests/a_test.py", "out.log", "my check.sh", "golden.txt"} {
		exists[filepath.Join("/p", filepath.FromSlash(name))] = true
	}
	for command, want := range map[string][]string{
		"make test":                                   {"GNUmakefile", "makefile", "Makefile"},
		"make -f check.sh all":                        {"GNUmakefile", "makefile", "Makefile", "check.sh"},
		"./check.sh && echo ok":                       {"check.sh"},
		"bash -c './check.sh -v'":                     {"check.sh"},
		"cd sub && make":                              {"sub/GNUmakefile", "sub/makefile", "sub/Makefile"},
		"pytest tests/a_test.py::test_x":              {"tests/a_test.py"},
		"pytest tests/a_test.py":                      {"tests/a_test.py"},
		"go run . > out.log; diff out.log golden.txt": {"golden.txt"},
		`bash "my check.sh"`:                          {"my check.sh", "check.sh"}, // one too many does no harm
		"SCRIPT=check.sh sh -c '$SCRIPT'":             {"check.sh"},
		"npm test":                                    {"package.json", ".npmrc"},
		"yarn test":                                   {"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml"},
		"task":                                        {"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yml", "taskfile.dist.yaml"},
		"go test ./...":                               nil,
		"/p/check.sh 2>&1 | tail":                     {"check.sh"},
		"":                                            nil,
		"'":                                           nil,
	} {
		var full []string
		for _, name := range want {
			full = append(full, filepath.Join("/p", filepath.FromSlash(name)))
		}
		if diff := cmp.Diff(full, until.DecidingFiles(command, "/p", func(p string) bool { return exists[p] })); diff != "" {
			t.Errorf("%s:\n%s", command, diff)
		}
	}
}

// A script names others as words, and includes what need not exist yet.
func TestScriptsIn(t *testing.T) {
	exists := map[string]bool{}
	for _, name := range []string{"test.sh", "rules.mk", "tests/run", "lib.sh"} {
		exists[filepath.Join("/p", filepath.FromSlash(name))] = true
	}
	for text, want := range map[string][]string{
		"-include local.mk\ntest: main.c\n\t@sh test.sh":  {"local.mk", "test.sh"},
		"test:\n\t$(ROOT)/tests/run main.c":               {"tests/run"},
		`. "$(dirname "$0")/lib.sh"`:                      {"lib.sh"},
		`{"scripts": {"test": "bash test.sh && node ."}}`: {"test.sh"},
		"gcc main.c": nil,
		"include":    nil,
	} {
		var full []string
		for _, name := range want {
			full = append(full, filepath.Join("/p", filepath.FromSlash(name)))
		}
		if diff := cmp.Diff(full, until.ScriptsIn(text, "/p", func(p string) bool { return exists[p] })); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
	if n := len(until.ScriptsIn(strings.Repeat("include a\n", 500), "/p", func(string) bool { return true })); n > until.MaxScripts {
		t.Errorf("%d scripts", n)
	}
}

func userMessage(parts ...lathe.Part) lathe.Message {
	return lathe.Message{Data: &lathe.User{}, Parts: parts}
}

func TestStateOf(t *testing.T) {
	spec := until.Spec{Command: "make", Tries: 4, Files: []until.File{{Path: "/p/Makefile", Sum: "ab"}}}
	begin := userMessage(lathe.Part{Body: &lathe.Text{Text: "fix it", Metadata: until.WithBegin(json.RawMessage(`{"other":1}`), spec)}})
	r := failing("boom")
	again := userMessage(until.Next(spec, r, 1, "boom"))
	plain := userMessage(lathe.Part{Body: &lathe.Text{Text: "what is this?"}})
	note := userMessage(lathe.Part{Body: &lathe.Text{Text: "a check", Synthetic: lathe.Yes}})
	for _, tc := range []struct {
		name     string
		messages []lathe.Message
		want     until.State
		ok       bool
	}{
		{"no messages", nil, until.State{}, false},
		{"no run", []lathe.Message{plain}, until.State{}, false},
		{"a round without a beginning", []lathe.Message{again}, until.State{}, false},
		{"begun", []lathe.Message{plain, begin}, until.State{Spec: spec, Last: true}, true},
		{"two rounds", []lathe.Message{begin, again, note, again}, until.State{Spec: spec, Rounds: []until.Round{r, r}, Last: true}, true},
		{"left", []lathe.Message{begin, again, plain}, until.State{Spec: spec, Rounds: []until.Round{r}}, true},
		{"begun again", []lathe.Message{begin, again, begin}, until.State{Spec: spec, Last: true}, true},
	} {
		got, ok := until.StateOf(tc.messages)
		if diff := cmp.Diff(tc.want, got); diff != "" || ok != tc.ok {
			t.Errorf("%s: ok %v\n%s", tc.name, ok, diff)
		}
	}
}

func TestStateOf_Hostile(t *testing.T) {
	for _, meta := range []string{`{"lathe":{"until":{"begin":{"tries":-5}}}}`, `{"lathe":{"until":{"begin":{"tries":999999999}}}}`, `{"lathe":{"until":7}}`, `{"lathe":"until"}`, `"until"`} {
		s, ok := until.StateOf([]lathe.Message{userMessage(lathe.Part{Body: &lathe.Text{Metadata: json.RawMessage(meta)}})})
		if ok && (s.Spec.Tries < 1 || s.Spec.Tries > until.MaxTries) {
			t.Errorf("%s: %+v", meta, s)
		}
	}
}

func TestNext(t *testing.T) {
	spec := until.Spec{Command: "make test", Tries: 10}
	text := until.Next(spec, failing("x"), 2, "some ``` fence\n"+strings.Repeat("x\n", 9000)+"the end").Body.(*lathe.Text).Text
	for _, want := range []string{"exit code 1 (run 2 of 10)", "    make test", "left out …", "the end\n```"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text[:600])
		}
	}
	if len(text) > 9000 {
		t.Errorf("%d bytes", len(text))
	}
	changed := until.NewRound(0, "ok", []string{"/p/Makefile"})
	if text := until.Next(spec, changed, 1, "ok").Body.(*lathe.Text).Text; !strings.Contains(text, "does not count") || !strings.Contains(text, "/p/Makefile") {
		t.Error(text)
	}
}

func TestChanged(t *testing.T) {
	spec := until.Spec{Files: []until.File{{Path: "/p/Makefile", Sum: "1"}, {Path: "/p/GNUmakefile", Sum: ""}, {Path: "/p/x", Sum: "2"}}}
	got := until.Changed(spec.Files, []until.File{{Path: "/p/Makefile", Sum: "1"}, {Path: "/p/GNUmakefile", Sum: "9"}})
	if diff := cmp.Diff([]string{"/p/GNUmakefile", "/p/x"}, got); diff != "" {
		t.Error(diff)
	}
}
