package server_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

func TestShare_IsReadWithoutAPassword(t *testing.T) {
	log := &logBuffer{}
	w := begin(t, `text "Once " "more."
finish stop`, func(o *server.Options) {
		o.Password, o.Log, o.Heartbeat = "secret", slog.New(slog.NewTextHandler(log, nil)), 10*time.Millisecond
	})
	me := []string{"Authorization", basic("opencode", "secret")}
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"<b>Shared</b>"}`, me...)
	own := "/session/" + string(s.ID)
	w.want(http.StatusOK, &s, "POST", own+"/share", "", me...)
	if s.Share == nil || !strings.HasPrefix(s.Share.URL, w.url+"/share/"+string(s.ID)+"/") {
		t.Fatalf("shared at %v", s.Share)
	}
	at, err := url.Parse(s.Share.URL)
	w.ok(err)
	page := w.want(http.StatusOK, nil, "GET", at.Path, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || !strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page has %v", page.Header)
	}
	for _, file := range regexp.MustCompile(`(?:href|src)="(/[^"]+)"`).FindAllStringSubmatch(string(page.body), -1) {
		w.want(http.StatusOK, nil, "GET", file[1], "")
	}
	l := w.listen(at.Path + "/event")
	l.until("server.heartbeat") // tells a reader, and proxies, that the connection lives
	w.want(http.StatusNoContent, nil, "POST", own+"/prompt_async", prompt("hi"), me...)
	for _, f := range l.until("session.idle") {
		if strings.Contains(f.data, `"session.updated"`) {
			t.Errorf("told %s", f.data)
		}
	}
	var data struct {
		Title    string
		Messages []lathe.Message
	}
	a := w.want(http.StatusOK, &data, "GET", at.Path+"/data", "")
	if data.Title != "<b>Shared</b>" || len(data.Messages) != 2 || textOf(data.Messages[1]) != "Once more." || strings.Contains(string(a.body), at.Path) {
		t.Errorf("the data is %s", a.body)
	}

	last := "_"
	if strings.HasSuffix(at.Path, last) {
		last = "-"
	}
	wrong := at.Path[:len(at.Path)-1] + last
	for _, p := range []string{wrong, wrong + "/data", wrong + "/event", "/share/ses_gone/" + strings.Repeat("a", 32), "/share/" + string(s.ID) + "/x", "/share/../session/x"} {
		if a := w.ask("GET", p, ""); a.StatusCode != http.StatusNotFound && a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: status %d", p, a.StatusCode)
		}
	}
	w.want(http.StatusMethodNotAllowed, nil, "POST", at.Path, "", me...)
	w.want(http.StatusOK, &s, "DELETE", own+"/share", "", me...)
	if s.Share != nil {
		t.Errorf("still shared at %v", s.Share)
	}
	for range l.frames { // ends, or the test does not
	}
	w.want(http.StatusNotFound, nil, "GET", at.Path, "")
	w.want(http.StatusNotFound, nil, "GET", at.Path+"/data", "")
	if secret := path.Base(at.Path); strings.Contains(log.String(), secret) || !strings.Contains(log.String(), "/share/"+string(s.ID)) {
		t.Errorf("the log tells the secret, or not what was asked:\n%s", log)
	}
}

func TestShare_BySettings(t *testing.T) {
	w := begin(t, "")
	w.settings.loaded.Config.Share = "auto"
	parent := w.session()
	if parent.Share == nil {
		t.Error("auto shares nothing")
	}
	var child lathe.Session
	if w.want(http.StatusOK, &child, "POST", "/session", `{"parentID":"`+string(parent.ID)+`"}`); child.Share != nil {
		t.Error("auto shares what works for another session")
	}
	w.settings.loaded.Config.Share = "disabled"
	s := w.session()
	w.want(http.StatusInternalServerError, nil, "POST", "/session/"+string(s.ID)+"/share", "").is(w, `{"_tag":"InternalServerError"}`)
	if s.Share != nil {
		t.Error("disabled shares")
	}
}

// A share with an end is gone after it, and its readers with it; said again it lasts longer, at
// the same address.
func TestShare_Expires(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	own := "/session/" + string(s.ID)
	w.want(http.StatusBadRequest, nil, "POST", own+"/share?expires=soon", "")
	w.want(http.StatusOK, &s, "POST", own+"/share?expires=7d", "")
	at, err := url.Parse(s.Share.URL)
	w.ok(err)
	if end, ok := s.Share.ExpiresAt(); !ok || time.Until(end) < 6*24*time.Hour || time.Until(end) > 7*24*time.Hour {
		t.Errorf("it ends %v %v", end, ok)
	}
	w.want(http.StatusOK, nil, "GET", at.Path, "")
	w.want(http.StatusOK, &s, "POST", own+"/share", "")
	if _, ok := s.Share.ExpiresAt(); !ok {
		t.Error("sharing again without a time took the end away")
	}
	w.want(http.StatusOK, &s, "POST", own+"/share?expires=1ms", "")
	if again, err := url.Parse(s.Share.URL); err != nil || again.Path != at.Path {
		t.Errorf("it moved from %s to %s", at.Path, again.Path)
	}
	for _, p := range []string{"", "/data", "/event", "?until=99999999999"} { // what is asked for does not count
		w.want(http.StatusNotFound, nil, "GET", at.Path+p, "")
	}
	w.want(http.StatusOK, &s, "POST", own+"/share?expires=2w", "")
	if fresh, err := url.Parse(s.Share.URL); err != nil || fresh.Path == at.Path {
		t.Error("an address that was over works again")
	}
}
