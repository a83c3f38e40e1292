package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/device"
)

// paired is a server with a password that pairs devices.
func paired(t *testing.T, script string, with ...func(*server.Options)) (*fixture, *device.Store) {
	t.Helper()
	devices := device.Open(filepath.Join(t.TempDir(), "devices.json"), nil)
	t.Cleanup(devices.Close)
	with = append([]func(*server.Options){func(o *server.Options) {
		o.Password, o.Pairing.Devices = "secret", devices
	}}, with...)
	return begin(t, script, with...), devices
}

var owner = []string{"Authorization", basic("opencode", "secret")}

// pair pairs a device with a right and returns what its page sends with each request, and its ID.
func (w *fixture) pair(right string) (page []string, id string) {
	w.Helper()
	var link struct{ Token, URL, QR string }
	w.want(http.StatusOK, &link, "POST", "/lathe/pair/new", `{"right":"`+right+`"}`, owner...)
	if link.URL != w.url+"/#pair="+link.Token || !strings.HasPrefix(link.QR, "<svg ") {
		w.Errorf("the link is %+v", link)
	}
	var d struct{ ID, Name, Right string }
	a := w.want(http.StatusOK, &d, "POST", "/lathe/pair", fmt.Sprintf(`{"token":%q,"name":"phone"}`, link.Token), "Origin", w.url, "Sec-Fetch-Site", "same-origin")
	if d.Right != right || d.Name != "phone" {
		w.Errorf("paired %+v", d)
	}
	return w.page(a), d.ID
}

// page returns the headers of a page with the cookie that an answer set.
func (w *fixture) page(a answer) []string {
	w.Helper()
	all := a.Cookies()
	if len(all) != 1 || !all[0].HttpOnly || all[0].SameSite != http.SameSiteStrictMode || all[0].Path != "/" || all[0].Domain != "" {
		w.Fatalf("the cookies are %v", all)
	}
	return []string{"Cookie", all[0].Name + "=" + all[0].Value, "Origin", w.url, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "empty"}
}

// Every route admits exactly the devices whose right its row names.
func TestDevice_RightsOfEveryRoute(t *testing.T) {
	w, _ := paired(t, "")
	pages := map[string][]string{}
	for _, right := range []string{"read", "answer", "full"} {
		pages[right], _ = w.pair(right)
	}
	tried := map[device.Right]int{}
	for _, r := range server.Rights(w.server) {
		if strings.Contains(r.Path, "/dispose") || r.Path == "/global/upgrade" || r.Path == "/lathe/device/{deviceID}" && r.Right == device.Read {
			continue
		}
		path := strings.NewReplacer("{sessionID}", "ses_1", "{deviceID}", "dev_x", "{", "", "}", "").Replace(r.Path)
		for name, page := range pages {
			right, err := device.ParseRight(name)
			w.ok(err)
			if right >= r.Right { // streams and waits would be admitted, and not end
				continue
			}
			tried[right]++
			if a := w.ask(r.Method, path, "", page...); a.StatusCode != http.StatusForbidden || !strings.Contains(string(a.body), "This device has the right") {
				t.Errorf("%s %s with %q: %d %.100s", r.Method, path, name, a.StatusCode, a.body)
			}
		}
	}
	if tried[device.Read] < 80 || tried[device.Answer] < 80 || tried[device.Full] != 0 {
		t.Errorf("tried %v", tried)
	}
	for name, want := range map[string]int{"read": 403, "answer": 403, "full": 200} { // the control
		w.want(want, nil, "POST", "/session", "{}", pages[name]...)
		w.want(http.StatusOK, nil, "GET", "/session", "", pages[name]...)
		w.want(http.StatusNotFound, nil, "GET", "/nowhere", "", pages[name]...)
	}
}

// A device without all rights names only directories that sessions have: opening another would read its config and files.
func TestDevice_PlacesOfSessions(t *testing.T) {
	w, _ := paired(t, "")
	reads, _ := w.pair("read")
	full, _ := w.pair("full")
	used, other := t.TempDir(), t.TempDir()
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session?directory="+url.QueryEscape(used), `{"title":"x"}`, full...)
	for _, path := range []string{"/vcs/status", "/vcs/diff?mode=git", "/path", "/agent", "/config/providers", "/session/status", "/event", "/api/location", "/project"} {
		join := "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		for _, dir := range []string{other, "/", "..", used + "/..", filepath.Join(used, "sub")} {
			for _, name := range []string{"directory", "location%5Bdirectory%5D"} {
				w.want(http.StatusForbidden, nil, "GET", path+join+name+"="+url.QueryEscape(dir), "", reads...)
			}
			w.want(http.StatusForbidden, nil, "GET", path, "", append([]string{"X-Opencode-Directory", url.PathEscape(dir)}, reads...)...)
		}
	}
	w.want(http.StatusForbidden, nil, "GET", "/session/"+string(s.ID)+"?directory="+url.QueryEscape(other), "", reads...)
	w.want(http.StatusOK, nil, "GET", "/path", "", reads...)
	w.want(http.StatusOK, nil, "GET", "/path?directory="+url.QueryEscape(used), "", reads...)
	w.want(http.StatusOK, nil, "GET", "/path?directory="+url.QueryEscape(other), "", full...)
}

