package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
)

// vendor is a server that people log in at. It holds both sides to their standards.
type vendor struct {
	t   *testing.T
	url string
	mux *http.ServeMux

	mu            sync.Mutex        // guards what follows
	challenge     map[string]string // code → challenge and where it was sent
	replies       []string          // of the token address, before the rest
	tokenRequests []url.Values      // what the token address was asked
	asked         int               // how often a token was exchanged
	fail          int               // status of the exchange
}

func newVendor(t *testing.T) *vendor {
	v := newMemoryVendor(t)
	s := httptest.NewServer(v.mux)
	t.Cleanup(s.Close)
	v.url = s.URL
	return v
}

// newMemoryVendor is a vendor that no network reaches.
func newMemoryVendor(t *testing.T) *vendor {
	mux := http.NewServeMux()
	v := &vendor{t: t, challenge: map[string]string{}, mux: mux, url: "https://acme.test"}
	mux.HandleFunc("GET /authorize", v.authorize)
	mux.HandleFunc("POST /device", v.device)
	mux.HandleFunc("POST /token", v.token)
	mux.HandleFunc("POST /keys", v.keys)
	mux.HandleFunc("GET /exchange", v.exchange)
	return v
}

func (v *vendor) method(flow Flow) Method {
	return Method{
		Provider: "acme", Flow: flow, ClientID: "app-1", Scope: "read", NeedsClientID: true,
		Authorize: v.url + "/authorize", Device: v.url + "/device", Token: v.url + "/token",
	}
}

// authorize sends who consents back with a code.
func (v *vendor) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := q.Get("redirect_uri") + q.Get("callback_url")
	u, err := url.Parse(back)
	if err != nil || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 {
		http.Error(w, "wrong", http.StatusBadRequest)
		return
	}
	code := "code-" + q.Get("code_challenge")[:6]
	v.mu.Lock()
	v.challenge[code] = q.Get("code_challenge") + " " + q.Get("redirect_uri")
	v.mu.Unlock()
	out := url.Values{"code": {code}}
	if s := q.Get("state"); s != "" {
		out.Set("state", s)
	}
	u.RawQuery = out.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound)
}

func (v *vendor) device(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("client_id") != "app-1" || r.FormValue("scope") != "read" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"no such app"}`)
		return
	}
	_, _ = io.WriteString(w, `{"device_code":"dev-secret","user_code":"AB12-CD34","verification_uri":"https://acme.test/device","expires_in":900,"interval":5}`)
}

// reply takes the next of the replies.
func (v *vendor) reply(r *http.Request) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		v.t.Error(err)
	}
	v.tokenRequests = append(v.tokenRequests, r.PostForm)
	if len(v.replies) == 0 {
		return "", false
	}
	text := v.replies[0]
	v.replies = v.replies[1:]
	return text, true
}

func (v *vendor) token(w http.ResponseWriter, r *http.Request) {
	text, ok := v.reply(r)
	switch {
	case ok && strings.HasPrefix(text, "5"):
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	case !ok && r.FormValue("grant_type") == "authorization_code":
		if !v.redeems(r.FormValue("code"), r.FormValue("code_verifier"), r.FormValue("redirect_uri")) || r.FormValue("client_id") != "app-1" {
			text = `{"error":"invalid_grant","error_description":"the code is not good: ` + r.FormValue("code") + `"}`
			break
		}
		text = `{"access_token":"access-1","refresh_token":"refresh-1","expires_in":3600,"token_type":"bearer"}`
	case !ok:
		text = `{"error":"invalid_grant"}`
	}
	if strings.Contains(text, `"error"`) && !strings.Contains(text, "github") {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, text)
}

// redeems takes a code once, from who knows the verifier.
func (v *vendor) redeems(code, verifier, redirect string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	digest := sha256.Sum256([]byte(verifier))
	want, ok := v.challenge[code]
	delete(v.challenge, code)
	return ok && want == base64.RawURLEncoding.EncodeToString(digest[:])+" "+redirect
}

func (v *vendor) keys(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Code     string `json:"code"`
		Verifier string `json:"code_verifier"`
		Method   string `json:"code_challenge_method"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil || q.Method != "S256" || !v.redeems(q.Code, q.Verifier, "") {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"code":403,"message":"Invalid code `+q.Code+`"}}`)
		return
	}
	_, _ = io.WriteString(w, `{"key":"sk-or-1","user_id":"u"}`)
}

func (v *vendor) exchange(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	if v.fail != 0 || r.Header.Get("Authorization") != "Bearer lasting" {
		w.WriteHeader(max(v.fail, http.StatusUnauthorized))
		_, _ = io.WriteString(w, `{"message":"no, not with `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"token":"short-%d","expires_at":%d,"endpoints":{}}`, v.asked, 2_000_000_000)
}

