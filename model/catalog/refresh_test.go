package catalog

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

func TestAddress(t *testing.T) {
	for from, want := range map[string]string{
		"":                                  DefaultURL,
		"https://models.example":            "https://models.example/api.json",
		"https://models.example/":           "https://models.example/api.json",
		"https://models.example/sub/":       "https://models.example/sub/api.json",
		"https://models.example/list.json":  "https://models.example/list.json",
		"https://u:p@models.example?x=1":    "https://u:p@models.example/api.json?x=1",
		"http://127.0.0.1:8080":             "http://127.0.0.1:8080/api.json",
		"http://[::1]:8080/a.json":          "http://[::1]:8080/a.json",
		"http://localhost/api.json":         "http://localhost/api.json",
		"http://models.example/api.json":    "",
		"http://localhost.evil.example/x":   "",
		"file:///etc/passwd":                "",
		"models.example":                    "",
		"ftp://models.example/api.json":     "",
		"https://":                          "",
		"https://models.example/%zz":        "",
		"javascript:alert(1)//models.json":  "",
		"https:models.example":              "",
		"HTTPS://models.example/api.json":   "https://models.example/api.json",
		"https://models.example/api.json#x": "https://models.example/api.json#x",
	} {
		got, err := CatalogURL(from)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", from, got, err)
		}
	}
}

// serve returns the address of a server that answers with the function.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/api.json"
}

func say(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}
}

func TestRefresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "models.json")
	from := serve(t, say(200, sample))
	got, err := Refresh(t.Context(), nil, from, path)
	if err != nil {
		t.Fatal(err)
	}
	want := Refreshed{From: from, Providers: 2, Models: 6, Bytes: int64(len(sample))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if src, err := os.ReadFile(path); err != nil || string(src) != sample {
		t.Errorf("%s %v", src, err)
	}
	if New(Filter{}, File(path)).Provider("acme") == nil {
		t.Error("the file is no layer")
	}
}

func TestRefresh_KeepsWhatThereIs(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct {
		name, from, want string
		ctx              context.Context
		code             lathe.Code
	}{
		{"offline", gone.URL + "/api.json", "cannot download the model catalog", t.Context(), lathe.Unavailable},
		{"refused", serve(t, say(503, sample)), "503", t.Context(), lathe.Unavailable},
		{"a page", serve(t, say(200, "<html>")), "is not a model catalog", t.Context(), lathe.Unavailable},
		{"empty", serve(t, say(200, "")), "is not a model catalog", t.Context(), lathe.Unavailable},
		{"nothing in it", serve(t, say(200, `{"a":{"models":{}}}`)), "has no models", t.Context(), lathe.Unavailable},
		{"cut", serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte(sample))
		}), "cannot download the model catalog", t.Context(), lathe.Unavailable},
		{"too large", serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Repeat(" ", refreshSize+1)))
		}), "larger than 32 MB", t.Context(), lathe.Unavailable},
		{"to where anyone can write", serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://models.example/api.json", http.StatusFound)
		}), "use https for", t.Context(), lathe.Unavailable},
		{"round and round", serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		}), "too many redirects", t.Context(), lathe.Unavailable},
		{"interrupted", serve(t, say(200, sample)), "canceled", canceled, lathe.Canceled},
	} {
		path := write(t, "before")
		_, err := Refresh(c.ctx, nil, c.from, path)
		if lathe.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if src, _ := os.ReadFile(path); string(src) != "before" {
			t.Errorf("%s: the file became %.40q", c.name, src)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".models-*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", c.name, left)
		}
	}
}

func TestRefresh_NoPasswordIsShown(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	from := strings.Replace(gone.URL, "http://", "http://usr:hunter22@", 1) + "/api.json?token=hunter22"
	got, err := Refresh(t.Context(), nil, from, filepath.Join(t.TempDir(), "m"))
	if err == nil || strings.Contains(err.Error(), "hunter22") || strings.Contains(got.From, "hunter22") {
		t.Errorf("%v %+v", err, got)
	}
}

func TestRefresh_FolderInTheWay(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Refresh(t.Context(), nil, serve(t, say(200, sample)), path); lathe.CodeOf(err) != lathe.Unavailable {
		t.Error(err)
	}
}

func TestWire(t *testing.T) {
	c := New(Filter{}, File(write(t, sample)))
	got, err := json.Marshal(c.Provider("acme").Models["big"].Wire())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"big","providerID":"acme","api":{"id":"big","url":"https://acme.test/v1","npm":"@ai-sdk/openai-compatible"},"name":"Big","family":"acme",
	 "capabilities":{"temperature":true,"reasoning":true,"attachment":true,"toolcall":true,"input":{"text":true,"audio":false,"image":false,"video":false,"pdf":true},
	  "output":{"text":true,"audio":false,"image":false,"video":false,"pdf":false},"interleaved":{"field":"reasoning_content"}},
	 "cost":{"input":1,"output":2,"cache":{"read":0.1,"write":0},"tiers":[{"input":3,"output":6,"cache":{"read":0,"write":0},"tier":{"type":"context","size":500000}}],
	  "experimentalOver200K":{"input":2,"output":4,"cache":{"read":0,"write":0}}},
	 "limit":{"context":1000000,"output":64000},"status":"active","options":{},"headers":{},"release_date":"2026-01-02",
	 "variants":{"none":{"reasoningEffort":"none"},"low":{"reasoningEffort":"low"},"high":{"reasoningEffort":"high"}}}`
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Error(diff)
	}
	plain := New(Filter{}, Config(json.RawMessage(`{"mine":{"models":{"m":{"interleaved":true}}}}`))).Provider("mine").Models["m"].Wire()
	if !plain.Capabilities.Input.Text || string(plain.Capabilities.Interleaved) != "true" || plain.Variants != nil || plain.Options == nil {
		t.Errorf("%+v", plain)
	}
}

func TestMaxOutput(t *testing.T) {
	for _, c := range []struct {
		own   float64
		limit int
		want  int
	}{{0, 0, 32000}, {64000, 0, 32000}, {8192, 0, 8192}, {8192, 100, 100}, {0, 50000, 50000}, {0.5, 0, 1}, {64000, 50000, 50000}} {
		m := Model{Limit: Limit{Output: c.own}}
		if got := m.MaxOutput(c.limit); got != c.want {
			t.Errorf("%v, %d: %d, not %d", c.own, c.limit, got, c.want)
		}
	}
}

func TestFilter_Policies(t *testing.T) {
	for _, c := range []struct {
		policies []Policy
		want     map[string]bool
	}{
		{nil, map[string]bool{"anthropic": true, "openai": true}},
		{[]Policy{{true, "*"}, {false, "open*"}}, map[string]bool{"anthropic": false, "openai": true, "openrouter": true}},
		{[]Policy{{false, "openai"}, {true, "open*"}}, map[string]bool{"anthropic": true, "openai": false}},
		{[]Policy{{true, "[bad"}}, map[string]bool{"anthropic": true}},
	} {
		catalog := New(Filter{Policies: c.policies})
		for id, want := range c.want {
			if got := catalog.Provider(id) != nil; got != want {
				t.Errorf("%v: %s is %v", c.policies, id, got)
			}
		}
	}
}

// waiting is a server that accepts and never answers.
type waiting struct{}

func (waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestRefresh_TakesAMinuteAtMost(t *testing.T) {
	path := write(t, "before")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := Refresh(t.Context(), &http.Client{Transport: waiting{}}, DefaultURL, path)
		if took := time.Since(start); took != refreshTime || lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "took longer than 1m0s") {
			t.Errorf("%v after %s", err, took)
		}
	})
}
