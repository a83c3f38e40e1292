package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// talk is a history under construction.
type talk struct {
	messages []lathe.Message
	at       lathe.Time
}

func newTalk() *talk { return &talk{at: lathe.Time(noon.Add(-time.Minute).UnixMilli())} }

func (k *talk) user(bodies ...lathe.Body) *talk {
	return k.add(&lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}}, bodies)
}

func (k *talk) answer(finish string, bodies ...lathe.Body) *talk {
	parent := lathe.MessageID("")
	for _, m := range k.messages {
		if _, ok := m.Data.(*lathe.User); ok {
			parent = m.ID
		}
	}
	a := &lathe.Assistant{Parent: parent, Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}, Finish: finish}
	if finish != "" {
		a.Completed = k.at + 1500
	}
	return k.add(a, bodies)
}

func (k *talk) add(said lathe.RoleData, bodies []lathe.Body) *talk {
	n := len(k.messages)
	m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%05d", n)), Session: "ses_1", Created: k.at, Data: said}
	for i, b := range bodies {
		m.Parts = append(m.Parts, lathe.Part{ID: lathe.PartID(fmt.Sprintf("prt_%05d_%05d", n, i)), Session: "ses_1", Message: m.ID, Body: b})
	}
	k.messages = append(k.messages, m)
	k.at += 2000
	return k
}

func (k *talk) transcript() *lathe.Transcript {
	return lathe.NewTranscript(lathe.Session{ID: "ses_1", Directory: "/w/app"}, k.messages)
}

func text(s string) *lathe.Text {
	return &lathe.Text{Text: s, Time: &lathe.Span{Start: 1, End: 2}}
}

func done(tool, input, meta, output string) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: tool, State: &lathe.Completed{
		Input: json.RawMessage(input), Metadata: json.RawMessage(meta), Output: output, Start: 1000, End: 1400,
	}}
}

func failed(tool, input, why string, meta ...string) *lathe.ToolCall {
	f := &lathe.Failed{Input: json.RawMessage(input), Error: why, Start: 1000, End: 5000}
	if len(meta) > 0 {
		f.Metadata = json.RawMessage(meta[0])
	}
	return &lathe.ToolCall{CallID: "c", Tool: tool, State: f}
}

func running(tool, input, meta string) *lathe.ToolCall {
	return &lathe.ToolCall{CallID: "c", Tool: tool, State: &lathe.Running{
		Input: json.RawMessage(input), Metadata: json.RawMessage(meta), Start: lathe.Time(noon.Add(-3 * time.Second).UnixMilli()),
	}}
}

func env(width, height int) chat.Env {
	return chat.Env{
		Theme: style.Default(true), Width: width, Height: height, Now: noon, Dir: "/w/app", Home: "/home/dev",
		Show:      chat.Show{Details: true, Metadata: true},
		ModelName: func(r lathe.ModelRef) string { return "Model One" }, RedoKey: "ctrl+x r",
	}
}

const patch = "--- a/greet.go\n+++ b/greet.go\n@@ -1,3 +1,3 @@\n package greet\n \n-func Hello() string { return \"hello\" }\n+func Hello() string { return \"Hello\" }\n"