func (v *vendor) requests() []url.Values {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.tokenRequests)
}

// surf opens the page as a browser would.
func surf(t *testing.T, pages chan<- string) func(Prompt) {
	return func(p Prompt) {
		go func() {
			resp, err := http.Get(p.URL)
			if err != nil {
				t.Error(err)
				pages <- ""
				return
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			pages <- fmt.Sprint(resp.StatusCode, " ", string(body))
		}()
	}
}

var noon = time.UnixMilli(1_700_000_000_000)

func clock() time.Time { return noon }

func TestLogin_Browser(t *testing.T) {
	v := newVendor(t)
	pages := make(chan string, 1)
	got, err := Client{Now: clock}.Login(t.Context(), v.method(Browser), LoginUI{Show: surf(t, pages)})
	want := OAuth{Access: NewSecret("access-1"), Refresh: NewSecret("refresh-1"), Expires: noon.Add(time.Hour), ClientID: "app-1"}
	if err != nil || !alike(got, want) {
		t.Errorf("%v %v", got, err)
	}
	if page := <-pages; !strings.HasPrefix(page, "200") || !strings.Contains(page, "You are logged in.") {
		t.Error(page)
	}
}

// alike compares credentials with their secrets.
func alike(a, b Credential) bool {
	x, err1 := encode(a, nil)
	y, err2 := encode(b, nil)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func TestLogin_BrowserGivesKey(t *testing.T) {
	v := newVendor(t)
	m := Method{Provider: "acme", Flow: Browser, Authorize: v.url + "/authorize", Token: v.url + "/keys", RedirectParam: "callback_url", GivesKey: true}
	pages := make(chan string, 1)
	got, err := Client{}.Login(t.Context(), m, LoginUI{Show: surf(t, pages)})
	if err != nil || !alike(got, Key{Key: NewSecret("sk-or-1")}) {
		t.Errorf("%v %v", got, err)
	}
	<-pages
}

// follow returns where the vendor's page leads, without going there.
func follow(t *testing.T, page string) string {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.Header.Get("Location")
}

func TestLogin_BrowserElsewhere(t *testing.T) {
	for _, whole := range []bool{true, false} {
		v := newVendor(t)
		shown := make(chan string, 1)
		got, err := Client{Now: clock}.Login(t.Context(), v.method(Browser), LoginUI{
			Show: func(p Prompt) { shown <- p.URL },
			Paste: func(context.Context) (string, error) {
				back := follow(t, <-shown)
				if u, err := url.Parse(back); err == nil && !whole {
					back = u.Query().Get("code")
				}
				return "  " + back + "\n", nil
			},
		})
		if token, ok := got.(OAuth); err != nil || !ok || token.Access.Reveal() != "access-1" {
			t.Errorf("%v: %v %v", whole, got, err)
		}
	}
}

func TestLogin_BrowserForeignRequests(t *testing.T) {
	v := newVendor(t)
	_, err := Client{}.Login(t.Context(), v.method(Browser), LoginUI{Show: func(p Prompt) {
		u, _ := url.Parse(p.URL)
		back := u.Query().Get("redirect_uri")
		visits := []struct {
			method, url, host string
			status            int
		}{
			{"GET", back, "", 404},
			{"GET", back + "?code=evil", "", 404},
			{"GET", back + "?code=evil&state=guess", "", 404},
			{"POST", back + "?code=evil&state=" + u.Query().Get("state"), "", 404},
			{"GET", back + "/x?code=evil&state=" + u.Query().Get("state"), "", 404},
			{"GET", back + "?code=evil&state=" + u.Query().Get("state"), "evil.example", 404},
			{"GET", back + "?error=access_denied&error_description=You+said+no&state=" + u.Query().Get("state"), "", 200},
		}
		for _, visit := range visits {
			req, err := http.NewRequestWithContext(t.Context(), visit.method, visit.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = visit.host
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != visit.status {
				t.Errorf("%s %s: %d", visit.method, visit.url, resp.StatusCode)
			}
		}
	}})
	if lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), "You said no") {
		t.Error(err)
	}
}

func TestLogin_BrowserErrors(t *testing.T) {
	v := newVendor(t)
	none := v.method(Browser)
	none.ClientID = ""
	wrong := v.method(Browser)
	wrong.ClientID = "another"
	unsafe := v.method(Browser)
	unsafe.Token = "http://acme.test/token"
	text := func(s string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return s, nil }
	}
	boom := errors.New("boom")
	for _, c := range []struct {
		name  string
		m     Method
		paste func(context.Context) (string, error)
		want  string
	}{
		{"no app", none, text("x"), "needs the client ID"},
		{"a wrong code", wrong, text("made-up-code"), "the code is not good: [scrubbed]"},
		{"nothing", v.method(Browser), text(" "), "no code was pasted"},
		{"another address", v.method(Browser), text("http://127.0.0.1:1/callback?code=x&state=y"), "does not belong to this login"},
		{"an unsafe server", unsafe, text("x"), "is not a URL that secrets can be sent to"},
		{"a broken terminal", v.method(Browser), func(context.Context) (string, error) { return "", boom }, "boom"},
	} {
		_, err := Client{}.Login(t.Context(), c.m, LoginUI{Show: func(Prompt) {}, Paste: c.paste})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// inMemory is a client of the vendor without a network, so that time can be a test's own.
func (v *vendor) inMemory() *http.Client {
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		v.mux.ServeHTTP(w, r)
		resp := w.Result()
		resp.Request = r
		return resp, nil
	})}
}

