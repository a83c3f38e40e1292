package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// routes lists method and path of every route.
func (w *fixture) routes() (out [][2]string) {
	w.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	w.want(http.StatusOK, &doc, "GET", "/doc", "")
	for path, methods := range doc.Paths {
		for method := range methods {
			out = append(out, [2]string{strings.ToUpper(method), path})
		}
	}
	return out
}

// TestRoutes_UnknownSessions asks every route of a session for one that does not exist, and with ids
// of other prefixes and paths in place of ids.
func TestRoutes_UnknownSessions(t *testing.T) {
	w := begin(t, "")
	for _, r := range w.routes() {
		if !strings.Contains(r[1], "{sessionID}") || strings.HasPrefix(r[1], "/lathe/") { // what a program adds
			continue
		}
		for id, bad := range map[string]bool{"ses_gone": false, "msg_1": true, "ses_%2e%2e%2f%2e%2e": true, "%00": true, strings.Repeat("s", 3000): true, "ses_" + strings.Repeat("a", 300): true} {
			path := strings.NewReplacer("{sessionID}", id, "{messageID}", "msg_1", "{partID}", "prt_1", "{permissionID}", "per_1", "{secret}", "x").Replace(r[1])
			a := w.ask(r[0], path, bodyFor(r[0], r[1]))
			quiet := r[1] == "/session/{sessionID}/abort" || r[1] == "/session/{sessionID}/diff"
			switch {
			case !bad && quiet && a.StatusCode == http.StatusOK:
			case !bad && !quiet && a.StatusCode == http.StatusNotFound:
			case bad && (a.StatusCode == http.StatusBadRequest || a.StatusCode == http.StatusNotFound):
			default:
				t.Errorf("%s %s: status %d: %s", r[0], path, a.StatusCode, a.body)
			}
			if !json.Valid(a.body) {
				t.Errorf("%s %s: no JSON: %q", r[0], path, a.body)
			}
		}
	}
}

// bodyFor is a body that a route takes.
func bodyFor(method, path string) string {
	if method != "POST" && method != "PATCH" && method != "PUT" {
		return ""
	}
	if strings.HasSuffix(path, "/part/{partID}") {
		return `{"id":"prt_1","sessionID":"ses_gone","messageID":"msg_1","type":"text","text":"x"}`
	}
	return `{"parts":[],"agent":"build","command":"true","arguments":"","messageID":"msg_1","providerID":"p","modelID":"m","response":"once"}`
}

// TestRoutes_BadBodies sends every route that takes a body what is none.
func TestRoutes_BadBodies(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	for _, r := range w.routes() {
		if r[0] == "GET" || r[0] == "DELETE" || strings.HasPrefix(r[1], "/tui/") || strings.HasPrefix(r[1], "/lathe/") { // a terminal takes any JSON
			continue
		}
		path := strings.NewReplacer("{sessionID}", string(s.ID), "{messageID}", "msg_1", "{partID}", "prt_1", "{permissionID}", "per_1", "{requestID}", "per_1",
			"{providerID}", "p", "{name}", "n", "{projectID}", "global", "{ptyID}", "pty_1").Replace(r[1])
		for _, body := range []string{"{", "[]", `"x"`, `{"parts":`, "\xff\xfe", `{"title":{}}{}`} {
			a := w.ask(r[0], path, body)
			if a.StatusCode >= 500 || !json.Valid(a.body) && len(a.body) > 0 {
				t.Errorf("%s %s with %q: status %d: %s", r[0], path, body, a.StatusCode, a.body)
			}
		}
	}
}

// FuzzServer sends anything to one server that has no password: it never fails, and always answers
// in JSON.
func FuzzServer(f *testing.F) {
	for _, seed := range [][4]string{
		{"GET", "/session?limit=1&path=%00", "", "application/json"},
		{"POST", "/session", `{"title":"x"}`, "application/json"},
		{"PATCH", "/session/ses_1", `{"time":{"archived":-1}}`, "application/json"},
		{"GET", "/session/ses_1/message?limit=2&before=e30", "", ""},
		{"POST", "/session/ses_1/message", `{"parts":[{"type":"text","text":"x"}]}`, "application/json"},
		{"PUT", "/x/../y", "", "text/plain"},
		{"GET", "/file/content?path=../../etc/passwd", "", ""},
		{"GET", "/find?pattern=(", "", ""},
		{"OPTIONS", "/event", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	w := begin(f, "")
	f.Fuzz(func(t *testing.T, method, target, body, kind string) {
		if strings.Contains(target, "event") || strings.Contains(target, "next") { // they do not end
			return
		}
		r, err := http.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
		if err != nil || !strings.HasPrefix(target, "/") {
			return // net/http refuses it before us
		}
		r.RequestURI = ""
		r.Header.Set("Content-Type", kind)
		rec := httptest.NewRecorder()
		w.server.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Errorf("%s %s: status %d: %s", method, target, rec.Code, rec.Body)
		}
		if b := bytes.TrimSpace(rec.Body.Bytes()); len(b) > 0 && rec.Header().Get("Content-Type") == "application/json" && !json.Valid(b) {
			t.Errorf("%s %s: %s", method, target, b)
		}
	})
}

// FuzzPrompt decodes anything as the body of a prompt. What is taken can be read back.
func FuzzPrompt(f *testing.F) {
	for _, p := range []string{prompt("x"), `{"parts":[{"type":"file","mime":"a","url":"data:,x"}]}`, `{"parts":[],"tools":{"a":true},"format":{"type":"text"}}`, `{"noReply":true,"parts":null}`} {
		f.Add(p)
	}
	w := begin(f, "")
	s := w.session()
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) < 3 || body[0] != '{' || body[len(body)-1] != '}' {
			return
		}
		r := httptest.NewRequest("POST", "http://localhost/session/"+string(s.ID)+"/message", strings.NewReader(body[:len(body)-1]+`,"noReply":true}`)) // or it waits for a model
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.server.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
		var m lathe.Message
		if rec.Code == 200 && json.Unmarshal(rec.Body.Bytes(), &m) != nil {
			t.Errorf("answered %s", rec.Body)
		}
	})
}
