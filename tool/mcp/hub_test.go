package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// good is the server as it should be, under a name.
func good(t testing.TB, name string) mcp.Server {
	return mcp.Server{Name: name, Command: self(t, "a-server", name)}
}

func TestHub_Tools(t *testing.T) {
	s := good(t, "my server")
	s.Environment = map[string]string{"COLOUR": "blue"}
	w := open(t, []mcp.Server{s})
	if got := w.hub.Tools(); len(got) != 0 {
		t.Errorf("tools before anyone was asked: %v", names(got))
	}
	got := w.ready()
	for _, name := range []string{"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "my_server_echo", "my_server_where_am_I"} {
		if !slices.Contains(got, name) {
			t.Errorf("no %s among %v", name, got)
		}
	}
	equal(t, w.hub.Status()["my server"].State, mcp.Connected)
	equal(t, w.must("my_server_echo", `{"text":"hällo"}`).Output, "hällo")
	equal(t, w.must("my_server_where_am_I", `{}`).Output, w.dir+" blue "+w.dir)
	equal(t, w.must("my_server_roots", `{}`).Output, "1 file://"+w.dir)
	equal(t, w.must("my_server_sample", `{}`).Output, "true true")
	equal(t, w.must("my_server_structured", `{}`).Output, `{"n":1}`)
	equal(t, w.fails("my_server_fail", `{}`), "it is broken")
	w.fails("my_server_echo", `{"text":[]}`, "text")

	echo := w.tool("my_server_echo").Spec()
	equal(t, string(echo.Schema), `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)
	equal(t, echo.Anywhere, false) // it says that it only reads
	equal(t, w.tool("my_server_fail").Spec().Anywhere, true)
	eventually(t, 60*time.Second, "it is told", func() bool { return slices.Equal(w.published.changes(), []string{"my server"}) })
	if got := w.hub.Instructions(); len(got) != 1 || got[0].Text != "Be good. my server" {
		t.Errorf("instructions %v", got)
	}
}

// A server cannot take the name or the rules of another one's tool by how it calls its own.
func TestHub_NamesOfTwo(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s"), good(t, "s_where")})
	got := w.ready()
	for name, want := range map[string]bool{"s_where_echo": true, "s_where-am_I": true, "s_where_am_I": false, "s_where_where_am_I": true} {
		if slices.Contains(got, name) != want {
			t.Errorf("whether there is a tool %s is not %v: %v", name, want, got)
		}
	}
	d := &desk{}
	if _, err := w.call(t.Context(), d, "s_where_echo", `{"text":""}`); err != nil {
		t.Fatal(err)
	}
	if a := d.asked[0]; a.Server != "s_where" || !slices.Equal(a.Servers, []string{"s", "s_where"}) {
		t.Errorf("asked %+v", a)
	}
}

func TestHub_Permission(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s")})
	w.ready()
	d := &desk{}
	if _, err := w.call(t.Context(), d, "s_echo", `{"text":""}`); err != nil {
		t.Fatal(err)
	}
	if len(d.asked) != 1 || d.asked[0].Name != "s_echo" || !slices.Equal(d.asked[0].Patterns, []string{"*"}) {
		t.Errorf("asked %+v", d.asked)
	}
	no := errors.New("no")
	file := filepath.Join(w.dir, "canceled")
	if _, err := w.call(t.Context(), &desk{deny: no}, "s_wait", `{"File":"`+file+`"}`); !errors.Is(err, no) {
		t.Errorf("a refusal gave %v", err)
	}
}

func TestHub_MixedContent(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s")})
	w.ready()
	r := w.must("s_mixed", `{}`)
	want := "one\n\ntwo\n\n[application/zip test://z, 3 bytes: not of a kind that can be shown]\n\n[audio audio/wav, which cannot be shown]\n\n[resource a: test://a]"
	equal(t, r.Output, want)
	equal(t, string(r.Metadata), `{"mine":"yes"}`) // truncation is not the server's to claim
	if len(r.Attachments) != 2 {
		t.Fatalf("%d attachments", len(r.Attachments))
	}
	equal(t, r.Attachments[0].URL, "data:image/png;base64,cGljdHVyZQ==")
	equal(t, r.Attachments[1].Filename, "test://p")
}

// TestHub_Progress calls a tool that takes longer than its deadline, and tells that it is at work.
func TestHub_Progress(t *testing.T) {
	t.Parallel()
	s := good(t, "s")
	s.Timeout = 3 * time.Second // long enough to begin, also on a busy machine
	w := open(t, []mcp.Server{s}, func(o *mcp.Options) { o.Timeout = 0 })
	if err := w.hub.Connect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	d := &desk{}
	r, err := w.call(t.Context(), d, "s_steps", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, r.Output, "done")
	if len(d.progress) == 0 || d.progress[0] != "step (10 %)" {
		t.Errorf("progress %v", d.progress)
	}
}

func TestHub_CancelIsForwarded(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s")})
	w.ready()
	file := filepath.Join(w.dir, "canceled")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := w.call(ctx, &desk{}, "s_wait", `{"File":"`+file+`"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, 60*time.Second, "the server hears of it", func() bool { _, err := os.Stat(file); return err == nil })
	equal(t, w.must("s_echo", `{"text":"still there"}`).Output, "still there")
}

func TestHub_Deadline(t *testing.T) {
	t.Parallel()
	s := good(t, "s")
	s.Timeout = 4 * time.Second
	w := open(t, []mcp.Server{s})
	if err := w.hub.Connect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, "canceled")
	w.fails("s_wait", `{"File":"`+file+`"}`, "did not answer", "4s", "timeout", "may have been done")
	eventually(t, 60*time.Second, "the server hears of it", func() bool { _, err := os.Stat(file); return err == nil })
}