// The device flow keeps the pace that the vendor wants, also when the vendor does not work for a while.
func TestLogin_Device(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newMemoryVendor(t)
		v.replies = []string{
			`{"error":"authorization_pending"}`,
			`{"error":"slow_down"}`,
			`{"error":"slow_down","x":"github"}`,
			`503`,
			`{"access_token":"gho_1","token_type":"bearer","scope":"read"}`,
		}
		start := time.Now()
		var shown Prompt
		got, err := Client{HTTP: v.inMemory()}.Login(t.Context(), v.method(Device), LoginUI{Show: func(s Prompt) { shown = s }})
		if want := (OAuth{Access: NewSecret("gho_1"), Refresh: NewSecret("gho_1"), ClientID: "app-1"}); err != nil || !alike(got, want) {
			t.Errorf("%v %v", got, err)
		}
		if shown != (Prompt{URL: "https://acme.test/device", Code: "AB12-CD34"}) {
			t.Errorf("%+v", shown)
		}
		if took := time.Since(start); took != (5+5+10+15+20)*time.Second {
			t.Error(took)
		}
		for _, r := range v.requests() {
			if r.Get("device_code") != "dev-secret" || r.Get("grant_type") != "urn:ietf:params:oauth:grant-type:device_code" || r.Get("client_id") != "app-1" {
				t.Errorf("%v", r)
			}
		}
	})
}

func TestLogin_DeviceErrors(t *testing.T) {
	for reply, want := range map[string]string{
		`{"error":"access_denied"}`: "was denied",
		`{"error":"expired_token"}`: "start again",
		`{"error":"incorrect_device_code","error_description":"bad dev-secret"}`: "bad [scrubbed]",
		`{}`:           "sent no token",
		`dev-secret`:   "sent no token",
		`{"error":{}}`: "refused",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newMemoryVendor(t)
			v.replies = []string{reply}
			got, err := Client{HTTP: v.inMemory()}.Login(t.Context(), v.method(Device), LoginUI{Show: func(Prompt) {}})
			if got != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dev-secret") {
				t.Errorf("%s: %v %v", reply, got, err)
			}
		})
	}
	v := newVendor(t)
	wrong := v.method(Device)
	wrong.ClientID = "another"
	if _, err := (Client{}).Login(t.Context(), wrong, LoginUI{}); lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), "no such app") {
		t.Error(err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }))
	defer page.Close()
	wrong.Device = page.URL
	if _, err := (Client{}).Login(t.Context(), wrong, LoginUI{}); lathe.CodeOf(err) != lathe.Unavailable {
		t.Error(err)
	}
	wrong.Device = "http://acme.test/device"
	if _, err := (Client{}).Login(t.Context(), wrong, LoginUI{}); lathe.CodeOf(err) != lathe.Invalid {
		t.Error(err)
	}
}

// A login that the user gives up ends at once, also while the vendor takes its time to answer.
func TestLogin_DeviceCanceled(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	boom := errors.New("boom")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(boom) })
	m := Method{Provider: "acme", Flow: Device, ClientID: "a", Device: slow.URL, Token: slow.URL}
	if _, err := (Client{}).Login(ctx, m, LoginUI{}); !errors.Is(err, boom) {
		t.Error(err)
	}
}

