package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/tool/web"
)

// search makes the tool, with a key that must never be seen.
func search(t *testing.T, provider, endpoint string) tool.Tool {
	t.Helper()
	x, ok := web.Search(web.SearchConfig{Provider: provider, Endpoint: endpoint, Key: "k3y/secret", UserAgent: "lathe/9"})
	if !ok {
		t.Fatal("there is no tool")
	}
	return x
}

func TestWebSearch_Absent(t *testing.T) {
	for _, cfg := range []web.SearchConfig{{}, {Provider: "exa"}, {Provider: "other", Key: "k"}} {
		if x, ok := web.Search(cfg); ok || x != nil {
			t.Errorf("%+v: there is a tool", cfg)
		}
	}
}

// A server without a key gets none, and one that demands a key gets an error that says where to
// set it.
func TestWebSearch_Keyless(t *testing.T) {
	for provider, refuses := range map[string]bool{"exa": false, "parallel": true} {
		seen := ""
		at := site(t, func(w http.ResponseWriter, r *http.Request) {
			seen = r.URL.String() + "|" + r.Header.Get("Authorization")
			if refuses {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, found)
		})
		x, ok := web.Search(web.SearchConfig{Provider: provider, Endpoint: at + "/mcp", Keyless: true})
		if !ok {
			t.Fatal("there is no tool")
		}
		c := tooltest.NewUserHost(t)
		if refuses {
			tooltest.Contains(t, c.Fails(x, tooltest.Input{"query": "go"}), "wants a key, which the user can give in EXA_API_KEY or PARALLEL_API_KEY")
		} else {
			tooltest.Contains(t, c.Must(x, tooltest.Input{"query": "go"}).Output, "https://go.dev")
		}
		if seen != "/mcp|" {
			t.Errorf("%s was sent %s", provider, seen)
		}
		gone := web.SearchConfig{Provider: provider, Endpoint: "http://127.0.0.1:1/mcp", Keyless: true}
		x, _ = web.Search(gone)
		tooltest.Contains(t, c.Fails(x, tooltest.Input{"query": "go"}), "connection refused")
	}
}

const found = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Title: Go\nURL: https://go.dev"},{"type":"text","text":"second"}]}}`

