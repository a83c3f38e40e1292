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

func readCall(file, output string) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"filePath": file})
	return &lathe.ToolCall{Tool: "read", State: &lathe.Completed{Input: in, Output: output}}
}

func editFailed(file, old string) *lathe.ToolCall {
	in, _ := json.Marshal(map[string]string{"filePath": file, "oldString": old})
	return &lathe.ToolCall{Tool: "edit", State: &lathe.Failed{Input: in, Error: "not found"}}
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
	messages := []*held{u("m1", &lathe.Text{Text: prompt})}
	for i, c := range calls {
		messages = append(messages, a(lathe.MessageID(fmt.Sprint("c", i)), calling, c))
	}
	messages = append(messages, a("m9", stopped, &lathe.Text{Text: answer}))
	return state{messages: messages, wants: "m1", checks: DefaultChecks(true), edits: true}
}

// firedIn names the checks that have words.
func firedIn(n next) (names []Check) {
	if c, ok := n.(check); ok {
		for _, f := range slices.Concat(c.say, c.show) {
			names = append(names, f.check)
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
		want []Check
	}{
		{"nothing happened", headless("hello", "Hello."), nil},
		{"all items are closed", headless("do", "Done.", todoCall("completed", "cancelled")), nil},
		{"an open item", headless("do", "Done.", todoCall("completed", "in_progress")), []Check{CheckTodos}},
		{"closed later", headless("do", "Done.", todoCall("pending"), todoCall("completed")), nil},
		{"documents", headless("do", "Done.", writeCall("/p/a.md", true)), []Check{CheckChecklist}},
		{"code", headless("do", "Done.", writeCall("/p/a.go", true)), []Check{CheckUnverified}},
		{"code and a look", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("git diff | head", "", 0)), []Check{CheckUnverified}},
		{"code and a command that shows little", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("git add -A", "", 0)), []Check{CheckChecklist}},
		{"code and a build", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go vet ./...", "", 0)), nil},
		{"code and a test", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("cd /p && go test ./... && git add -A", "ok", 0), shellCall("git diff", "", 0)), nil},
		{"code and a test in a pipe", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go test ./... 2>&1 | tail -3", "ok", 0)), nil},
		{"code and a test in a pipe without failures", headless("do", "Done.", writeCall("/p/a.rs", true), shellCall("cargo test 2>&1 | tail -3", "test result: ok. 5 passed; 0 failed; 0 ignored", 0)), nil},
		{"code and a test in a pipe that failed", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go test ./... 2>&1 | tail -3", "FAIL", 0)), []Check{CheckChecklist}},
		{"code and a test that failed", headless("do", "Done.", writeCall("/p/a.go", true), shellCall("go test ./...", "", 1)), []Check{CheckChecklist}},
		{"documents behind a test", headless("do", "Done.", shellCall("go test ./...", "ok", 0), writeCall("/p/a.md", true)), []Check{CheckChecklist}},
		{"products", headless("do", "Done.", writeCall("/p/node_modules/x/a.js", false), writeCall("/p/target/a.rs", false), writeCall("/p/dist/a.js", false), writeCall("/p/Cargo.lock", true), writeCall("/p/go.sum", true)), nil},
		{"sources in a folder for products", headless("do", "Done.", writeCall("/p/build/a.md", false)), []Check{CheckChecklist}},
		{"a command, then code", headless("do", "Done.", shellCall("go vet ./...", "", 0), writeCall("/p/a.go", true)), []Check{CheckUnverified}},
		{"a claim", headless("fix the bug", "I have fixed the bug."), []Check{CheckEmptyDiff}},
		{"a claim in the passive", headless("Please update the docs", "The docs have been updated."), []Check{CheckEmptyDiff}},
		{"a claim after a look", headless("fix the bug", "I fixed the bug.", shellCall("cat a.go", "", 0)), []Check{CheckEmptyDiff}},
		{"a claim after a command", headless("fix the bug", "I fixed the bug.", sed), nil},
		{"a claim after a task", headless("fix the bug", "I fixed the bug.", did("task", `{}`, `{}`)), nil},
		{"no claim", headless("fix the bug", "There is no bug."), nil},
		{"a question", headless("Why did you remove it?", "It was removed because it was wrong."), nil},
		{"an analysis", headless("review the change and list what to fix", "The loop was changed."), nil},
		{"a stray file", headless("do", "Done.", writeCall("/p/a.go.orig", false)), []Check{CheckChecklist, CheckLeftovers}},
		{"one that was there", headless("do", "Done.", writeCall("/p/a.log", true)), []Check{CheckChecklist}},
		{"one that went", headless("do", "Done.", writeCall("/p/tmp_x.txt", false), shellCall("cd /p && rm tmp_x.txt", "", 0)), []Check{CheckChecklist}},
		{"a process", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0)), []Check{CheckLeftovers}},
		{"one that was ended by a file of its number", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("kill $(cat pid) && rm pid", "", 0)), nil},
		{"one that was ended by its port", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("fuser -k 80/tcp", "", 0)), nil},
		{"another was ended", headless("do", "Done.", shellCall("serve &", "x\n\nStill running in the background:\n12 serve", 0), shellCall("kill 13", "", 0)), []Check{CheckLeftovers}},
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
		s.messages = slices.Insert(s.messages, 1, a("m2", calling, tracked, sed, patch("/p/a.go")))
		if diff := cmp.Diff([]Check{CheckUnverified}, firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a command that changed a document", func(t *testing.T) {
		s := headless("do", "Done.")
		s.messages = slices.Insert(s.messages, 1, a("m2", calling, tracked, shellCall("echo x >>a.txt && git commit -qam x", "", 0), patch("/p/a.txt")))
		if diff := cmp.Diff([]Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a command that built", func(t *testing.T) {
		s := headless("do", "Done.")
		s.messages = slices.Insert(s.messages, 1, a("m2", calling, tracked, shellCall("npm ci", "", 0), patch("/p/node_modules/x/a.js", "/p/package-lock.json", "/p/build/x.js")))
		if diff := cmp.Diff([]Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a file that git ignores", func(t *testing.T) {
		s := headless("do", "Done.")
		s.session.Directory = "/p"
		s.messages = slices.Insert(s.messages, 1, a("m2", calling, tracked, writeCall("/p/local.go", false)))
		if diff := cmp.Diff([]Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
		s.messages[1] = a("m2", calling, tracked, writeCall("/p/local.go", false), patch("/p/local.go"))
		if diff := cmp.Diff([]Check{CheckUnverified}, firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("files that are gone", func(t *testing.T) {
		s := headless("do", "Done.", writeCall("/p/a.go", false), writeCall("/p/b.md", false))
		s.gone = func(string) bool { return true }
		if diff := cmp.Diff([]Check(nil), firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a command that changed nothing", func(t *testing.T) {
		s := headless("fix it", "I fixed it.")
		s.messages = slices.Insert(s.messages, 1, a("m2", calling, tracked, sed))
		if diff := cmp.Diff([]Check{CheckEmptyDiff}, firedIn(plan(s))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestChecks_Silent holds where nothing is checked although there would be a lot to say.
func TestChecks_Silent(t *testing.T) {
	full := func() state {
		return headless("fix the bug", "Now let me run the tests:", todoCall("pending"), writeCall("/p/a.go", true))
	}
	if n := firedIn(plan(full())); !slices.Equal(n, []Check{CheckSaidNotDone}) {
		t.Fatalf("%v", n)
	}
	for name, change := range map[string]func(*state){
		"a word that wants no answer": func(s *state) { s.messages = append(s.messages, u("m10")) },
		"an answer to something else": func(s *state) {
			s.messages = append(s.messages, u("m10", reminder), a("m11", stopped, &lathe.Text{Text: "ran"}))
		},
		"no check is on": func(s *state) { s.checks = nil },
		"all are off":    func(s *state) { s.checks = Checks{CheckTodos: CheckOff} },
		"an error":       func(s *state) { s.messages[len(s.messages)-1] = a("m9", fallen, &lathe.Text{Text: "x"}) },
		"a structure": func(s *state) {
			s.messages[len(s.messages)-1] = a("m9", lathe.Assistant{Finish: "stop", Structured: []byte(`{}`)})
		},
		"steps are used up":  func(s *state) { s.steps = 3 },
		"a call was stopped": func(s *state) { s.messages[1] = a("c0", calling, failedCall(`{"stopped":true}`)) },
		"a call was rejected, and the turn goes on": func(s *state) {
			s.continueOnDeny = true
			s.messages[1] = a("c0", calling, failedCall(`{"rejected":true}`))
		},
		"nobody wants an answer": func(s *state) { s.wants = "" },
		"two prompts were said": func(s *state) {
			for _, id := range []lathe.MessageID{"x1", "x2"} {
				s.messages = slices.Insert(s.messages, len(s.messages)-1, u(id, &lathe.Text{Text: "x", Synthetic: lathe.Yes, Metadata: withSpoken(nil, finding{check: "another"})}))
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
	beside, alone := DefaultChecks(false), DefaultChecks(true)
	off := []Check{CheckUnverified, CheckEmptyDiff, CheckChecklist, CheckNoProgress, CheckBudget, CheckSaidNotDone}
	shown := []Check{CheckTodos, CheckLeftovers}
	for _, c := range AllChecks() {
		want := CheckAct
		switch {
		case slices.Contains(off, c):
			want = CheckOff
		case slices.Contains(shown, c):
			want = CheckShow
		}
		if beside[c] != want || alone[c] != CheckAct {
			t.Errorf("%s: %d beside a person, %d alone", c, beside[c], alone[c])
		}
	}
	got := beside.With(map[string]bool{"todos": true, "loop": false})
	if got[CheckTodos] != CheckAct || got[CheckLoop] != CheckOff || beside[CheckLoop] != CheckAct {
		t.Errorf("%v, from %v", got, beside)
	}
}

// TestChecks_Short holds that what a model is told is short: about four characters are a token.
func TestChecks_Short(t *testing.T) {
	const most = 60 * 4
	s := headless("fix it", "I have fixed it. Now let me run the tests:", todoCall("pending", "pending"), writeCall("/p/a.go", true), writeCall("/p/b.tmp", false))
	s.tests = lathe.TestRun{Command: "go test ./...", Exit: 1}
	view := s.turn()
	s.checks[CheckUnverified] = CheckOff // who asks for a test asks for no list
	for _, find := range []func(state) (finding, bool){view.todos, view.unverified, view.checklist, view.leftovers, view.saidNotDone} {
		f, ok := find(s)
		if words := strings.Replace(f.words(), view.prompt, "", 1); !ok || len(words) > most+len("<prompt>\n\n</prompt>") {
			t.Errorf("%s: %d characters: %s", f.check, len(words), words)
		}
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
			messages: []*held{u("m1", &lathe.Text{Text: "fix it"})}, wants: "m1", edits: true,
			checks: DefaultChecks(rapid.Bool().Draw(t, "headless")),
		}
		if rapid.Bool().Draw(t, "off") {
			s.checks = nil
		}
		fired, prompts := map[Check]int{}, 0
		for n := 0; ; n++ {
			id := lathe.MessageID(fmt.Sprint("x", n))
			switch next := plan(s).(type) {
			case step:
				said := lathe.Assistant{Finish: finish.Draw(t, "finish")}
				bodies := []lathe.Body{&lathe.Text{Text: words.Draw(t, "words")}}
				if said.Finish == "tool-calls" {
					bodies = append(bodies, call.Draw(t, "call"))
				}
				s.messages = append(s.messages, a(id, said, bodies...))
			case check:
				for _, f := range slices.Concat(next.say, next.show) {
					fired[f.check]++
				}
				last := s.messages[len(s.messages)-1]
				for _, f := range next.show {
					last.Parts = append(last.Parts, lathe.Part{Body: &lathe.Text{Text: f.fact, Ignored: lathe.Yes, Metadata: withSpoken(nil, f)}})
				}
				if len(next.say) > 0 {
					prompts++
					s.messages = append(s.messages, u(id, &lathe.Text{Text: "x", Synthetic: lathe.Yes, Metadata: withSpoken(nil, next.say...)}))
				}
			case stop:
				for c, n := range fired {
					if n > 1 {
						t.Fatalf("%s spoke %d times", c, n)
					}
				}
				if prompts > mostChecks || len(s.checks) == 0 && len(fired) > 0 {
					t.Fatalf("%d prompts, %v", prompts, fired)
				}
				return
			default:
				t.Fatalf("%#v", next)
			}
		}
	})
}

// BenchmarkChecks is what checks cost for each call at the end of a turn of two thousand.
func BenchmarkChecks(b *testing.B) {
	s := headless("do", "Done.")
	var more []*held
	for i := range 2000 {
		more = append(more, a(lathe.MessageID(fmt.Sprint("c", i)), calling, shellCall(fmt.Sprint("go run ./", i), strings.Repeat(fmt.Sprint(i, "\n"), 2000), 0)))
	}
	s.messages = slices.Insert(s.messages, 1, more...)
	s.read = &reading{}
	s.turn()
	now := readDeed(shellCall("go test", "x", 0))
	b.Run("turn", func(b *testing.B) {
		for b.Loop() {
			s.turn()
		}
	})
	w := &watcher{checks: s.checks, before: s.turn().deeds}
	b.Run("result", func(b *testing.B) {
		for b.Loop() {
			w.look(now, nil)
		}
	})
}