// A server that sends the browser or a secret elsewhere is not followed.
func TestLogin_NoRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a secret went to %s", r.URL) }))
	defer elsewhere.Close()
	v := newVendor(t)
	mover := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer mover.Close()
	m := v.method(Browser)
	m.Token = mover.URL
	_, err := Client{}.Login(t.Context(), m, LoginUI{Show: func(Prompt) {}, Paste: func(context.Context) (string, error) { return "code", nil }})
	if err == nil {
		t.Error("logged in")
	}
	if _, err := (Client{}).Renew(m)(t.Context(), OAuth{Refresh: NewSecret("r")}); err == nil {
		t.Error("renewed")
	}
}

// Time passes only here, so that an hour takes no time.
func TestLogin_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := map[string]string{
			"/device": `{"device_code":"d","user_code":"u","verification_uri":"https://acme.test","interval":5}`,
			"/token":  `{"error":"authorization_pending"}`,
		}
		asked := 0
		client := Client{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) string {
			asked++
			return replies[r.URL.Path]
		})}}
		m := Method{Provider: "acme", Flow: Device, ClientID: "a", Device: "https://acme.test/device", Token: "https://acme.test/token"}
		start := time.Now()
		_, err := client.Login(t.Context(), m, LoginUI{Show: func(Prompt) {}})
		if took := time.Since(start); lathe.CodeOf(err) != lathe.Unauthorized || took != loginTime || asked < 179 || asked > 181 {
			t.Errorf("%v after %s and %d questions", err, took, asked)
		}
		replies["/device"] = `{"device_code":"d","user_code":"u","verification_uri":"https://acme.test","expires_in":60}`
		if _, err := client.Login(t.Context(), m, LoginUI{Show: func(Prompt) {}}); !strings.Contains(err.Error(), "has expired") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		boom := errors.New("boom")
		_, err = client.Login(ctx, m, LoginUI{Show: func(Prompt) { time.AfterFunc(time.Second, func() { cancel(boom) }) }})
		if !errors.Is(err, boom) {
			t.Error(err)
		}
	})
}

// roundTrip answers without a network.
type roundTrip func(*http.Request) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(f(r))), Header: http.Header{}, Request: r}, nil
}

