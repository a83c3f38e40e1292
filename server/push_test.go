package server_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/server/push"
	"github.com/lathe-agent/lathe/tool/web"
)

// pushService is a service on this machine, and a browser that it would wake.
type pushService struct {
	*httptest.Server
	key  *ecdh.PrivateKey
	auth []byte
	got  chan pushed
	hold chan struct{} // closed to let /slow answer
}

// pushed is a request that came, and what the browser makes of it.
type pushed struct {
	path   string
	header http.Header
	size   int
	text   string
	note   struct {
		Kind, Session, Project, Ask, Title, Text string
		Actions                                  bool
	}
}

func newPushService(t *testing.T) *pushService {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &pushService{key: key, auth: []byte("0123456789abcdef"), got: make(chan pushed, 100), hold: make(chan struct{})}
	tries := 0
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		one := pushed{path: r.URL.Path, header: r.Header, size: len(body), text: p.decrypt(body)}
		_ = json.Unmarshal([]byte(one.text), &one.note)
		status := http.StatusCreated
		switch r.URL.Path {
		case "/gone":
			status = http.StatusGone
		case "/moved":
			w.Header().Set("Location", p.URL+"/ok")
			status = http.StatusTemporaryRedirect
		case "/busy": // the first time
			if tries++; tries == 1 {
				status = http.StatusServiceUnavailable
			}
		case "/slow":
			<-p.hold
		}
		w.WriteHeader(status)
		p.got <- one
	}))
	t.Cleanup(p.Close)
	return p
}

// decrypt does what a browser does with a body.
func (p *pushService) decrypt(body []byte) string {
	if len(body) < 86 {
		return "short"
	}
	salt, from := body[:16], body[21:86]
	public, err := ecdh.P256().NewPublicKey(from)
	if err != nil {
		return err.Error()
	}
	shared, _ := p.key.ECDH(public)
	secret, _ := hkdf.Key(sha256.New, shared, p.auth, "WebPush: info\x00"+string(p.key.PublicKey().Bytes())+string(from), 32)
	key, _ := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, _ := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	block, _ := aes.NewCipher(key)
	gcm, _ := cipher.NewGCM(block)
	plain, err := gcm.Open(nil, nonce, body[86:], nil)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(strings.TrimRight(string(plain), "\x00"), "\x02")
}

// verify does what a service does to know who sends a request (RFC 8292).
func (p *pushService) verify(t *testing.T, header string) {
	t.Helper()
	token, public, _ := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("it is signed with %q", header)
	}
	var raw [3][]byte
	for i, s := range []string{parts[1], parts[2], public} {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(s); err != nil {
			t.Fatal(err)
		}
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	lasts := func() time.Duration { return time.Until(time.Unix(claims.Exp, 0)) }
	if err := json.Unmarshal(raw[0], &claims); err != nil || claims.Aud != p.URL || lasts() < time.Hour || lasts() > 24*time.Hour || !strings.HasPrefix(claims.Sub, "https://") {
		t.Errorf("%+v, %v", claims, err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw[2])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[1][:32]), new(big.Int).SetBytes(raw[1][32:])) {
		t.Error("the signature is wrong")
	}
}

// subscription is the body of PUT /lathe/push for a path of the service.
func (p *pushService) subscription(path string, kinds ...string) string {
	e := base64.RawURLEncoding
	text, _ := json.Marshal(map[string]any{
		"endpoint": p.URL + path, "kinds": kinds,
		"keys": map[string]string{"p256dh": e.EncodeToString(p.key.PublicKey().Bytes()), "auth": e.EncodeToString(p.auth)},
	})
	return string(text)
}

func (p *pushService) next(t *testing.T) pushed {
	t.Helper()
	select {
	case one := <-p.got:
		return one
	case <-time.After(30 * time.Second):
		t.Fatal("no notification came")
		return pushed{}
	}
}

// loopback reaches the service as webfetch reaches pages with "private": true.
type loopback struct {
	web.Config
	roots *x509.CertPool
}

func (l loopback) Transport() *http.Transport {
	t := l.Config.Transport()
	t.TLSClientConfig = &tls.Config{RootCAs: l.roots}
	return t
}

// notifying is a server that sends notifications to the service.
func notifying(t *testing.T, script string, text bool) (*fixture, *device.Store, *pushService) {
	t.Helper()
	p := newPushService(t)
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	w, devices := paired(t, script, func(o *server.Options) {
		o.Pairing.Push = &push.Options{Reach: loopback{web.Config{AllowPrivate: true}, roots}, Text: text}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		w.ok(<-ended)
	})
	return w, devices, p
}

// runs sends a prompt in a new session. The session has a title, so that no model makes one.
func (w *fixture) runs(title string) lathe.SessionID {
	w.Helper()
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"`+title+`","permission":[{"permission":"glob","pattern":"*","action":"ask"}]}`, owner...)
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"), owner...)
	return s.ID
}

func TestPush_Kinds(t *testing.T) {
	w, devices, p := notifying(t, `call ask {"permission":"look","patterns":["secret words"],"always":["x"]}