func everything() *talk {
	quoted, _ := json.Marshal(patch)
	k := newTalk()
	k.user(&lathe.Text{Text: "Mend the greeting.\nThe test fails."}, &lathe.Text{Text: "a note to the model", Synthetic: lathe.Yes},
		&lathe.File{Mime: "image/png", Filename: "screen.png", URL: "data:image/png;base64,AA"})
	k.answer("tool-calls",
		&lathe.StepStart{}, &lathe.Reasoning{Text: "**Where it is**\n\nI look for it.", Time: lathe.Span{Start: 1000, End: 4200}},
		text("I look at the **test** first."),
		done("grep", `{"pattern":"Hello","path":"/w/app/src"}`, `{"matches":3}`, "…"),
		done("read", `{"filePath":"/w/app/greet.go","offset":10,"limit":20}`, `{"loaded":["/w/app/AGENTS.md"]}`, "…"),
		done("glob", `{"pattern":"**/*.go"}`, `{"count":1}`, "…"),
		failed("read", `{"filePath":"/w/app/gone.go"}`, "There is no file /w/app/gone.go."),
	)
	k.answer("tool-calls",
		done("edit", `{"filePath":"/w/app/greet.go"}`, `{"diff":`+string(quoted)+`,"filediff":{"additions":1,"deletions":1}}`, "ok"),
		done("apply_patch", `{}`, `{"files":[{"type":"add","relativePath":"new.go","patch":"","additions":4},{"type":"delete","relativePath":"old.go","deletions":9}]}`, "ok"),
		done("write", `{"filePath":"/home/dev/note.md","content":"# One\nTwo\n"}`, `{}`, "ok"),
		done("bash", `{"command":"go test ./...\necho done"}`, `{"output":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n","exit":1}`, "…"),
		failed("bash", `{"command":"rm -rf /"}`, "The user rejected permission to use this tool."),
		done("todowrite", `{}`, `{"todos":[{"content":"find it","status":"completed"},{"content":"mend it","status":"in_progress"},{"content":"test it","status":"pending"},{"content":"ship it","status":"cancelled"}]}`, "…"),
		done("question", `{"questions":[{"question":"Which one?","header":"One","options":[]}]}`, `{"answers":[["Both"]]}`, "…"),
		done("task", `{"subagent_type":"explore","description":"find callers"}`, `{"sessionId":"ses_2"}`, "…"),
		failed("task", `{"subagent_type":"explore","description":"find more"}`, "<task id=\"ses_9\" state=\"error\">\n<task_error>\nThe user rejected its call of bash.\nTwo.\nThree.\nFour.\n</task_error>\n1 step, 20 tokens\n</task>", `{"sessionId":"ses_9"}`),
		done("webfetch", `{"url":"https://example.com/a"}`, `{}`, "…"),
		done("websearch", `{"query":"go 1.26"}`, `{}`, "…"),
		done("skill", `{"name":"release"}`, `{}`, "…"),
		done("db_query", `{"sql":"select 1","limit":3}`, `{}`, "one row"),
		done("invalid", `{"tool":"db_drop","error":"unknown tool \"db_drop\".\nThe nearest is \"db_query\"."}`, `{}`, "…"),
		running("write", `{"filePath":"/w/app/b.go","content":"package b\n"}`, `{}`),
	)
	k.answer("stop", text("Done: the greeting is **Hello** again.\n\n- one\n- two"))
	k.user(&lathe.Compaction{Auto: true})
	k.user(text("And now?"))
	k.answer("", text("I"), running("bash", `{"command":"make slow"}`, `{"output":"building everything, this is long enough\nsecond"}`),
		running("task", `{"subagent_type":"general","description":"dig"}`, `{"sessionId":"ses_3"}`),
		&lathe.ToolCall{CallID: "c", Tool: "edit", State: &lathe.Pending{}})
	k.user(text("then this"))
	return k
}

func TestView_Everything(t *testing.T) {
	for _, width := range []int{40, 80, 120, 160} {
		e := env(width, 400)
		e.Child = func(id lathe.SessionID) (chat.Child, bool) {
			if id == "ses_3" {
				return chat.Child{Activity: "grep needle", Calls: 2}, true
			}
			return chat.Child{Calls: 7}, id == "ses_2"
		}
		lines := chat.New().View(everything().transcript(), e)
		styletest.Golden(t, fmt.Sprintf("everything-%d", width), style.Text(lines))
		styletest.CheckWidth(t, lines, width)
	}
}

// What a check says of an answer stands below the answer and not in the prompt that keeps it.
func TestView_Notes(t *testing.T) {
	k := newTalk()
	k.user(&lathe.Text{Text: "Mend it."}, &lathe.Text{Text: "The list still has 1 open item: two.", Synthetic: lathe.Yes, Ignored: lathe.Yes})
	k.answer("stop", text("All done."))
	screen := style.Text(chat.New().View(k.transcript(), env(60, 20)))
	answer, note := strings.Index(screen, "All done."), strings.Index(screen, "! The list still has 1 open item: two.")
	if answer < 0 || note < answer || strings.Count(screen, "open item") != 1 {
		t.Errorf("the note is not below the answer:\n%s", screen)
	}
}

func TestView_Toggles(t *testing.T) {
	tr := everything().transcript()
	for name, show := range map[string]chat.Show{
		"thinking":   {Details: true, Metadata: true, Thinking: true},
		"nodetails":  {},
		"timestamps": {Details: true, Timestamps: true, Generic: true},
	} {
		e := env(80, 400)
		e.Show = show
		styletest.Golden(t, "toggle-"+name, style.Text(chat.New().View(tr, e)))
	}
}

