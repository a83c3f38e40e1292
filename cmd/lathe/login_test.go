package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/model/auth"
)

// A login in the browser, with a vendor on this machine in the place of the real one.
func TestLogin_Browser(t *testing.T) {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/auth" {
			http.Redirect(w, r, r.URL.Query().Get("callback_url")+"?code=c-1", http.StatusFound)
			return
		}
		var q map[string]string
		if json.NewDecoder(r.Body).Decode(&q) != nil || q["code"] != "c-1" || len(q["code_verifier"]) != 43 {
			t.Errorf("%s: %v", r.URL.Path, q)
		}
		_, _ = io.WriteString(w, `{"key":"sk-or-hidden"}`)
	}))
	defer vendor.Close()
	home := t.TempDir()
	a := newApp()
	a.Env = func(name string) string {
		return map[string]string{"HOME": home, "LATHE_DATA": filepath.Join(home, "data")}[name]
	}
	a.Dir = home
	a.Logins = []auth.Method{{
		Provider: "openrouter", Flow: auth.Browser, Authorize: vendor.URL + "/auth", Token: vendor.URL + "/keys", RedirectParam: "callback_url", GivesKey: true,
	}}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	screen, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a.Stdin, a.Stderr, a.Notices = nothing, typed, typed
	a.Browse = func(string) error { t.Error("a browser was opened without a terminal"); return nil }
	done := make(chan string, 1)
	go func() { done <- follow(t, screen) }()
	err = account.LogIn(t.Context(), a, account.LoginFlags{Provider: "openrouter", Method: "browser"})
	if e := typed.Close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	if page := <-done; !strings.Contains(page, "You are logged in.") {
		t.Error(page)
	}
	src, err := os.ReadFile(filepath.Join(home, "data", "auth.json"))
	if err != nil || !strings.Contains(string(src), `"key": "sk-or-hidden"`) || !strings.Contains(string(src), `"type": "api"`) {
		t.Errorf("%s %v", src, err)
	}
}

// follow opens the first address that is shown and returns the page it ends at.
func follow(t *testing.T, screen io.Reader) (page string) {
	lines := bufio.NewScanner(screen)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if u, err := url.Parse(text); page != "" || err != nil || u.Scheme != "http" {
			continue
		}
		resp, err := http.Get(text)
		if err != nil {
			t.Error(err)
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		page = string(body)
	}
	return page
}

func TestMatch(t *testing.T) {
	all := []cli.Choice{{ID: "anthropic", Name: "Anthropic"}, {ID: "google", Name: "Google"}, {ID: "google-vertex", Name: "Vertex"}, {ID: "openai", Name: "OpenAI"}, {ID: "x1", Name: "1"}}
	for line, want := range map[string][]string{
		"1": {"anthropic"}, "5": {"x1"}, "6": nil, "0": nil, "-1": nil, "": nil,
		"google": {"google"}, "GOOGLE": {"google"}, "goo": {"google", "google-vertex"}, "vertex": {"google-vertex"}, "Ver": {"google-vertex"},
		"antropic": {"anthropic"}, "nonesuch": nil,
	} {
		var got []string
		found, sure := cli.Match(line, all, all)
		for _, c := range found {
			got = append(got, c.ID)
		}
		if !slices.Equal(got, want) || sure != (len(want) > 0 && line != "antropic") {
			t.Errorf("%q: %v, not %v", line, got, want)
		}
	}
}

func TestShellWords(t *testing.T) {
	for want, args := range map[string][]string{
		"gcloud auth print-access-token":   {"gcloud", "auth", "print-access-token"},
		`sh -c 'rm -rf /; echo '\''x'\'''`: {"sh", "-c", "rm -rf /; echo 'x'"},
		"a ''":                             {"a", ""},
	} {
		if got := account.ShellCommand(args); got != want {
			t.Errorf("%q: %s, not %s", args, got, want)
		}
	}
}

func TestBrowse_OnlyPages(t *testing.T) {
	for _, page := range []string{"", "file:///etc/passwd", "javascript:alert(1)", "--help", "/bin/sh"} {
		if account.OpenBrowser(page) == nil {
			t.Errorf("%q was opened", page)
		}
	}
}
