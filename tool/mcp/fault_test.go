package mcp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool/args"
	"github.com/lathe-agent/lathe/tool/mcp"
)

func bad(t testing.TB, mode string, args ...string) mcp.Server {
	return mcp.Server{Name: "h", Command: self(t, "a-hostile-server", append([]string{mode}, args...)...)}
}

func TestFault_ServersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode  string
		words []string
	}{
		{"mute", []string{"longer than 1s", "to connect", "timeout"}},
		{"deaf", []string{"longer than 1s"}},
		{"crash", []string{"code 3", "token [secret] is not valid"}},
		{"endless line", []string{"larger than 32 MiB"}},
		{"endless cursor", []string{"does not end", "1000 pages"}},
		{"same cursor", []string{"same cursor"}},
		{"no list", []string{"tools/list cannot be read"}},
		{"odd greeting", []string{"1987-01-01"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			s := bad(t, c.mode)
			s.Environment = map[string]string{"TOKEN": "sesame-4711"}
			s.Timeout = 20 * time.Second
			if c.mode == "mute" || c.mode == "deaf" {
				s.Timeout = time.Second
			}
			w := open(t, []mcp.Server{s})
			if got := w.ready(); len(got) != 0 {
				t.Errorf("tools %v", got)
			}
			st := w.hub.Status()["h"]
			equal(t, st.State, mcp.Failed)
			has(t, st.Error, c.words...)
			toast, _ := w.published.last().(*lathe.TUIToast)
			if toast == nil || !strings.Contains(toast.Message, "MCP server h is not connected: "+st.Error) || toast.Variant != "warning" {
				t.Errorf("the user is told %+v", toast)
			}
			if strings.ContainsAny(st.Error, "\x1b\n") {
				t.Errorf("%q", st.Error)
			}
			w.hub.Close()
			if strings.Contains(st.Error+w.log.String(), "sesame") {
				t.Errorf("the secret is in %s %s", st.Error, w.log)
			}
		})
	}
}

func TestFault_ServersThatWork(t *testing.T) {
	for _, mode := range []string{"junk", "errors without end", "changes without end", "newest"} {
		t.Run(mode, func(t *testing.T) {
			w := open(t, []mcp.Server{bad(t, mode)})
			if got := w.ready(); !slices.Equal(got, []string{"h_go"}) {
				t.Fatalf("tools %v, %+v", got, w.hub.Status())
			}
			for range 3 {
				equal(t, w.must("h_go", `{}`).Output, "ok")
			}
			for _, i := range w.hub.Instructions() {
				if n := len(i.Text); n > 2100 || n < 2000 {
					t.Errorf("%d bytes of instructions", n)
				}
			}
			w.hub.Close()
			if n := w.log.Len(); n > 20_000 {
				t.Errorf("%d bytes of log", n)
			}
		})
	}
}

func TestFault_NeverAnswers(t *testing.T) {
	t.Parallel()
	s := bad(t, "never answers")
	s.Timeout = 5 * time.Second
	w := open(t, []mcp.Server{s})
	w.ready()
	w.fails("h_go", `{}`, "did not answer", "5s", "may have been done")
	equal(t, w.hub.Status()["h"].State, mcp.Connected)
}