// The right to answer allows a request once and rejects it. What lasts is for others, by any route.
func TestDevice_AnswerNeverLasts(t *testing.T) {
	w, _ := paired(t, `call ask {"permission":"look","patterns":["x"],"always":["x"]}
finish tool-calls
--
text "Done."
finish stop`)
	answers, _ := w.pair("answer")
	reads, _ := w.pair("read")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"x"}`, owner...) // no model makes one
	l := w.listen("/event", reads...)
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"), owner...)
	all := l.until("permission.asked")
	id := string(all[len(all)-1].Fact.(*lathe.PermissionAsked).ID)
	for _, c := range []struct{ path, body string }{
		{"/permission/" + id + "/reply", `{"reply":"always"}`},
		{"/permission/" + id + "/reply", `{"reply":"unattended"}`},
		{"/permission/" + id + "/reply", `{"reply":"ALWAYS"}`},
		{"/permission/" + id + "/reply", `{"reply":"once","reply":"always"}`},
		{"/permission/" + id + "/reply", `{"Reply":"always"}`},
		{"/session/" + string(s.ID) + "/permissions/" + id, `{"response":"always"}`},
		{"/lathe/permission/" + id + "/grant", `{"scope":"session"}`},
		{"/lathe/permission/" + id + "/grant", `{"scope":"project"}`},
		{"/lathe/grant", `{"permission":"look","pattern":"*"}`},
		{"/config", `{"permission":"allow"}`},
	} {
		method := "POST"
		if c.path == "/config" {
			method = "PATCH"
		}
		for name, page := range map[string][]string{"answer": answers, "read": reads} {
			if a := w.ask(method, c.path, c.body, page...); a.StatusCode != http.StatusForbidden && a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s sends %s %s: %d %s", name, c.path, c.body, a.StatusCode, a.body)
			}
		}
	}
	w.want(http.StatusForbidden, nil, "POST", "/permission/"+id+"/reply", `{"reply":"once"}`, reads...)
	var open []lathe.PermissionRequest
	if w.want(http.StatusOK, &open, "GET", "/permission", "", reads...); len(open) != 1 {
		t.Fatalf("%d requests are open", len(open))
	}
	w.want(http.StatusOK, nil, "POST", "/permission/"+id+"/reply", `{"reply":"once"}`, answers...) // the control
	l.until("session.idle")
}

// A cookie counts only where a page of this server sends it. The same request of the page itself is the control.
func TestDevice_CookiesOfOtherPages(t *testing.T) {
	w, _ := paired(t, "", func(o *server.Options) { o.Origins = []string{"https://mine.example"} })
	page, id := w.pair("full")
	cookie := page[:2]
	own := w.url
	port := own[strings.LastIndexByte(own, ':'):]
	for _, c := range []struct {
		what, method, path string
		headers            []string
		want               int
	}{
		{"our page", "POST", "/session", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 200},
		{"our page, in a browser that tells only the origin", "POST", "/session", []string{"Origin", own}, 200},
		{"our page reads", "GET", "/session", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"our page reads without TLS", "GET", "/session", nil, 200},
		{"a person types an address", "GET", "/doc", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, 200},

		{"a form without an origin", "POST", "/session", nil, 403},
		{"something that deletes without an origin", "DELETE", "/lathe/device/" + id, nil, 403},
		{"another site", "POST", "/session", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"another site reads", "GET", "/session", []string{"Origin", "https://evil.example"}, 403},
		{"another site, as an image", "GET", "/session", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"a frame", "POST", "/session", []string{"Origin", "null"}, 403},
		{"another program of this machine", "POST", "/session", []string{"Origin", "http://localhost:3000"}, 403},
		{"another program reads", "GET", "/session", []string{"Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"}, 403},
		{"our port by another name", "POST", "/session", []string{"Origin", "http://localhost" + port, "Sec-Fetch-Site", "cross-site"}, 403},
		{"a page on another port", "GET", "/session", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"an origin that --cors admits with the password", "POST", "/session", []string{"Origin", "https://mine.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a desktop program", "POST", "/session", []string{"Origin", "tauri://localhost"}, 403},
		{"our host with another scheme", "POST", "/session", []string{"Origin", strings.Replace(own, "http:", "https:", 1)}, 403},
		{"a typed address that writes", "POST", "/session", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, 403},
		{"a script of an extension", "GET", "/session", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "cors"}, 403},
		{"a websocket without an origin", "GET", "/session", []string{"Upgrade", "websocket", "Connection", "Upgrade"}, 403},
		{"a websocket of another program", "GET", "/pty/pty_1/connect", []string{"Origin", "http://localhost:3000", "Upgrade", "websocket", "Connection", "Upgrade"}, 403},
		{"a websocket of --cors", "GET", "/pty/pty_1/connect", []string{"Origin", "https://mine.example", "Upgrade", "websocket", "Connection", "Upgrade"}, 403},
		{"a rebound name", "GET", "/session", []string{"Host", "evil.example"}, 403},
		{"a form", "POST", "/session", []string{"Origin", own, "Content-Type", "text/plain"}, 415},
	} {
		body := ""
		if c.method == "POST" {
			body = "{}"
		}
		if a := w.ask(c.method, c.path, body, append(c.headers, cookie...)...); a.StatusCode != c.want {
			t.Errorf("%s: status %d, not %d: %s", c.what, a.StatusCode, c.want, a.body)
		}
	}
	a := w.want(http.StatusOK, nil, "GET", "/session", "", page...)
	if a.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" || a.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", a.Header)
	}
}

// Who has no valid cookie is nobody, whatever it looks like.
func TestDevice_ForgedCookies(t *testing.T) {
	w, devices := paired(t, "")
	page, _ := w.pair("full")
	name, value, _ := strings.Cut(page[1], "=")
	all, err := devices.List()
	w.ok(err)
	for _, cookie := range []string{
		name + "=", name + "=x", name + "=" + value[1:], name + "=" + value + "x", name + "=" + string(all[0].Secret), name + "=" + all[0].ID,
		"lathe=" + value, "lathe_0000000000000000=" + value, strings.ToUpper(name) + "=" + value, name + "=" + strings.Repeat("a", 5000), "=" + value, ";;;",
	} {
		a := w.want(http.StatusUnauthorized, nil, "GET", "/session", "", "Cookie", cookie, "Sec-Fetch-Dest", "empty")
		if a.Header.Get("WWW-Authenticate") != "" {
			t.Error("a page gets the browser's login")
		}
	}
	w.want(http.StatusOK, nil, "GET", "/session", "", "Cookie", "a=b; "+page[1]+"; c=d")
}

// The streams, waits and later requests of a revoked device end, also with a cookie that someone copied.
func TestDevice_RevokedMidStream(t *testing.T) {
	w, devices := paired(t, `stall`)
	page, id := w.pair("full")
	other, otherID := w.pair("answer")
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"x"}`, page...)
	stream, global, kept := w.listen("/event", page...), w.listen("/global/event", page...), w.listen("/event", other...)
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"), page...)
	stream.until("session.status")
	waited := make(chan int, 1)
	go func() { waited <- w.ask("POST", "/lathe/session/"+string(s.ID)+"/wait", "", page...).StatusCode }()

	w.want(http.StatusForbidden, nil, "DELETE", "/lathe/device/"+id, "", other...)
	w.want(http.StatusNotFound, nil, "DELETE", "/lathe/device/dev_none", "", page...)
	w.want(http.StatusOK, nil, "DELETE", "/lathe/device/"+id, "", owner...)
	for _, l := range []*listening{stream, global} {
		for range l.frames { // ends, or the test does not
		}
	}
	if got := <-waited; got != http.StatusUnauthorized {
		t.Errorf("who waited got %d", got)
	}
	w.want(http.StatusUnauthorized, nil, "GET", "/session", "", page...)
	w.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/abort", "", other...)
	kept.until("session.idle")

	// Another process revokes, and a device itself.
	w.ok(device.Open(devices.Path(), nil).Revoke(t.Context(), otherID))
	for range kept.frames {
	}
	w.want(http.StatusUnauthorized, nil, "GET", "/session", "", other...)
	last, lastID := w.pair("read")
	a := w.want(http.StatusOK, nil, "DELETE", "/lathe/device/"+lastID, "", last...)
	if c := a.Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("the cookie stays: %v", c)
	}
	w.want(http.StatusUnauthorized, nil, "GET", "/lathe/device", "", last...)
}

