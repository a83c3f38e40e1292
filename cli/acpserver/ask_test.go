package acpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/acp/acptest"
	"github.com/lathe-agent/lathe/engine"
)

const questions = `
call question {"questions":[{"question":"Which database?","header":"Database","options":[{"label":"SQLite","description":"no server"},{"label":"Postgres","description":"a server"}]}]}
finish tool-calls
--
text "ok"
finish stop
`

// lastRequest is the body of the newest request to the model that is not for a title.
func (h *home) lastRequest() (body string) {
	for _, r := range h.model.Requests() {
		if !bytes.Contains(r.Body, []byte(engine.TitleRequest)) {
			body = string(r.Body)
		}
	}
	return body
}

// A client with forms shows one.
func TestQuestion_Form(t *testing.T) {
	t.Parallel()
	h := newHome(t, questions, "")
	e := h.open(`{"elicitation":{"form":{}}}`)
	asked := make(chan json.RawMessage, 1)
	e.Answer("elicitation/create", func(p json.RawMessage) (any, error) {
		asked <- p
		return map[string]any{"action": "accept", "content": map[string]string{"question1": "Postgres"}}, nil
	})
	e.prompt(e.session(), "go")
	if p := string(receive(t, asked)); !strings.Contains(p, `"mode":"form"`) || !strings.Contains(p, `"const":"SQLite"`) || !strings.Contains(p, `"toolCallId":"prt_`) {
		t.Error(p)
	}
	if r := h.lastRequest(); !strings.Contains(r, `\"Which database?\"=\"Postgres\"`) {
		t.Errorf("the model was told: %s", r)
	}
}

// An answer in the user's own words counts before a choice; a declined form dismisses the question.
func TestQuestion_FormOther(t *testing.T) {
	t.Parallel()
	h := newHome(t, questions, "")
	e := h.open(`{"elicitation":{"form":{}}}`)
	e.Answer("elicitation/create", func(json.RawMessage) (any, error) {
		return map[string]any{"action": "accept", "content": map[string]string{"question1": "Postgres", "question1_other": "DuckDB"}}, nil
	})
	e.prompt(e.session(), "go")
	if r := h.lastRequest(); !strings.Contains(r, `=\"DuckDB\"`) {
		t.Errorf("the model was told: %s", r)
	}
	h = newHome(t, questions, "")
	e = h.open(`{"elicitation":{"form":{}}}`)
	e.Answer("elicitation/create", func(json.RawMessage) (any, error) { return map[string]any{"action": "decline"}, nil })
	e.prompt(e.session(), "go")
	if q := e.one("question"); q.Status != "failed" {
		t.Errorf("a dismissed question is %q", q.Status)
	}
}

// A client without forms gets options to choose from.
func TestQuestion_Options(t *testing.T) {
	t.Parallel()
	h := newHome(t, questions, "")
	e := h.open(`{}`)
	asked := e.permit("option1")
	e.prompt(e.session(), "go")
	if p := string(receive(t, asked)); !strings.Contains(p, `"name":"SQLite"`) || !strings.Contains(p, "no server") {
		t.Error(p)
	}
	if r := h.lastRequest(); !strings.Contains(r, `=\"Postgres\"`) {
		t.Errorf("the model was told: %s", r)
	}
}

// A question without options becomes a text that the next prompt answers.
func TestQuestion_Text(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call question {"questions":[{"question":"What is its name?","header":"Name","options":[]}]}
finish tool-calls
--
text "ok"
finish stop
`, "")
	e := h.open(`{}`)
	id := e.session()
	e.prompt(id, "go")
	if text := e.Texts("agent_message_chunk"); !strings.Contains(text, "What is its name?") {
		t.Errorf("%q", text)
	}
	if stop := e.prompt(id, "lathe"); stop != "end_turn" {
		t.Error(stop)
	}
}

// A permission request that another front end answers is taken back from the editor.
func TestPermission_AnsweredElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t, `
call bash {"command":"touch one"}
finish tool-calls
--
text "ok"
finish stop
`, `"permission_mode":"ask",`)
	e := h.open(`{}`)
	e.Answer("session/request_permission", func(json.RawMessage) (any, error) { return nil, nil })
	id := e.session()
	got := e.Start("session/prompt", promptOf(id, "go"))
	e.Until("the call", func(u acptest.Update) bool { return u.Kind == "tool_call" })

	other := h.open(`{}`) // another editor with the same session
	asked := other.permit("once")
	other.load(id)
	receive(t, asked)
	if err := e.Wait(got, nil); err != nil {
		t.Fatal(err)
	}
	other.Until("the answer", func(u acptest.Update) bool { return u.Text() == "ok" })
	if other.one("bash").Status != "completed" || e.one("bash").Status != "completed" {
		t.Error("the two editors do not agree")
	}
}