func TestRenew(t *testing.T) {
	v := newVendor(t)
	m := v.method(Device)
	old := OAuth{Refresh: NewSecret("refresh-0"), Access: NewSecret("a"), Expires: noon, AccountID: "acc", ClientID: "theirs"}
	v.replies = []string{`{"access_token":"a1","refresh_token":"r1","expires_in":60}`, `{"access_token":"a2"}`}
	renew := Client{Now: clock}.Renew(m)
	got, err := renew(t.Context(), old)
	want := OAuth{Refresh: NewSecret("r1"), Access: NewSecret("a1"), Expires: noon.Add(time.Minute), AccountID: "acc", ClientID: "theirs"}
	if err != nil || !alike(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	if r := v.requests()[0]; r.Get("grant_type") != "refresh_token" || r.Get("refresh_token") != "refresh-0" || r.Get("client_id") != "theirs" {
		t.Errorf("%v", r)
	}
	if got, err = renew(t.Context(), old); err != nil || got.Refresh.Reveal() != "refresh-0" || !got.Expires.IsZero() {
		t.Errorf("%+v %v", got, err)
	}
	for _, reply := range []string{`{"error":"invalid_grant"}`, `{"error":"x","error_description":"refresh-0 was used"}`} {
		v.replies = []string{reply}
		_, err := renew(t.Context(), old)
		var e *lathe.Error
		if !errors.As(err, &e) || e.Code != lathe.Unauthorized || e.Fault == nil || !strings.Contains(e.Message, "lathe auth login acme") || strings.Contains(e.Message, "refresh-0") {
			t.Error(err)
		}
	}
	v.replies = []string{"503"}
	if _, err := renew(t.Context(), old); lathe.CodeOf(err) != lathe.Unavailable {
		t.Error(err)
	}
	if _, err := renew(t.Context(), OAuth{}); lathe.CodeOf(err) != lathe.Unauthorized {
		t.Error(err)
	}
}

func TestRenew_Exchange(t *testing.T) {
	v := newVendor(t)
	m := v.method(Device)
	m.Exchange, m.RefreshPrefix = v.url+"/exchange", "ghr_"
	renew := Client{Now: clock, UserAgent: "lathe/1"}.Renew(m)
	old := OAuth{Refresh: NewSecret("lasting"), Access: NewSecret("gone"), Expires: noon, EnterpriseURL: ""}
	got, err := renew(t.Context(), old)
	want := OAuth{Refresh: NewSecret("lasting"), Access: NewSecret("short-1"), Expires: time.Unix(2_000_000_000, 0)}
	if err != nil || !alike(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	v.fail = 404
	if _, err := renew(t.Context(), old); lathe.CodeOf(err) != lathe.Unauthorized || strings.Contains(err.Error(), "lasting") {
		t.Error(err)
	}
	v.fail = 500
	if _, err := renew(t.Context(), old); lathe.CodeOf(err) != lathe.Unavailable {
		t.Error(err)
	}
	v.fail, v.replies = 0, []string{`{"access_token":"a1","refresh_token":"ghr_2","expires_in":60}`}
	if got, err := renew(t.Context(), OAuth{Refresh: NewSecret("ghr_1")}); err != nil || got.Access.Reveal() != "a1" {
		t.Errorf("%+v %v", got, err)
	}
}

// However many processes want the token, the vendor is asked once.
func TestRenew_ThroughTheFile(t *testing.T) {
	v := newVendor(t)
	m := v.method(Device)
	m.Exchange, m.RefreshPrefix = v.url+"/exchange", "ghr_"
	_, path := file(t, `{"acme":{"type":"oauth","refresh":"lasting","access":"gone","expires":1}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			token, err := Open(Source{Path: path}).FreshToken(t.Context(), "acme", clock, Client{Now: clock}.Renew(m))
			if err != nil || token.Access.Reveal() != "short-1" {
				t.Error(token, err)
			}
		})
	}
	wg.Wait()
	if v.asked != 1 {
		t.Errorf("asked %d times", v.asked)
	}
}

func TestMethods(t *testing.T) {
	for _, m := range Methods() {
		at, err := m.ForHost("")
		if err != nil || at.Provider == "" || at.Label == "" || at.Token == "" || (at.Flow == Browser) != (at.Authorize != "") || (at.Flow == Device) != (at.Device != "") {
			t.Errorf("%+v %v", at, err)
		}
		for _, address := range at.addresses() {
			if *address == "" {
				continue
			}
			if u, err := url.Parse(*address); err != nil || u.Scheme != "https" || u.Host == "" || strings.Contains(*address, "{") {
				t.Errorf("%s: %q", m.Provider, *address)
			}
		}
		if found, ok := MethodOf(Methods(), m.Provider); !ok || found != m {
			t.Errorf("%s is not found", m.Provider)
		}
	}
	if _, ok := MethodOf(Methods(), "none"); ok {
		t.Error("there is no such login")
	}
}

func TestMethod_At(t *testing.T) {
	m, _ := MethodOf(Methods(), "github-copilot")
	for server, want := range map[string]string{
		"":                         "https://github.com/login/device/code https://api.github.com/copilot_internal/v2/token",
		"company.ghe.com":          "https://company.ghe.com/login/device/code https://api.company.ghe.com/copilot_internal/v2/token",
		"https://company.ghe.com/": "https://company.ghe.com/login/device/code https://api.company.ghe.com/copilot_internal/v2/token",
		"http://127.0.0.1:81":      "http://127.0.0.1:81/login/device/code http://127.0.0.1:81/copilot_internal/v2/token",
		"http://company.ghe.com":   "",
		"ftp://x":                  "",
		"https://":                 "",
		"://":                      "",
	} {
		at, err := m.ForHost(server)
		if got := at.Device + " " + at.Exchange; (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %q %v", server, got, err)
		}
	}
	other, _ := MethodOf(Methods(), "openrouter")
	if _, err := other.ForHost("company.example"); err == nil {
		t.Error("it has one server")
	}
}

func TestParseKey(t *testing.T) {
	for text, want := range map[string]string{
		"sk-1": "sk-1", "sk-1\n": "sk-1", " \tsk-1 \r\n": "sk-1", "\uFEFFsk-1\r\n": "sk-1",
		"a+b/c=_-.~:{}": "a+b/c=_-.~:{}",
		"":              "", "\n": "", "  ": "", "a b": "", "Bearer sk": "", "a\nb": "", "\"sk\"": "", "'sk'": "",
		"s\x00k": "", "sk-\x1b[31m": "", "schlüssel": "", "\xff\xfes\x00k\x00": "", "sk\u200b": "",
	} {
		got, err := ParseKey(text)
		if got.Reveal() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", text, got.Reveal(), err)
		}
		if err != nil && (lathe.CodeOf(err) != lathe.Invalid || strings.Contains(err.Error(), "sk")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
