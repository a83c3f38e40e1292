package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// scripted is a provider that says what a script tells it to, and lists two models.
type scripted struct{ *modeltest.Server }

func (s scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"tiny"},{"id":"qwen3:8b"}]}`)
		return
	}
	s.Server.ServeHTTP(w, r)
}

// serverKey is where a script keeps its provider.
type serverKey struct{}

// cmdAnswers starts a scripted provider and keeps its address in a variable: answers URL script.
func cmdAnswers(ts *testscript.TestScript, _ bool, args []string) {
	script, err := modeltest.Parse(ts.ReadFile(args[1]))
	ts.Check(err)
	s := scripted{modeltest.New(script)}
	listening := httptest.NewServer(s)
	ts.Defer(listening.Close)
	ts.Setenv(args[0], listening.URL)
	*ts.Value(serverKey{}).(*scripted) = s
}

// cmdAsked holds what the provider was asked so far: asked 2 KEY; with a key the last request
// carried it.
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serverKey{}).(*scripted)
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := len(s.Requests()); got != want {
		ts.Fatalf("asked %d times, not %d", got, want)
	}
	if len(args) > 1 && s.Last().HasKey(args[1]) == neg {
		ts.Fatalf("whether the key %s was sent is not %v", args[1], !neg)
	}
}

// cmdReceived checks the last request to the model, tools included: received 'exit code 4'.
func cmdReceived(ts *testscript.TestScript, neg bool, args []string) {
	r := ts.Value(serverKey{}).(*scripted).Last()
	text := r.String()
	for _, t := range r.Prompt.Tools {
		text += "tool " + t.Name + "\n"
	}
	if regexp.MustCompile(args[0]).MatchString(text) == neg {
		ts.Fatalf("whether %s was received is not %v:\n%s", args[0], !neg, text)
	}
}

// cmdPages serves the files of a folder and keeps the address in a variable: pages URL folder.
func cmdPages(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[1])
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		src, err := os.ReadFile(filepath.Join(dir, filepath.Clean("/"+r.URL.Path)))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(src)
	}))
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
}

// cmdMode holds a file to its mode: mode 600 file.
func cmdMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, not %s", args[1], got, args[0])
	}
}

// cmdExpand copies a file with the script's variables filled in: expand from to.
func cmdExpand(ts *testscript.TestScript, _ bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// cmdHears waits until the provider was asked so many times: hears 2.
func cmdHears(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(serverKey{}).(*scripted)
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if len(s.Requests()) >= want {
			return
		}
		<-tick.C
	}
	ts.Fatalf("the provider was asked %d times, not %d", len(s.Requests()), want)
}

// cmdThere waits for a file that a command in the background makes: there FILE.
func cmdThere(ts *testscript.TestScript, _ bool, args []string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		<-tick.C
	}
	ts.Fatalf("%s does not come", args[0])
}