func TestHub_ToolsChange(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s")})
	w.ready()
	before := w.hub.Generation()
	w.must("s_grow", `{}`)
	eventually(t, 60*time.Second, "the new tool", func() bool { return slices.Contains(names(w.hub.Tools()), "s_grown") })
	equal(t, w.must("s_grown", `{}`).Output, "new")
	if w.hub.Generation() == before {
		t.Error("the generation is the same")
	}
	eventually(t, 60*time.Second, "it is told", func() bool { return slices.Equal(w.published.changes(), []string{"s", "s"}) })
}

func TestHub_DeathAndReturn(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s")})
	w.ready()
	w.fails("s_die", `{}`, "was lost during the call", "code 7", "I am dying", "may have been done")
	equal(t, w.must("s_echo", `{"text":"back"}`).Output, "back")
}

func TestHub_Cache(t *testing.T) {
	cache := t.TempDir()
	with := func(o *mcp.Options) { o.Cache = cache }
	w := open(t, []mcp.Server{good(t, "s")}, with)
	w.ready()
	w.hub.Close()
	files, err := os.ReadDir(cache)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	info, err := files[0].Info()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, info.Mode().Perm(), 0o600)

	again := open(t, []mcp.Server{good(t, "s")}, with)
	if got := names(again.hub.Tools()); !slices.Contains(got, "s_echo") {
		t.Fatalf("not at once: %v", got)
	}
	equal(t, again.must("s_echo", `{"text":"waits"}`).Output, "waits") // the call waits for the server
	if got := again.hub.Prompts(); len(got) != 1 || got[0].Command() != "s:greet_me" {
		t.Errorf("prompts %v", got)
	}

	path := filepath.Join(cache, files[0].Name())
	for _, bad := range []string{"", "{", `{"version":1,"listing":{"tools":[{"name":"x"}]}}`, `{"version":9}`, "null"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		b := open(t, []mcp.Server{good(t, "s")}, with)
		if got := b.hub.Tools(); len(got) != 0 {
			t.Errorf("%q: %v", bad, names(got))
		}
		b.hub.Close()
	}
}