func TestView_Reverted(t *testing.T) {
	k := everything()
	s := lathe.Session{ID: "ses_1", Revert: &lathe.Revert{Message: k.messages[4].ID}}
	tr := lathe.NewTranscript(s, k.messages)
	tr.Apply(lathe.Event{Session: "ses_1", Fact: &lathe.DiffChanged{Session: "ses_1", Diff: []lathe.FileDiff{{File: "greet.go", Additions: 1, Deletions: 2}}}})
	lines := chat.New().View(tr, env(80, 10))
	styletest.Golden(t, "reverted", style.Text(lines))
}

// Times leave out that a person was waited for: 90 of the 100 seconds of an exchange, and 90 of the 95 of its call.
func TestView_WaitsAreNoTime(t *testing.T) {
	call := func(meta string) lathe.Body {
		return &lathe.ToolCall{Tool: "bash", CallID: "c", State: &lathe.Completed{Input: json.RawMessage(`{"command":"make"}`), Metadata: json.RawMessage(meta), Start: 1000, End: 96000}}
	}
	for meta, want := range map[string][2]string{`{}`: {"1m 35s", "1m 40s"}, `{"waits":[[2000,92000],[3000,4000]]}`: {"5.0s", "10s"}} {
		k := newTalk()
		k.messages = []lathe.Message{
			{ID: "msg_1", Session: "ses_1", Data: &lathe.User{}, Parts: []lathe.Part{{ID: "prt_1", Session: "ses_1", Message: "msg_1", Body: text("go")}}},
			{ID: "msg_2", Session: "ses_1", Created: 1, Data: &lathe.Assistant{Agent: "build", Parent: "msg_1", Finish: "tool-calls", Completed: 97000}, Parts: []lathe.Part{{ID: "prt_2", Session: "ses_1", Message: "msg_2", Body: call(meta)}}},
			{ID: "msg_3", Session: "ses_1", Created: 97000, Data: &lathe.Assistant{Agent: "build", Parent: "msg_1", Finish: "stop", Completed: 100000}, Parts: []lathe.Part{{ID: "prt_3", Session: "ses_1", Message: "msg_3", Body: text("Done.")}}},
		}
		got := style.Text(chat.New().View(k.transcript(), env(80, 40)))
		for _, text := range want {
			if !strings.Contains(got, " "+text) {
				t.Errorf("%s: no %s in\n%s", meta, text, got)
			}
		}
	}
}

func TestView_Faults(t *testing.T) {
	for _, f := range lathetest.Faults() {
		k := newTalk().user(text("go"))
		k.messages = append(k.messages, lathe.Message{ID: "msg_2", Session: "ses_1", Created: k.at, Data: &lathe.Assistant{Agent: "build", Error: f, Completed: k.at}})
		got := style.Text(chat.New().View(k.transcript(), env(80, 40)))
		if _, aborted := f.(*lathe.AbortedFault); aborted != strings.Contains(got, "interrupted") {
			t.Errorf("%s: %s", f.Name(), got)
		}
		if chat.FaultText(f) == "" {
			t.Errorf("%s has no words", f.Name())
		}
	}
}

// Every variant of a part and of a state must be drawn without harm, wherever it stands.
func TestView_EveryVariant(t *testing.T) {
	bodies := lathetest.Bodies()
	for _, s := range lathetest.ToolStates() {
		for _, tool := range []string{"bash", "edit", "write", "apply_patch", "task", "todowrite", "question", "other"} {
			bodies = append(bodies, &lathe.ToolCall{Tool: tool, CallID: "c", State: s})
		}
	}
	tr := newTalk().user(bodies...).answer("stop", bodies...).transcript()
	c := chat.New()
	for _, width := range []int{1, 7, 20, 200} {
		if lines := c.View(tr, env(width, 1000)); width >= 7 {
			styletest.CheckWidth(t, lines, width)
		}
	}
}

