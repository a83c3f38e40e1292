package server_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/servertest"
)

// locked is a server with a password.
func locked(t *testing.T) *fixture {
	t.Helper()
	return begin(t, "", func(o *server.Options) { o.Password = "secret" })
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

func TestGuard_Password(t *testing.T) {
	w := locked(t)
	token := base64.StdEncoding.EncodeToString([]byte("opencode:secret"))
	for _, c := range []struct {
		path, header string
		want         int
	}{
		{"/session", "", 401},
		{"/session", basic("opencode", "wrong"), 401},
		{"/session", basic("someone", "secret"), 401},
		{"/session", "Bearer secret", 401},
		{"/session", "Basic ???", 401},
		{"/session?auth_token=", "", 401},
		{"/session?auth_token=" + token[:4], "", 401},
		{"/nowhere", "", 401},
		{"/doc", "", 401},
		{"/event", "", 401},
		{"/global/health", "", 401},
		{"/session?auth_token=" + token, basic("opencode", "wrong"), 401},
		{"/session", basic("opencode", "secret"), 200},
		{"/session?auth_token=" + token, "", 200},
		{"/nowhere", basic("opencode", "secret"), 404},
	} {
		a := w.want(c.want, nil, "GET", c.path, "", "Authorization", c.header)
		if c.want == 401 && (len(a.body) > 0 || a.Header.Get("WWW-Authenticate") != `Basic realm="Secure Area"`) {
			t.Errorf("%s: %q, %v", c.path, a.body, a.Header)
		}
	}
}

func TestGuard_EveryRouteAsksForIt(t *testing.T) {
	w := locked(t)
	var doc struct {
		Paths map[string]map[string]struct {
			ID       string `json:"operationId"`
			Security *[]struct{}
		}
	}
	w.want(http.StatusOK, &doc, "GET", "/doc", "", "Authorization", basic("opencode", "secret"))
	for path, methods := range doc.Paths {
		for method, op := range methods {
			url := strings.NewReplacer("{sessionID}", "ses_1", "{", "", "}", "").Replace(path)
			got := w.ask(strings.ToUpper(method), url, "").StatusCode
			if public := op.Security != nil; public && !strings.HasPrefix(path, "/share/") && path != "/pty/{ptyID}/connect" && path != "/lathe/pair" && path != "/lathe/login" && path != "/lathe/live" && path != "/lathe/ready" && !strings.HasPrefix(op.ID, "lathe.page") { // a ticket, a link, the password
				t.Errorf("%s %s is open to all", method, path)
			} else if !public && got != http.StatusUnauthorized {
				t.Errorf("%s %s: status %d without a password", method, path, got)
			}
		}
	}
}

// TestGuard_WebPages tries what pages can make a browser send to a server without a password.
func TestGuard_WebPages(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	abort := "/session/" + string(s.ID) + "/abort"
	for _, c := range []struct {
		what, method, path, body string
		want                     int
		headers                  []string
	}{
		{"a rebound name", "GET", "/session", "", 403, []string{"Host", "evil.example:4096"}},
		{"a rebound name that posts", "POST", "/session", "{}", 403, []string{"Host", "evil.example", "Origin", "http://evil.example"}},
		{"a name that begins like ours", "GET", "/session", "", 403, []string{"Host", "localhost.evil.example"}},
		{"a fetch", "GET", "/session", "", 403, []string{"Origin", "https://evil.example"}},
		{"a fetch that posts", "POST", "/session", "{}", 403, []string{"Origin", "https://evil.example"}},
		{"a fetch without its origin", "GET", "/session", "", 403, []string{"Origin", "null"}},
		{"an origin that begins like ours", "GET", "/session", "", 403, []string{"Origin", "http://localhost.evil.example"}},
		{"an origin with a user", "GET", "/session", "", 403, []string{"Origin", "http://localhost@evil.example"}},
		{"somebody's site, without a password", "GET", "/session", "", 403, []string{"Origin", "https://app.opencode.ai"}},
		{"a page of another program of this machine", "POST", "/session", "{}", 403, []string{"Origin", "http://localhost:3000"}},
		{"the same by its address", "POST", "/session", "{}", 403, []string{"Origin", "http://127.0.0.1:3000"}},
		{"the same without a port", "POST", "/session", "{}", 403, []string{"Origin", "http://localhost"}},
		{"a desktop program", "POST", "/session", "{}", 403, []string{"Origin", "oc://renderer"}},
		{"another", "POST", "/session", "{}", 403, []string{"Origin", "tauri://localhost"}},
		{"a form", "POST", abort, "a=b", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"a form of text", "POST", "/session", "{}", 415, []string{"Content-Type", "text/plain"}},
		{"a form with files", "POST", "/session", "{}", 415, []string{"Content-Type", "multipart/form-data; boundary=x"}},
		{"a form of another site", "POST", abort, "", 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"a picture", "GET", "/session", "", 403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}},
		{"a link", "GET", "/session", "", 403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}},
		{"another port of this site", "GET", "/session", "", 403, []string{"Sec-Fetch-Site", "same-site"}},
		{"a stream", "GET", "/event", "", 403, []string{"Origin", "https://evil.example"}},
		{"a path that does not exist", "GET", "/x", "", 403, []string{"Origin", "https://evil.example"}},

		{"a person", "GET", "/session", "", 200, []string{"Sec-Fetch-Site", "none"}},
		{"a page of ours", "GET", "/session", "", 200, []string{"Origin", w.url}},
		{"a page of ours under its other name", "GET", "/session", "", 200, []string{"Origin", strings.Replace(w.url, "127.0.0.1", "localhost", 1), "Sec-Fetch-Site", "cross-site"}},
		{"an address", "GET", "/session", "", 200, []string{"Host", "[::1]:4096"}},
		{"a program", "POST", abort, "", 200, nil},
	} {
		a := w.ask(c.method, c.path, c.body, c.headers...)
		if a.StatusCode != c.want {
			t.Errorf("%s: status %d, not %d: %s", c.what, a.StatusCode, c.want, a.body)
		}
		if allowed := a.Header.Get("Access-Control-Allow-Origin"); c.want != 200 && allowed != "" {
			t.Errorf("%s: may be read by %s", c.what, allowed)
		}
	}
}

