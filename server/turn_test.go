package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// session begins one with a title, so that the model is not asked for one.
func (w *fixture) session() lathe.Session {
	w.Helper()
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"A test"}`)
	return s
}

// say sends a prompt and returns the answer.
func (w *fixture) say(s lathe.Session, words string) lathe.Message {
	w.Helper()
	var m lathe.Message
	w.want(http.StatusOK, &m, "POST", "/session/"+string(s.ID)+"/message", prompt(words))
	return m
}

func prompt(words string) string {
	text, _ := json.Marshal(words)
	return `{"parts":[{"type":"text","text":` + string(text) + `}]}`
}

// textOf joins the texts of a message.
func textOf(m lathe.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// kinds are the types of events, deltas and repetitions joined.
func kinds(all []frame) string {
	var out []string
	for _, f := range all {
		if kind := f.Fact.Type(); len(out) == 0 || out[len(out)-1] != kind {
			out = append(out, kind)
		}
	}
	return strings.Join(out, " ")
}

func TestPrompt_AnswersWhenTheTurnEnds(t *testing.T) {
	w := begin(t, `text "Hel" "lo."
finish stop`)
	s := w.session()
	l := w.listen("/event")
	l.next()
	m := w.say(s, "hi")
	if textOf(m) != "Hello." || m.Data.(*lathe.Assistant).Finish != "stop" {
		t.Errorf("answered %s", m.AppendJSON(nil))
	}
	want := "message.updated message.part.updated session.updated session.status message.updated"
	got := kinds(l.until("session.idle"))
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "message.part.delta") || !strings.HasSuffix(got, "session.status session.idle") {
		t.Errorf("the stream told %s", got)
	}
}

func TestPrompt_NoReplyAnswersWithThePrompt(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	var m lathe.Message
	w.want(http.StatusOK, &m, "POST", "/session/"+string(s.ID)+"/message", `{"noReply":true,"messageID":"msg_own","parts":[{"type":"text","text":"note"}]}`)
	if m.ID != "msg_own" || m.Data.Role() != "user" || textOf(m) != "note" {
		t.Errorf("answered %s", m.AppendJSON(nil))
	}
}

func TestPrompt_Async(t *testing.T) {
	w := begin(t, `text "later"
finish stop`)
	s := w.session()
	l := w.listen("/event")
	a := w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"))
	a.is(w, "")
	l.until("session.idle")
	var all []lathe.Message
	w.want(http.StatusOK, &all, "GET", "/session/"+string(s.ID)+"/message", "")
	if len(all) != 2 || textOf(all[1]) != "later" {
		t.Errorf("%d messages", len(all))
	}
	l = w.listen("/event")
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", `{"model":{"providerID":"nobody","modelID":"x"},"agent":"ghost","parts":[{"type":"text","text":"x"}]}`)
	l.until("session.error")
	for _, bad := range []string{`"format":{"type":"json_schema"}`, `"delivery":"soon"`} { // who sent it has continued
		w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", `{`+bad+`,"parts":[{"type":"text","text":"x"}]}`)
		l.until("session.error")
	}
}

func TestPrompt_RefusesBadOnes(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	path := "/session/" + string(s.ID) + "/message"
	for body, want := range map[string]string{
		`{}`:                                   `Missing key at [\"parts\"]`,
		`{"parts":[{"type":"text"}]}`:          `Missing key at [\"text\"]`,
		`{"parts":[{"type":"tool"}]}`:          `type is text, file, agent or subtask`,
		`{"parts":[3]}`:                        `Expected object`,
		`{"parts":"x"}`:                        `Expected array`,
		`{"parts":[],"messageID":"prt_1"}`:     `messageID`,
		`{"parts":[],"model":{"modelID":"x"}}`: `model.providerID`,
		`{"parts":[`:                           `not JSON`,
	} {
		if a := w.want(http.StatusBadRequest, nil, "POST", path, body); !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	w.want(http.StatusNotFound, nil, "POST", path, `{"parts":[{"type":"text","text":"x"}],"agent":"ghost"}`)
	w.want(http.StatusNotFound, nil, "POST", "/session/ses_gone/message", prompt("x")).is(w, `{"name":"NotFoundError","data":{"message":"Session not found: ses_gone"}}`)
}

