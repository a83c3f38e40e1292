package mcp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// A server whose tools are known is not started before one of them is called, or someone wants
// all of them; what is known only from long ago is asked for again.
func TestHub_StartsLate(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh on this machine")
	}
	cache, marks := t.TempDir(), filepath.Join(t.TempDir(), "marks")
	s := mcp.Server{Name: "s", Command: append([]string{"sh", "-c", `echo started >>"$0"; exec "$@"`, marks}, self(t, "a-server", "s")...)}
	begin := func() *fixture {
		return open(t, []mcp.Server{s}, func(o *mcp.Options) { o.Cache = cache })
	}
	started := func() int {
		text, _ := os.ReadFile(marks) // none is no line
		return strings.Count(string(text), "started")
	}
	w := begin()
	w.ready()
	w.hub.Close()
	if started() != 1 {
		t.Fatalf("%d starts of one that nothing was known of", started())
	}

	w = begin()
	if got := w.ready(); !slices.Contains(got, "s_echo") || !slices.Contains(got, "list_mcp_resources") {
		t.Errorf("tools %v", got)
	}
	if st := w.hub.Status()["s"]; started() != 1 || st.State != mcp.Connecting {
		t.Errorf("%d starts, %+v", started(), st)
	}
	r, err := tool.Run(t.Context(), w.tool("s_echo"), &tool.Call{Input: json.RawMessage(`{"text":"x"}`), Host: &desk{}})
	if err != nil || r.Output != "x" || started() != 2 {
		t.Errorf("%+v %v, %d starts", r, err, started())
	}
	w.hub.Close()

	w = begin()
	if r, err = tool.Run(t.Context(), w.tool("list_mcp_resources"), &tool.Call{Input: json.RawMessage(`{}`), Host: &desk{}}); err != nil || !strings.Contains(r.Output, `"server"`) || started() != 3 {
		t.Errorf("%+v %v, %d starts", r, err, started())
	}
	w.hub.Close()

	files, err := filepath.Glob(filepath.Join(cache, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(files[0], old, old); err != nil {
		t.Fatal(err)
	}
	w = begin()
	w.hub.Tools()
	connected(t, w, 4, started)
	w.hub.Close()
	if info, err := os.Stat(files[0]); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("it is not noted that nothing has changed: %v %v", info, err)
	}

	w = begin()
	w.hub.Start()
	connected(t, w, 5, started)
}

// connected waits until the server is, which takes so many starts.
func connected(t *testing.T, w *fixture, starts int, started func() int) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); w.hub.Status()["s"].State != mcp.Connected; {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", w.hub.Status())
		}
		<-time.After(5 * time.Millisecond)
	}
	if started() != starts {
		t.Errorf("%d starts, not %d", started(), starts)
	}
}
