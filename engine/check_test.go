package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/history/historytest"
)

// Histories for checks: calls as the tools leave them.

func shellCall(command, output string, exit int) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"command": command})
	meta, _ := json.Marshal(map[string]any{"output": output, "exit": exit})
	return &lathe.ToolCall{Tool: "bash", State: &lathe.Completed{Input: in, Output: output, Metadata: meta}}
}

func writeCall(file string, existed bool) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"filePath": file})
	meta, _ := json.Marshal(map[string]any{"filepath": file, "exists": existed})
	return &lathe.ToolCall{Tool: "write", State: &lathe.Completed{Input: in, Output: "Wrote " + file, Metadata: meta}}
}

func todoCall(statuses ...string) *lathe.ToolCall {
	var list []lathe.Todo
	for i, s := range statuses {
		list = append(list, lathe.Todo{Content: fmt.Sprint("item ", i), Status: s, Priority: "medium"})
	}
	meta, _ := json.Marshal(map[string]any{"todos": list})
	return &lathe.ToolCall{Tool: "todowrite", State: &lathe.Completed{Input: json.RawMessage(`{}`), Metadata: meta}}
}

// headless is a state in which all checks are on and a turn has come to its answer.
func headless(prompt, answer string, calls ...lathe.Body) state {
	messages := []*history.Message{historytest.User("m1", &lathe.Text{Text: prompt})}
	for i, c := range calls {
		messages = append(messages, historytest.Answer(lathe.MessageID(fmt.Sprint("c", i)), historytest.Calling, c))
	}
	messages = append(messages, historytest.Answer("m9", historytest.Stopped, &lathe.Text{Text: answer}))
	return state{messages: messages, wants: "m1", checked: check.Input{Checks: check.Defaults(true), Edits: true}}
}

// firedIn names the checks that have words.
func firedIn(n next) (names []check.Check) {
	if c, ok := n.(endCheck); ok {
		for _, f := range slices.Concat(c.ToModel, c.ToUser) {
			names = append(names, f.Check)
		}
	}
	return names
}

