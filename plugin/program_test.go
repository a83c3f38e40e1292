package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/plugin"
)

const names = `{"names":[],"args":{}}`

// programs opens stubs, with short times for those that are too slow.
func programs(t *testing.T, stubs ...plugin.Plugin) *fixture {
	t.Helper()
	w := newFixture(t, nil)
	w.opt.Plugins = stubs
	w.opt.Timeouts.Hook = time.Minute // the machine may be busy
	for _, s := range stubs {
		switch s.Spec {
		case "hangs", "deaf":
			w.opt.Timeouts.Hook, w.opt.Timeouts.Tool = 3*time.Second, 3*time.Second
		case "never-ready":
			w.opt.Timeouts.Load = 6 * time.Second
		}
	}
	return w.open()
}

// A hub without plugins does nothing, and needs nothing.
func TestHub_Empty(t *testing.T) {
	c := plugin.Open(plugin.Options{})
	if c.Has("chat.message") || len(c.Tools()) > 0 || len(c.Status()) > 0 {
		t.Error("nothing has something")
	}
	c.Event(lathe.Event{Fact: &lathe.SessionIdle{}})
	if out, err := c.Call(t.Context(), "chat.message", nil, json.RawMessage(names)); string(out) != names || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = c.Has("chat.message") }); n > 0 {
		t.Errorf("asking costs %v allocations", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Hooks run in load order; nothing starts before the first use.
func TestHub_Order(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	w := programs(t, stub("one"), stub("chatty"), stub("three", gone))
	for _, s := range w.c.Status() {
		if s.State != plugin.Waiting || s.Stderr != "" {
			t.Errorf("before the first use: %+v", s)
		}
	}
	if !w.c.Has("anything") {
		t.Error("what is not loaded may have any hook")
	}
	if got := w.call("tool.execute.before", `{}`, names); got != `{"args":{},"names":["one","chatty","three"]}` {
		t.Error(got)
	}
	if w.c.Has("anything") || !w.c.Has("chat.params") {
		t.Error("what is loaded has its hooks and no others")
	}
	if s := w.status("chatty"); s.State != plugin.Ready || s.Skipped != 50 || !strings.Contains(s.Stderr, "I am chatty") {
		t.Errorf("%+v", s)
	}
	if err := w.c.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(gone); string(text) != "put away" {
		t.Errorf("dispose: %q, %v", text, err)
	}
	if _, err := w.c.Call(t.Context(), "chat.params", nil, json.RawMessage(names)); err == nil {
		t.Error("a closed company answers")
	}
}

// What a plugin does wrong is its own error, and after three in a row it is left out; the
// others continue.
func TestHub_Faults(t *testing.T) {
	t.Parallel()
	for behavior, words := range map[string]string{
		"hangs":       "no answer within 3s",
		"crashes":     "its process ended during the call",
		"nonsense":    "not a JSON object",
		"wrong-shape": "it made a text of names, which is a list",
		"huge":        "longer than allowed",
		"grows":       "at most 4194304 may be added",
		"floods-junk": "its process ended during the call",
	} {
		t.Run(behavior, func(t *testing.T) {
			t.Parallel()
			w := programs(t, stub("one"), stub(behavior), stub("three"))
			for range 3 {
				w.fails(lathe.Unavailable, "chat.params", names, "plugin "+behavior+": chat.params: ", words)
			}
			w.waitMessage("plugin "+behavior, "switched off after 3 failures in a row", words)
			if s := w.status(behavior); s.State != plugin.Off {
				t.Errorf("%+v", s)
			}
			if got := w.call("chat.params", "{}", names); got != `{"args":{},"names":["one","three"]}` {
				t.Error(got)
			}
			_, err := w.c.Execute(t.Context(), "stub_"+strings.ReplaceAll(behavior, "-", "_"), nil, plugin.ToolContext{}, plugin.ToolCallbacks{})
			if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "switched off") {
				t.Errorf("a tool of a plugin that is off: %v", err)
			}
		})
	}
}

// A process that answers nothing at all is ended; what is spoilt by one such process counts once.
func TestHub_Deaf(t *testing.T) {
	t.Parallel()
	w := programs(t, stub("deaf"))
	failed := 0
	for w.c.Has("chat.params") {
		if failed++; failed > 20 {
			t.Fatal(w.state())
		}
		w.fails(lathe.Unavailable, "chat.params", names, "plugin deaf: chat.params: ")
	}
	w.waitMessage("deaf ended", "it no longer answered")
	if s := w.status("deaf"); s.State != plugin.Off || s.Restarts < 1 || failed < 4 {
		t.Errorf("after %d calls: %+v", failed, s)
	}
}

// A plugin that says no does so as often as it likes.
func TestHub_Refusal(t *testing.T) {
	w := programs(t, stub("refuses"))
	for range 5 {
		w.fails(lathe.Denied, "chat.params", names, "plugin refuses: chat.params: not on my watch")
	}
	if s := w.status("refuses"); s.State != plugin.Ready || s.Faults != 0 {
		t.Errorf("%+v", s)
	}
}

// A process that died is there again for the next call.
func TestHub_Restart(t *testing.T) {
	w := programs(t, stub("crashes-once", filepath.Join(t.TempDir(), "crashed")))
	w.fails(lathe.Unavailable, "chat.params", names, "ended during the call")
	w.waitMessage("crashes-once ended", "its process ended by itself", "I am crashes-once")
	if got := w.call("chat.params", "{}", names); got != `{"args":{},"names":["crashes-once"]}` {
		t.Error(got)
	}
	if s := w.status("crashes-once"); s.Restarts != 1 || s.Faults != 0 || s.State != plugin.Ready {
		t.Errorf("%+v", s)
	}
}

// Plugins that cannot be loaded are reported, and the others work.
func TestHub_LoadFailures(t *testing.T) {
	t.Parallel()
	for behavior, words := range map[string]string{
		"dies-at-start": "it said: I am dies-at-start\nno such library",
		"never-ready":   "it was not ready within 6s",
		"bad-offer":     "not what the protocol says",
		"bad-tool":      "cannot be the name of a tool",
	} {
		t.Run(behavior, func(t *testing.T) {
			t.Parallel()
			w := programs(t, stub(behavior), stub("well"))
			if got := w.call("chat.params", "{}", names); got != `{"args":{},"names":["well"]}` {
				t.Error(got)
			}
			w.waitMessage("plugin "+behavior, words)
			if s := w.status(behavior); s.State != plugin.Failed || !strings.Contains(s.Reason, words) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestHub_NoProgram(t *testing.T) {
	w := newFixture(t, map[string]string{"plain.txt": "x"})
	w.opt.Plugins = []plugin.Plugin{{Spec: "./plain.txt"}, {Spec: "./missing"}, {Command: []string{"no-such-command-here"}}, {Spec: "https://x.example/y.js"}}
	needNode(t)
	w.open().start()
	for i, words := range []string{"chmod +x", "no such file", "not on the PATH", "neither a path nor a package"} {
		if s := w.c.Status()[i]; s.State != plugin.Failed {
			t.Errorf("%+v", s)
		} else {
			contains(t, s.Reason, words)
		}
	}
}

func TestHub_Cancel(t *testing.T) {
	w := programs(t, stub("hangs"))
	w.start()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := w.c.Call(ctx, "chat.params", nil, json.RawMessage(names)); !errors.Is(err, why) {
		t.Errorf("a canceled hook: %v", err)
	}
	if _, err := w.c.Execute(ctx, "stub_hangs", nil, plugin.ToolContext{}, plugin.ToolCallbacks{}); !errors.Is(err, why) {
		t.Errorf("a canceled tool: %v", err)
	}
	if s := w.status("hangs"); s.Faults != 0 {
		t.Errorf("a cancel is nobody's fault: %+v", s)
	}
}

func TestHub_ToolFaults(t *testing.T) {
	t.Parallel()
	w := programs(t, stub("crashes"), stub("hangs"), stub("nonsense"), stub("well"))
	w.start()
	if got := len(w.c.Tools()); got != 4 {
		t.Fatalf("%d tools", got)
	}
	for behavior, words := range map[string]string{
		"crashes": "its process ended during the call", "hangs": "no answer within 3s", "nonsense": "its result has no output",
	} {
		_, err := w.c.Execute(t.Context(), "stub_"+behavior, nil, plugin.ToolContext{}, plugin.ToolCallbacks{})
		if lathe.CodeOf(err) != lathe.Unavailable {
			t.Errorf("%s: %v", behavior, err)
			continue
		}
		contains(t, err.Error(), "plugin "+behavior+": the tool stub_"+behavior+": "+words)
	}
	res, err := w.c.Execute(t.Context(), "stub_well", nil, plugin.ToolContext{}, plugin.ToolCallbacks{})
	if res.Output != "done" || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := w.c.Execute(t.Context(), "nobodys", nil, plugin.ToolContext{}, plugin.ToolCallbacks{}); lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("a tool of nobody: %v", err)
	}
}

// Events come in messages, growing texts not at all, and telling never waits.
func TestHub_Events(t *testing.T) {
	w := programs(t, stub("listens"))
	for i := range 10 { // before any listener
		w.c.Event(lathe.Event{ID: lathe.EventID(fmt.Sprint(i)), Fact: &lathe.SessionIdle{Session: "ses_1"}})
	}
	w.c.Event(lathe.Event{Fact: &lathe.PartDelta{Delta: "x"}})
	w.start()
	w.line("heard 10, dropped 0")
	w.c.Event(lathe.Event{Fact: &lathe.PartDelta{Delta: "x"}})
	w.c.Event(lathe.Event{Fact: &lathe.SessionIdle{Session: "ses_1"}})
	w.line("heard 11, dropped 0")
}

// One that does not read loses events; who tells is not held up.
func TestHub_EventFlood(t *testing.T) {
	w := programs(t, stub("hangs"), stub("listens"))
	w.start()
	long := strings.Repeat("x", 20<<10)
	began := time.Now()
	for range 20_000 {
		w.c.Event(lathe.Event{Fact: &lathe.TUIPromptAppend{Text: long}})
	}
	if took := time.Since(began); took > time.Minute { // waiting for the one that hangs would take longer
		t.Errorf("telling took %s", took)
	}
	w.line("dropped")
	if s := w.status("hangs"); s.Dropped == 0 {
		t.Errorf("%+v", s)
	}
}

func TestHub_LogFlood(t *testing.T) {
	w := programs(t, stub("floods-log"))
	w.call("chat.params", "{}", names)
	if n := strings.Count(w.logs.String(), "flood"); n == 0 || n > 1000 {
		t.Errorf("%d of 5000 lines were logged", n)
	}
	if s := w.status("floods-log"); s.Dropped < 4000 {
		t.Errorf("%+v", s)
	}
}
