package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

func TestTUI_Events(t *testing.T) {
	w := begin(t, "")
	var session lathe.Session
	w.want(http.StatusOK, &session, "POST", "/session", "{}")
	l := w.listen("/event")
	l.next()
	id := string(session.ID)
	for _, c := range []struct{ path, body, want string }{
		{"append-prompt", `{"text":"hi"}`, `"type":"tui.prompt.append","properties":{"text":"hi"}`},
		{"submit-prompt", ``, `"type":"tui.command.execute","properties":{"command":"prompt.submit"}`},
		{"clear-prompt", `{}`, `"command":"prompt.clear"`},
		{"open-help", ``, `"command":"help.show"`},
		{"open-sessions", ``, `"command":"session.list"`},
		{"open-themes", ``, `"command":"theme.switch"`},
		{"open-models", ``, `"command":"model.list"`},
		{"execute-command", `{"command":"session_new"}`, `"command":"session.new"`},
		{"execute-command", `{"command":"messages_half_page_down"}`, `"command":"session.half.page.down"`},
		{"execute-command", `{"command":"nonsense"}`, ``},
		{"execute-command", `{"command":"a.new.one"}`, `"command":"a.new.one"`},
		{"show-toast", `{"message":"m","variant":"info","title":"t","duration":5}`, `"type":"tui.toast.show","properties":{"title":"t","message":"m","variant":"info","duration":5}`},
		{"select-session", `{"sessionID":"` + id + `"}`, `"type":"tui.session.select","properties":{"sessionID":"` + id + `"}`},
		{"publish", `{"type":"tui.prompt.append","properties":{"text":"x"}}`, `"properties":{"text":"x"}`},
		{"publish", `{"type":"tui.command.execute","properties":{"command":"prompt.clear"}}`, `"command":"prompt.clear"`},
		{"publish", `{"type":"tui.toast.show","properties":{"message":"m","variant":"error"}}`, `"properties":{"message":"m","variant":"error"}`},
		{"publish", `{"type":"tui.session.select","properties":{"sessionID":"` + id + `"}}`, `"type":"tui.session.select"`},
	} {
		w.want(http.StatusOK, nil, "POST", "/tui/"+c.path, c.body).is(w, "true")
		if c.want == "" {
			continue // nothing is reported; the next event is that of the next request
		}
		if f := l.next(); !strings.Contains(f.data, c.want) {
			t.Errorf("%s %s: %s", c.path, c.body, f.data)
		}
	}
}

func TestTUI_Bad(t *testing.T) {
	w := begin(t, "")
	for path, bodies := range map[string][]string{
		"append-prompt": {`{}`, `{"text":7}`, `{"text":null}`, `"x"`, `{"text":`},
		"show-toast":    {`{}`, `{"message":"m"}`, `{"message":"m","variant":"loud"}`, `{"message":"m","variant":"info","duration":0}`, `{"message":"m","variant":"info","duration":"1"}`},
		"publish": {
			`{}`, `{"type":"session.deleted","properties":{}}`, `{"type":"tui.prompt.append","properties":{}}`, `{"type":"tui.toast.show","properties":{"message":"m","variant":"x"}}`,
			`{"type":"tui.prompt.append","properties":[]}`, `{"type":"tui.prompt.append"}`, `{"type":"tui.session.select","properties":{"sessionID":"msg_1"}}`,
		},
		"select-session":  {`{}`, `{"sessionID":"x"}`, `{"sessionID":"../../etc"}`},
		"execute-command": {`{}`, `{"command":{}}`},
	} {
		for _, body := range bodies {
			has(t, string(w.want(http.StatusBadRequest, nil, "POST", "/tui/"+path, body).body), `"kind":"Body"`)
		}
	}
	unknown := string(lathe.NewIDs().Session())
	has(t, string(w.want(http.StatusNotFound, nil, "POST", "/tui/select-session", `{"sessionID":"`+unknown+`"}`).body), "NotFoundError")
	w.want(http.StatusNotFound, nil, "POST", "/tui/publish", `{"type":"tui.session.select","properties":{"sessionID":"`+unknown+`"}}`)
	w.want(http.StatusUnsupportedMediaType, nil, "POST", "/tui/append-prompt", `{"text":"x"}`, "Content-Type", "text/plain")
}

// Who waits for requests gets them in order, also those that come between two waits.
func TestTUI_Control(t *testing.T) {
	w := begin(t, "")
	w.want(http.StatusOK, nil, "POST", "/tui/append-prompt", `{"text":"nobody waits"}`)
	first := make(chan answer)
	go func() { first <- w.ask("GET", "/tui/control/next", "") }()
	var got answer
	for done := false; !done; { // until the wait has started
		w.want(http.StatusOK, nil, "POST", "/tui/append-prompt", `{"text":"one"}`)
		select {
		case got = <-first:
			done = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	got.is(w, `{"path":"/tui/append-prompt","body":{"text":"one"}}`)
	w.want(http.StatusOK, nil, "POST", "/tui/control/response", `{"any":[1]}`).is(w, "true")
	w.want(http.StatusOK, nil, "POST", "/tui/open-help", "")
	for last := ""; last != `{"path":"/tui/open-help","body":{}}`; {
		last = string(w.want(http.StatusOK, nil, "GET", "/tui/control/next", "").body)
	}
}

// A wait ends with its client and with the server.
func TestTUI_ControlEnds(t *testing.T) {
	w := begin(t, "")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, "GET", w.url+"/tui/control/next", nil)
	w.ok(err)
	if res, err := w.http.Do(r); err == nil {
		_ = res.Body.Close()
		t.Errorf("status %d", res.StatusCode)
	}
	w.server.Close()
	w.want(http.StatusServiceUnavailable, nil, "GET", "/tui/control/next", "")
}

// sink is a log that a test reads.
type sink struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestLog(t *testing.T) {
	var log sink
	w := begin(t, "", func(o *server.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	w.want(http.StatusOK, nil, "POST", "/log", `{"service":"editor","level":"warn","message":"two\nlines","extra":{"a":1}}`).is(w, "true")
	has(t, log.String(), `level=WARN msg="two\nlines" client=editor extra="{\"a\":1}"`)
	w.want(http.StatusOK, nil, "POST", "/log", `{"service":"editor","level":"error","message":"`+strings.Repeat("x", 1<<20)+`"}`)
	if n := len(log.String()); n > 20_000 {
		t.Errorf("%d bytes were logged", n)
	}
	for _, body := range []string{`{}`, `{"service":"x","level":"loud","message":"m"}`, `{"service":"x","level":"info"}`, `{"service":1,"level":"info","message":"m"}`, `{"service":"x","level":"info","message":"m","extra":[]}`} {
		has(t, string(w.want(http.StatusBadRequest, nil, "POST", "/log", body).body), `"kind":"Body"`)
	}
}