func TestAbort_EndsTheTurn(t *testing.T) {
	w := begin(t, `text "one"
stall`)
	s := w.session()
	l := w.listen("/event")
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"))
	l.until("message.part.delta")
	var busy map[string]lathe.Status
	w.want(http.StatusOK, &busy, "GET", "/session/status", "")
	if busy[string(s.ID)].Type != lathe.Busy {
		t.Errorf("status %v", busy)
	}
	w.want(http.StatusConflict, nil, "POST", "/session/"+string(s.ID)+"/shell", `{"agent":"build","command":"true"}`)
	w.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/abort", "").is(w, "true")
	l.until("session.idle")
	w.want(http.StatusOK, &busy, "GET", "/session/status", "").is(w, "{}")
	w.want(http.StatusOK, nil, "POST", "/session/ses_gone/abort", "").is(w, "true")
}

func TestMessages_Pages(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	path := "/session/" + string(s.ID) + "/message"
	for _, words := range []string{"1", "2", "3", "4", "5"} {
		w.want(http.StatusOK, nil, "POST", path, strings.Replace(prompt(words), "{", `{"noReply":true,`, 1))
	}
	var got []string
	next := path + "?limit=2"
	for range 4 {
		var page []lathe.Message
		a := w.want(http.StatusOK, &page, "GET", next, "")
		texts := ""
		for _, m := range page {
			texts += textOf(m)
		}
		got = append(got, texts)
		cursor := a.Header.Get("X-Next-Cursor")
		if cursor == "" {
			break
		}
		if link := a.Header.Get("Link"); !strings.HasPrefix(link, "<"+w.url+path+"?before=") || !strings.HasSuffix(link, `>; rel="next"`) {
			t.Errorf("Link: %s", link)
		}
		next = path + "?limit=2&before=" + cursor
	}
	if strings.Join(got, " ") != "45 23 1" {
		t.Errorf("pages %q", got)
	}
	w.want(http.StatusBadRequest, nil, "GET", path+"?before=x", "").is(w, `{"_tag":"BadRequest"}`)
	w.want(http.StatusBadRequest, nil, "GET", path+"?limit=2&before=x", "").is(w, `{"_tag":"BadRequest"}`)
	w.want(http.StatusBadRequest, nil, "GET", path+"?limit=x", "")
	w.want(http.StatusNotFound, nil, "GET", "/session/ses_gone/message", "")
	w.want(http.StatusNotFound, nil, "GET", path+"/msg_gone", "").is(w, `{"name":"NotFoundError","data":{"message":"Message not found: msg_gone"}}`)
}

func TestParts_EditAndDelete(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	var m lathe.Message
	w.want(http.StatusOK, &m, "POST", "/session/"+string(s.ID)+"/message", strings.Replace(prompt("old"), "{", `{"noReply":true,`, 1))
	path := "/session/" + string(s.ID) + "/message/" + string(m.ID)
	part := path + "/part/" + string(m.Parts[0].ID)
	changed := string(m.Parts[0].WithText("new").AppendJSON(nil))
	w.want(http.StatusOK, nil, "PATCH", part, changed)
	w.want(http.StatusOK, &m, "GET", path, "")
	if textOf(m) != "new" {
		t.Errorf("text %q", textOf(m))
	}
	w.want(http.StatusBadRequest, nil, "PATCH", path+"/part/prt_other", changed)
	w.want(http.StatusOK, nil, "DELETE", part, "").is(w, "true")
	w.want(http.StatusOK, nil, "DELETE", path, "").is(w, "true")
	w.want(http.StatusNotFound, nil, "GET", path, "")
}