func TestGuard_CORS(t *testing.T) {
	w := begin(t, "", func(o *server.Options) {
		o.Password = "secret"
		o.Origins = []string{"https://mine.example"}
	})
	for origin, want := range map[string]bool{
		"http://localhost:5173": true, "http://127.0.0.1:80": true, "tauri://localhost": true, "https://tauri.localhost": true,
		"oc://renderer": true, "https://app.opencode.ai": true, "https://mine.example": true,
		"https://evilopencode.ai": false, "http://app.opencode.ai": false, "https://mine.example.evil": false, "https://localhost:1": false, "": true,
	} {
		a := w.ask("OPTIONS", "/session", "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,x-opencode-directory")
		allowed := a.StatusCode == http.StatusNoContent
		if allowed != want || want && a.Header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(a.Header.Get("Vary"), "Origin") {
			t.Errorf("%s: status %d, %v", origin, a.StatusCode, a.Header)
		}
		if want && origin != "" && (a.Header.Get("Access-Control-Allow-Methods") != "GET,HEAD,PUT,PATCH,POST,DELETE" ||
			a.Header.Get("Access-Control-Allow-Headers") != "authorization,x-opencode-directory" || a.Header.Get("Access-Control-Max-Age") != "86400") {
			t.Errorf("%s: %v", origin, a.Header)
		}
	}
}

func TestGuard_Directories(t *testing.T) {
	w := begin(t, "")
	w.write("sub/x", "")
	if err := os.Symlink("loop", filepath.Join(w.dir, "loop")); err != nil {
		t.Log(err) // a system without links: it is missing
	}
	for query, want := range map[string]int{
		"directory=%00": 400, "directory=/tmp%00x": 400, "directory=" + strings.Repeat("a", 5000): 400,
		"directory=" + strings.Repeat("a", 300): 400, "directory=" + w.dir + "/loop/x": 400,
		"directory=" + w.dir + "/missing": 400, "directory=" + w.dir + "/sub/x": 400,
		"directory=" + w.dir + "/sub": 200, "directory=sub": 200, "directory=" + w.dir + "/sub/../sub/": 200,
		"location%5Bdirectory%5D=" + w.dir + "/sub": 200, "directory=&workspace=wrk_1": 200,
	} {
		w.want(want, nil, "GET", "/session?"+query, "")
	}
	w.want(http.StatusOK, nil, "POST", "/session", "", "X-Opencode-Directory", strings.ReplaceAll(w.dir+"/sub", "/", "%2F"))
	var all []struct{ Directory string }
	w.want(http.StatusOK, &all, "GET", "/session?directory="+w.dir+"/sub", "")
	if len(all) != 1 || all[0].Directory != w.dir+"/sub" {
		t.Errorf("in sub: %v", all)
	}
}

// served runs a server with its own limits, as the program does, and returns its address.
func served(t *testing.T, o server.Options) string {
	t.Helper()
	w := begin(t, "")
	s := server.New(backend{servertest.Backend{Engine: w.engine}}.all(&w.settings), o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), l) }()
	t.Cleanup(func() { w.ok(<-ended) })
	return l.Addr().String()
}