finish tool-calls
--
text "Done."
finish stop
--
status 400 "no such model"`, false)
	page, _ := w.pair("answer")
	w.want(http.StatusNoContent, nil, "PUT", "/lathe/push", p.subscription("/ok", "needs", "done", "failed"), page...)
	id := w.runs("Secret title")
	needs := p.next(t)
	if needs.note.Kind != "needs" || needs.note.Session != string(id) || needs.note.Ask == "" || needs.note.Actions || strings.Contains(strings.ToLower(needs.text), "secret") {
		t.Errorf("it waits: %s", needs.text)
	}
	for name, want := range map[string]string{"Urgency": "high", "Content-Encoding": "aes128gcm", "Ttl": "14400"} {
		if got := needs.header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	p.verify(t, needs.header.Get("Authorization"))
	if len(needs.header.Get("Topic")) != 32 || needs.header.Get("Cookie") != "" {
		t.Errorf("%v", needs.header)
	}
	w.want(http.StatusOK, nil, "POST", "/permission/"+needs.note.Ask+"/reply", `{"reply":"once"}`, page...)
	if done := p.next(t); done.note.Kind != "done" || done.note.Session != string(id) || done.header.Get("Topic") != needs.header.Get("Topic") || done.size != needs.size {
		t.Errorf("it is done: %s, %d and %d bytes", done.text, done.size, needs.size)
	}
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(id)+"/prompt_async", prompt("again"), owner...)
	if failed := p.next(t); failed.note.Kind != "failed" {
		t.Errorf("it failed: %s", failed.text)
	}
	w.want(http.StatusNoContent, nil, "DELETE", "/lathe/push", "", page...)
	if all, err := devices.List(); err != nil || all[0].Push != nil {
		t.Errorf("it is still on: %+v, %v", all, err)
	}
}

// A request that only finds names can be answered in the notification, by a device that may answer.
func TestPush_Actions(t *testing.T) {
	w, _, p := notifying(t, `call ask {"permission":"glob","patterns":["*.go"]}
finish tool-calls`, true)
	for _, right := range []string{"read", "answer"} {
		page, _ := w.pair(right)
		w.want(http.StatusNoContent, nil, "PUT", "/lathe/push", p.subscription("/"+right, "needs"), page...)
	}
	w.runs("A title")
	for range 2 {
		one := p.next(t)
		if one.note.Actions != (one.path == "/answer") || one.note.Title != "A title" || one.note.Text != "glob *.go" {
			t.Errorf("%s: %s", one.path, one.text)
		}
	}
}

// A service that is gone, moved, busy or slow costs its own device something, and no turn.
func TestPush_Services(t *testing.T) {
	w, devices, p := notifying(t, `text "Done."
finish stop`, false)
	ids := map[string]string{}
	for _, path := range []string{"/slow", "/gone", "/moved", "/busy", "/ok"} {
		page, id := w.pair("read")
		ids[path] = id
		w.want(http.StatusNoContent, nil, "PUT", "/lathe/push", p.subscription(path, "done"), page...)
	}
	came := map[string]int{}
	id := w.runs("x")
	for came["/ok"] == 0 || came["/gone"] == 0 || came["/moved"] == 0 || came["/busy"] < 2 {
		came[p.next(t).path]++
	}
	if came["/ok"] != 1 || came["/moved"] != 1 || came["/slow"] != 0 { // a redirect is not followed
		t.Errorf("came: %v", came)
	}
	w.want(http.StatusOK, nil, "GET", "/session/"+string(id), "", owner...)
	for begin := time.Now(); ; {
		all, err := devices.List()
		w.ok(err)
		var without []string
		for _, d := range all {
			if d.Push == nil {
				without = append(without, d.ID)
			}
		}
		if len(without) == 1 && without[0] == ids["/gone"] {
			break
		}
		if len(without) > 0 || time.Since(begin) > 30*time.Second {
			t.Fatalf("without a subscription: %v", without)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	close(p.hold)
}

// A device names only addresses that webfetch would reach.
func TestPush_Endpoints(t *testing.T) {
	w, _ := paired(t, "", func(o *server.Options) { o.Pairing.Push = &push.Options{Reach: web.Config{}} })
	page, _ := w.pair("full")
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	w.ok(err)
	p256dh := base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())
	body := func(endpoint, auth, kinds string) string {
		return fmt.Sprintf(`{"endpoint":%q,"keys":{"p256dh":%q,"auth":%q},"kinds":%s}`, endpoint, p256dh, auth, kinds)
	}
	const good, auth, kinds = "https://push.example/x", "BTBZMqHH6r4Tts7J_aSIgg", `["needs"]`
	for _, c := range []string{
		body("http://push.example/x", auth, kinds), body("https://127.0.0.1/x", auth, kinds), body("https://localhost:4096/x", auth, kinds), body("https://[::1]/x", auth, kinds),
		body("https://10.0.0.1/x", auth, kinds), body("https://169.254.169.254/latest", auth, kinds), body("https://2130706433/x", auth, kinds), body("https://a.localhost/", auth, kinds),
		body("https://user:pw@push.example/x", auth, kinds), body("file:///etc/passwd", auth, kinds), body("", auth, kinds), body("https:///x", auth, kinds),
		body("https://push.example/"+strings.Repeat("a", 3000), auth, kinds), body(good, "short", kinds), body(good, auth, `["all"]`), body(good, auth, `[]`),
		body(good, auth, `["needs","needs","needs","needs","needs"]`),
	} {
		w.want(http.StatusBadRequest, nil, "PUT", "/lathe/push", c, page...)
	}
	w.want(http.StatusBadRequest, nil, "PUT", "/lathe/push", body(good, auth, kinds), owner...)
	w.want(http.StatusNoContent, nil, "PUT", "/lathe/push", body(good, auth, kinds), page...)
	var state struct {
		Key   string
		Kinds []string
	}
	if w.want(http.StatusOK, &state, "GET", "/lathe/push", "", page...); len(state.Key) != 87 || len(state.Kinds) != 1 {
		t.Errorf("%+v", state)
	}
	without, _ := paired(t, "")
	page, _ = without.pair("full")
	without.want(http.StatusServiceUnavailable, nil, "GET", "/lathe/push", "", page...)
	without.want(http.StatusServiceUnavailable, nil, "PUT", "/lathe/push", body(good, auth, kinds), page...)
}