func TestSession_EditForkDelete(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	path := "/session/" + string(s.ID)
	w.want(http.StatusOK, nil, "PATCH", path, `{"permission":[{"permission":"bash","pattern":"*","action":"deny"}]}`)
	var got lathe.Session
	w.want(http.StatusOK, &got, "PATCH", path, `{"title":"Other","metadata":{"a":1},"permission":[{"permission":"edit","pattern":"*","action":"ask"}],"time":{"archived":5}}`)
	if got.Title != "Other" || len(got.Rules) != 2 || *got.Archived != 5 || string(got.Metadata) != `{"a":1}` {
		t.Errorf("changed to %s", got.AppendJSON(nil))
	}
	w.want(http.StatusBadRequest, nil, "PATCH", path, `{"metadata":[]}`)
	var child lathe.Session
	w.want(http.StatusOK, &child, "POST", "/session", `{"parentID":"`+string(s.ID)+`"}`)
	var all []lathe.Session
	w.want(http.StatusOK, &all, "GET", path+"/children", "")
	if len(all) != 1 || all[0].ID != child.ID {
		t.Errorf("children %v", all)
	}
	var fork lathe.Session
	w.want(http.StatusOK, &fork, "POST", path+"/fork", "")
	if fork.Title != "Other (fork #1)" {
		t.Errorf("fork is called %q", fork.Title)
	}
	w.want(http.StatusOK, nil, "GET", path+"/todo", "").is(w, "[]")
	w.want(http.StatusOK, nil, "GET", path+"/diff", "").is(w, "[]")
	w.want(http.StatusOK, nil, "GET", "/session/ses_gone/diff", "").is(w, "[]")
	w.want(http.StatusOK, &all, "GET", "/session?roots=true&search=OTHER&limit=x", "")
	if len(all) != 2 {
		t.Errorf("found %d", len(all))
	}
	w.want(http.StatusOK, nil, "DELETE", path, "").is(w, "true")
	w.want(http.StatusNotFound, nil, "GET", "/session/"+string(child.ID), "")
	w.want(http.StatusNotFound, nil, "DELETE", path, "")
}

func TestAsks_AreAnswered(t *testing.T) {
	w := begin(t, `call ask {"permission":"look","patterns":["x"]}
finish tool-calls
--
text "done"
finish stop`)
	s := w.session()
	l := w.listen("/event")
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"))
	all := l.until("permission.asked")
	id := string(all[len(all)-1].Fact.(*lathe.PermissionAsked).ID)
	var waiting []lathe.PermissionRequest
	w.want(http.StatusOK, &waiting, "GET", "/permission", "")
	if len(waiting) != 1 || string(waiting[0].ID) != id {
		t.Fatalf("waiting: %v", waiting)
	}
	w.want(http.StatusBadRequest, nil, "POST", "/permission/"+id+"/reply", `{"reply":"perhaps"}`)
	w.want(http.StatusBadRequest, nil, "POST", "/permission/"+id+"/reply", `{}`)
	w.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/permissions/"+id, `{"response":"once"}`).is(w, "true")
	l.until("session.idle")
	w.want(http.StatusOK, nil, "GET", "/permission", "").is(w, "[]")
	w.want(http.StatusNotFound, nil, "POST", "/permission/"+id+"/reply", `{"reply":"once"}`).is(w,
		`{"_tag":"PermissionNotFoundError","requestID":"`+id+`","message":"Permission request not found: `+id+`"}`)
	w.want(http.StatusNotFound, nil, "POST", "/question/que_1/reject", "").is(w,
		`{"_tag":"QuestionNotFoundError","requestID":"que_1","message":"Question request not found: que_1"}`)
	w.want(http.StatusOK, nil, "GET", "/question", "").is(w, "[]")
}

