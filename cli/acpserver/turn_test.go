package acpserver

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/acp/acptest"
)

// A whole turn: thoughts, text, a new file, an edit, a command, a plan, usage, a title, and the same again when the
// session is loaded by another process.
func TestTurn_Whole(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
reasoning "let me " "think"
text "Hel" "lo"
call write {"filePath":"a.txt","content":"one\ntwo\n"}
finish tool-calls
--
call edit {"filePath":"a.txt","oldString":"two","newString":"three"}
and bash {"command":"echo hi"}
and todowrite {"todos":[{"content":"x","status":"in_progress"},{"content":"y","status":"pending","priority":"high"},{"content":"z","status":"cancelled"}]}
usage 100 20
finish tool-calls
--
text "Done."
usage 120 20
finish stop
`, "")
	e := h.open(`{}`)
	id := e.session()
	if stop := e.prompt(id, "go"); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	checkWholeTurn(t, e)
	if len(e.Updates("user_message_chunk")) > 0 {
		t.Error("the client's own prompt was sent back")
	}
	e.Until("usage", func(u acptest.Update) bool {
		return u.Kind == "usage_update" && strings.Contains(string(u.Data), `"used":140`) && strings.Contains(string(u.Data), `"size":100000`) && strings.Contains(string(u.Data), `"cost"`)
	})
	e.Until("title", func(u acptest.Update) bool { return u.Kind == "session_info_update" })
	e.close()

	again := h.open(`{}`)
	again.load(id)
	checkWholeTurn(t, again)
	if got := again.Texts("user_message_chunk"); got != "go" {
		t.Errorf("the prompt is %q", got)
	}
	kinds := ""
	for _, u := range again.Updates() {
		kinds += u.Kind + " "
	}
	if want := "user_message_chunk agent_thought_chunk agent_message_chunk tool_call tool_call tool_call tool_call agent_message_chunk plan usage_update "; !strings.HasPrefix(kinds, want) {
		t.Errorf("replayed in the order %s", kinds)
	}
}

func checkWholeTurn(t *testing.T, e *editor) {
	t.Helper()
	if got := e.Texts("agent_thought_chunk"); got != "let me think" {
		t.Errorf("thoughts %q", got)
	}
	if got := e.Texts("agent_message_chunk"); got != "HelloDone." {
		t.Errorf("text %q", got)
	}
	path := e.home.dir + "/a.txt"
	w := e.one("write")
	if w.Kind != "edit" || w.Status != "completed" || w.Title != "Write a.txt" || len(w.Content) != 1 || w.Content[0].Type != "diff" ||
		w.Content[0].OldText != nil || w.Content[0].NewText != "one\ntwo\n" || w.Content[0].Path != path || len(w.Locations) != 1 || w.Locations[0].Path != path {
		t.Errorf("write: %+v", w)
	}
	d := e.one("edit")
	if d.Kind != "edit" || d.Status != "completed" || len(d.Content) != 1 || d.Content[0].OldText == nil || *d.Content[0].OldText != "one\ntwo\n" ||
		d.Content[0].NewText != "one\nthree\n" || len(d.Locations) != 1 || d.Locations[0].Line != 1 || !strings.Contains(string(d.RawInput), `"newString":"three"`) {
		t.Errorf("edit: %+v", d)
	}
	b := e.one("bash")
	if b.Kind != "execute" || b.Status != "completed" || b.Title != "echo hi" || len(b.Content) != 1 || b.Content[0].Content.Text != "```console\nhi\n```" {
		t.Errorf("bash: %+v", b)
	}
	plans := e.Updates("plan")
	want := `{"sessionUpdate":"plan","entries":[{"content":"x","priority":"medium","status":"in_progress"},{"content":"y","priority":"high","status":"pending"}]}`
	if len(plans) != 1 || string(plans[0].Data) != want {
		t.Errorf("plan: %s", plans)
	}
}

// An overwritten file has a diff too.
func TestTurn_OverwriteHasDiff(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call read {"filePath":"a.txt"}
finish tool-calls
--
call write {"filePath":"a.txt","content":"one\n2\n"}
finish tool-calls
--
text "ok"
finish stop
`, "")
	h.write("a.txt", "one\ntwo\n")
	e := h.open(`{}`)
	e.prompt(e.session(), "go")
	if w := e.one("write"); len(w.Content) != 1 || w.Content[0].OldText == nil || *w.Content[0].OldText != "one\ntwo\n" || w.Content[0].NewText != "one\n2\n" {
		t.Errorf("%+v", w)
	}
	if r := e.one("read"); r.Kind != "read" || r.Title != "Read a.txt" || !strings.Contains(r.Content[0].Content.Text, "two") {
		t.Errorf("%+v", r)
	}
}