// TestChecks_Stop holds when the checks of a turn that would end fire, and that no other does.
func TestChecks_Stop(t *testing.T) {
	patch := func(files ...string) lathe.Body { return &lathe.Patch{Hash: "h", Files: files} }
	tracked := &lathe.StepStart{Snapshot: "tree"}
	sed := shellCall("sed -i s/a/b/ /p/a.go", "", 0)
	for _, tt := range []struct {
		name string
		s    state
		want []check.Check
	}{
		{"nothing happened", headless("hello", "Hello."), nil},
		{"all items are closed", headless("do", "Done.", todoCall("completed", "cancelled")), nil},
		{"an open item", headless("do", "Done.", todoCall("completed", "in_progress")), []check.Check{check.Todos}},
		{"closed later", headless("do", "Done.", todoCall("pending"), todoCall("completed")), nil},
		{"documents", headless("do", "Done.", writeCall("/p/a.md", true)), []check.Check{check.Checklist}},
		{"code", headless("do", "Done.", writeCall("/p/a.go", true)), []check.Check{check.Unverified}},
		{"code and a look", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("git diff | head", "", 0)), []check.Check{check.Unverified}},
		{"code and a command that shows little", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("git add -A", "", 0)), []check.Check{check.Checklist}},
		{"code and a build", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go vet ./...", "", 0)), nil},
		{"code and a test", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("cd /p && go test ./... && git add -A", "ok", 0), shellCall("git diff", "", 0)), nil},
		{"code and a test in a pipe", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go test ./... 2>&1 | tail -3", "ok", 0)), nil},
		{"code and a test in a pipe without failures", headless("do", "Done.", writeCall("/p/a.rs", true), shellCall("cargo test 2>&1 | tail -3", "test result: ok. 5 passed; 0 failed; 0 ignored", 0)), nil},
		{"code and a test in a pipe that failed", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go test ./... 2>&1 | tail -3", "FAIL", 0)), []check.Check{check.Checklist}},
		{"code and a test that failed", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go test ./...", "", 1)), []check.Check{check.Checklist}},
		{"documents behind a test", headless("do", "Done.", shellCall("go test ./...", "ok", 0), writeCall("/p/a.md", true)), []check.Check{check.Checklist}},
		{"products", headless("do", "Done.", writeCall("/p/node_modules/x/a.js", false), writeCall("/p/target/a.rs", false), writeCall("/p/dist/a.js", false), writeCall("/p/Cargo.lock", true), writeCall("/p/go.sum", true)), nil},
		{"sources in a folder for products", headless("do", "Done.", writeCall("/p/build/a.md", false)), []check.Check{check.Checklist}},
		{"a command, then code", headless("do", "Done.", shellCall("go vet ./...", "", 0), writeCall("/p/a.go", true)), []check.Check{check.Unverified}},
		{"a claim", headless("fix the bug", "I have fixed the bug."), []check.Check{check.EmptyDiff}},
		{"a claim in the passive", headless("Please update the docs", "The docs have been updated."), []check.Check{check.EmptyDiff}},
		{"a claim after a look", headless("fix the bug", "I fixed the bug.", shellCall("cat a.go", "", 0)), []check.Check{check.EmptyDiff}},
		{"a claim after a command", headless("fix the bug", "I fixed the bug.", sed), nil},
		{"a claim after a task", headless("fix the bug", "I fixed the bug.", did("task", `{}`, `{}`)), nil},
		{"no claim", headless("fix the bug", "There is no bug."), nil},
		{"a question", headless("Why did you remove it?", "It was removed because it was wrong."), nil},
		{"an analysis", headless("review the change and list what to fix", "The loop was changed."), nil},
		{"a stray file", headless("do", "Done.", writeCall("/p/a.go.orig", false)), []check.Check{check.Checklist, check.Leftovers}},
		{"one that was there", headless("do", "Done.", writeCall("/p/a.log", true)), []check.Check{check.Checklist}},
		{"one that went", headless("do", "Done.", writeCall("/p/tmp_x.txt", false), shellCall("cd /p && rm tmp_x.txt", "", 0)), []check.Check{check.Checklist}},
		{"a process", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0)), []check.Check{check.Leftovers}},
		{"one that was ended by a file of its number", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("kill $(cat pid) && rm pid", "", 0)), nil},
		{"one that was ended by its port", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("fuser -k 80/tcp", "", 0)), nil},
		{"another was ended", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("kill 13", "", 0)), []check.Check{check.Leftovers}},
		{"one that was ended", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("pkill serve", "", 0)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, firedIn(plan(tt.s))); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a command that changed code", func(t *testing.T) {
		s := headless("fix it", "I fixed it.")
		s.messages = slices.Insert(s.messages, 1, historytest.Answer("m2", historytest.Calling, tracked, sed, patch("/p/a.go")))
		if diff := cmp.Diff([]check.Check{check.Unverified}, firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a command that changed a document", func(t *testing.T) {
		s := headless("do", "Done.")
		s.messages = slices.Insert(s.messages, 1, historytest.Answer("m2", historytest.Calling, tracked, shellCall("echo x >>a.txt && git commit -qam x", "", 0), patch("/p/a.txt")))
		if diff := cmp.Diff([]check.Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a command that built", func(t *testing.T) {
		s := headless("do", "Done.")
		s.messages = slices.Insert(s.messages, 1, historytest.Answer("m2", historytest.Calling, tracked, shellCall("npm ci", "", 0), patch("/p/node_modules/x/a.js", "/p/package-lock.json", "/p/build/x.js")))
		if diff := cmp.Diff([]check.Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a file that git ignores", func(t *testing.T) {
		s := headless("do", "Done.")
		s.session.Directory = "/p"
		s.messages = slices.Insert(s.messages, 1, historytest.Answer("m2", historytest.Calling, tracked, writeCall("/p/local.go", false)))
		if diff := cmp.Diff([]check.Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
		s.messages[1] = historytest.Answer("m2", historytest.Calling, tracked, writeCall("/p/local.go", false), patch("/p/local.go"))
		if diff := cmp.Diff([]check.Check{check.Unverified}, firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("files that are gone", func(t *testing.T) {
		s := headless("do", "Done.", writeCall("/p/a.go", false), writeCall("/p/b.md", false))
		s.checked.IsDeleted = func(string) bool { return true }
		if diff := cmp.Diff([]check.Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a command that changed nothing", func(t *testing.T) {
		s := headless("fix it", "I fixed it.")
		s.messages = slices.Insert(s.messages, 1, historytest.Answer("m2", historytest.Calling, tracked, sed))
		if diff := cmp.Diff([]check.Check{check.EmptyDiff}, firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestChecks_Silent holds where nothing is checked although there would be a lot to say.
func TestChecks_Silent(t *testing.T) {
	full := func() state {
		return headless("fix the bug", "Now let me run the tests:", todoCall("pending"), writeCall("/p/a.go", true))
	}
	if n := firedIn(plan(full())); !slices.Equal(n, []check.Check{check.SaidNotDone}) {
		t.Fatalf("%v", n)
	}
	for name, change := range map[string]func(*state){
		"a word that wants no answer": func(s *state) { s.messages = append(s.messages, historytest.User("m10")) },
		"an answer to something else": func(s *state) {
			s.messages = append(s.messages, historytest.User("m10", historytest.Reminder), historytest.Answer("m11", historytest.Stopped, &lathe.Text{Text: "ran"}))
		},
		"no check is on": func(s *state) { s.checked.Checks = nil },
		"all are off":    func(s *state) { s.checked.Checks = check.Checks{check.Todos: check.Off} },
		"an error": func(s *state) {
			s.messages[len(s.messages)-1] = historytest.Answer("m9", historytest.Fallen, &lathe.Text{Text: "x"})
		},
		"a structure": func(s *state) {
			s.messages[len(s.messages)-1] = historytest.Answer("m9", lathe.Assistant{Finish: "stop", Structured: []byte(`{}`)})
		},
		"steps are used up": func(s *state) { s.steps = 3 },
		"a call was stopped": func(s *state) {
			s.messages[1] = historytest.Answer("c0", historytest.Calling, historytest.FailedCall(`{"stopped":true}`))
		},
		"a call was rejected, and the turn goes on": func(s *state) {
			s.continueOnDeny = true
			s.messages[1] = historytest.Answer("c0", historytest.Calling, historytest.FailedCall(`{"rejected":true}`))
		},
		"nobody wants an answer": func(s *state) { s.wants = "" },
		"two prompts were said": func(s *state) {
			for _, id := range []lathe.MessageID{"x1", "x2"} {
				s.messages = slices.Insert(s.messages, len(s.messages)-1, historytest.User(id, &lathe.Text{Text: "x", Synthetic: lathe.Yes, Metadata: check.WithMeta(nil, check.Issue{Check: "another"})}))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := full()
			change(&s)
			if n, ok := plan(s).(stop); !ok {
				t.Errorf("%#v", n)
			}
		})
	}
}

// TestChecks_Defaults holds the columns of the table in docs/checks.md.
func TestChecks_Defaults(t *testing.T) {
	beside, alone := check.Defaults(false), check.Defaults(true)
	off := []check.Check{check.Unverified, check.EmptyDiff, check.Checklist, check.NoProgress, check.Budget, check.SaidNotDone}
	shown := []check.Check{check.Todos, check.Leftovers}
	for _, c := range check.All() {
		want := check.Act
		switch {
		case slices.Contains(off, c):
			want = check.Off
		case slices.Contains(shown, c):
			want = check.Show
		}
		if beside[c] != want || alone[c] != check.Act {
			t.Errorf("%s: %d beside a person, %d alone", c, beside[c], alone[c])
		}
	}
	got := beside.With(map[string]bool{"todos": true, "loop": false})
	if got[check.Todos] != check.Act || got[check.Loop] != check.Off || beside[check.Loop] != check.Act {
		t.Errorf("%v, from %v", got, beside)
	}
}

// TestChecks_Short checks that messages to a model are short: about four characters are a
// token.
func TestChecks_Short(t *testing.T) {
	const most = 60 * 4
	s := headless("fix it", "I have fixed it. Now let me run the tests:", todoCall("pending", "pending"), writeCall("/p/a.go", true), writeCall("/p/b.tmp", false))
	s.checked.Tests = lathe.TestRun{Command: "go test ./...", Exit: 1}
	s.checked.Checks[check.Unverified] = check.Off // who asks for a test asks for no list
	found := s.checkInput().Issues()
	var fired []string
	for _, f := range found {
		fired = append(fired, string(f.Check))
		if words := strings.Replace(f.Text(), "fix it", "", 1); len(words) > most+len("<prompt>\n\n</prompt>") {
			t.Errorf("%s: %d characters: %s", f.Check, len(words), words)
		}
	}
	if got := strings.Join(fired, " "); got != "todos unverified checklist leftovers" {
		t.Errorf("found %s", got)
	}
}

// TestChecks_Bounded holds for any turn, whatever it does: there are at most two prompts, no
// check speaks twice, the turn ends, and without checks nothing is said.
func TestChecks_Bounded(t *testing.T) {
	t.Parallel()
	call := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"/p/a.go", "/p/a_test.go", "/p/a.md", "/p/tmp_a.txt"}), func(f string) *lathe.ToolCall { return writeCall(f, false) }),
		rapid.Map(rapid.SampledFrom([]string{"ls", "go test ./...", "serve &", "rm tmp_a.txt"}), func(c string) *lathe.ToolCall { return shellCall(c, "out", 1) }),
		rapid.Map(rapid.SampledFrom([]string{"pending", "completed"}), func(s string) *lathe.ToolCall { return todoCall(s) }),
	)
	words := rapid.SampledFrom([]string{"", "Done.", "I've fixed it.", "Let me run the tests:", "All is well."})
	finish := rapid.SampledFrom([]string{"stop", "stop", "length", "tool-calls"})
	rapid.Check(t, func(t *rapid.T) {
		s := state{
			messages: []*history.Message{historytest.User("m1", &lathe.Text{Text: "fix it"})}, wants: "m1",
			checked: check.Input{Edits: true, Checks: check.Defaults(rapid.Bool().Draw(t, "headless"))},
		}
		if rapid.Bool().Draw(t, "off") {
			s.checked.Checks = nil
		}
		fired, prompts := map[check.Check]int{}, 0
		for n := 0; ; n++ {
			id := lathe.MessageID(fmt.Sprint("x", n))
			switch next := plan(s).(type) {
			case step:
				said := lathe.Assistant{Finish: finish.Draw(t, "finish")}
				bodies := []lathe.Body{&lathe.Text{Text: words.Draw(t, "words")}}
				if said.Finish == "tool-calls" {
					bodies = append(bodies, call.Draw(t, "call"))
				}
				s.messages = append(s.messages, historytest.Answer(id, said, bodies...))
			case endCheck:
				for _, f := range slices.Concat(next.ToModel, next.ToUser) {
					fired[f.Check]++
				}
				last := s.messages[len(s.messages)-1]
				for _, f := range next.ToUser {
					last.Parts = append(last.Parts, lathe.Part{Body: &lathe.Text{Text: f.Fact, Ignored: lathe.Yes, Metadata: check.WithMeta(nil, f)}})
				}
				if len(next.ToModel) > 0 {
					prompts++
					s.messages = append(s.messages, historytest.User(id, &lathe.Text{Text: "x", Synthetic: lathe.Yes, Metadata: check.WithMeta(nil, next.ToModel...)}))
				}
			case stop:
				for c, n := range fired {
					if n > 1 {
						t.Fatalf("%s spoke %d times", c, n)
					}
				}
				if prompts > check.MaxPrompts || len(s.checked.Checks) == 0 && len(fired) > 0 {
					t.Fatalf("%d prompts, %v", prompts, fired)
				}
				return
			default:
				t.Fatalf("%#v", next)
			}
		}
	})
}

// TestChecks_TextNotDone holds what announces a call.
func TestChecks_TextNotDone(t *testing.T) {
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
		if got := slices.Contains(firedIn(plan(headless("fix", text))), check.SaidNotDone); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestChecks_CutOff holds what is said of an answer that is as long as it may be.
func TestChecks_CutOff(t *testing.T) {
	cut := lathe.Assistant{Finish: "length", Tokens: lathe.Tokens{Output: 90, Reasoning: 10}}
	call := &lathe.ToolCall{Tool: "write", State: &lathe.Failed{Metadata: []byte(`{"interrupted":true}`)}}
	for name, tt := range map[string]struct {
		last *history.Message
		want string
	}{
		"words":    {historytest.Answer("m2", cut, &lathe.Text{Text: "Once"}), "length (100 tokens). Continue exactly"},
		"a call":   {historytest.Answer("m2", cut, call), "in the middle of a call of write, which was not run. Make the call again"},
		"thoughts": {historytest.Answer("m2", cut, &lathe.Reasoning{Text: "Hm"}), "Continue exactly"},
		"whole":    {historytest.Answer("m2", historytest.Stopped, &lathe.Text{Text: "Once"}), ""},
	} {
		s := headless("tell", "")
		s.messages[len(s.messages)-1] = tt.last
		got := ""
		if c, ok := plan(s).(endCheck); ok {
			got = c.ToModel[0].Text()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
