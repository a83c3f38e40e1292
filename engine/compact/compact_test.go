package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/history/historytest"
)

// TestTailStart holds what stays of a history, spec 7.5.
func TestTailStart(t *testing.T) {
	history := []*history.Message{historytest.User("m0"), historytest.Answer("m1", historytest.Calling), historytest.Answer("m2", historytest.Stopped), historytest.User("m3"), historytest.Answer("m4", historytest.Calling), historytest.Answer("m5", historytest.Stopped), historytest.User("m6"), historytest.Answer("m7", historytest.Stopped)}
	sizes := []int{10, 10, 10, 10, 50, 10, 10, 10}
	for _, tt := range []struct {
		name          string
		budget, turns int
		want          int
	}{
		{"nothing fits", 5, 0, 8},
		{"the end of the last exchange", 15, 0, 7},
		{"the last exchange", 20, 0, 6},
		{"and the end of the one before", 35, 0, 5},
		{"two", 90, 0, 3},
		{"two of them at most", 1000, 2, 3},
		{"one of them at most", 1000, 1, 6},
		{"none wanted", 1000, -1, 8},
		{"and the end of the first", 105, 0, 2},
		{"all would be no compaction", 1000, 0, 8},
	} {
		if got := TailStart(history, sizes, tt.budget, tt.turns); got != tt.want {
			t.Errorf("%s: from %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := TailStart(nil, nil, 9, 0); got != 0 {
		t.Errorf("nothing at all: %d", got)
	}
}

// TestUsable holds how much of a window a conversation may fill, spec 7.2.
func TestUsable(t *testing.T) {
	for _, tt := range []struct {
		c    Settings
		m    Window
		want int
	}{
		{Settings{}, Window{}, 0},
		{Settings{}, Window{Output: 8000}, 0},
		{Settings{}, Window{Context: 200_000, Output: 8000}, 192_000},
		{Settings{}, Window{Context: 200_000, Output: 64_000}, 168_000},
		{Settings{}, Window{Context: 200_000}, 168_000},
		{Settings{Reserved: 9}, Window{Context: 200_000, Output: 8000}, 192_000},
		{Settings{}, Window{Context: 200_000, Input: 100_000, Output: 64_000}, 80_000},
		{Settings{}, Window{Context: 200_000, Input: 100_000, Output: 8000}, 92_000},
		{Settings{Reserved: 1000}, Window{Context: 200_000, Input: 100_000}, 99_000},
		{Settings{Reserved: -1}, Window{Context: 200_000, Input: 100_000}, 100_000},
		{Settings{}, Window{Context: 32_000}, 8000}, // the specification says none, and compresses at every step
		{Settings{Reserved: 90_000}, Window{Context: 100_000, Input: 80_000}, 20_000},
	} {
		if got := tt.c.Usable(tt.m); got != tt.want {
			t.Errorf("%+v of %+v: %d, want %d", tt.c, tt.m, got, tt.want)
		}
	}
}

// TestSummaryFaults holds what is noticed of a bad summary without asking a model.
func TestSummaryFaults(t *testing.T) {
	source := "[User] fix src/parse.go\n" + strings.Repeat("some words of the conversation ", 200)
	good := strings.Join(summaryHeadings(), "\n- "+strings.Repeat("exact words ", 12)+"\n") + "\n- src/parse.go"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"good", good, nil},
		{"in other words around", "Here it is:\n" + good, nil},
		{"empty", " \n", []string{"it was empty"}},
		{"short", strings.Join(summaryHeadings(), "\n") + "\nsrc/parse.go", []string{"it was too short to work from (about 36 tokens; at least 194)"}},
		{"a heading is missing", strings.Replace(good, "## Blocked", "Waiting", 1), []string{"these headings were missing: ## Blocked"}},
		{"in another spelling", spelled(good), nil},
		{"a changed file is missing", strings.ReplaceAll(good, "parse.go", ""), []string{"it did not name src/parse.go, which was changed"}},
		{"a file is only planned", strings.Replace(good, "## Next steps", "## Next steps\n1. Write lib/other.go", 1) + " and lib/other.go", nil},
		{"or said to be", good + "\n- lib/other.go: to be written", nil},
		{"a file never occurred", good + " and lib/other.go", []string{"it named lib/other.go, which never occurred"}},
		{"a reply", strings.Repeat("Sure, I will do that now. ", 10) + "\n" + good, []string{"it began with a reply instead of the first heading"}},
		{"longer than all", good + strings.Repeat(" and more", 800), []string{fmt.Sprintf("it was too long (about 2131 tokens; at most %d)", TokensIn(source))}},
	} {
		if diff := cmp.Diff(tt.want, Faults(tt.text, source, []string{"src/parse.go"}, true)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if faults := Faults("Short.", "A word.", nil, false); faults != nil {
		t.Errorf("by another's prompt: %q", faults)
	}
}

// spelled writes the headings as models do.
func spelled(text string) string {
	for h, other := range map[string]string{
		"## Objective": "**Objective**", "## Constraints and decisions": "### CONSTRAINTS & DECISIONS:", "## Done": "Done:", "## Active": "# active",
		"## Next steps": "6. Next Steps", "## Open questions": "__Open questions__ (for the user)", "## Files": "## Files (touched)",
	} {
		text = strings.Replace(text, h, other, 1)
	}
	return text
}

// The prompt asks for what is checked, and says what summaries get wrong (trap 90).
func TestCompactionPrompt(t *testing.T) {
	if got := len(summaryHeadings()); got != 9 {
		t.Errorf("%d headings", got)
	}
	for _, must := range []string{"in the language of the conversation", "Do not answer questions", "do not continue its work", "call no tools"} {
		if !strings.Contains(SystemPrompt, must) {
			t.Errorf("the prompt does not say %q", must)
		}
	}
}

// TestSerialize holds how a history looks as text: no call without a result, nothing to run.
func TestSerialize(t *testing.T) {
	gone, _ := historytest.Output("read", `{"filePath":"a"}`, `{}`, 9).Compact(1)
	picture := &lathe.ToolCall{Tool: "shot", State: &lathe.Completed{Input: []byte(`{}`), Output: "done", Attachments: []lathe.Part{{Body: &lathe.File{Mime: "image/png", URL: "data:x"}}}}}
	messages := []*history.Message{
		historytest.User("m1", &lathe.Text{Text: "look"}, &lathe.File{Mime: "image/png", Filename: "a.png"}, &lathe.Text{Text: "no", Ignored: lathe.Yes}),
		historytest.Answer("m2", historytest.Calling, &lathe.Reasoning{Text: "hm"}, &lathe.Text{Text: "I see"}, historytest.Output("bash", `{"command":"x"}`, `{}`, 3), gone, picture,
			&lathe.ToolCall{Tool: "wait", State: &lathe.Running{Input: []byte(`{}`)}},
			&lathe.ToolCall{Tool: "fail", State: &lathe.Failed{Input: []byte(`{}`), Error: "no"}}),
		historytest.Answer("m3", historytest.Fallen), historytest.User("m4", &lathe.Subtask{Agent: "explore", Prompt: "find it"}), historytest.Answer("m5", historytest.Stopped),
	}
	got := strings.Join(Serialize(messages, 8), "\n\n")
	want := `[User] look
[Attached image/png: a.png]

[Assistant thinks] hm
[Assistant] I see
[Tool call] bash {"command":"x"}
[Tool result] wordword
[4 more characters are left out]
[Tool call] read {"filePath":"a"}
[Tool result] [Old tool result content cleared]
[Tool call] shot {}
[Tool result] done
[Attached image/png: file]
[Tool call] wait {}
[Tool error] it was interrupted
[Tool call] fail {}
[Tool error] no

[Assistant failed] 

[User hands to explore] find it`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFitted holds what is left out of a text that is too long even for a summary.
func TestFitted(t *testing.T) {
	entries := []string{"first", strings.Repeat("x", 100), "third", "fourth"}
	for _, tt := range []struct {
		limit int
		want  string
	}{
		{0, strings.Join(entries, "\n\n")},
		{1000, strings.Join(entries, "\n\n")},
		{40, "first\n\n[1 messages are left out here]\n\nthird\n\nfourth"},
		{16, "firs\n[1 more characters are left out]\n\n[2 messages are left out here]\n\nfourth"},
		{8, "fi\n[3 more characters are left out]\n\n[2 messages are left out here]\n\nfourth"},
		{4, "f\n[4 more characters are left out]\n\n[2 messages are left out here]\n\nfou\n[3 more characters are left out]"},
	} {
		got := Fit(entries, tt.limit)
		if got != tt.want {
			t.Errorf("%d: %q, want %q", tt.limit, got, tt.want)
		}
	}
}

// TestRecords holds what we write below a summary from what we know ourselves.
func TestRecords(t *testing.T) {
	edited := func(n int) *lathe.ToolCall {
		return historytest.Output("edit", `{"filePath":"/r/b.go"}`, fmt.Sprintf(`{"filediff":{"file":"/r/b.go","additions":%d,"deletions":1}}`, n), 1)
	}
	messages := []*history.Message{
		historytest.User("m1", &lathe.Text{Text: "fix it\nnow"}, &lathe.Text{Text: "Called the Read tool", Synthetic: lathe.Yes}),
		historytest.Answer("m2", historytest.Calling, historytest.Output("read", `{"filePath":"/r/a.go"}`, `{}`, 1), historytest.Output("read", `{"filePath":"/r/b.go"}`, `{}`, 1), historytest.Output("read", `{"filePath":"/r/b.go"}`, `{}`, 1)),
		historytest.Answer("m3", historytest.Calling, edited(3), edited(4), historytest.Output("write", `{"filePath":"/r/c.go","content":"x"}`, `{"filepath":"/r/c.go"}`, 1)),
		historytest.Answer("m4", historytest.Calling, historytest.Output("apply_patch", `{}`, `{"files":[{"filePath":"/r/d.go","relativePath":"d.go","additions":2,"deletions":0}]}`, 1)),
		historytest.Answer("m5", historytest.Calling, historytest.Output("bash", `{"command":"go test ./..."}`, `{"exit":0}`, 1), historytest.Output("bash", `{"command":"go test ./x"}`, `{"exit":1}`, 1)),
		historytest.User("m6", historytest.Reminder), historytest.User("m7", &lathe.Compaction{}), historytest.User("m8", &lathe.Text{Text: "and that"}), historytest.User("m9", &lathe.Text{Text: "and that"}),
	}
	r := RecordsOf(messages, messages, nil)
	r.Todos = []lathe.Todo{{Content: "fix b.go", Status: "completed"}}
	r.File = "/o/history"
	want := `<records>
Made by the program and exact, also where the memory says otherwise. Read a file again before you edit it.

Prompts of the user, oldest first:
- fix it
  now
- and that

Files changed:
- /r/b.go +7 -2
- /r/c.go
- d.go +2 -0

Files read most:
- /r/b.go (2 times)
- /r/a.go (1 times)

Last test: go test ./x
failed (exit 1): word

Todo list:
- [completed] fix b.go

The whole conversation so far, for grep and read with offset and limit: /o/history
</records>`
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Error(diff)
	}
	r = RecordsOf(messages, messages, []lathe.FileDiff{{File: "b.go", Additions: 1}, {File: "c.go", Additions: 9, Deletions: 9}})
	if diff := cmp.Diff([]string{"b.go", "c.go", "d.go"}, r.Names()); diff != "" {
		t.Error("with what the snapshots say:", diff)
	}
	if r.changed[0].additions != 1 {
		t.Errorf("counted twice: %+v", r.changed[0])
	}
}

// Prompts that are too long for the records are represented by the first and the last of them.
func TestRecords_LongPrompts(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	r := Records{prompts: []string{"first " + long, "second", "third", "last " + long}}
	text := r.Text()
	if tokens := TokensIn(text); tokens > promptTokens || !strings.Contains(text, "- first word") || !strings.Contains(text, "(2 more)\n- last word") {
		t.Errorf("%d tokens: %.200s", tokens, text)
	}
}