// Permission requests carry the diff or the command, and each answer does what it says.
func TestPermission(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		option string
		asks   int // of three commands that one pattern covers
		runs   bool
		stop   string
	}{
		{"once", 2, true, "end_turn"},
		{"session", 1, true, "end_turn"},
		{"always", 1, true, "end_turn"},
		{"reject", 1, false, "end_turn"},
		{"nonsense", 1, false, "end_turn"},
	} {
		t.Run(row.option, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, `
call bash {"command":"touch one"}
finish tool-calls
--
call bash {"command":"touch two"}
finish tool-calls
--
text "ok"
finish stop
`, `"permission_mode":"ask",`)
			e := h.open(`{}`)
			asked := e.permit(row.option)
			id := e.session()
			if stop := e.prompt(id, "go"); stop != row.stop {
				t.Errorf("stop reason %q", stop)
			}
			if len(asked) != row.asks {
				t.Fatalf("asked %d times", len(asked))
			}
			var p struct {
				Session  string `json:"sessionId"`
				ToolCall struct {
					ID      string `json:"toolCallId"`
					Title   string
					Content json.RawMessage
				}
				Options []struct{ OptionID, Kind string }
			}
			if err := json.Unmarshal(receive(t, asked), &p); err != nil {
				t.Fatal(err)
			}
			ids, _ := e.tools()
			if p.Session != id || p.ToolCall.ID != ids[0] || p.ToolCall.Title != "touch one" || !strings.Contains(string(p.ToolCall.Content), "touch one") {
				t.Errorf("%+v", p)
			}
			kinds := ""
			for _, o := range p.Options {
				kinds += o.OptionID + " " + o.Kind + ", "
			}
			if kinds != "once allow_once, session allow_always, always allow_always, reject reject_once, " {
				t.Errorf("options %s", kinds)
			}
			if _, err := json.Marshal(h.model.Requests()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// An edit that needs permission shows its diff before it happens.
func TestPermission_EditShowsDiff(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call edit {"filePath":"a.txt","oldString":"two","newString":"three"}
finish tool-calls
--
text "ok"
finish stop
`, `"permission_mode":"ask",`)
	h.write("a.txt", "one\ntwo\n")
	e := h.open(`{}`)
	asked := e.permit("once")
	e.prompt(e.session(), "go")
	var p struct {
		ToolCall struct {
			Title   string
			Kind    string
			Content []struct{ Type, OldText, NewText, Path string }
		}
	}
	if err := json.Unmarshal(receive(t, asked), &p); err != nil {
		t.Fatal(err)
	}
	if c := p.ToolCall; c.Title != "Edit a.txt" || c.Kind != "edit" || len(c.Content) != 1 || c.Content[0].Type != "diff" || c.Content[0].OldText != "one\ntwo\n" || c.Content[0].NewText != "one\nthree\n" {
		t.Errorf("%+v", p)
	}
	if h.read("a.txt") != "one\nthree\n" {
		t.Error("the edit was not made")
	}
}

// A canceled turn answers with the stop reason cancelled, and takes its permission request back.
func TestCancel(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call bash {"command":"touch one"}
finish tool-calls
--
text "after"
finish stop
`, `"permission_mode":"ask",`)
	e := h.open(`{}`)
	asked := make(chan bool, 1)
	e.Answer("session/request_permission", func(json.RawMessage) (any, error) {
		asked <- true
		return nil, nil // never
	})
	id := e.session()
	got := e.Start("session/prompt", promptOf(id, "go"))
	receive(t, asked)
	for range 500 { // a flood
		e.Notify("session/cancel", map[string]string{"sessionId": id})
	}
	var r struct{ StopReason string }
	if err := e.Wait(got, &r); err != nil || r.StopReason != "cancelled" {
		t.Errorf("%v %v", r, err)
	}
	withdrawn := false
	for _, m := range e.Messages() {
		withdrawn = withdrawn || m.Method == "$/cancel_request"
	}
	if !withdrawn {
		t.Error("the permission request was not taken back")
	}
	if stop := e.prompt(id, "again"); stop != "end_turn" {
		t.Errorf("the next turn ends with %q", stop)
	}
}

// A turn can be canceled and its request revoked again and again: the answer always says which, and never ends the
// next turn.
func TestPrompt_CanceledAgain(t *testing.T) {
	t.Parallel()
	const times = 30
	h := newHome(t, strings.Repeat("text \"begun\"\nstall\n--\n", times)+"text \"end\"\nfinish stop\n", "")
	e := h.open(`{}`)
	id := e.session()
	for i := range times {
		e.Forget()
		got := e.Start("session/prompt", promptOf(id, "stall"))
		e.Until("the text", func(u acptest.Update) bool { return u.Text() == "begun" })
		var r struct{ StopReason string }
		if i%3 == 0 {
			e.Notify("session/cancel", map[string]string{"sessionId": id})
			if err := e.Wait(got, &r); err != nil || r.StopReason != "cancelled" {
				t.Fatalf("prompt %d: %v %v", i, r, err)
			}
			continue
		}
		e.Notify("$/cancel_request", map[string]int{"requestId": e.Last()})
		var failed *acptest.Error
		if err := e.Wait(got, &r); !errors.As(err, &failed) || failed.Code != -32800 {
			t.Fatalf("prompt %d: %v %v", i, r, err)
		}
	}
	if stop := e.prompt(id, "end"); stop != "end_turn" {
		t.Errorf("after all: %s", stop)
	}
}
