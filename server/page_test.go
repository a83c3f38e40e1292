package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/web"
)

var pageFile = regexp.MustCompile(`(?:src|href)="(/[^"]+)"`)

// Browsers get the page and all its files without the password, with headers that let nothing else run.
func TestPage_Browsers(t *testing.T) {
	w := locked(t)
	a := w.want(http.StatusOK, nil, "GET", "/", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": web.Policy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cache-Control": "no-cache",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if strings.Contains(web.Policy, "unsafe") || regexp.MustCompile(`<script>|<style|style=| on\w+=`).Match(a.body) {
		t.Errorf("the page has inline code: %s", a.body)
	}
	if again := w.want(http.StatusNotModified, nil, "GET", "/", "", "Accept", "text/html", "If-None-Match", a.Header.Get("ETag")); len(again.body) > 0 {
		t.Errorf("304 has a body: %q", again.body)
	}
	files := pageFile.FindAllSubmatch(a.body, -1)
	if len(files) < 4 {
		t.Fatalf("the page names %d files", len(files))
	}
	for _, m := range append(files, [][]byte{nil, []byte("/sw.js")}, [][]byte{nil, []byte("/icon-512.png")}) {
		path := string(m[1])
		plain := w.want(http.StatusOK, nil, "GET", path, "", "Accept-Encoding", "identity")
		zipped := w.want(http.StatusOK, nil, "GET", path, "", "Accept-Encoding", "gzip")
		small := w.want(http.StatusOK, nil, "GET", path, "", "Accept-Encoding", "gzip, deflate, br")
		if zipped.Header.Get("Content-Encoding") == "gzip" {
			r, err := gzip.NewReader(bytes.NewReader(zipped.body))
			w.ok(err)
			got, err := io.ReadAll(r)
			w.ok(err)
			if !bytes.Equal(got, plain.body) {
				t.Errorf("%s: gzip holds something else", path)
			}
		}
		if strings.HasSuffix(path, ".js") && (small.Header.Get("Content-Encoding") != "br" || len(small.body) >= len(plain.body)) {
			t.Errorf("%s: %d bytes of %q", path, len(small.body), small.Header.Get("Content-Encoding"))
		}
		if immutable := strings.Contains(plain.Header.Get("Cache-Control"), "immutable"); immutable != strings.HasPrefix(path, "/assets/") {
			t.Errorf("%s: immutable is %v", path, immutable)
		}
	}
}

// For clients of the API / is no route, as before.
func TestPage_ClientsOfTheAPI(t *testing.T) {
	open, closed := begin(t, ""), locked(t)
	for _, accept := range []string{"application/json", "application/json, text/plain, */*", "application/problem+json", "text/event-stream", "image/png"} {
		open.want(http.StatusNotFound, nil, "GET", "/", "", "Accept", accept).is(open,
			`{"name":"NotFoundError","data":{"message":"Route GET / not found; GET /doc lists all routes"}}`)
		closed.want(http.StatusUnauthorized, nil, "GET", "/", "", "Accept", accept)
	}
	open.want(http.StatusNotFound, nil, "GET", "/", "", "X-Opencode-Directory", open.dir)
	for _, accept := range []string{"", "*/*", "text/*"} { // curl, and programs that look for a page
		a := closed.want(http.StatusOK, nil, "GET", "/", "", "Accept", accept)
		if got := a.Header.Get("Content-Type"); got != "text/html; charset=utf-8" || a.Header.Get("Vary") == "" {
			t.Errorf("Accept: %q gets %q", accept, got)
		}
	}
}

// The page gives away nothing but its own files, and only to pages and clients that may ask.
func TestPage_Attacks(t *testing.T) {
	w := locked(t)
	for _, path := range []string{
		"/assets/../index.html", "/assets/%2e%2e/index.html", "/assets/..%2f..%2fweb.go", "/assets/", "/assets/x.js", "/assets/%00.js",
		"/index.html", "/sw.js.br", "/sw.js/", "/dist/sw.js", "/web.go", "/assets/" + strings.Repeat("a", 4000) + ".js",
	} {
		a := w.ask("GET", path, "", "Accept", "text/html")
		if a.StatusCode < 400 || a.Header.Get("Content-Type") == "text/html; charset=utf-8" {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
	}
	w.want(http.StatusForbidden, nil, "GET", "/", "", "Accept", "text/html", "Host", "evil.example")
	w.want(http.StatusForbidden, nil, "GET", "/sw.js", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script")
	w.want(http.StatusForbidden, nil, "GET", "/", "", "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe")
	w.want(http.StatusForbidden, nil, "GET", "/", "", "Accept", "text/html", "Origin", "https://evil.example")
	if a := w.ask("POST", "/", "{}", "Accept", "text/html"); a.StatusCode < 400 {
		t.Errorf("POST /: status %d", a.StatusCode)
	}
	w.want(http.StatusOK, nil, "GET", "/", "", "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	w.want(http.StatusUnauthorized, nil, "GET", "/session", "", "Accept", "text/html")
}
