//go:build unix

package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// wire is a websocket to a terminal.
type wire struct {
	*fixture
	conn   *websocket.Conn
	shown  strings.Builder // all text so far
	before int             // bytes of it that came before the cursor
	cursor int64           // what the binary frame said, -1 before it
}

// dial connects; query begins with ? or is empty.
func (w *fixture) dial(id lathe.PtyID, query string, more ...string) (*wire, *http.Response, error) {
	h := http.Header{}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	o := &websocket.DialOptions{HTTPHeader: h, HTTPClient: w.http}
	if host := h.Get("Host"); host != "" {
		o.Host = host
		h.Del("Host")
	}
	ctx, stop := context.WithTimeout(w.Context(), 20*time.Second)
	defer stop()
	conn, res, err := websocket.Dial(ctx, w.url+"/pty/"+string(id)+"/connect"+query, o)
	if err != nil {
		return nil, res, err
	}
	conn.SetReadLimit(1 << 20)
	w.Cleanup(func() { _ = conn.CloseNow() })
	return &wire{fixture: w, conn: conn, cursor: -1}, res, nil
}

func (w *fixture) connect(id lathe.PtyID, query string, more ...string) *wire {
	w.Helper()
	c, _, err := w.dial(id, query, more...)
	w.ok(err)
	return c
}

// read takes one frame.
func (c *wire) read() error {
	ctx, stop := context.WithTimeout(c.Context(), 20*time.Second)
	defer stop()
	kind, data, err := c.conn.Read(ctx)
	if err != nil {
		return err
	}
	if kind == websocket.MessageBinary {
		var mark struct{ Cursor int64 }
		if data[0] != 0 || json.Unmarshal(data[1:], &mark) != nil || c.cursor >= 0 {
			return fmt.Errorf("a strange frame %q", data)
		}
		c.cursor, c.before = mark.Cursor, c.shown.Len()
		return nil
	}
	c.shown.Write(data)
	return nil
}

// until reads until a word was shown.
func (c *wire) until(word string) {
	c.Helper()
	for !strings.Contains(c.shown.String(), word) {
		if err := c.read(); err != nil {
			c.Fatalf("%v after %q", err, c.shown.String())
		}
	}
}

