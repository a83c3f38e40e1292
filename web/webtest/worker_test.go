package webtest

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// versions serves the page of a server, and another version of it once newer is set: the names of the bundle and the
// worker have other hashes.
func (w *world) versions() (server *httptest.Server, newer *atomic.Bool) {
	w.Helper()
	target, err := url.Parse(w.url)
	if err != nil {
		w.Fatal(err)
	}
	newer = &atomic.Bool{}
	hash, version := regexp.MustCompile(`main-[A-Z0-9]{8}\.js`), regexp.MustCompile(`[0-9a-f]{12}`)
	real := hash.FindString(w.index())
	server = httptest.NewServer(&httputil.ReverseProxy{
		ErrorLog:  log.New(io.Discard, "", 0),
		Transport: &http.Transport{DisableCompression: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Del("Accept-Encoding")
			r.Out.Header.Del("If-None-Match")
			r.Out.URL.Path = strings.Replace(r.Out.URL.Path, "main-NEWNEWNE.js", real, 1)
		},
		ModifyResponse: func(res *http.Response) error {
			path := res.Request.URL.Path
			if !newer.Load() || path != "/" && path != "/sw.js" && !strings.HasPrefix(path, "/assets/main-") {
				return nil
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			body = hash.ReplaceAll(body, []byte("main-NEWNEWNE.js"))
			switch {
			case path == "/sw.js":
				body = version.ReplaceAll(body, []byte("0123456789ab"))
			case path != "/":
				body = append(body, ";window.newVersion = true;"...)
			}
			res.Body = io.NopCloser(bytes.NewReader(body))
			res.ContentLength = int64(len(body))
			res.Header.Del("Content-Length")
			res.Header.Del("ETag")
			return nil
		},
	})
	w.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server, newer
}

// index is the page as the server sends it.
func (w *world) index() string {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url, http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return string(body)
}

// A tab that runs while the server is replaced is told so, a new load has the new version, and the shell opens without
// a connection, with the sessions that it showed last.
func TestWorker_Update(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	id := w.session("A session to find again")
	server, newer := w.versions()
	w.url = server.URL
	w.size(1280, 800)
	w.see(id)
	w.wait(`navigator.serviceWorker.controller`)
	if eval[bool](w, `document.body.innerText.includes("A new version is here")`) {
		t.Error("the first worker counts as a new version")
	}
	newer.Store(true)
	w.do("look for a new worker", chromedp.Evaluate[chromedp.Void](`navigator.serviceWorker.getRegistration().then(r => r.update()).then(() => {})`, chromedp.EvalAwaitPromise))
	w.shows("A new version is here.")
	if eval[bool](w, "window.newVersion === true") {
		t.Error("the old tab runs the new version before it is loaded again")
	}
	w.click("Reload")
	w.wait(`window.newVersion === true && document.body.innerText.includes("A session to find again")`)
	if left := eval[int](w, `caches.keys().then(all => all.length)`); left != 1 {
		t.Errorf("%d versions of the shell are kept", left)
	}
	w.kill()
	w.do("open while a proxy says that the server is down", chromedp.Navigate(w.url+"/?down#/"))
	w.shows("A session to find again")
	server.CloseClientConnections()
	server.Close()
	w.do("open without a connection", chromedp.Navigate(w.url+"/#/"), chromedp.Reload())
	w.shows("A session to find again")
	w.quiet()
}
