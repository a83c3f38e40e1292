package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// cluster is two servers: the fixture asks the first, and the second has all directories.
type cluster struct {
	*fixture
	mu   sync.Mutex
	seen []*http.Request // that the second one got
	err  error           // of the search for a node; nil finds the second
}

// forwards starts the two servers. The second one has the given password.
func forwards(t *testing.T, script, password string) *cluster {
	t.Helper()
	w, devices := paired(t, script)
	c := &cluster{fixture: w}
	back := server.New(w.backend, server.Options{Directory: w.dir, Password: password})
	far := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.seen = append(c.seen, r.Clone(context.Background()))
		c.mu.Unlock()
		back.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() {
		back.Close()
		far.Close()
	})
	all := w.backend
	all.Node.Find = func(context.Context, string, bool) (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return far.URL, c.err
	}
	w.serve(all, server.Options{Directory: w.dir, Password: "secret", Pairing: server.Pairing{Devices: devices}})
	return c
}

// forwarded returns the requests that the second server got since the last call.
func (c *cluster) forwarded() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.seen
	c.seen = nil
	return out
}

// away makes the search fail, as if no node had the directory.
func (c *cluster) away(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// A request about files goes to the node that has them; one about stored sessions does not.
func TestForward_Files(t *testing.T) {
	c := forwards(t, "", "secret")
	c.write("a b.txt", "from the other node\n")
	var file struct{ Content string }
	a := c.want(http.StatusOK, &file, "GET", "/file/content?path=a+b.txt&auth_token=x", "", append(owner, "Cookie", "other=1", "Origin", c.url, "Sec-Fetch-Site", "same-origin", "Referer", c.url)...)
	if !strings.Contains(file.Content, "from the other node") {
		t.Errorf("the file holds %q", file.Content)
	}
	if ids := a.Header.Values("X-Request-Id"); len(ids) != 1 {
		t.Errorf("the answer has the IDs %q", ids)
	}
	got := c.forwarded()
	if len(got) != 1 || got[0].URL.RawQuery != "path=a+b.txt" {
		t.Fatalf("the other node got %v", got)
	}
	for _, name := range []string{"Cookie", "Origin", "Referer", "Sec-Fetch-Site"} {
		if v := got[0].Header.Get(name); v != "" {
			t.Errorf("the other node got %s: %s", name, v)
		}
	}
	if _, word, _ := got[0].BasicAuth(); word != "secret" {
		t.Errorf("the other node got the password %q", word)
	}
	var s lathe.Session
	c.want(http.StatusOK, &s, "POST", "/session", `{"title":"x"}`, owner...)
	if len(c.forwarded()) != 1 {
		t.Error("the session was not made where its directory is")
	}
	for _, path := range []string{"/session/" + string(s.ID), "/session", "/session/" + string(s.ID) + "/message", "/global/health", "/lathe/board", "/permission"} {
		c.want(http.StatusOK, nil, "GET", path, "", owner...)
	}
	if got := c.forwarded(); len(got) != 0 {
		t.Errorf("%d reads of the database were forwarded: %v", len(got), got[0].URL)
	}
	c.want(http.StatusOK, nil, "GET", "/file/content?path=a+b.txt", "", append(owner, "X-Lathe-Forwarded", "1")...)
	if got := c.forwarded(); len(got) != 0 {
		t.Error("a forwarded request was forwarded again")
	}
}

// Nothing is forwarded for those who may not ask, and a device cannot do more on another node than here.
func TestForward_Attacks(t *testing.T) {
	c := forwards(t, "", "secret")
	reads, _ := c.pair("read")
	for _, r := range [][]string{{"GET", "/file?path=."}, {"POST", "/pty"}, {"GET", "/vcs"}, {"GET", "/pty/pty_x/connect"}, {"POST", "/session"}} {
		body := ""
		if r[0] == "POST" {
			body = "{}"
		}
		for name, with := range map[string][]string{
			"nobody": nil, "a wrong password": {"Authorization", basic("opencode", "wrong")}, "a claim to be a node": {"X-Lathe-Forwarded", "1"},
			"another page": {"Authorization", basic("opencode", "secret"), "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		} {
			if a := c.ask(r[0], r[1], body, with...); a.StatusCode < 400 || len(c.forwarded()) != 0 {
				t.Errorf("%s %s of %s: %d %s", r[0], r[1], name, a.StatusCode, a.body)
			}
		}
		if r[0] == "POST" {
			if a := c.ask(r[0], r[1], body, reads...); a.StatusCode != http.StatusForbidden || len(c.forwarded()) != 0 {
				t.Errorf("%s %s of a device that may read: %d %s", r[0], r[1], a.StatusCode, a.body)
			}
		}
	}
	// The other node judges a ticket that it may have given, without the password.
	if a := c.ask("GET", "/pty/pty_x/connect?ticket=guess", ""); a.StatusCode < 400 {
		t.Errorf("a guessed ticket: %d %s", a.StatusCode, a.body)
	}
	for _, r := range c.forwarded() {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("the password went along with %s", r.URL)
		}
	}
	if a := c.ask("GET", "/vcs", "", reads...); a.StatusCode != http.StatusOK || len(c.forwarded()) != 1 { // the control
		t.Errorf("a device reads: %d %s", a.StatusCode, a.body)
	}
}

// A terminal of another node: made, connected to with a password, with a ticket of that node and as a device, resized and
// removed through this one.
func TestForward_Terminal(t *testing.T) {
	c := forwards(t, "", "secret")
	full, id := c.pair("full")
	var p lathe.Pty
	c.want(http.StatusOK, &p, "POST", "/pty", `{"command":"/bin/cat"}`, owner...)
	token := "/pty/" + string(p.ID) + "/connect-token"
	ticket := func(by []string) string {
		var got struct{ Ticket string }
		c.want(http.StatusOK, &got, "POST", token, "", append([]string{"X-Opencode-Ticket", "1"}, by...)...)
		return "?ticket=" + url.QueryEscape(got.Ticket)
	}
	dial := func(query string, headers ...string) (*websocket.Conn, error) {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		conn, res, err := websocket.Dial(ctx, c.url+"/pty/"+string(p.ID)+"/connect"+query, &websocket.DialOptions{HTTPHeader: h, HTTPClient: c.http})
		if res != nil && res.Body != nil {
			_ = res.Body.Close()
		}
		return conn, err
	}
	echo := func(name string, conn *websocket.Conn, err error) *websocket.Conn {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		c.ok(conn.Write(ctx, websocket.MessageText, []byte(name+"\n")))
		for got := ""; !strings.Contains(got, name); {
			_, data, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("%s: %v after %q", name, err, got)
			}
			got += string(data)
		}
		return conn
	}
	conn, err := dial("", owner...)
	_ = echo("password", conn, err).Close(websocket.StatusNormalClosure, "")
	once := ticket(owner)
	conn, err = dial(once)
	_ = echo("ticket", conn, err).Close(websocket.StatusNormalClosure, "")
	if _, err := dial(once); err == nil {
		t.Error("a ticket counted twice")
	}
	conn, err = dial(ticket(full))
	held := echo("device", conn, err)
	c.want(http.StatusOK, nil, "DELETE", "/lathe/device/"+id, "", owner...)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for err = nil; err == nil; { // what was on its way may still come
		_, _, err = held.Read(ctx)
	}
	if ctx.Err() != nil {
		t.Error("the terminal of a revoked device goes on")
	}
	c.want(http.StatusOK, nil, "PUT", "/pty/"+string(p.ID), `{"size":{"rows":10,"cols":20}}`, owner...)
	c.want(http.StatusOK, nil, "DELETE", "/pty/"+string(p.ID), "", owner...)
	c.want(http.StatusNotFound, nil, "GET", "/pty/"+string(p.ID), "", owner...)
}

