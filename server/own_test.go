package server_test

import (
	"net/http"
	"strings"
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

// The search finds what a turn left, continues at its cursor, and answers hostile requests with 400.
func TestOwn_Search(t *testing.T) {
	w := beginSearch(t, strings.Repeat("text \"It is in \\u001b]0;owned\\u0007 hello.sh\"\nfinish stop\n--\n", 2)+"text \"Hi.\"\nfinish stop\n")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"t"}`)
	for range 3 {
		w.want(http.StatusOK, nil, "POST", "/lathe/session/"+string(s.ID)+"/prompt", `{"parts":[{"type":"text","text":"where is greet"}]}`)
		w.want(http.StatusOK, nil, "POST", "/lathe/session/"+string(s.ID)+"/wait", "")
	}
	var found, next lathe.SearchResult
	w.want(http.StatusOK, &found, "GET", "/lathe/search?q=%22where+is%22&limit=2", "")
	if len(found.Hits) != 2 || found.Hits[0].Session != s.ID || found.Hits[0].Place != "prompt" || found.Next == "" {
		t.Fatalf("found %+v", found)
	}
	w.want(http.StatusOK, &next, "GET", "/lathe/search?q=%22where+is%22&limit=2&cursor="+found.Next, "")
	if len(next.Hits) != 1 || next.Next != "" || next.Hits[0].Part == found.Hits[1].Part {
		t.Errorf("continued with %+v", next)
	}
	w.want(http.StatusOK, &next, "GET", "/lathe/search?q=greet&project=other", "")
	if len(next.Hits) != 0 {
		t.Errorf("another project has %+v", next.Hits)
	}
	for _, query := range []string{"", "q=%22", "q=***", "q=a&limit=-1", "q=a&limit=100000", "q=a&cursor=x!", "q=a&cursor=-1", "q=a&since=x", "q=" + strings.Repeat("a", 5000)} {
		if a := w.ask("GET", "/lathe/search?"+query, ""); a.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", query, a.StatusCode, a.body)
		}
	}
	for _, query := range []string{"a%22+OR+1%3D1", "search:a*+NEAR(b)", "%27%3B+DROP+TABLE+part%3B--", "%C2%A7pabc", "a%00b"} {
		w.want(http.StatusOK, nil, "GET", "/lathe/search?q="+query, "")
	}
}

func TestOwn_Rewind(t *testing.T) {
	w := begin(t, "text \"One.\"\nfinish stop\n--\ntext \"Two.\"\nfinish stop\n")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"t"}`)
	at := "/lathe/session/" + string(s.ID)
	for range 2 {
		w.want(http.StatusOK, nil, "POST", at+"/prompt", `{"parts":[{"type":"text","text":"hello"}]}`)
		w.want(http.StatusOK, nil, "POST", at+"/wait", "")
	}
	var list lathe.StepList
	w.want(http.StatusOK, &list, "GET", at+"/steps?limit=1", "")
	if list.Total != 2 || list.At != 2 || len(list.Steps) != 1 || list.Steps[0].Number != 2 || list.Steps[0].Text != "Two." {
		t.Fatalf("steps are %+v", list)
	}
	var done lathe.Rewound
	w.want(http.StatusOK, &done, "POST", at+"/rewind", `{"step":1,"scope":"conversation","dryRun":true}`)
	if done.Step != 1 || done.Undone != 1 || done.Session.Revert != nil || done.Files == nil {
		t.Errorf("a dry run left %+v", done)
	}
	w.want(http.StatusOK, &done, "POST", at+"/rewind", `{"step":1}`)
	w.want(http.StatusOK, &list, "GET", at+"/steps", "")
	if done.Session.Revert == nil || list.At != 1 || !list.Steps[1].Undone {
		t.Errorf("rewound to %+v, listed %+v", done, list)
	}
	w.want(http.StatusOK, &done, "POST", at+"/rewind", `{"redo":true}`)
	if done.Session.Revert != nil {
		t.Errorf("redone is %+v", done)
	}
	var fork lathe.Session
	w.want(http.StatusOK, &fork, "POST", at+"/fork", `{"step":1}`)
	w.want(http.StatusOK, &list, "GET", "/lathe/session/"+string(fork.ID)+"/steps", "")
	if fork.ID == s.ID || fork.Directory != s.Directory || list.Total != 1 {
		t.Errorf("forked %+v with %+v", fork, list)
	}
}

// A request that leaves out the step must not undo everything, and numbers and names from outside change nothing.
func TestOwn_RewindRefuses(t *testing.T) {
	w := begin(t, "")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"t"}`)
	at := "/lathe/session/" + string(s.ID)
	for _, row := range []struct{ path, body string }{
		{at + "/rewind", `{}`},
		{at + "/rewind", `{"scope":"code"}`},
		{at + "/rewind", `{"step":1}`},
		{at + "/rewind", `{"step":-1}`},
		{at + "/rewind", `{"step":0,"scope":"everything"}`},
		{at + "/rewind", `{"step":"0"}`},
		{at + "/rewind", `{"redo":true}`},
		{at + "/fork", `{}`},
		{at + "/fork", `{"step":7}`},
		{at + "/worktree", `{}`},
		{at + "/worktree", `{"name":"x"}`},
		{"/lathe/session/ses_x/rewind", `{"step":0}`},
		{"/lathe/session/ses_x/worktree", `{"step":0}`},
	} {
		if a := w.ask("POST", row.path, row.body); a.StatusCode != http.StatusBadRequest && a.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: status %d", row.path, row.body, a.StatusCode)
		}
	}
	for _, query := range []string{"?limit=-1", "?before=-5", "?limit=x"} {
		if a := w.ask("GET", at+"/steps"+query, ""); a.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, a.StatusCode)
		}
	}
}
