package server_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestRoute_UnknownPathIsJSON(t *testing.T) {
	w := begin(t, "")
	for _, path := range []string{"/nothing", "/session/", "/session//x", "/session/../config", "/session/%2e%2e/x/y/z", "/index.html"} {
		a := w.want(http.StatusNotFound, nil, "GET", path, "")
		if got := a.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: type %q", path, got)
		}
		var e struct {
			Name string
			Data struct{ Message string }
		}
		if err := json.Unmarshal(a.body, &e); err != nil || e.Name != "NotFoundError" || e.Data.Message == "" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestRoute_WrongMethod(t *testing.T) {
	w := begin(t, "")
	a := w.want(http.StatusMethodNotAllowed, nil, "PUT", "/session", "{}")
	if got := a.Header.Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("Allow is %q", got)
	}
	a.is(w, `{"name":"BadRequest","data":{"message":"PUT is not allowed here; GET, HEAD, POST is","kind":"Params"}}`)
}

func TestRoute_BadBodies(t *testing.T) {
	w := begin(t, "")
	for _, body := range []string{`{`, `[]`, `{"title":1}`, `"x"`, `{"model":{"id":3}}`, `{"permission":[{"action":1}]}`, strings.Repeat("[", 20000)} {
		w.want(http.StatusBadRequest, nil, "POST", "/session", body).is(w, `{"_tag":"BadRequest"}`)
	}
	w.want(http.StatusOK, nil, "POST", "/session", `{"title":null,"unknown":[1]}`)
	w.want(http.StatusOK, nil, "POST", "/session", "")
}

func TestRoute_SessionsOfADirectory(t *testing.T) {
	w := begin(t, "")
	var made, got lathe.Session
	w.want(http.StatusOK, &made, "POST", "/session", `{"title":"Über <b>"}`)
	a := w.want(http.StatusOK, &got, "GET", "/session/"+string(made.ID), "")
	if got.Title != "Über <b>" || got.Directory != w.dir || !strings.Contains(string(a.body), "Über <b>") {
		t.Errorf("got %s", a.body)
	}
	w.want(http.StatusNotFound, nil, "GET", "/session/ses_unknown", "").is(w, `{"name":"NotFoundError","data":{"message":"Session not found: ses_unknown"}}`)
	w.want(http.StatusBadRequest, nil, "GET", "/session/msg_1", "")
	w.want(http.StatusBadRequest, nil, "GET", "/session/ses_%2e%2e%2fx", "")
}

func TestRoute_Compresses(t *testing.T) {
	w := begin(t, "")
	for range 10 {
		w.want(http.StatusOK, nil, "POST", "/session", "")
	}
	plain := w.want(http.StatusOK, nil, "GET", "/session", "", "Accept-Encoding", "identity")
	zipped := w.want(http.StatusOK, nil, "GET", "/session", "", "Accept-Encoding", "br, gzip;q=0.5")
	if got := zipped.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("encoding %q", got)
	}
	z, err := gzip.NewReader(strings.NewReader(string(zipped.body)))
	w.ok(err)
	data, err := io.ReadAll(z)
	w.ok(err)
	if string(data) != string(plain.body) || len(zipped.body) >= len(plain.body) {
		t.Error("the compressed answer is another one")
	}
	if got := w.want(http.StatusOK, nil, "GET", "/global/health", "", "Accept-Encoding", "gzip").Header.Get("Content-Encoding"); got != "" {
		t.Errorf("a short answer came as %q", got)
	}
}

func TestStream_BeginsAndFollows(t *testing.T) {
	w := begin(t, "")
	l := w.listen("/event")
	if got := l.res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %q", got)
	}
	first := l.next()
	if first.Fact.Type() != "server.connected" || first.id == "" {
		t.Errorf("begins with %+v", first)
	}
	var made lathe.Session
	w.want(http.StatusOK, &made, "POST", "/session", "")
	all := l.until("session.created")
	last := all[len(all)-1]
	if last.Fact.(*lathe.SessionCreated).Info.ID != made.ID {
		t.Errorf("got %s", last.data)
	}
	again := w.listen("/event", "Last-Event-ID", first.id)
	again.until("session.created")
}

func TestStream_GlobalHasDirectory(t *testing.T) {
	w := begin(t, "")
	l := w.listen("/global/event")
	if f := l.next(); !strings.HasPrefix(f.data, `{"payload":{"id":"evt_`) {
		t.Errorf("begins with %s", f.data)
	}
	w.want(http.StatusOK, nil, "POST", "/session", "")
	all := l.until("session.created")
	where, _ := json.Marshal(w.dir)
	if f := all[len(all)-1]; !strings.HasPrefix(f.data, `{"directory":`+string(where)+`,"project":"global","payload":{`) {
		t.Errorf("got %s", f.data)
	}
}