// What a model or a tool wrote cannot reach the terminal as anything but text.
func TestView_Hostile(t *testing.T) {
	evil := "\x1b]0;title\x07\x1b[2Jgone\x9b31m\u202eabc\x00\xff\r\n" + strings.Repeat("x", 1<<20)
	in, _ := json.Marshal(map[string]string{"command": evil, "filePath": evil, "content": evil})
	meta, _ := json.Marshal(map[string]string{"output": evil, "diff": evil})
	var bodies []lathe.Body
	bodies = append(bodies, text(evil), &lathe.Reasoning{Text: evil, Time: lathe.Span{Start: 1, End: 2}})
	for _, tool := range []string{"bash", "edit", "write", "read", evil} {
		bodies = append(bodies, done(tool, string(in), string(meta), evil), failed(tool, string(in), evil))
	}
	tr := newTalk().user(text(evil)).answer("stop", bodies...).transcript()
	e := env(80, 5000)
	e.Show.Generic, e.Show.Thinking = true, true
	for i, l := range chat.New().View(tr, e) {
		for _, r := range l.Text() {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e {
				t.Fatalf("row %d holds the control character %U: %q", i, r, l.Text())
			}
		}
		if l.Width() > 80 {
			t.Fatalf("row %d is %d wide", i, l.Width())
		}
	}
}

// Scrolling up and down by the same number of rows shows the same, and every row is seen once.
func TestScroll_Property(t *testing.T) {
	tr := everything().transcript()
	all := chat.New().View(tr, env(60, 100000))
	rapid.Check(t, func(t *rapid.T) {
		height := rapid.IntRange(1, 40).Draw(t, "height")
		c, e := chat.New(), env(60, height)
		c.View(tr, e)
		top := len(all) - height
		for range rapid.IntRange(1, 12).Draw(t, "moves") {
			by := rapid.IntRange(-60, 60).Draw(t, "by")
			c.Scroll(tr, e, by)
			top = min(max(top+by, 0), len(all)-height)
			got := style.Text(c.View(tr, e))
			if want := style.Text(all[max(top, 0):min(max(top, 0)+height, len(all))]); got != want {
				t.Fatalf("top %d of %d, height %d:\n%s\nwant\n%s", top, len(all), height, got, want)
			}
		}
	})
}

// What grows below does not move what is looked at.
func TestScroll_StaysWhileItGrows(t *testing.T) {
	k := everything()
	tr := k.transcript()
	c, e := chat.New(), env(80, 12)
	c.View(tr, e)
	c.Scroll(tr, e, -30)
	before := style.Text(c.View(tr, e))
	if c.AtEnd() {
		t.Fatal("it is at the end after scrolling up")
	}
	open := lathe.Part{ID: "prt_z", Session: "ses_1", Message: k.messages[6].ID, Body: &lathe.Text{Time: &lathe.Span{Start: 1}}}
	tr.Apply(lathe.Event{Fact: &lathe.PartChanged{Part: open}})
	for i := range 50 {
		tr.Apply(lathe.Event{Fact: &lathe.PartDelta{Session: "ses_1", Message: open.Message, Part: "prt_z", Field: "text", Delta: fmt.Sprintf("line %d\n\n", i), Offset: -1}})
	}
	if after := style.Text(c.View(tr, e)); after != before {
		t.Errorf("it moved:\n%s\nwas\n%s", after, before)
	}
	c.ToEnd()
	if got := style.Text(c.View(tr, e)); !strings.Contains(got, "line 49") || !c.AtEnd() {
		t.Errorf("the end is not shown:\n%s", got)
	}
}

func TestToggle_Unfolds(t *testing.T) {
	tr := newTalk().user(text("go")).answer("stop", done("bash", `{"command":"seq 30"}`, `{"output":"`+strings.Repeat(`row\n`, 30)+`","exit":0}`, "")).transcript()
	c, e := chat.New(), env(60, 60)
	if n := strings.Count(style.Text(c.View(tr, e)), "row"); n != 10 {
		t.Fatalf("%d rows folded, want 10", n)
	}
	if !c.ToggleLast() {
		t.Fatal("nothing to unfold")
	}
	if n := strings.Count(style.Text(c.View(tr, e)), "row"); n != 30 {
		t.Fatalf("%d rows unfolded, want 30", n)
	}
	at := -1
	for y := range 60 {
		if target, ok := c.At(y); ok && target.Part == "prt_00001_00000" {
			at = y
		}
	}
	if at < 0 {
		t.Fatal("no row belongs to the call")
	}
}