// send writes bytes to the server and returns the status line of its answer.
func send(t *testing.T, addr, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	_, _ = io.WriteString(c, text) // it may be refused before it is read
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}

func TestLimits_HeadersAndBodies(t *testing.T) {
	addr := served(t, server.Options{Directory: t.TempDir(), MaxBody: 1000})
	long := strings.Repeat("a", 200<<10)
	for text, want := range map[string]string{
		"GET /session HTTP/1.1\r\nHost: localhost\r\nX: " + long + "\r\n\r\n":                                                                           "431",
		"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n" + long:                          "400",
		"PATCH /session/ses_1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n{\"title\":\"" + long[:1980]: "413",
		"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}":               "400",
		"GET /session/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n":                                                                                          "400",
		"GET /session HTTP/1.1\r\n\r\n":                                       "400",
		"GET /session HTTP/1.1\r\nHost: evil.example\r\n\r\n":                 "403",
		"GET http://evil.example/session HTTP/1.1\r\nHost: localhost\r\n\r\n": "403",
		"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n": "200",
	} {
		if got := send(t, addr, text); !strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("%.60q…: %s, not %s", text, got, want)
		}
	}
}

// A body that is announced and never comes holds no route, also none that would wait or stream.
func TestLimits_AnnouncedBodies(t *testing.T) {
	addr := served(t, server.Options{Directory: t.TempDir()})
	for _, route := range []string{"GET /session", "GET /event", "GET /tui/control/next", "POST /session/ses_1/abort"} {
		head := route + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		for _, announced := range []string{"Content-Length: 100\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n"} {
			if got := send(t, addr, head+announced); !strings.HasPrefix(got, "HTTP/1.1 408") {
				t.Errorf("%s with %q: %s", route, announced, got)
			}
		}
		if route == "GET /tui/control/next" { // it answers when a user controls the screen
			continue
		}
		if got := send(t, addr, head+"Content-Length: 2\r\n\r\n{}"); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("%s with a body that comes: %s", route, got)
		}
	}
}

func TestServe_EndsInOrder(t *testing.T) {
	w := begin(t, `text "one"
stall`)
	s := w.session()
	l := w.listen("/event")
	waiting := make(chan string, 1)
	go func() {
		r, _ := http.NewRequest("POST", w.url+"/session/"+string(s.ID)+"/message", strings.NewReader(prompt("hi")))
		r.Header.Set("Content-Type", "application/json")
		res, err := w.http.Do(r)
		if err != nil {
			waiting <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		waiting <- res.Status + " " + string(body)
	}()
	l.until("message.part.delta")
	w.server.Close()
	if got := <-waiting; !strings.HasPrefix(got, "503") || !strings.Contains(got, "shutting down") {
		t.Errorf("who waited got %s", got)
	}
	for range l.frames { // ends, or the test does not
	}
	w.want(http.StatusOK, nil, "GET", "/session/"+string(s.ID), "")
}

func TestFailures_AreLoggedWithAName(t *testing.T) {
	log := &logBuffer{}
	w := begin(t, "", func(o *server.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	w.settings.err = errors.New("the disk burns")
	for path, why := range map[string]string{
		"/config":           "the disk burns",
		"/config/providers": "stack=", // this server has no providers: a panic
	} {
		a := w.want(http.StatusInternalServerError, nil, "GET", path, "")
		var got struct {
			Name string
			Data struct{ Message, Ref string }
		}
		w.ok(json.Unmarshal(a.body, &got))
		if got.Name != "UnknownError" || !strings.HasPrefix(got.Data.Ref, "err_") || strings.Contains(got.Data.Message, "burns") {
			t.Errorf("%s: %s", path, a.body)
		}
		if text := log.String(); !strings.Contains(text, got.Data.Ref) || !strings.Contains(text, why) {
			t.Errorf("%s: the log does not say why:\n%s", path, text)
		}
	}
}

// logBuffer is a log that a test reads while the server writes it.
type logBuffer struct {
	mu   sync.Mutex // guards text
	text []byte
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	return len(b), nil
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

func TestLimits_UnreadBodies(t *testing.T) {
	addr := served(t, server.Options{Directory: t.TempDir(), Password: "x"})
	began := time.Now()
	// It announces a body, is refused before that is read, and must not hold the connection.
	got := send(t, addr, "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
	if !strings.HasPrefix(got, "HTTP/1.1 401") || time.Since(began) > 10*time.Second {
		t.Errorf("%q after %v", got, time.Since(began))
	}
}