func TestWebSearch_Exa(t *testing.T) {
	var body, seen string
	at := site(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body = string(data)
		seen = strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Accept"), r.Header.Get("Content-Type"), r.Header.Get("Authorization"), r.UserAgent()}, "|")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, found)
	})
	c := tooltest.NewUserHost(t)
	r := c.Must(search(t, "", at+"/mcp"), tooltest.Input{"query": `go "1.26"`})
	want := tool.Result{
		Title:    `Exa Web Search: go "1.26"`,
		Output:   outsideLine[1:] + "Title: Go\nURL: https://go.dev",
		Metadata: json.RawMessage(`{"provider":"exa"}`),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`Exa Web Search "go "1.26"" {"provider":"exa"}`}, c.Shown); diff != "" {
		t.Error(diff)
	}
	asked := []tool.Permission{{
		Name: "websearch", Patterns: []string{`go "1.26"`}, Always: []string{"*"},
		Metadata: json.RawMessage(`{"query":"go \"1.26\"","provider":"exa"}`),
	}}
	if diff := cmp.Diff(asked, c.Asked); diff != "" {
		t.Error(diff)
	}
	if want := "POST|/mcp?exaApiKey=k3y%2Fsecret|application/json, text/event-stream|application/json||lathe/9"; seen != want {
		t.Errorf("%s; want %s", seen, want)
	}
	if want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search_exa","arguments":{"query":"go \"1.26\"","type":"auto","numResults":8,"livecrawl":"fallback"}}}`; body != want {
		t.Errorf("%s; want %s", body, want)
	}

	c = tooltest.NewUserHost(t)
	c.Must(search(t, "exa", at), tooltest.Input{"query": "q", "numResults": 1e9, "livecrawl": "preferred", "type": "deep", "contextMaxCharacters": 5000})
	if want := `"arguments":{"query":"q","type":"deep","numResults":100,"livecrawl":"preferred","contextMaxCharacters":5000}`; !strings.Contains(body, want) {
		t.Error(body)
	}
	if want := `{"query":"q","numResults":1000000000,"livecrawl":"preferred","type":"deep","contextMaxCharacters":5000,"provider":"exa"}`; string(c.Asked[0].Metadata) != want {
		t.Errorf("%s", c.Asked[0].Metadata)
	}
}

func TestWebSearch_Parallel(t *testing.T) {
	var body, seen string
	at := site(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body = string(data)
		seen = r.URL.String() + "|" + r.Header.Get("Authorization") + "|" + r.UserAgent()
		fmt.Fprint(w, found)
	})
	c := tooltest.NewUserHost(t)
	c.Call.Model = lathe.ModelRef{Provider: "p", Model: "m-1"}
	r := c.Must(search(t, "parallel", at), tooltest.Input{"query": "q"})
	if r.Title != "Parallel Web Search: q" || string(r.Metadata) != `{"provider":"parallel"}` || seen != "/|Bearer k3y/secret|lathe/9" {
		t.Errorf("%s %s %s", r.Title, r.Metadata, seen)
	}
	if want := `"params":{"name":"web_search","arguments":{"objective":"q","search_queries":["q"],"session_id":"ses_1","model_name":"m-1"}}}`; !strings.HasSuffix(body, want) {
		t.Error(body)
	}
}

// The answer is found in a stream too, also one that never ends.
func TestWebSearch_Stream(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "text/plain"} {
		at := site(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client has gone
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, ": hello\n\ndata: nonsense\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n\ndata: "+found+"\n\n")
			if kind == "text/event-stream" {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		})
		tooltest.Contains(t, tooltest.NewUserHost(t).Must(search(t, "exa", at), tooltest.Input{"query": "q"}).Output, "https://go.dev")
	}
}

func TestWebSearch_Nothing(t *testing.T) {
	for _, answer := range []string{`{"result":{"content":[]}}`, `{"result":{"content":[{"type":"text","text":"  "}]}}`, "data: {}\n\n", ""} {
		at := site(t, served("application/json", answer))
		if got, want := tooltest.NewUserHost(t).Must(search(t, "exa", at), tooltest.Input{"query": "q"}).Output, `Nothing was found for "q". Search with other or fewer words.`; got != want {
			t.Errorf("%q: %q", answer, got)
		}
	}
}

// Failures say what to do instead, and never show the key.
func TestWebSearch_Failures(t *testing.T) {
	for _, tt := range []struct {
		status     int
		head, body string
		want       string
	}{
		{401, "", "k3y/secret is wrong", "the provider rejected the configured API key (status 401). Fetch a known page with webfetch, or continue without it."},
		{429, "", "", "allows no more searches for now"},
		{500, "", "", "the provider answered 500 Internal Server Error"},
		{302, "Location: http://127.0.0.2/", "", "the provider answered 302 Found"},
		{200, "", `{"error":{"code":-1,"message":"bad key k3y/secret"}}`, `the provider says "bad key [key]"`},
		{200, "", `{"result":{"isError":true,"content":[{"type":"text","text":"out of credit"}]}}`, `the provider says "out of credit"`},
		{200, "", `{"jsonrpc":"2.0"}`, "the provider's answer has no result"},
		{200, "", `{"result":`, "the provider's answer cannot be read"},
		{200, "Content-Length: 50", `{"res`, "unexpected EOF"},
	} {
		at := site(t, func(w http.ResponseWriter, _ *http.Request) {
			if key, value, ok := strings.Cut(tt.head, ": "); ok {
				w.Header().Set(key, value)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
		})
		got := tooltest.NewUserHost(t).Fails(search(t, "exa", at), tooltest.Input{"query": "q"})
		if tooltest.Contains(t, got, "The web search failed: ", tt.want); strings.Contains(got, "k3y") {
			t.Errorf("the key is in %s", got)
		}
	}
	for _, endpoint := range []string{"http://127.0.0.1:1/x", "http://[", "nonsense"} {
		if got := tooltest.NewUserHost(t).Fails(search(t, "exa", endpoint), tooltest.Input{"query": "q"}); strings.Contains(got, "k3y") || !strings.Contains(got, "The web search failed: ") {
			t.Error(got)
		}
	}
	tooltest.Contains(t, tooltest.NewUserHost(t).Fails(search(t, "exa", "http://127.0.0.1:1"), tooltest.Input{"query": " "}), `query is empty. Say what to search: {"query":"golang`)
}

func TestWebSearch_Refused(t *testing.T) {
	called := false
	at := site(t, func(http.ResponseWriter, *http.Request) { called = true })
	c := tooltest.NewUserHost(t)
	c.Refuse = "websearch"
	if _, err := c.Run(search(t, "exa", at), tooltest.Input{"query": "q"}); lathe.CodeOf(err) != lathe.Rejected || called {
		t.Errorf("%v, searched: %v", err, called)
	}
}

func TestWebSearch_Cancel(t *testing.T) {
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	at := site(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel(stop)
		<-r.Context().Done()
	})
	c := tooltest.NewUserHost(t).Call
	c.Input = json.RawMessage(`{"query":"q"}`)
	if _, err := tool.Run(ctx, search(t, "exa", at), &c); !errors.Is(err, stop) {
		t.Error(err)
	}
}

type shelf struct{}

func (shelf) Provider() string { return "shelf" }
func (shelf) Label() string    { return "Shelf" }
func (shelf) Search(_ context.Context, q web.SearchQuery) (string, error) {
	return fmt.Sprintf("%+v", q), nil
}

// A searcher of one's own needs no key.
func TestWebSearch_Own(t *testing.T) {
	x, ok := web.Search(web.SearchConfig{Searcher: shelf{}})
	if !ok {
		t.Fatal("there is no tool")
	}
	r := tooltest.NewUserHost(t).Must(x, tooltest.Input{"query": "q"})
	if want := "{Query:q Results:8 Livecrawl:fallback Type:auto Characters:0 Session:ses_1 Model:}"; r.Title != "Shelf: q" || !strings.HasSuffix(r.Output, want) {
		t.Errorf("%+v", r)
	}
}
