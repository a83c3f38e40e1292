package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// TestMain makes this program what the tests need: a launcher, a good server, a hostile one, and
// processes that use a hub or a login and are killed or compete.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine {
		os.Exit(exit)
	}
	if len(os.Args) > 1 {
		if run := roles[os.Args[1]]; run != nil {
			os.Exit(run(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

var roles = map[string]func([]string) int{
	"a-server": goodServer, "a-hostile-server": hostileServer, "a-hub": hubProcess, "a-login": loginProcess,
}

// self is this program in a role, as the command of a server.
func self(t testing.TB, role string, args ...string) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{path, role}, args...)
}

// fixture is a hub and what surrounds it.
type fixture struct {
	t         testing.TB
	hub       *mcp.Hub
	dir       string
	published *recorder
	log       *strings.Builder
}

// recorder keeps what was reported.
type recorder struct {
	mu    sync.Mutex
	facts []lathe.Fact
}

func (r *recorder) record(f lathe.Fact) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts = append(r.facts, f)
}

// last is the newest of what was reported, nil if nothing was.
func (r *recorder) last() lathe.Fact {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.facts) == 0 {
		return nil
	}
	return r.facts[len(r.facts)-1]
}

// changes are the servers with a published change of tools.
func (r *recorder) changes() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.facts {
		if c, ok := f.(*lathe.MCPToolsChanged); ok {
			out = append(out, c.Server)
		}
	}
	return out
}

// open makes a hub with these servers; more changes its options.
func open(t testing.TB, servers []mcp.Server, more ...func(*mcp.Options)) *fixture {
	t.Helper()
	w := &fixture{t: t, dir: t.TempDir(), published: &recorder{}, log: &strings.Builder{}}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
	o := mcp.Options{
		Dir: w.dir, Servers: servers, Runner: runner, Publish: w.published.record, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir},
		Log: slog.New(slog.NewTextHandler(&locked{w: w.log}, nil)), Version: "test", Cache: filepath.Join(w.dir, "cache"), Timeout: 10 * time.Second,
	}
	for _, f := range more {
		f(&o)
	}
	w.hub = mcp.Open(o)
	t.Cleanup(func() {
		w.hub.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// ready waits for all servers and returns the names of the tools.
func (w *fixture) ready() []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 60*time.Second)
	defer cancel()
	w.hub.WaitReady(ctx)
	if ctx.Err() != nil {
		w.t.Fatal("the servers did not become ready")
	}
	return names(w.hub.Tools())
}

func names(tools []tool.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Spec().Name)
	}
	return out
}

func (w *fixture) tool(name string) tool.Tool {
	w.t.Helper()
	tools := w.hub.Tools()
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == name })
	if i < 0 {
		w.t.Fatalf("there is no tool %s among %v; status %+v", name, names(tools), w.hub.Status())
	}
	return tools[i]
}

// desk is a host that allows all and remembers.
type desk struct {
	tool.Host
	deny error

	mu       sync.Mutex
	asked    []tool.Permission
	progress []string
	moved    chan struct{}
}

func (d *desk) Ask(_ context.Context, all ...tool.Permission) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, all...)
	return d.deny
}

func (d *desk) Progress(title string, _ json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress = append(d.progress, title)
	if d.moved != nil && len(d.progress) == 1 {
		close(d.moved)
	}
}

// call calls a tool by its name.
func (w *fixture) call(ctx context.Context, d *desk, name, input string) (tool.Result, error) {
	w.t.Helper()
	return tool.Run(ctx, w.tool(name), &tool.Call{Input: json.RawMessage(input), Dir: w.dir, Host: d})
}

// must is call that succeeds.
func (w *fixture) must(name, input string) tool.Result {
	w.t.Helper()
	r, err := w.call(w.t.Context(), &desk{}, name, input)
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// fails is call that gives a failure for the model, with all these words in it.
func (w *fixture) fails(name, input string, words ...string) string {
	w.t.Helper()
	_, err := w.call(w.t.Context(), &desk{}, name, input)
	var f *tool.Failure
	if !errors.As(err, &f) {
		w.t.Fatalf("%s: got %v, not a failure for the model", name, err)
	}
	has(w.t, f.Text, words...)
	return f.Text
}

func has(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not in %q", word, text)
		}
	}
}

func equal[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// eventually waits for a condition, as long as it may take to come true.
func eventually(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		<-tick.C
	}
}
