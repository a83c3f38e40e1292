package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// addMessages puts messages with their parts into a session.
func (w *fixture) addMessages(s lathe.SessionID, all ...lathe.Message) {
	w.Helper()
	for _, m := range all {
		parts := m.Parts
		m.Session, m.Parts = s, nil
		_, err := w.engine.UpdateMessage(w.Context(), m)
		w.ok(err)
		for i, p := range parts {
			p.ID, p.Session, p.Message = lathe.PartID("prt_"+string(m.ID)+string(rune('a'+i))), s, m.ID
			_, err := w.engine.UpdatePart(w.Context(), p, "")
			w.ok(err)
		}
	}
}

func withParts(id lathe.MessageID, data lathe.RoleData, bodies ...lathe.Body) lathe.Message {
	m := lathe.Message{ID: id, Data: data}
	for _, b := range bodies {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	return m
}

// The server renders what was said, without what nobody said, and the page works without its script. It needs no
// cookie, sets none, and gives nothing more to someone who has one.
func TestShare_Page(t *testing.T) {
	w, _ := paired(t, "")
	page, _ := w.pair("full")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"<script>alert(1)</script>"}`, owner...)
	user := &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}}
	assistant := &lathe.Assistant{Parent: "msg_1", Agent: "build", Mode: "build", Completed: 9}
	diff, err := json.Marshal(map[string]string{"diff": "--- a\n+++ a\n-old\n+<b>new</b>\n"})
	w.ok(err)
	w.addMessages(s.ID,
		withParts("msg_1", user, &lathe.Text{Text: "Hello"}),
		withParts("msg_2", assistant),
		withParts("msg_3", assistant, &lathe.StepStart{}, &lathe.Text{Text: " \n"}, &lathe.Reasoning{Text: ""}, &lathe.StepFinish{Reason: "stop"}),
		withParts("msg_4", user, &lathe.Text{Text: "A note of the program.", Synthetic: lathe.Yes}),
		withParts("msg_5", assistant, &lathe.Text{Text: "Good **day**: <img src=x onerror=alert(1)> [x](javascript:alert(1))"},
			&lathe.ToolCall{CallID: "c", Tool: "edit", State: &lathe.Completed{Title: "a", Input: json.RawMessage(`{}`), Output: "ok", Metadata: diff}}),
	)
	w.want(http.StatusOK, &s, "POST", "/session/"+string(s.ID)+"/share?expires=7d", "", owner...)
	at, err := url.Parse(s.Share.URL)
	w.ok(err)
	without := w.want(http.StatusOK, nil, "GET", at.Path, "")
	got := string(without.body)
	for _, part := range []string{"Hello", "Good <strong>day</strong>", `<span class="del">-old`, `<span class="add">+&lt;b&gt;new`, "<details", "&lt;script&gt;alert", `src="/assets/share-`, `href="/assets/style-`} {
		if !strings.Contains(got, part) {
			t.Errorf("the page has no %q:\n%s", part, got)
		}
	}
	if strings.Count(got, "<article") != 2 || strings.Count(got, "<script") != 1 || strings.Contains(got, "<img") || strings.Contains(got, "<a ") || strings.Contains(got, "A note") {
		t.Errorf("the page has more:\n%s", got)
	}
	for _, secret := range []string{s.Directory, at.Path, "secret"} {
		if strings.Contains(got, secret) {
			t.Errorf("the page tells %q", secret)
		}
	}
	for _, path := range []string{at.Path, at.Path + "/data", "/share/page.css"} {
		a := w.want(http.StatusOK, nil, "GET", path, "", page[:2]...)
		if len(a.Cookies()) > 0 || a.Header.Get("X-Robots-Tag") != "noindex, nofollow" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, a.Header)
		}
		if path != at.Path+"/data" && (!strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'") || a.Header.Get("Referrer-Policy") != "no-referrer") {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
	wrong := at.Path[:len(at.Path)-4] + "____"
	w.want(http.StatusNotFound, nil, "GET", wrong, "", page...) // a device sees no more than others
}
