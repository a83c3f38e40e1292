package harness

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// An instruction from an address never blocks: it counts when it is there, and what came last
// time counts until then.
func TestPages(t *testing.T) {
	text, release := "Be kind.", make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "cache")
	first := newPages(dir, "lathe/test", slog.New(slog.DiscardHandler))
	for _, path := range []string{"/kind", "/gone", "/kind"} {
		if got := first.text(server.URL + path); got != "" {
			t.Errorf("%s said %q before it answered", path, got)
		}
	}
	close(release)
	first.work.Wait()
	if got, n := first.text(server.URL+"/kind"), first.count(); got != text || n != 1 {
		t.Errorf("%q, %d arrived", got, n)
	}
	if got := first.text(server.URL + "/gone"); got != "" {
		t.Errorf("an error page counts: %q", got)
	}
	first.close()

	text = "Be kinder."
	second := newPages(dir, "lathe/test", slog.New(slog.DiscardHandler))
	if got := second.text(server.URL + "/kind"); got != "Be kind." {
		t.Errorf("of the last time: %q", got)
	}
	second.work.Wait()
	if got := second.text(server.URL + "/kind"); got != text || second.count() != 1 {
		t.Errorf("%q", got)
	}
	second.close()
}

// What is still running ends with the program, and an address that holds a secret is not shown
// with it.
func TestPages_End(t *testing.T) {
	hangs := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(hangs)
		<-r.Context().Done()
	}))
	defer server.Close()
	var log strings.Builder
	p := newPages(t.TempDir(), "lathe/test", slog.New(slog.NewTextHandler(&log, nil)))
	p.text(strings.Replace(server.URL, "http://", "http://dev:hunter2@", 1) + "/x?token=hunter3")
	<-hangs
	p.close()
	if strings.Contains(log.String(), "hunter") || !strings.Contains(log.String(), "could not be fetched") {
		t.Error(log.String())
	}
}