func TestDevice_List(t *testing.T) {
	w, _ := paired(t, "")
	full, fullID := w.pair("full")
	read, readID := w.pair("read")
	var all []struct {
		ID, Name, Right string
		Self            bool
	}
	if w.want(http.StatusOK, &all, "GET", "/lathe/devices", "", full...); len(all) != 2 || !all[0].Self || all[0].ID != fullID || all[1].Self {
		t.Errorf("full sees %+v", all)
	}
	if w.want(http.StatusOK, &all, "GET", "/lathe/devices", "", read...); len(all) != 1 || all[0].ID != readID {
		t.Errorf("read sees %+v", all)
	}
	a := w.want(http.StatusOK, nil, "GET", "/lathe/devices", "", owner...)
	if strings.Contains(string(a.body), "secret") {
		t.Errorf("the list has %s", a.body)
	}
	var me struct{ ID, Right string }
	if w.want(http.StatusOK, &me, "GET", "/lathe/device", "", owner...); me.ID != "" || me.Right != "full" {
		t.Errorf("the password is %+v", me)
	}
	again := w.want(http.StatusOK, &me, "GET", "/lathe/device", "", read...)
	if c := again.Cookies(); me.ID != readID || me.Right != "read" || len(c) != 1 || c[0].Name+"="+c[0].Value != read[1] || c[0].MaxAge < 86400*365 {
		t.Errorf("it is %+v with %v", me, c)
	}
}

