package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
)

// A browser pairs by a link over TLS, follows a session, and loses all access when its device is revoked.
func TestServe_Pair(t *testing.T) {
	home := serveHome(t, "http://127.0.0.1:1")
	s := startServe(t, home, nil, "--pair", "--right", "answer", "--tls", "auto")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // what a user does who compared the fingerprint
	s.ask(http.StatusUnauthorized, nil, "GET", "/lathe/device", "")
	link := strings.TrimSpace(must(t, home, "web", "--print"))
	page, token, ok := strings.Cut(link, "/#pair=")
	if !ok || page != s.url {
		t.Fatalf("the link is %q, the server at %s", link, s.url)
	}
	s.ask(http.StatusOK, nil, "POST", "/lathe/pair", `{"token":"`+token+`","name":"laptop"}`)
	s.ask(http.StatusForbidden, nil, "POST", "/lathe/pair", `{"token":"`+token+`","name":"thief"}`)
	if me := s.ask(http.StatusOK, nil, "GET", "/lathe/device", ""); !strings.Contains(me, `"name":"laptop","right":"full"`) {
		t.Errorf("paired as %s", me)
	}
	if list := must(t, home, "device", "list"); !strings.Contains(list, "laptop") || strings.Contains(list, "thief") {
		t.Errorf("the list is\n%s", list)
	}
	res, err := s.client.Get(s.url + "/event")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	must(t, home, "device", "revoke", "laptop")
	if _, err := io.Copy(io.Discard, res.Body); err != nil { // ends, or the test does not
		t.Error(err)
	}
	s.ask(http.StatusUnauthorized, nil, "GET", "/lathe/device", "")
	s.end()
	for _, part := range []string{s.url + "/#pair=", "█▀", "SHA-256 fingerprint", `the right "answer"`} {
		if !strings.Contains(s.stderr.String(), part) {
			t.Errorf("it does not print %q:\n%s", part, s.stderr)
		}
	}
}