// A node that is gone or has another password, and a place that is away, are told plainly. What is stored can be read.
func TestForward_Faults(t *testing.T) {
	c := forwards(t, "", "other")
	if a := c.ask("GET", "/file/content?path=x", "", owner...); a.StatusCode != http.StatusBadGateway || !strings.Contains(string(a.body), "LATHE_SERVER_PASSWORD") {
		t.Errorf("another password: %d %s", a.StatusCode, a.body)
	}
	if _, err := c.engine.Create(t.Context(), c.dir, lathe.NewSession{}); err != nil { // it tells of the project
		t.Fatal(err)
	}
	c.away(lathe.Errorf(lathe.Unavailable, "The place is away"))
	for _, path := range []string{"/file/content?path=x", "/pty", "/vcs/status"} {
		if a := c.ask("GET", path, "", owner...); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "The place is away") {
			t.Errorf("GET %s: %d %s", path, a.StatusCode, a.body)
		}
	}
	for _, path := range []string{"/session", "/config", "/path", "/agent", "/project/current", "/session/status", "/vcs", "/lathe/board"} {
		c.want(http.StatusOK, nil, "GET", path, "", owner...)
	}
	c.away(nil)
	all := c.backend
	all.Node.Find = func(context.Context, string, bool) (string, error) { return "http://127.0.0.1:1", nil }
	c.serve(all, server.Options{Directory: c.dir, Password: "secret"})
	for method, want := range map[string]string{"GET": "Try again", "POST": "may have taken effect"} {
		body := map[string]string{"POST": "{}"}[method]
		if a := c.ask(method, "/pty", body, owner...); a.StatusCode != http.StatusBadGateway || !strings.Contains(string(a.body), want) {
			t.Errorf("%s to a dead node: %d %s", method, a.StatusCode, a.body)
		}
	}
}

// A prompt through another node: the answer is awaited here.
func TestForward_Prompt(t *testing.T) {
	c := forwards(t, "text \"There.\"\nfinish stop\n", "secret")
	var s lathe.Session
	c.want(http.StatusOK, &s, "POST", "/session", `{"title":"x"}`, owner...)
	c.forwarded()
	a := c.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/message", prompt("hi"), owner...)
	if !strings.Contains(string(a.body), "There.") {
		t.Errorf("the answer is %s", a.body)
	}
	got := c.forwarded()
	if len(got) != 1 || !strings.HasSuffix(got[0].URL.Path, "/prompt") {
		t.Errorf("the other node got %v", got)
	}
	if a := c.ask("POST", "/session/"+string(s.ID)+"/message", `{"parts":[{"type":"text"}]}`, owner...); a.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad prompt: %d %s", a.StatusCode, a.body)
	}
	c.away(lathe.Errorf(lathe.Unavailable, "The place is away"))
	c.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("stored here"), owner...)
}