func TestFault_EndlessProgressIsCanceled(t *testing.T) {
	w := open(t, []mcp.Server{bad(t, "progress without end")})
	w.ready()
	ctx, cancel := context.WithCancel(t.Context())
	d := &desk{moved: make(chan struct{})}
	go func() { <-d.moved; cancel() }()
	if _, err := w.call(ctx, d, "h_go", `{}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFault_DiesInCalls(t *testing.T) {
	w := open(t, []mcp.Server{bad(t, "dies in calls")})
	w.ready()
	w.fails("h_go", `{}`, "was lost", "code 5", "may have been done")
	w.fails("h_go", `{}`, "was lost") // it came back for that
}

// TestFault_DiesAgain has a server that ends right after each greeting: that is tried so often and
// no more, and once more when someone needs it.
func TestFault_DiesAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lives")
	lives := func() int {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	w := open(t, []mcp.Server{bad(t, "dies again", file)})
	w.hub.Hasten(10 * time.Millisecond)
	w.hub.Tools()
	eventually(t, 30*time.Second, "it is given up", func() bool { return w.hub.Status()["h"].State == mcp.Failed })
	has(t, w.hub.Status()["h"].Error, "ended 6 times in a row", "code 9")
	equal(t, lives(), 6)
	if got := names(w.hub.Tools()); !slices.Equal(got, []string{"h_go"}) {
		t.Errorf("tools %v: a call may find it well again", got)
	}
	w.fails("h_go", `{}`, "MCP server h")
	if n := lives(); n < 7 {
		t.Errorf("it was not tried for a call: %d", n)
	}
}

func TestFault_HugeAnswer(t *testing.T) {
	w := open(t, []mcp.Server{bad(t, "huge answer")})
	w.ready()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w.fails("h_go", `{}`, "larger than 32 MiB", "may have been done")
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 200<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	eventually(t, 30*time.Second, "it is connected again", func() bool { return w.hub.Status()["h"].State == mcp.Connected })
}

func TestFault_OddTools(t *testing.T) {
	w := open(t, []mcp.Server{bad(t, "odd tools")})
	got := w.ready()
	want := []string{
		"h_no_schema", "h_null", "h_array", "h_string", "h_props", "h_free", "h_ref", "h_deep", "h_huge", "h___31mred_", "h_same_one",
		"h_" + strings.Repeat("l", 53) + "_", "h_typed",
	}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, name := range want {
		if !strings.HasPrefix(got[i], name) || len(got[i]) > 64 {
			t.Errorf("got %s, want %s", got[i], name)
		}
	}
	for _, x := range w.hub.Tools() {
		s := x.Spec()
		if len(s.Description) > 17<<10 || strings.ContainsAny(s.Description, "\x1b\x00\u202e\U000e0041") {
			t.Errorf("%s: description %.40q", s.Name, s.Description)
		}
		if err := args.CheckSchema(s.Schema); err != nil && s.Name != "h_ref" && s.Name != "h_props" {
			t.Errorf("%s: %v", s.Name, err)
		}
		equal(t, w.must(s.Name, `{}`).Output, "ok")
	}
	equal(t, w.tool("h___31mred_").Spec().Description, "abcd")
	equal(t, string(w.tool("h_free").Spec().Schema), `{"additionalProperties":{"type":"number"},"z":1,"a":2,"type":"object","properties":{}}`)
	equal(t, string(w.tool("h_deep").Spec().Schema), `{"type":"object","properties":{}}`)
	notes := strings.Join(w.hub.Status()["h"].Notes, "\n")
	has(t, notes, "same.one was left out", "no usable name")
}

func TestFault_TooManyTools(t *testing.T) {
	w := open(t, []mcp.Server{bad(t, "ten thousand tools")})
	equal(t, len(w.ready()), 1000)
	has(t, strings.Join(w.hub.Status()["h"].Notes, "\n"), "first 1000")
	heavy := open(t, []mcp.Server{bad(t, "heavy tools")})
	size := 0
	heavy.ready()
	for _, x := range heavy.hub.Tools() {
		size += len(x.Spec().Schema)
	}
	if size == 0 || size > 4<<20 {
		t.Errorf("%d bytes of schemas", size)
	}
}

func TestFault_OddAnswers(t *testing.T) {
	w := open(t, []mcp.Server{bad(t, "odd answers")})
	w.ready()
	w.fails("h_go", `{}`, "cannot be read") // null is no result
	w.fails("h_go", `{}`, "cannot be read")
	w.fails("h_go", `{}`, "cannot be read")
	equal(t, w.must("h_go", `{}`).Output, "")
	w.fails("h_go", `{}`, "cannot be read")
	has(t, w.must("h_go", `{}`).Output, "cannot be read", "image/png")
	r := w.must("h_go", `{}`)
	equal(t, r.Output+string(r.Metadata), "clean")
	r = w.must("h_go", `{}`)
	equal(t, len(r.Attachments), 0)
	w.fails("h_go", `{}`, "does not say why")
	w.fails("h_go", `{}`, "asks for user input")
	w.fails("h_go", `{}`, "the answer cannot be read") // nested too deep to be one
}

func TestFault_ErrorsHideSecrets(t *testing.T) {
	s := bad(t, "error")
	s.Environment = map[string]string{"TOKEN": "sesame-4711"}
	w := open(t, []mcp.Server{s})
	w.ready()
	text := w.fails("h_go", `{}`, "refused", "bad [secret]", "-32602")
	if strings.Contains(text, "sesame") {
		t.Error(text)
	}
}

// TestFault_CloseWhileConnecting closes a hub whose servers are all still silent, or slow to end.
func TestFault_CloseWhileConnecting(t *testing.T) {
	var servers []mcp.Server
	for i := range 5 {
		s := bad(t, []string{"mute", "deaf"}[i%2])
		s.Name = strconv.Itoa(i)
		servers = append(servers, s)
	}
	w := open(t, servers)
	w.hub.Tools()
	began := time.Now()
	w.hub.Close()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := w.hub.Connect(t.Context(), "1"); err == nil {
		t.Error("a closed hub has connected")
	}
}

// TestFault_NothingIsLeft counts goroutines after servers of all kinds were used and left.
func TestFault_NothingIsLeft(t *testing.T) {
	far := serve(t, streamable())
	s := []mcp.Server{good(t, "near"), {Name: "far", URL: far.URL}, bad(t, "never answers"), {Name: "m", Command: self(t, "a-hostile-server", "mute")}}
	ours := func() int {
		buf := make([]byte, 4<<20)
		return strings.Count(string(buf[:runtime.Stack(buf, true)]), "tool/mcp.(")
	}
	w := open(t, s)
	w.hub.Tools()
	for _, name := range []string{"near", "far", "h"} {
		if err := w.hub.Connect(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := w.call(ctx, &desk{}, "h_go", `{}`); err == nil {
		t.Error("it has answered")
	}
	if ours() == 0 {
		t.Error("this test counts nothing")
	}
	w.hub.Close()
	eventually(t, 60*time.Second, "no goroutine of the hub", func() bool { return ours() == 0 })
}
