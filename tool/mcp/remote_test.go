package mcp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// streamable serves the good server over the newer transport.
func streamable() http.Handler {
	s := newGoodServer("remote")
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// site is a web server that remembers the headers of requests.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	seen []http.Header
}

func serve(t testing.TB, h http.Handler) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Header.Clone())
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// values are those of a header in all requests.
func (s *site) values(name string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.seen {
		out = append(out, h.Get(name))
	}
	return out
}

func TestRemote_Streamable(t *testing.T) {
	t.Parallel()
	s := serve(t, streamable())
	w := open(t, []mcp.Server{{Name: "r", URL: s.URL + "/mcp?key=hidden-in-query", Headers: map[string]string{"X-Key": "sesame-4711"}}})
	w.ready()
	if st := w.hub.Status()["r"]; st.State != mcp.Connected {
		t.Fatalf("%+v", st)
	}
	equal(t, w.must("r_echo", `{"text":"far"}`).Output, "far")
	equal(t, w.must("r_roots", `{}`).Output, "1 file://"+w.dir)
	d := &desk{}
	if r, err := w.call(t.Context(), d, "r_steps", `{}`); err != nil || r.Output != "done" || len(d.progress) == 0 {
		t.Errorf("%v %v %v", r, err, d.progress)
	}
	equal(t, w.tool("r_fail").Spec().Anywhere, true) // it is on this machine
	w.must("r_grow", `{}`)
	eventually(t, 60*time.Second, "the new tool", func() bool { return slices.Contains(names(w.hub.Tools()), "r_grown") })
	for _, v := range s.values("X-Key") {
		equal(t, v, "sesame-4711")
	}
	equal(t, s.values("User-Agent")[0], "lathe/test")
	began := time.Now()
	w.hub.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("closing took %v", took)
	}
}

func TestRemote_SSE(t *testing.T) {
	good := newGoodServer("old")
	s := serve(t, sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return good }, nil))
	w := open(t, []mcp.Server{{Name: "r", URL: s.URL + "/sse", Headers: map[string]string{"X-Key": "sesame-4711"}}})
	w.ready()
	if st := w.hub.Status()["r"]; st.State != mcp.Connected {
		t.Fatalf("%+v", st)
	}
	equal(t, w.must("r_echo", `{"text":"old"}`).Output, "old")
	for _, v := range s.values("X-Key") {
		equal(t, v, "sesame-4711")
	}
}

func TestRemote_Faults(t *testing.T) {
	t.Parallel()
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret detail sesame-4711", code) })
	}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it sees the caller go only then
		<-r.Context().Done()
	})
	junk := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "<html>")
	})
	flood := func(kind string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, `data: {"x":"`)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
					return
				}
			}
		})
	}
	for _, c := range []struct {
		name  string
		h     http.Handler
		state mcp.State
		words []string
	}{
		{"not found", status(404), mcp.Failed, []string{"404 Not Found"}},
		{"forbidden", status(403), mcp.Failed, []string{"403 Forbidden"}},
		{"broken", status(500), mcp.Failed, []string{"500"}},
		{"unauthorized", status(401), mcp.Failed, []string{"401 Unauthorized"}}, // there is nowhere to log in
		{"silent", silent, mcp.Failed, []string{"longer than 1s"}},
		{"junk", junk, mcp.Failed, nil},
		{"flood", flood("application/json"), mcp.Failed, []string{"larger than 32 MiB"}},
		{"flood of events", flood("text/event-stream"), mcp.Failed, []string{"larger than 32 MiB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.h)
			def := mcp.Server{Name: "r", URL: s.URL, Headers: map[string]string{"Authorization": "Bearer sesame-4711"}, Timeout: 20 * time.Second}
			if c.name == "silent" {
				def.Timeout = time.Second
			}
			w := open(t, []mcp.Server{def})
			w.ready()
			st := w.hub.Status()["r"]
			equal(t, st.State, c.state)
			has(t, st.Error, c.words...)
			w.hub.Close()
			if text := st.Error + w.log.String(); strings.Contains(text, "sesame") {
				t.Error(text)
			}
		})
	}
}

func TestRemote_Unreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	w := open(t, []mcp.Server{{Name: "r", URL: s.URL + "/mcp?key=sesame-4711"}})
	w.ready()
	st := w.hub.Status()["r"]
	equal(t, st.State, mcp.Failed)
	has(t, st.Error, "connection refused", "[secret]")
	if strings.Contains(st.Error, "sesame") || strings.Contains(st.Error, "lathe/") {
		t.Error(st.Error)
	}
}

// TestRemote_HangingStream has a server that takes the request for its own messages and says
// nothing, not even that it will.
func TestRemote_HangingStream(t *testing.T) {
	t.Parallel()
	inner := streamable()
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			return
		}
		inner.ServeHTTP(w, r)
	}))
	w := open(t, []mcp.Server{{Name: "r", URL: s.URL}})
	w.ready()
	equal(t, w.must("r_echo", `{"text":"x"}`).Output, "x")
}

// TestRemote_Redirect sends secrets to no other host, and none from https to http.
func TestRemote_Redirect(t *testing.T) {
	other := serve(t, streamable())
	at, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	first := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://localhost:"+at.Port()+"/mcp", http.StatusTemporaryRedirect)
	}))
	w := open(t, []mcp.Server{{Name: "r", URL: first.URL, Headers: map[string]string{"X-Key": "sesame", "Authorization": "Bearer sesame"}}})
	w.ready()
	if len(other.values("X-Key")) == 0 || first.values("X-Key")[0] != "sesame" {
		t.Fatalf("nothing arrived: %+v", w.hub.Status())
	}
	for _, name := range []string{"X-Key", "Authorization", "Mcp-Session-Id"} {
		for _, v := range other.values(name) {
			equal(t, v, "")
		}
	}
}

// TestRemote_ServerRestarts has one that forgets its sessions.
func TestRemote_ServerRestarts(t *testing.T) {
	var mu sync.Mutex
	h := streamable()
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := h
		mu.Unlock()
		now.ServeHTTP(w, r)
	}))
	w := open(t, []mcp.Server{{Name: "r", URL: s.URL}})
	w.ready()
	equal(t, w.must("r_echo", `{"text":"before"}`).Output, "before")
	mu.Lock()
	h = streamable()
	mu.Unlock()
	s.CloseClientConnections()
	equal(t, w.must("r_echo", `{"text":"after"}`).Output, "after") // it only reads, so it is asked again
	text := fmt.Sprint(w.hub.Status())
	has(t, text, "connected")
}
