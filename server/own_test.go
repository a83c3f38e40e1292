package server_test

import (
	"net/http"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestOwn_UndoReportsItsChanges(t *testing.T) {
	w := begin(t, "text \"Hi.\"\nfinish stop\n")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"t"}`)
	var prompt, answer lathe.Message
	w.want(http.StatusOK, &prompt, "POST", "/lathe/session/"+string(s.ID)+"/prompt", `{"parts":[{"type":"text","text":"hello"}]}`)
	w.want(http.StatusOK, &answer, "POST", "/lathe/session/"+string(s.ID)+"/wait", "")
	if _, ok := prompt.Data.(*lathe.User); !ok || answer.Session != s.ID {
		t.Errorf("sent %v, answered %v", prompt.ID, answer.ID)
	}
	undo := "/lathe/session/" + string(s.ID) + "/undo"
	var out lathe.Undone
	w.want(http.StatusOK, &out, "POST", undo, `{"messageID":"`+string(prompt.ID)+`","dryRun":true}`)
	if out.Session.Revert != nil || out.Files == nil {
		t.Errorf("a dry run left %+v", out)
	}
	w.want(http.StatusOK, &out, "POST", undo, `{"messageID":"`+string(prompt.ID)+`"}`)
	if out.Message != prompt.ID || out.Session.Revert == nil || out.Session.Revert.Message != prompt.ID {
		t.Errorf("undone is %+v", out)
	}
	w.want(http.StatusOK, &out, "POST", "/lathe/session/"+string(s.ID)+"/redo", `{}`)
	if out.Session.Revert != nil {
		t.Errorf("redone is %+v", out.Session.Revert)
	}
	for path, body := range map[string]string{undo: `{"messageID":"prt_x"}`, "/lathe/session/ses_x/undo": `{"partID":"x"}`} {
		if a := w.ask("POST", path, body); a.StatusCode != http.StatusBadRequest && a.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: status %d", path, body, a.StatusCode)
		}
	}
}

func TestOwn_UnarchiveAndInterrupted(t *testing.T) {
	w := begin(t, "")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{}`)
	w.want(http.StatusOK, &s, "PATCH", "/session/"+string(s.ID), `{"time":{"archived":7}}`)
	if s.Archived == nil {
		t.Fatal("it is not archived")
	}
	var back lathe.Session
	w.want(http.StatusOK, &back, "POST", "/lathe/session/"+string(s.ID)+"/unarchive", "")
	if back.Archived != nil {
		t.Errorf("it is archived at %v", *back.Archived)
	}
	w.want(http.StatusOK, nil, "GET", "/lathe/interrupted", "").is(w, "[]")
}
