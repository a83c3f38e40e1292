package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

func summaryOf(id, of lathe.MessageID, said lathe.Assistant) *held {
	said.Parent, said.Summary = of, lathe.Yes
	return a(id, said, &lathe.Text{Text: "memory"})
}

func ids(messages []*held) (out string) {
	for _, h := range messages {
		out += " " + string(h.ID)
	}
	return strings.TrimSpace(out)
}

// TestVisible holds what of a history a model is told, and in which order.
func TestVisible(t *testing.T) {
	wish := func(id lathe.MessageID, tail lathe.MessageID, overflow lathe.Flag) *held {
		return u(id, &lathe.Compaction{Auto: true, TailStart: tail, Overflow: overflow})
	}
	broken := lathe.Assistant{Finish: "error", Error: &lathe.OverflowFault{}}
	for _, tt := range []struct {
		name     string
		messages []*held
		want     string
	}{
		{"nothing", nil, ""},
		{"no compaction", []*held{u("m1"), a("m2", stopped)}, "m1 m2"},
		{"a compaction", []*held{u("m1"), a("m2", stopped), wish("c", "", lathe.No), summaryOf("s", "c", stopped), u("m3")}, "c s m3"},
		{"what stays comes behind it", []*held{u("m1"), a("m2", stopped), u("m3"), a("m4", stopped), wish("c", "m3", lathe.No), summaryOf("s", "c", stopped), u("m5")}, "c s m3 m4 m5"},
		{"a tail may begin with an answer", []*held{u("m1"), a("m2", calling), a("m3", calling), wish("c", "m3", lathe.No), summaryOf("s", "c", stopped), u("m5")}, "c s m3 m5"},
		{"a tail that is gone", []*held{u("m1"), a("m2", stopped), wish("c", "x", lathe.No), summaryOf("s", "c", stopped), u("m3")}, "c s m3"},
		{"a prompt that came meanwhile is not lost", []*held{u("m1"), a("m2", calling), wish("c", "m2", lathe.No), u("m3"), summaryOf("s", "c", stopped), u("m4")}, "c s m2 m3 m4"},
		{"one that failed hides nothing, trap 86", []*held{u("m1"), a("m2", stopped), wish("c", "", lathe.No), summaryOf("s", "c", broken), u("m3")}, "m1 m2 m3"},
		{"nor one without an end", []*held{u("m1"), a("m2", stopped), wish("c", "", lathe.No), summaryOf("s", "c", lathe.Assistant{}), u("m3")}, "m1 m2 m3"},
		{"the newest counts", []*held{
			u("m1"), wish("c1", "", lathe.No), summaryOf("s1", "c1", stopped), u("m2"), a("m3", stopped),
			wish("c2", "m2", lathe.No), summaryOf("s2", "c2", stopped), u("m4"),
		}, "c2 s2 m2 m3 m4"},
		{"also before one that failed", []*held{
			u("m1"), wish("c1", "", lathe.No), summaryOf("s1", "c1", stopped), u("m2"), wish("c2", "", lathe.No), summaryOf("s2", "c2", broken), u("m4"),
		}, "c1 s1 m2 m4"},
		{"a tail may reach behind an older one", []*held{
			u("m1"), a("m2", stopped), wish("c1", "m1", lathe.No), summaryOf("s1", "c1", stopped), u("m3"),
			wish("c2", "m2", lathe.No), summaryOf("s2", "c2", stopped), u("m4"),
		}, "c2 s2 m2 m3 m4"},
		{"what is said again is not told twice", []*held{
			u("m1"), a("m2", stopped), u("m3"), a("m4", lathe.Assistant{}), wish("c", "m2", lathe.Yes), summaryOf("s", "c", stopped), u("m5"),
		}, "c s m2 m5"},
		{"what was answered is not said again", []*held{
			u("m1"), a("m2", stopped), u("m3"), a("m4", calling, ran(`{}`)), wish("c", "m4", lathe.Yes), summaryOf("s", "c", stopped), u("m5"),
		}, "c s m4 m5"},
	} {
		if got := ids(visible(tt.messages)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestTailStart holds what stays of a history, spec 7.5.
func TestTailStart(t *testing.T) {
	history := []*held{u("m0"), a("m1", calling), a("m2", stopped), u("m3"), a("m4", calling), a("m5", stopped), u("m6"), a("m7", stopped)}
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
		if got := tailStart(history, sizes, tt.budget, tt.turns); got != tt.want {
			t.Errorf("%s: from %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := tailStart(nil, nil, 9, 0); got != 0 {
		t.Errorf("nothing at all: %d", got)
	}
}

// TestUsable holds how much of a window a conversation may fill, spec 7.2.
func TestUsable(t *testing.T) {
	for _, tt := range []struct {
		c    Compaction
		m    *Model
		want int
	}{
		{Compaction{}, nil, 0},
		{Compaction{}, &Model{Output: 8000}, 0},
		{Compaction{}, &Model{Context: 200_000, Output: 8000}, 192_000},
		{Compaction{}, &Model{Context: 200_000, Output: 64_000}, 168_000},
		{Compaction{}, &Model{Context: 200_000}, 168_000},
		{Compaction{Reserved: 9}, &Model{Context: 200_000, Output: 8000}, 192_000},
		{Compaction{}, &Model{Context: 200_000, Input: 100_000, Output: 64_000}, 80_000},
		{Compaction{}, &Model{Context: 200_000, Input: 100_000, Output: 8000}, 92_000},
		{Compaction{Reserved: 1000}, &Model{Context: 200_000, Input: 100_000}, 99_000},
		{Compaction{Reserved: -1}, &Model{Context: 200_000, Input: 100_000}, 100_000},
		{Compaction{}, &Model{Context: 32_000}, 8000}, // the specification says none, and compresses at every step
		{Compaction{Reserved: 90_000}, &Model{Context: 100_000, Input: 80_000}, 20_000},
	} {
		if got := tt.c.usable(tt.m); got != tt.want {
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
		{"longer than all", good + strings.Repeat(" and more", 800), []string{fmt.Sprintf("it was too long (about 2131 tokens; at most %d)", tokensIn(source))}},
	} {
		if diff := cmp.Diff(tt.want, summaryFaults(tt.text, source, []string{"src/parse.go"}, true)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if faults := summaryFaults("Short.", "A word.", nil, false); faults != nil {
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
		if !strings.Contains(compactionPrompt, must) {
			t.Errorf("the prompt does not say %q", must)
		}
	}
}

// TestSerialize holds how a history looks as text: no call without a result, nothing to run.
func TestSerialize(t *testing.T) {
	gone, _ := output("read", `{"filePath":"a"}`, `{}`, 9).Compact(1)
	picture := &lathe.ToolCall{Tool: "shot", State: &lathe.Completed{Input: []byte(`{}`), Output: "done", Attachments: []lathe.Part{{Body: &lathe.File{Mime: "image/png", URL: "data:x"}}}}}
	messages := []*held{
		u("m1", &lathe.Text{Text: "look"}, &lathe.File{Mime: "image/png", Filename: "a.png"}, &lathe.Text{Text: "no", Ignored: lathe.Yes}),
		a("m2", calling, &lathe.Reasoning{Text: "hm"}, &lathe.Text{Text: "I see"}, output("bash", `{"command":"x"}`, `{}`, 3), gone, picture,
			&lathe.ToolCall{Tool: "wait", State: &lathe.Running{Input: []byte(`{}`)}},
			&lathe.ToolCall{Tool: "fail", State: &lathe.Failed{Input: []byte(`{}`), Error: "no"}}),
		a("m3", fallen), u("m4", &lathe.Subtask{Agent: "explore", Prompt: "find it"}), a("m5", stopped),
	}
	got := strings.Join(serialize(messages, 8), "\n\n")
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
		got := fitted(entries, tt.limit)
		if got != tt.want {
			t.Errorf("%d: %q, want %q", tt.limit, got, tt.want)
		}
	}
}

// TestRecords holds what we write below a summary from what we know ourselves.
func TestRecords(t *testing.T) {
	edited := func(n int) *lathe.ToolCall {
		return output("edit", `{"filePath":"/r/b.go"}`, fmt.Sprintf(`{"filediff":{"file":"/r/b.go","additions":%d,"deletions":1}}`, n), 1)
	}
	messages := []*held{
		u("m1", &lathe.Text{Text: "fix it\nnow"}, synthetic("Called the Read tool")),
		a("m2", calling, output("read", `{"filePath":"/r/a.go"}`, `{}`, 1), output("read", `{"filePath":"/r/b.go"}`, `{}`, 1), output("read", `{"filePath":"/r/b.go"}`, `{}`, 1)),
		a("m3", calling, edited(3), edited(4), output("write", `{"filePath":"/r/c.go","content":"x"}`, `{"filepath":"/r/c.go"}`, 1)),
		a("m4", calling, output("apply_patch", `{}`, `{"files":[{"filePath":"/r/d.go","relativePath":"d.go","additions":2,"deletions":0}]}`, 1)),
		a("m5", calling, output("bash", `{"command":"go test ./..."}`, `{"exit":0}`, 1), output("bash", `{"command":"go test ./x"}`, `{"exit":1}`, 1)),
		u("m6", reminder), u("m7", &lathe.Compaction{}), u("m8", &lathe.Text{Text: "and that"}), u("m9", &lathe.Text{Text: "and that"}),
	}
	r := recordsOf(messages, messages, nil)
	r.todos = []lathe.Todo{{Content: "fix b.go", Status: "completed"}}
	r.file = "/o/history"
	want := `<records>
Kept by the program and exact, also where the memory says otherwise. Read a file again before you edit it.

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
	if diff := cmp.Diff(want, r.text()); diff != "" {
		t.Error(diff)
	}
	r = recordsOf(messages, messages, []lathe.FileDiff{{File: "b.go", Additions: 1}, {File: "c.go", Additions: 9, Deletions: 9}})
	if diff := cmp.Diff([]string{"b.go", "c.go", "d.go"}, r.names()); diff != "" {
		t.Error("with what the snapshots say:", diff)
	}
	if r.changed[0].additions != 1 {
		t.Errorf("counted twice: %+v", r.changed[0])
	}
}

// Prompts that are too long for the records are told by the first and the last of them.
func TestRecords_LongPrompts(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	r := records{prompts: []string{"first " + long, "second", "third", "last " + long}}
	text := r.text()
	if tokens := tokensIn(text); tokens > promptTokens || !strings.Contains(text, "- first word") || !strings.Contains(text, "(2 more)\n- last word") {
		t.Errorf("%d tokens: %.200s", tokens, text)
	}
}

// TestStuck counts compactions that did not help.
func TestStuck(t *testing.T) {
	round := func(n int, steps ...*held) []*held {
		c, s := lathe.MessageID(fmt.Sprint("c", n)), lathe.MessageID(fmt.Sprint("s", n))
		return append([]*held{u(c, &lathe.Compaction{Auto: true}), summaryOf(s, c, stopped), u("n", reminder)}, steps...)
	}
	step, refused := a("a", calling, ran(`{}`)), a("a", lathe.Assistant{})
	join := func(parts ...[]*held) (out []*held) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	for _, tt := range []struct {
		name     string
		messages []*held
		want     int
	}{
		{"none", []*held{u("m"), step}, 0},
		{"one", join([]*held{u("m"), step}, round(1, step)), 1},
		{"two", join(round(1, step), round(2, refused)), 2},
		{"progress", join(round(1, step, step), round(2, step)), 1},
		{"much progress", join(round(1, step), round(2, step, step, step)), 0},
		{"an answer", join(round(1, a("a", stopped)), []*held{u("m")}, round(2, step)), 1},
		{"said again", join(round(1, refused), round(2, refused), []*held{u("m", &lathe.Text{Text: "again"})}, round(3, refused)), 3},
	} {
		if got := (state{messages: tt.messages}).stuck(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