// Links and passwords cannot be guessed at speed, and pages of others cannot pair.
func TestDevice_Guesses(t *testing.T) {
	log := &logBuffer{}
	w, devices := paired(t, "", func(o *server.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	login := `{"password":"secret","name":"x"}`
	for _, origin := range []string{"https://evil.example", "http://localhost:3000", "null"} {
		w.want(http.StatusForbidden, nil, "POST", "/lathe/login", login, "Origin", origin)
	}
	w.want(http.StatusForbidden, nil, "POST", "/lathe/login", login, "Sec-Fetch-Site", "same-site")
	w.want(http.StatusUnsupportedMediaType, nil, "POST", "/lathe/login", login, "Content-Type", "text/plain")
	var d struct{ Right string }
	page := w.page(w.want(http.StatusOK, &d, "POST", "/lathe/login", login, "Origin", w.url))
	if d.Right != "full" {
		t.Errorf("the password gives %q", d.Right)
	}
	again := w.page(w.want(http.StatusOK, nil, "POST", "/lathe/login", login, page...))
	if again[1] == page[1] {
		t.Error("a login keeps a cookie that was there before")
	}
	if all, err := devices.List(); err != nil || len(all) != 1 {
		t.Errorf("%d devices, %v", len(all), err)
	}
	planted := w.page(w.want(http.StatusOK, nil, "POST", "/lathe/login", login, "Cookie", strings.SplitN(page[1], "=", 2)[0]+"=planted", "Origin", w.url))
	if strings.HasSuffix(planted[1], "=planted") {
		t.Error("a cookie that someone planted became a device")
	}
	token, _, err := devices.NewLink(t.Context(), device.Full, "")
	w.ok(err)
	for i := range 10 {
		path, body := "/lathe/pair", `{"token":"guess"}`
		if i%2 == 0 {
			path, body = "/lathe/login", `{"password":"guess"}`
		}
		w.want(http.StatusForbidden, nil, "POST", path, body)
	}
	a := w.want(http.StatusTooManyRequests, nil, "POST", "/lathe/login", login)
	w.want(http.StatusTooManyRequests, nil, "POST", "/lathe/pair", `{"token":"`+token+`"}`)
	if a.Header.Get("Retry-After") == "" || len(a.Cookies()) > 0 {
		t.Errorf("%v", a.Header)
	}
	if text := log.String(); strings.Contains(text, "guess") || strings.Contains(text, token) || strings.Contains(text, `"secret"`) {
		t.Errorf("the log has secrets:\n%s", text)
	}
}

// Over TLS, and behind a proxy with TLS, the cookie is for this host over TLS alone.
func TestDevice_TLS(t *testing.T) {
	w, devices := paired(t, "", func(o *server.Options) {
		o.Hosts = []string{"build.example"}
		o.Pairing.Address, o.Pairing.Fingerprint = "https://192.0.2.1:4096", func() string { return "AB:CD" }
	})
	insecure := w.page(w.want(http.StatusOK, nil, "POST", "/lathe/login", `{"password":"secret"}`))[1]
	secure := httptest.NewTLSServer(w.server)
	defer secure.Close()
	w.url, w.http = secure.URL, secure.Client()
	a := w.want(http.StatusOK, nil, "POST", "/lathe/login", `{"password":"secret"}`, "Origin", w.url)
	c := a.Cookies()
	if len(c) != 1 || !c[0].Secure || !strings.HasPrefix(c[0].Name, "__Host-lathe_") {
		t.Fatalf("%v", c)
	}
	w.want(http.StatusOK, nil, "GET", "/session", "", "Cookie", c[0].Name+"="+c[0].Value)
	w.want(http.StatusUnauthorized, nil, "GET", "/session", "", "Cookie", insecure) // anyone in the network could set it
	var link struct{ URL, Fingerprint string }
	w.want(http.StatusOK, &link, "POST", "/lathe/pair/new", `{"right":"read"}`, owner...)
	if !strings.HasPrefix(link.URL, "https://192.0.2.1:4096/#pair=") || link.Fingerprint != "AB:CD" {
		t.Errorf("%+v", link)
	}
	var s struct {
		ID    string
		Share struct{ URL string }
	}
	w.want(http.StatusOK, &s, "POST", "/session", "{}", owner...)
	w.want(http.StatusOK, &s, "POST", "/session/"+s.ID+"/share", "", owner...)
	if !strings.HasPrefix(s.Share.URL, "https://192.0.2.1:4096/share/") {
		t.Errorf("a share that nobody else can open: %+v", s)
	}

	proxied := httptest.NewServer(w.server)
	defer proxied.Close()
	w.url, w.http = proxied.URL, proxied.Client()
	of := []string{"Host", "build.example", "Origin", "https://build.example", "Sec-Fetch-Site", "same-origin"}
	a = w.want(http.StatusOK, nil, "POST", "/lathe/login", `{"password":"secret"}`, of...)
	if c = a.Cookies(); len(c) != 1 || !c[0].Secure {
		t.Fatalf("behind a proxy: %v", c)
	}
	w.want(http.StatusOK, &link, "POST", "/lathe/pair/new", `{"right":"read"}`, append(of, "Cookie", c[0].Name+"="+c[0].Value)...)
	if !strings.HasPrefix(link.URL, "https://build.example/#pair=") {
		t.Errorf("behind a proxy: %+v", link)
	}
	w.want(http.StatusOK, &s, "POST", "/session/"+s.ID+"/share?expires=7d", "", append(of, "Cookie", c[0].Name+"="+c[0].Value)...)
	if !strings.HasPrefix(s.Share.URL, "https://build.example/share/") {
		t.Errorf("behind a proxy: %+v", s)
	}
	of[5] = "cross-site"
	w.want(http.StatusForbidden, nil, "POST", "/session", "{}", append(of, "Cookie", c[0].Name+"="+c[0].Value)...)
	if all, err := devices.List(); err != nil || len(all) != 3 {
		t.Errorf("%d devices, %v", len(all), err)
	}
}

// A server without pairing, and one without a password.
func TestDevice_Without(t *testing.T) {
	w := locked(t)
	w.want(http.StatusServiceUnavailable, nil, "POST", "/lathe/login", `{"password":"secret"}`)
	w.want(http.StatusServiceUnavailable, nil, "POST", "/lathe/pair/new", `{"right":"read"}`, owner...)
	w.want(http.StatusOK, nil, "GET", "/lathe/devices", "", owner...).is(w, "[]")
	w.want(http.StatusUnauthorized, nil, "GET", "/session", "", "Cookie", "lathe_=x; lathe=x")

	open, _ := paired(t, "", func(o *server.Options) { o.Password = "" })
	var me struct{ ID, Right string }
	if open.want(http.StatusOK, &me, "GET", "/lathe/device", ""); me.ID != "" || me.Right != "full" {
		t.Errorf("%+v", me)
	}
	page, id := open.pair("read")
	if open.want(http.StatusOK, &me, "GET", "/lathe/device", "", page...); me.ID != id || me.Right != "full" {
		t.Errorf("without a password everyone has all rights, also a device: %+v", me)
	}
	open.want(http.StatusForbidden, nil, "POST", "/session", "{}", append(page[:2:2], "Origin", "http://localhost:3000")...)
}

// The token is in the fragment of a link, and nowhere else.
func TestPairingURL(t *testing.T) {
	u, err := url.Parse(server.PairingURL("https://h.example:1/", "tok"))
	if err != nil || u.Fragment != "pair=tok" || u.RequestURI() != "/" {
		t.Errorf("%v, %v", u, err)
	}
}
