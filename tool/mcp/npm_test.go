package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tool/mcp"
)

// published returns the folder with the programs of servers that people have, fetched once for
// this machine.
func published(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("published servers need %s, which is not installed", name)
		}
	}
	if testing.Short() {
		t.Skip("published servers are not fetched in a short run")
	}
	lock, err := os.ReadFile("testdata/npm/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(os.TempDir(), "lathe-mcp-servers-"+hex.EncodeToString(sum[:6]))
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	tmp, err := os.MkdirTemp(os.TempDir(), "lathe-mcp-servers-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, os.DirFS("testdata/npm")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("published servers cannot be fetched here: %v\n%s", err, out)
	}
	_ = os.Rename(tmp, dir) // another test may have been faster
	return bin
}

func TestPublished_Everything(t *testing.T) {
	t.Parallel()
	bin := published(t)
	w := open(t, []mcp.Server{{Name: "everything", Command: []string{filepath.Join(bin, "mcp-server-everything"), "stdio"}, Timeout: 30 * time.Second}})
	w.ready()
	everything(t, w)
}

// everything does what can be done with that server, over whatever it is reached.
func everything(t *testing.T, w *fixture) {
	t.Helper()
	st := w.hub.Status()["everything"]
	if st.State != mcp.Connected {
		t.Fatalf("%+v\n%s", st, w.log)
	}
	for _, note := range st.Notes { // a tool that only runs as a task
		has(t, note, "simulate-research-query")
	}
	equal(t, w.must("everything_echo", `{"message":"hällo"}`).Output, "Echo: hällo")
	has(t, w.must("everything_get-sum", `{"a":20,"b":22}`).Output, "42")
	if r := w.must("everything_get-tiny-image", `{}`); len(r.Attachments) != 1 || r.Attachments[0].Mime != "image/png" {
		t.Errorf("%+v", r)
	}
	d := &desk{}
	r, err := w.call(t.Context(), d, "everything_trigger-long-running-operation", `{"duration":2,"steps":4}`)
	if err != nil {
		t.Fatal(err)
	}
	has(t, r.Output, "completed")
	if len(d.progress) == 0 {
		t.Error("no progress was shown")
	}
	w.fails("everything_get-sum", `{"a":"x","b":1}`, "a")
	if list := w.hub.Resources(t.Context()); len(list) == 0 {
		t.Error("no resources")
	} else if got, err := w.hub.ReadResource(t.Context(), "everything", list[0].URI); err != nil || len(got) == 0 {
		t.Errorf("%+v: %v %v", list[0], got, err)
	}
	prompts := w.hub.Prompts()
	if len(prompts) == 0 {
		t.Fatal("no prompts")
	}
	text, err := w.hub.Prompt(t.Context(), "everything", prompts[0].Name, nil)
	if err != nil || text == "" {
		t.Errorf("%+v: %q %v", prompts[0], text, err)
	}
	if len(w.hub.Instructions()) != 1 {
		t.Error("no instructions")
	}
}

func TestPublished_EverythingOverHTTP(t *testing.T) {
	t.Parallel()
	bin := published(t)
	for mode, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		t.Run(mode, func(t *testing.T) {
			port := strconv.Itoa(freePort(t))
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "mcp-server-everything"), mode)
			cmd.Env = append(os.Environ(), "PORT="+port)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait() // it was killed
			})
			eventually(t, 30*time.Second, "it listens", func() bool {
				c, err := net.Dial("tcp", "localhost:"+port)
				if err == nil {
					_ = c.Close()
				}
				return err == nil
			})
			w := open(t, []mcp.Server{{Name: "everything", URL: "http://localhost:" + port + path, Timeout: 30 * time.Second}})
			w.ready()
			everything(t, w)
		})
	}
}

func TestPublished_FilesystemAndMemory(t *testing.T) {
	bin := published(t)
	dir := t.TempDir()
	w := open(t, []mcp.Server{
		{Name: "files", Command: []string{filepath.Join(bin, "mcp-server-filesystem"), dir}, Timeout: 30 * time.Second},
		{
			Name: "memory", Command: []string{filepath.Join(bin, "mcp-server-memory")}, Timeout: 30 * time.Second,
			Environment: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")},
		},
	}, func(o *mcp.Options) { o.Dir = dir }) // the root that the server is notified of is all it may read
	w.ready()
	for name, st := range w.hub.Status() {
		if st.State != mcp.Connected {
			t.Fatalf("%s: %+v", name, st)
		}
	}
	file := filepath.Join(dir, "a.txt")
	w.must("files_write_file", `{"path":"`+file+`","content":"by hand"}`)
	data, err := os.ReadFile(file)
	if err != nil || string(data) != "by hand" {
		t.Errorf("%q %v", data, err)
	}
	equal(t, w.must("files_read_text_file", `{"path":"`+file+`"}`).Output, "by hand")
	w.fails("files_read_text_file", `{"path":"/etc/passwd"}`, "denied")
	equal(t, w.tool("files_write_file").Spec().Anywhere, true)
	equal(t, w.tool("files_read_text_file").Spec().Anywhere, false)
	w.must("memory_create_entities", `{"entities":[{"name":"lathe","entityType":"program","observations":["turns"]}]}`)
	if out := w.must("memory_search_nodes", `{"query":"lathe"}`).Output; !strings.Contains(out, "turns") {
		t.Error(out)
	}
}