func TestPrompt_PassesOnWhatItSays(t *testing.T) {
	w := begin(t, `text "ok"
finish stop`)
	s := w.session()
	w.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/message", `{"messageID":"msg_mine","agent":"build","model":{"providerID":"test","modelID":"small"},
		"variant":null,"system":"Be brief.","tools":{"write":false},"parts":[{"id":"prt_mine","type":"text","text":"hi"},{"type":"file","mime":"text/plain","url":"data:text/plain,attached","filename":"a.txt"}]}`)
	r := w.model.Last()
	var tools []string
	for _, one := range r.Prompt.Tools {
		tools = append(tools, one.Name)
	}
	if text := r.String(); !strings.Contains(text, "Be brief.") || !strings.Contains(text, "attached") || slices.Contains(tools, "write") || len(tools) == 0 {
		t.Errorf("the model was told %s with %v", text, tools)
	}
	var m lathe.Message
	w.want(http.StatusOK, &m, "GET", "/session/"+string(s.ID)+"/message/msg_mine", "")
	u := m.Data.(*lathe.User)
	if u.Model.Model != "small" || u.System != "Be brief." || string(u.Tools) != `{"write":false}` || m.Parts[0].ID != "prt_mine" {
		t.Errorf("kept as %s", m.AppendJSON(nil))
	}
}

// TestPrompt_TwoAtOnce sends a second prompt while the first is answered: both receive the end.
func TestPrompt_TwoAtOnce(t *testing.T) {
	w := begin(t, `text "first"
pause 200ms
finish stop
--
text "second"
finish stop`)
	s := w.session()
	l := w.listen("/event")
	got := make(chan string, 2)
	send := func(words string) {
		r, _ := http.NewRequest("POST", w.url+"/session/"+string(s.ID)+"/message", strings.NewReader(prompt(words)))
		r.Header.Set("Content-Type", "application/json")
		res, err := w.http.Do(r)
		if err != nil {
			got <- err.Error()
			return
		}
		defer res.Body.Close()
		var m lathe.Message
		_ = json.NewDecoder(res.Body).Decode(&m)
		got <- textOf(m)
	}
	go send("one")
	l.until("message.part.delta")
	go send("two")
	if a, b := <-got, <-got; a != "second" || b != "second" {
		t.Errorf("answered %q and %q", a, b)
	}
}

// Deleting an idle session publishes only its end; for a busy one the end of its turn comes
// first.
func TestSession_DeletePublishesItsEndOnly(t *testing.T) {
	w := begin(t, "text \"done\"\nfinish stop\n--\ntext \"Half\"\nstall")
	s, l := w.session(), w.listen("/event")
	var child lathe.Session
	w.want(http.StatusOK, &child, "POST", "/session", `{"parentID":"`+string(s.ID)+`"}`)
	w.say(s, "hi")
	l.until("session.idle")
	w.want(http.StatusOK, nil, "DELETE", "/session/"+string(s.ID), "").is(w, "true")
	for ended := 0; ended < 2; {
		f := l.next()
		switch kind := f.Fact.Type(); {
		case kind == "session.deleted":
			ended++
		case strings.HasPrefix(kind, "session."):
			t.Errorf("before the end came %s", f.data)
		}
	}
	busy := w.session()
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(busy.ID)+"/prompt_async", prompt("hi"))
	l.until("message.part.delta")
	w.want(http.StatusOK, nil, "DELETE", "/session/"+string(busy.ID), "").is(w, "true")
	if all := l.until("session.deleted"); !slices.ContainsFunc(all, func(f frame) bool { return f.Fact.Type() == "session.idle" }) {
		t.Errorf("the turn did not end: %s", kinds(all))
	}
}

// Metadata is a change of a session, a title is not.
func TestSession_MetadataTouches(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	path, got := "/session/"+string(s.ID), s
	for range 5000 { // until the clock has moved on
		if w.want(http.StatusOK, &got, "PATCH", path, `{"metadata":{"a":1}}`); got.Updated > s.Updated {
			break
		}
	}
	touched := got.Updated
	if touched <= s.Updated {
		t.Errorf("updated is %v still", touched)
	}
	if w.want(http.StatusOK, &got, "PATCH", path, `{"title":"Other"}`); got.Updated != touched {
		t.Errorf("a title moved it from %v to %v", touched, got.Updated)
	}
}