func TestHub_Prompt(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s")})
	w.ready()
	p := w.hub.Prompts()[0]
	got, err := w.hub.Prompt(t.Context(), p.Server, p.Name, p.Positional([]string{"usr", "very", "warmly"}))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, "Greet usr very warmly.\nKindly.")
	if _, err := w.hub.Prompt(t.Context(), "s", "none", nil); err == nil {
		t.Error("a prompt that is not there")
	}
	var e *lathe.Error
	if _, err := w.hub.Prompt(t.Context(), "none", "x", nil); !errors.As(err, &e) || e.Code != lathe.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestHub_Resources(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "s"), good(t, "r")})
	w.ready()
	all := w.hub.Resources(t.Context())
	var at []string
	for _, r := range all {
		at = append(at, r.Server+":"+r.URI)
	}
	if want := []string{"r:test://a", "r:test://b.png", "s:test://a", "s:test://b.png"}; !slices.Equal(at, want) {
		t.Errorf("got %v, want %v", at, want)
	}
	d := &desk{}
	r, err := w.call(t.Context(), d, "list_mcp_resources", `{"server":"s"}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, r.Title, "MCP resources: s")
	equal(t, string(r.Metadata), `{"count":2,"server":"s","servers":["s"]}`)
	equal(t, d.asked[0].Name+" "+d.asked[0].Patterns[0], "read mcp:s:*")
	var list struct{ Resources []mcp.Resource }
	if err := json.Unmarshal([]byte(r.Output), &list); err != nil || len(list.Resources) != 2 || list.Resources[0].Description != "first" {
		t.Errorf("%s: %v", r.Output, err)
	}
	equal(t, w.must("list_mcp_resources", `{}`).Title, "MCP resources") // the title before is not in this one
	has(t, w.must("list_mcp_resource_templates", `{}`).Output, `"uriTemplate": "test://any/{name}"`)

	r = w.must("read_mcp_resource", `{"server":"s","uri":"test://a"}`)
	equal(t, r.Output, "test://a (text/plain)\nthe text of test://a")
	r = w.must("read_mcp_resource", `{"server":"s","uri":"test://b.png"}`)
	if len(r.Attachments) != 1 || !strings.HasPrefix(r.Attachments[0].URL, "data:image/png;base64,") {
		t.Errorf("%+v", r)
	}
	equal(t, w.tool("read_mcp_resource").Spec().Permission, "read")
	w.fails("read_mcp_resource", `{"server":"x","uri":"test://a"}`, "Servers with resources: r, s.")
	w.fails("read_mcp_resource", `{"server":"s","uri":"test://none"}`, "not read")
}

func TestHub_ConnectDisconnectAdd(t *testing.T) {
	off := good(t, "off")
	off.Disabled = true
	w := open(t, []mcp.Server{off, {Name: "missing", Command: []string{"no-such-program-anywhere"}}, {Name: "bad", URL: "ftp://x"}})
	if got := w.ready(); len(got) != 0 {
		t.Errorf("tools %v", got)
	}
	s := w.hub.Status()
	equal(t, s["off"].State, mcp.Disabled)
	equal(t, s["missing"].State, mcp.Failed)
	has(t, s["missing"].Error, "no-such-program-anywhere", "PATH")
	has(t, s["bad"].Error, "https://")
	if err := w.hub.Connect(t.Context(), "off"); err != nil {
		t.Fatal(err)
	}
	disabled := w.tool("off_echo")
	if err := w.hub.Disconnect("off"); err != nil {
		t.Fatal(err)
	}
	equal(t, w.hub.Status()["off"].State, mcp.Disabled)
	if got := w.hub.Tools(); len(got) != 0 {
		t.Errorf("tools %v", names(got))
	}
	_, err := tool.Run(t.Context(), disabled, &tool.Call{Input: json.RawMessage(`{"text":""}`), Host: &desk{}})
	has(t, err.Error(), "switched off", "was not made")
	if err := w.hub.Add(t.Context(), good(t, "new")); err != nil {
		t.Fatal(err)
	}
	equal(t, w.must("new_echo", `{"text":"x"}`).Output, "x")
	for _, bad := range []mcp.Server{{Name: "x"}, {Name: "x", URL: "file:///etc/passwd"}, {URL: "http://x"}, {Name: "x", Command: []string{""}}} {
		if err := w.hub.Add(t.Context(), bad); err == nil {
			t.Errorf("%+v was added", bad)
		}
	}
	var e *lathe.Error
	if err := w.hub.Connect(t.Context(), "none"); !errors.As(err, &e) || e.Code != lathe.NotFound {
		t.Errorf("got %v", err)
	}
}

// TestHub_NamesThatClash has servers whose names look alike to models.
func TestHub_NamesThatClash(t *testing.T) {
	w := open(t, []mcp.Server{good(t, "a.b"), good(t, "a_b"), good(t, "a-b")})
	got := w.ready()
	for _, name := range []string{"a_b_echo", "a_b_2_echo", "a-b_echo"} {
		if !slices.Contains(got, name) {
			t.Errorf("no %s among %v", name, got)
		}
	}
	if err := w.hub.Disconnect("a.b"); err != nil {
		t.Fatal(err)
	}
	if got := names(w.hub.Tools()); slices.Contains(got, "a_b_echo") || !slices.Contains(got, "a_b_2_echo") {
		t.Errorf("a name has come to mean another tool: %v", got)
	}
}
