package plugin_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/sandbox"
)

func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) == 3 && os.Args[1] == "be-an-engine" {
		beEngine(os.Args[2])
	}
	if len(os.Args) > 2 && os.Args[1] == "be-a-plugin" {
		os.Exit(bePlugin(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// fixture is a directory with plugins, and their messages.
type fixture struct {
	*testing.T
	dir  string
	opt  plugin.Options
	c    *plugin.Hub
	news chan string
	logs *logs
}

// newFixture makes a directory; files are its names and contents.
func newFixture(t *testing.T, files map[string]string) *fixture {
	t.Helper()
	w := &fixture{T: t, dir: t.TempDir(), news: make(chan string, 100), logs: &logs{}}
	for name, text := range files {
		w.write(name, text)
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	w.opt = plugin.Options{
		Dir: w.dir, Worktree: w.dir, Project: json.RawMessage(`{"id":"global"}`), Runner: runner, Cache: filepath.Join(w.dir, ".cache"),
		Env: os.Environ(), ServerURL: "http://127.0.0.1:4096", Log: slog.New(slog.NewTextHandler(w.logs, nil)),
		Publish: func(f lathe.Fact) {
			if s, ok := f.(*lathe.SessionFailed); ok && s.Session == "" {
				w.news <- s.Error.(*lathe.UnknownFault).Message
			}
			if t, ok := f.(*lathe.TUIToast); ok && t.Variant == "warning" {
				w.news <- t.Message
			}
		},
	}
	return w
}

func (w *fixture) write(name, text string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// open starts the plugins of a list of specs, which are files of the directory.
func (w *fixture) open(specs ...string) *fixture {
	w.Helper()
	for _, s := range specs {
		w.opt.Plugins = append(w.opt.Plugins, plugin.Plugin{Spec: s})
	}
	w.c = plugin.Open(w.opt)
	w.Cleanup(func() {
		if err := w.c.Close(); err != nil {
			w.Error(err)
		}
	})
	return w
}

// stub is a plugin that is this test's own program, behaving in a way that bePlugin knows.
func stub(behavior string, args ...string) plugin.Plugin {
	return plugin.Plugin{Spec: behavior, Command: append([]string{os.Args[0], "be-a-plugin", behavior}, args...)}
}

// js opens JavaScript plugins, where there is something to run them.
func (w *fixture) js(specs ...string) *fixture {
	w.Helper()
	needNode(w.T)
	return w.open(specs...)
}

func needNode(t testing.TB) {
	t.Helper()
	_, bun := exec.LookPath("bun")
	if _, node := exec.LookPath("node"); node != nil && bun != nil {
		t.Skip("JavaScript plugins need node or bun, and neither is installed")
	}
}

func (w *fixture) start() {
	w.Helper()
	if err := w.c.Start(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// call runs a hook and returns its output.
func (w *fixture) call(hook, input, output string) string {
	w.Helper()
	got, err := w.c.Call(w.Context(), hook, json.RawMessage(input), json.RawMessage(output))
	if err != nil {
		w.Fatalf("%s: %v\n%s", hook, err, w.state())
	}
	return string(got)
}

// fails runs a hook that must fail with a message that has all the words.
func (w *fixture) fails(code lathe.Code, hook, output string, words ...string) {
	w.Helper()
	got, err := w.c.Call(w.Context(), hook, json.RawMessage("{}"), json.RawMessage(output))
	if err == nil || lathe.CodeOf(err) != code {
		w.Fatalf("%s: %s, %v (code %s)", hook, got, err, lathe.CodeOf(err))
	}
	contains(w, err.Error(), words...)
}

func contains(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Fatalf("%q lacks %q", text, word)
		}
	}
}

// waitMessage waits for events with all the words.
func (w *fixture) waitMessage(words ...string) {
	w.Helper()
	late := time.After(60 * time.Second)
	var other []string
	for {
		select {
		case text := <-w.news:
			other = append(other, text)
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
				return
			}
		case <-late:
			w.Fatalf("nobody was told %q, only %q\n%s", words, other, w.state())
		}
	}
}

// status is that of one plugin.
func (w *fixture) status(name string) plugin.Status {
	w.Helper()
	for _, s := range w.c.Status() {
		if s.Name == name {
			return s
		}
	}
	w.Fatalf("no plugin is called %s: %s", name, w.state())
	return plugin.Status{}
}

func (w *fixture) state() string {
	data, err := json.MarshalIndent(w.c.Status(), "", " ")
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// logs keeps what was logged, and tells who waits for a line.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
	wait []func(string)
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.wait {
		f(string(p))
	}
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// line waits until something with a word is logged.
func (w *fixture) line(word string) {
	w.Helper()
	seen := make(chan struct{}, 1)
	look := func(s string) {
		if strings.Contains(s, word) {
			select {
			case seen <- struct{}{}:
			default:
			}
		}
	}
	w.logs.mu.Lock()
	look(w.logs.text.String())
	w.logs.wait = append(w.logs.wait, look)
	w.logs.mu.Unlock()
	select {
	case <-seen:
	case <-time.After(60 * time.Second):
		w.Fatalf("%q was not logged:\n%s\n%s", word, w.logs, w.state())
	}
}

// said waits until a process has said all the words on its error output, which is read beside the protocol.
func (w *fixture) said(name string, words ...string) {
	w.Helper()
	for began := time.Now(); ; runtime.Gosched() {
		text := w.status(name).Stderr
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			return
		}
		if time.Since(began) > 60*time.Second {
			w.Fatalf("%s said only %q", name, text)
		}
	}
}