// Who unfolds something reads on where it was: what stands above stays. A text that cannot be unfolded changes nothing.
func TestToggle_KeepsItsPlace(t *testing.T) {
	k := newTalk().user(text(strings.Repeat("said before\n\n", 20)))
	tr := k.answer("stop", done("bash", `{"command":"seq 30"}`, `{"output":"`+strings.Repeat(`row\n`, 30)+`","exit":0}`, ""), text("the end")).transcript()
	c, e := chat.New(), env(60, 20)
	first := func() string { return style.Text(c.View(tr, e)[:5]) }
	was := first()
	c.Toggle("prt_00001_00001")
	if c.View(tr, e); !c.AtEnd() {
		t.Error("the end is not followed after a click on a text")
	}
	c.Toggle("prt_00001_00000")
	if got := first(); got != was {
		t.Errorf("the top moved from\n%s\nto\n%s", was, got)
	}
	if n := strings.Count(style.Text(c.View(tr, e)), "row"); n <= 10 {
		t.Errorf("%d rows are on the screen", n)
	}
	c.Toggle("prt_00001_00000")
	if c.View(tr, e); !c.AtEnd() {
		t.Error("the end is not followed after folding")
	}
}

func TestFaultText_SaysWhatToDo(t *testing.T) {
	for code, want := range map[int]string{401: "/connect", 403: "/connect", 404: "/models", 500: "(HTTP 500)"} {
		if got := chat.FaultText(&lathe.APIFault{Message: "no", StatusCode: code}); !strings.Contains(got, want) {
			t.Errorf("%d: %q", code, got)
		}
	}
}

func TestMarkdown(t *testing.T) {
	k := everything()
	got := chat.Markdown(lathe.Session{ID: "ses_1", Title: "Greeting", Created: k.messages[0].Created, Updated: k.at}, k.messages[:4], chat.Include{Thinking: true, Tools: true, Metadata: true})
	styletest.Golden(t, "export", style.Text(style.Lines(got, style.Attr{})))
	short := chat.Markdown(lathe.Session{}, k.messages, chat.Include{})
	for _, not := range []string{"Thinking", "Tool:", "a note to the model", "Build ·"} {
		if strings.Contains(short, not) {
			t.Errorf("%q is in a transcript that should not have it", not)
		}
	}
}

func TestView_Colors(t *testing.T) {
	th := style.Default(true)
	lines := chat.New().View(newTalk().user(text("go")).answer("stop", failed("bash", `{"command":"false"}`, "boom")).transcript(), env(60, 40))
	red := false
	for _, l := range lines {
		for _, s := range l {
			red = red || strings.Contains(s.Text, "false") && s.Attr.FG == th.Error
		}
	}
	if !red {
		t.Error("a call that failed is not in the color of errors")
	}
}

// long is a session of ten thousand parts.
func long() *talk {
	k := newTalk()
	for i := range 1000 {
		k.user(text(fmt.Sprintf("question %d", i)))
		var bodies []lathe.Body
		for j := range 9 {
			if j%3 == 0 {
				bodies = append(bodies, text("Some words about `code` and **more**.\n\n```go\nfunc f() {}\n```\n"))
			} else {
				bodies = append(bodies, done("bash", `{"command":"go test"}`, `{"output":"ok\nok\nok\n","exit":0}`, ""))
			}
		}
		k.answer("stop", bodies...)
	}
	return k
}

// BenchmarkFrame is a frame of a session of 10,000 parts while its last part grows by a delta each.
func BenchmarkFrame(b *testing.B) {
	k := long()
	k.answer("")
	tr := k.transcript()
	last := k.messages[len(k.messages)-1].ID
	tr.Apply(lathe.Event{Fact: &lathe.PartChanged{Part: lathe.Part{ID: "prt_z", Session: "ses_1", Message: last, Body: &lathe.Text{Time: &lathe.Span{Start: 1}}}}})
	c, e := chat.New(), env(120, 50)
	for b.Loop() {
		tr.Apply(lathe.Event{Fact: &lathe.PartDelta{Session: "ses_1", Message: last, Part: "prt_z", Field: "text", Delta: "a few words more, ", Offset: -1}})
		c.View(tr, e)
	}
}

// BenchmarkScroll goes up through a session of 10,000 parts, a page at a time.
func BenchmarkScroll(b *testing.B) {
	tr := long().transcript()
	c, e := chat.New(), env(120, 50)
	c.View(tr, e)
	for b.Loop() {
		c.Scroll(tr, e, -40)
		if c.View(tr, e); c.AtTop() {
			c.ToEnd()
		}
	}
}