// closed reads to the end and returns the code it ended with.
func (c *wire) closed() websocket.StatusCode {
	for {
		if err := c.read(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func (c *wire) send(text string) {
	c.Helper()
	c.ok(c.conn.Write(c.Context(), websocket.MessageText, []byte(text)))
}

func (w *fixture) terminal(body string) lathe.Pty {
	w.Helper()
	var raw struct {
		ID                         lathe.PtyID
		Title, Command, Cwd, State string
		Args                       []string
		Status                     string
		PID                        int
	}
	w.want(http.StatusOK, &raw, "POST", "/pty", body)
	return lathe.Pty{ID: raw.ID, Title: raw.Title, Command: raw.Command, Args: raw.Args, Cwd: raw.Cwd, Status: raw.Status, PID: raw.PID}
}

func TestPty_Shell(t *testing.T) {
	w := begin(t, "")
	l := w.listen("/event")
	l.next()
	p := w.terminal(`{"env":{"A":"1"},"title":null}`)
	if p.Command != "/bin/sh" || fmt.Sprint(p.Args) != "[-l]" || p.Cwd != w.dir || p.Status != "running" || p.PID == 0 || p.Title != "Terminal "+string(p.ID[len(p.ID)-4:]) {
		t.Errorf("%+v", p)
	}
	l.until("pty.created")
	path := "/pty/" + string(p.ID)
	c := w.connect(p.ID, "")
	c.send("echo $A-$TERM-$OPENCODE_TERMINAL-$((6*7))\r")
	c.until("1-xterm-256color-1-42")
	w.want(http.StatusOK, nil, "PUT", path, `{"size":{"rows":33,"cols":99}}`)
	c.ok(c.conn.Write(c.Context(), websocket.MessageBinary, []byte("stty size\r")))
	c.until("33 99")
	has(t, string(w.want(http.StatusOK, nil, "PUT", path, `{"title":"mine"}`).body), `"title":"mine"`)
	l.until("pty.updated")
	has(t, string(w.want(http.StatusOK, nil, "GET", path, "").body), `"title":"mine"`)
	has(t, string(w.want(http.StatusOK, nil, "GET", "/pty", "").body), string(p.ID))
	second := w.connect(p.ID, "") // sees what was, and what comes
	second.until("33 99")
	c.send("exit 3\r")
	if a, b := c.closed(), second.closed(); a != websocket.StatusNormalClosure || b != websocket.StatusNormalClosure {
		t.Errorf("%d, %d", a, b)
	}
	all := l.until("pty.exited")
	if f := all[len(all)-1].Fact.(*lathe.PtyExited); f.ID != p.ID || f.ExitCode != 3 {
		t.Errorf("%+v", f)
	}
	l.until("pty.deleted")
	has(t, string(w.want(http.StatusNotFound, nil, "GET", path, "").body), `"_tag":"PtyNotFoundError","ptyID":"`+string(p.ID)+`"`)
	w.want(http.StatusOK, nil, "GET", "/pty", "").is(w, "[]")
	if _, res, err := w.dial(p.ID, ""); err == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("%v", err)
	}
}

// A client that comes again says up to where it has seen.
func TestPty_Cursor(t *testing.T) {
	w := begin(t, "")
	p := w.terminal(`{"command":"sh","args":["-c","printf 'one😀two'; read x; printf three; read x"]}`)
	first := w.connect(p.ID, "?cursor=0")
	first.until("two")
	for first.cursor < 0 {
		w.ok(first.read())
	}
	for query, want := range map[string]string{"": "one😀two", "?cursor=0": "one😀two", "?cursor=3": "😀two", "?cursor=4": "two", "?cursor=5": "two", "?cursor=8": "", "?cursor=-1": "", "?cursor=999": ""} {
		c := w.connect(p.ID, query)
		for c.cursor < 0 {
			w.ok(c.read())
		}
		if got := c.shown.String(); got != want || c.cursor != 8 {
			t.Errorf("%q: %q, cursor %d", query, got, c.cursor)
		}
	}
	again := w.connect(p.ID, "?cursor=-1")
	first.send("\r")
	again.until("three")
	if strings.Contains(again.shown.String(), "one") {
		t.Errorf("%q", again.shown.String())
	}
	for _, bad := range []string{"x", "-2", "1.5", "99999999999999999999"} {
		if _, res, err := w.dial(p.ID, "?cursor="+bad); err == nil || res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Much output comes in frames of a bounded size, and only its end is kept.
func TestPty_Replay(t *testing.T) {
	w := begin(t, "")
	p := w.terminal(`{"command":"sh","args":["-c","yes 0123456789 | head -n 300000; echo end; read x"]}`)
	c := w.connect(p.ID, "?cursor=-1")
	c.until("end")
	late := w.connect(p.ID, "")
	for late.cursor < 0 {
		had := late.shown.Len()
		w.ok(late.read())
		if n := late.shown.Len() - had; n > 64<<10 {
			t.Fatalf("a frame of %d", n)
		}
	}
	if late.cursor < 3_000_000 || late.before < 2<<20 || late.before > 2<<20+64<<10 || !strings.Contains(late.shown.String(), "end") {
		t.Errorf("cursor %d, %d characters", late.cursor, late.before)
	}
}

func TestPty_Remove(t *testing.T) {
	w := begin(t, "")
	l := w.listen("/event")
	l.next()
	p := w.terminal(`{}`)
	c := w.connect(p.ID, "")
	c.send("sleep 1000\r")
	c.until("sleep")
	w.want(http.StatusOK, nil, "DELETE", "/pty/"+string(p.ID), "").is(w, "true")
	if code := c.closed(); code != websocket.StatusNormalClosure {
		t.Errorf("%d", code)
	}
	for _, f := range l.until("pty.deleted") {
		if f.Fact.Type() == "pty.exited" {
			t.Error("what was removed is told to have ended by itself")
		}
	}
	w.want(http.StatusNotFound, nil, "DELETE", "/pty/"+string(p.ID), "")
}

func TestPty_ServerEnds(t *testing.T) {
	w := begin(t, "")
	c := w.connect(w.terminal(`{}`).ID, "")
	c.send("echo ready$((1+1))\r")
	c.until("ready2")
	w.server.Close()
	if code := c.closed(); code != websocket.StatusGoingAway {
		t.Errorf("%d", code)
	}
}

// A client that vanishes leaves the terminal to others.
func TestPty_Disconnect(t *testing.T) {
	w := begin(t, "")
	p := w.terminal(`{}`)
	for range 5 {
		w.ok(w.connect(p.ID, "").conn.CloseNow())
	}
	c := w.connect(p.ID, "")
	c.send("echo still$((1+1))\r")
	c.until("still2")
	large := c.conn.Write(t.Context(), websocket.MessageText, make([]byte, 2<<20)) // more than a frame may have
	if code := c.closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("%d, %v", code, large)
	}
	w.want(http.StatusOK, nil, "GET", "/pty/"+string(p.ID), "")
}

func TestPty_Bad(t *testing.T) {
	w := begin(t, "")
	long := strings.Repeat("x", 100<<10)
	for _, body := range []string{
		`{"command":7}`, `{"command":"no-such-program"}`, `{"command":"../../../no/such"}`, `{"args":"x"}`, `{"args":[7]}`, `{"cwd":"nowhere"}`, `{"cwd":"a\u0000b"}`,
		`{"env":{"A":7}}`, `{"env":{"A=B":"x"}}`, `{"env":[]}`, `{"title":"` + long + `"}`, `{"args":["` + long + `"]}`, `{`, `[]`,
	} {
		w.want(http.StatusBadRequest, nil, "POST", "/pty", body)
	}
	unknown := lathe.NewIDs().New(lathe.PrefixPty)
	for _, path := range []string{"/pty/" + unknown, "/pty/" + unknown + "/connect"} {
		has(t, string(w.want(http.StatusNotFound, nil, "GET", path, "").body), "PtyNotFoundError")
	}
	for _, id := range []string{"x", "ses_123", "..%2f..%2fetc", "%00"} {
		has(t, string(w.want(http.StatusBadRequest, nil, "GET", "/pty/"+id, "").body), `"kind":"Params"`)
		w.want(http.StatusBadRequest, nil, "DELETE", "/pty/"+id, "")
		w.want(http.StatusBadRequest, nil, "GET", "/pty/"+id+"/connect", "")
	}
	p := w.terminal(`{}`)
	path := "/pty/" + string(p.ID)
	for _, body := range []string{`{"size":{}}`, `{"size":{"rows":0,"cols":1}}`, `{"size":{"rows":1}}`, `{"size":{"rows":-1,"cols":1}}`, `{"size":{"rows":1e9,"cols":1}}`, `{"title":7}`, `{"size":[]}`} {
		w.want(http.StatusBadRequest, nil, "PUT", path, body)
	}
	w.want(http.StatusUpgradeRequired, nil, "GET", path+"/connect", "")
	w.want(http.StatusNotFound, nil, "GET", path+"?directory="+w.data, "") // of another directory
	for range 4 {
		w.terminal(`{}`)
	}
	has(t, string(w.want(http.StatusTooManyRequests, nil, "POST", "/pty", `{}`).body), "close one")
	has(t, string(w.want(http.StatusOK, nil, "GET", "/pty/shells", "").body), `{"path":"/bin/sh","name":"sh","acceptable":true}`)
}

func TestPty_Tickets(t *testing.T) {
	w := begin(t, "", func(o *server.Options) { o.Password = "word" })
	basic := []string{"Authorization", "Basic b3BlbmNvZGU6d29yZA=="}
	var p, other struct{ ID lathe.PtyID }
	w.want(http.StatusOK, &p, "POST", "/pty", `{}`, basic...)
	w.want(http.StatusOK, &other, "POST", "/pty", `{}`, basic...)
	token := "/pty/" + string(p.ID) + "/connect-token"
	w.want(http.StatusUnauthorized, nil, "POST", token, "", "X-Opencode-Ticket", "1")
	has(t, string(w.want(http.StatusForbidden, nil, "POST", token, "", basic...).body), `"_tag":"PtyForbiddenError"`)
	issue := func() string {
		var got struct {
			Ticket  string
			Expires int `json:"expires_in"`
		}
		w.want(http.StatusOK, &got, "POST", token, "", append(basic, "X-Opencode-Ticket", "1")...)
		if got.Expires != 60 || len(got.Ticket) < 20 {
			t.Errorf("%+v", got)
		}
		return got.Ticket
	}
	refused := func(status int, id lathe.PtyID, query string, more ...string) {
		t.Helper()
		_, res, err := w.dial(id, query, more...)
		if err == nil || res == nil || res.StatusCode != status {
			t.Errorf("%s: %v", query, errors.Join(err))
		}
	}
	word := issue()
	w.connect(p.ID, "?ticket="+word).send("x")
	refused(http.StatusForbidden, p.ID, "?ticket="+word) // a second time
	refused(http.StatusForbidden, other.ID, "?ticket="+issue())
	refused(http.StatusForbidden, p.ID, "?ticket="+issue()+"&directory="+w.data)
	refused(http.StatusForbidden, p.ID, "?ticket=")
	refused(http.StatusForbidden, p.ID, "?ticket=wrong", basic...)
	refused(http.StatusUnauthorized, p.ID, "")
	refused(http.StatusUnauthorized, p.ID, "", "Authorization", "Basic b3BlbmNvZGU6d3Jvbmc=")
	w.connect(p.ID, "", basic...)
	w.connect(p.ID, "?auth_token=b3BlbmNvZGU6d29yZA%3D%3D")
}

// Pages of elsewhere reach no terminal, with or without a password.
func TestPty_Pages(t *testing.T) {
	w := begin(t, "")
	p := w.terminal(`{}`)
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Origin", "http://localhost.evil.example"},
		{"Origin", "http://localhost:3000"},
		{"Origin", "https://app.opencode.ai"},
		{"Host", "evil.example"},
		{"Host", "evil.example:4096", "Origin", "http://evil.example:4096"},
		{"Sec-Fetch-Site", "cross-site"},
	} {
		if _, res, err := w.dial(p.ID, "", headers...); err == nil || res == nil || res.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %v", headers, err)
		}
	}
	w.connect(p.ID, "", "Origin", w.url).send("x")
	w.want(http.StatusUnsupportedMediaType, nil, "POST", "/pty", `{}`, "Content-Type", "text/plain")
	w.want(http.StatusForbidden, nil, "POST", "/pty", `{}`, "Origin", "https://evil.example")
}

// Who types faster than anyone can has to wait.
func TestPty_InputRate(t *testing.T) {
	w := begin(t, "")
	p := w.terminal(`{"command":"sh","args":["-c","stty raw -echo; echo ready; head -c 2600000 > /dev/null; echo taken"]}`)
	c := w.connect(p.ID, "")
	c.until("ready")
	began := time.Now()
	for range 26 {
		c.send(strings.Repeat("x", 100_000))
	}
	c.until("taken")
	if took := time.Since(began); took < time.Second {
		t.Errorf("2.6 MB were taken in %v", took)
	}
}

// hijackSpy does something right before a request becomes a connection.
type hijackSpy struct {
	http.ResponseWriter
	first func()
}

func (h hijackSpy) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.first()
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// A terminal that is found, and gone before the websocket stands, ends the connection with the
// code for it; one that was never there is 404 and no websocket.
func TestPty_GoneWhileConnecting(t *testing.T) {
	w := begin(t, "")
	p := w.terminal(`{"command":"/bin/sh"}`)
	between := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.server.ServeHTTP(hijackSpy{rw, func() { w.backend.Terminals.Find(w.dir, p.ID).Remove() }}, r)
	}))
	defer between.Close()
	w.url, w.http = between.URL, between.Client()
	if code := w.connect(p.ID, "").closed(); code != 4404 {
		t.Errorf("closed with %d", code)
	}
	if _, res, err := w.dial(p.ID, ""); err == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("then %v %v", res, err)
	}
}
