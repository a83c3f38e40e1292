package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// tokenFile writes a login whose access token has expired.
func (g *guarded) tokenFile(t testing.TB) string {
	t.Helper()
	_, refresh := g.issue()
	path := filepath.Join(t.TempDir(), "data", "mcp-auth.json")
	put(t, path, map[string]any{
		"g": map[string]any{
			"tokens":     map[string]any{"accessToken": "old", "refreshToken": refresh, "expiresAt": 1000, "ours": 1},
			"clientInfo": map[string]any{"clientId": "client-1"}, "serverUrl": g.URL + "/mcp", "theirs": true,
		},
		"another": "kept as it is",
	})
	return path
}

func put(t testing.TB, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (g *guarded) open(t testing.TB, path string, more func(*mcp.Server)) *fixture {
	s := mcp.Server{Name: "g", URL: g.URL + "/mcp", OAuth: mcp.OAuth{CallbackPort: freePort(t)}}
	if more != nil {
		more(&s)
	}
	return open(t, []mcp.Server{s}, func(o *mcp.Options) { o.Tokens = mcp.OpenTokens(path) })
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// browse is a browser that the user lets continue.
func browse(page string) error {
	go func() {
		if resp, err := http.Get(page); err == nil {
			_ = resp.Body.Close()
		}
	}()
	return nil
}

func TestLogin_InTheBrowser(t *testing.T) {
	g := newGuarded(t)
	path := filepath.Join(t.TempDir(), "mcp-auth.json")
	w := g.open(t, path, nil)
	w.ready()
	equal(t, w.hub.Status()["g"].State, mcp.NeedsAuth)
	eventually(t, 60*time.Second, "the user is told", func() bool {
		toast, ok := w.published.last().(*lathe.TUIToast)
		return ok && strings.Contains(toast.Message, "lathe mcp auth g")
	})
	if err := w.hub.Login(t.Context(), "g", browse); err != nil {
		t.Fatal(err)
	}
	equal(t, w.must("g_echo", `{"text":"in"}`).Output, "in")
	equal(t, g.resource, g.URL+"/mcp")
	page, _, err := w.hub.StartLogin(t.Context(), "g")
	if page != "" || err != nil {
		t.Errorf("logged in already, and %q %v", page, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, info.Mode().Perm(), 0o600)
	var file map[string]map[string]json.RawMessage
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &file) != nil {
		t.Fatal(string(data), err)
	}
	equal(t, string(file["g"]["serverUrl"]), `"`+g.URL+`/mcp"`)
	if file["g"]["codeVerifier"] != nil || file["g"]["oauthState"] != nil || file["g"]["clientInfo"] == nil || file["g"]["tokens"] == nil {
		t.Errorf("%s", data)
	}
	login, err := mcp.OpenTokens(path).Login("g", g.URL+"/mcp")
	if login != mcp.LoggedIn || err != nil {
		t.Error(login, err)
	}
	login, err = mcp.OpenTokens(path).Login("g", "https://elsewhere")
	if login != mcp.LoggedOut || err != nil {
		t.Error(login, err)
	}
	kept := w.tool("g_echo")
	if err := w.hub.Logout(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	eventually(t, 60*time.Second, "it needs a login", func() bool { return w.hub.Status()["g"].State == mcp.NeedsAuth })
	_, err = tool.Run(t.Context(), kept, &tool.Call{Input: json.RawMessage(`{"text":""}`), Host: &desk{}})
	has(t, err.Error(), "lathe mcp auth g", "was not made")
}

func TestLogin_ByCode(t *testing.T) {
	g := newGuarded(t)
	w := g.open(t, filepath.Join(t.TempDir(), "mcp-auth.json"), nil)
	page, state, err := w.hub.StartLogin(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(page)
	if err != nil || u.Query().Get("state") != state || len(state) != 64 {
		t.Fatal(page, state, err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	forged := *back
	forged.RawQuery = url.Values{"code": {"evil"}, "state": {"forged"}}.Encode()
	resp, err = client.Get(forged.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	equal(t, resp.StatusCode, http.StatusBadRequest)
	if err := w.hub.FinishLogin(t.Context(), "g", "wrong"); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("a wrong code gave %v", err)
	}
	if err := w.hub.FinishLogin(t.Context(), "g", back.Query().Get("code")); err != nil {
		t.Fatal(err)
	}
	equal(t, w.must("g_echo", `{"text":"in"}`).Output, "in")
	var e *lathe.Error
	if err := w.hub.FinishLogin(t.Context(), "g", "again"); !errors.As(err, &e) || e.Code != lathe.Conflict {
		t.Errorf("got %v", err)
	}
}

func TestLogin_NeedsAClient(t *testing.T) {
	g := newGuarded(t)
	g.noClients = true
	w := g.open(t, filepath.Join(t.TempDir(), "mcp-auth.json"), nil)
	w.ready()
	equal(t, w.hub.Status()["g"].State, mcp.NeedsClient)
	has(t, w.hub.Status()["g"].Error, "clientId")
	err := w.hub.Login(t.Context(), "g", browse)
	if err == nil || !strings.Contains(err.Error(), "clientId") {
		t.Errorf("got %v", err)
	}
	with := g.open(t, filepath.Join(t.TempDir(), "mcp-auth.json"), func(s *mcp.Server) { s.OAuth.ClientID = "mine" })
	if err := with.hub.Login(t.Context(), "g", browse); err != nil {
		t.Error(err)
	}
	off := g.open(t, filepath.Join(t.TempDir(), "mcp-auth.json"), func(s *mcp.Server) { s.OAuth.Off = true })
	off.ready()
	equal(t, off.hub.Status()["g"].State, mcp.Failed)
	if err := off.hub.Login(t.Context(), "g", browse); err == nil {
		t.Error("a login that is off")
	}
}

func TestLogin_CanceledAndBusy(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	port := freePort(t)
	w := g.open(t, filepath.Join(t.TempDir(), "mcp-auth.json"), func(s *mcp.Server) { s.OAuth.CallbackPort = port })
	ctx, cancel := context.WithCancel(t.Context())
	err := w.hub.Login(ctx, "g", func(string) error { cancel(); return errors.New("no browser") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	published := w.published.last()
	if f, ok := published.(*lathe.MCPBrowserFailed); !ok || f.Name != "g" || f.URL == "" {
		t.Errorf("told %v", published)
	}
	eventually(t, 60*time.Second, "the port is free", func() bool {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			t.Cleanup(func() { _ = l.Close() })
		}
		return err == nil
	})
	err = w.hub.Login(t.Context(), "g", browse)
	var e *lathe.Error
	if !errors.As(err, &e) || e.Code != lathe.Conflict || !strings.Contains(err.Error(), strconv.Itoa(port)) {
		t.Errorf("got %v", err)
	}
}

func TestLogin_RefreshedOnce(t *testing.T) {
	g := newGuarded(t)
	path := g.tokenFile(t)
	w := g.open(t, path, nil)
	w.ready()
	equal(t, w.must("g_echo", `{"text":"in"}`).Output, "in")
	refreshes, reused := g.counts()
	if refreshes != 1 || reused != 0 {
		t.Errorf("%d refreshes, %d of them twice", refreshes, reused)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(data), `"another": "kept as it is"`, `"theirs": true`, `"ours": 1`)
	g.mu.Lock()
	clear(g.access) // revoked before its time
	g.mu.Unlock()
	equal(t, w.must("g_echo", `{"text":"again"}`).Output, "again")
	if refreshes, reused = g.counts(); refreshes != 2 || reused != 0 {
		t.Errorf("%d refreshes, %d of them twice", refreshes, reused)
	}
	g.mu.Lock()
	clear(g.access)
	clear(g.refresh) // and now the login itself
	g.mu.Unlock()
	w.fails("g_echo", `{"text":"x"}`, "lathe mcp auth g")
	eventually(t, 60*time.Second, "it needs a login", func() bool { return w.hub.Status()["g"].State == mcp.NeedsAuth })
}

// loginProcess connects with a login that has expired, on request, and reports the result.
func loginProcess(args []string) int {
	address, path := args[0], args[1]
	hub := mcp.Open(mcp.Options{
		Dir: filepath.Dir(path), Servers: []mcp.Server{{Name: "g", URL: address}}, Tokens: mcp.OpenTokens(path),
		Runner: sandbox.Open(sandbox.Config{}),
	})
	defer hub.Close()
	fmt.Println("ready")
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { _ = hub.Connect(ctx, "g") })
	}
	all.Wait()
	fmt.Println(hub.Status()["g"])
	return 0
}

// TestLogin_RefreshedOnceByProcesses has processes and goroutines that all need the same token
// renewed at the same time.
func TestLogin_RefreshedOnceByProcesses(t *testing.T) {
	g := newGuarded(t)
	g.hold = make(chan struct{})
	path := g.tokenFile(t)
	var said []*strings.Builder
	var started []*exec.Cmd
	for range 3 {
		line := self(t, "a-login", g.URL+"/mcp", path)
		cmd := exec.Command(line[0], line[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		said, started = append(said, out), append(started, cmd)
	}
	eventually(t, 60*time.Second, "one asks for a new token", func() bool { n, _ := g.counts(); return n > 0 })
	time.AfterFunc(500*time.Millisecond, func() { close(g.hold) }) // time for the others to make the mistake
	for i, cmd := range started {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		has(t, said[i].String(), "{connected")
	}
	refreshes, reused := g.counts()
	if refreshes != 1 || reused != 0 {
		t.Errorf("%d refreshes, %d of them with a token that was used", refreshes, reused)
	}
}

func TestTokens_Faults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp-auth.json")
	for _, text := range []string{"{", "[]", "null", `"x"`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.OpenTokens(path).Login("g", "x"); err == nil {
			t.Errorf("%s was taken", text)
		}
		if err := mcp.OpenTokens(path).Remove(t.Context(), "g"); err == nil {
			t.Errorf("%s was overwritten", text)
		}
	}
	for _, text := range []string{"", `{"g":7}`, `{"g":{"tokens":7,"serverUrl":"x"}}`, `{"g":{"tokens":{"accessToken":"a"}}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := mcp.OpenTokens(path).Login("g", "x"); l != mcp.LoggedOut || err != nil {
			t.Errorf("%s: %v %v", text, l, err)
		}
	}
	put(t, path, map[string]any{"g": map[string]any{"tokens": map[string]any{"accessToken": "a", "expiresAt": 5}, "serverUrl": "x"}})
	if l, err := mcp.OpenTokens(path).Login("g", "x"); l != mcp.Expired || err != nil {
		t.Error(l, err)
	}
	if err := mcp.OpenTokens(path).Remove(t.Context(), "g"); err != nil {
		t.Error(err)
	}
	if l, err := mcp.OpenTokens(path).Login("g", "x"); l != mcp.LoggedOut || err != nil {
		t.Error(l, err)
	}
}

// A server that sends its login to another origin reaches no private address by it, in none of the ways it can say
// so. Where private addresses are allowed, it does.
func TestLogin_StaysPublic(t *testing.T) {
	for name, answers := range map[string]func(w http.ResponseWriter, r *http.Request, self, trap string){
		"by its refusal": func(w http.ResponseWriter, _ *http.Request, _, trap string) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+trap+`/meta"`)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"by its metadata": func(w http.ResponseWriter, r *http.Request, self, trap string) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, self+"/mcp", trap)
				return
			}
			w.WriteHeader(http.StatusUnauthorized)
		},
		"by a redirect": func(w http.ResponseWriter, r *http.Request, _, trap string) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/") {
				http.Redirect(w, r, trap+r.URL.Path, http.StatusFound)
				return
			}
			w.WriteHeader(http.StatusUnauthorized)
		},
	} {
		for _, private := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", allowed: ", private), func(t *testing.T) {
				calls := make(chan string, 100)
				trap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls <- r.URL.Path
					http.NotFound(w, r)
				}))
				defer trap.Close()
				var self string
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers(w, r, self, trap.URL) }))
				defer s.Close()
				self = s.URL
				w := open(t, []mcp.Server{{Name: "g", URL: s.URL + "/mcp", OAuth: mcp.OAuth{CallbackPort: freePort(t)}}}, func(o *mcp.Options) {
					o.Tokens, o.AllowPrivate = mcp.OpenTokens(filepath.Join(t.TempDir(), "auth.json")), private
				})
				_, _, err := w.hub.StartLogin(t.Context(), "g")
				if reached := len(calls) > 0; reached != private {
					t.Errorf("the other address was reached: %v (%v)", reached, err)
				}
			})
		}
	}
}
