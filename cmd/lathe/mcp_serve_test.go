package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe/cli/mcpserver"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// mcpFixture is `lathe mcp serve` as its own process, and a client of the library on it.
type mcpFixture struct {
	*testing.T
	home     string
	model    *modeltest.Server
	cmd      *exec.Cmd
	client   *mcp.ClientSession
	stdin    io.WriteCloser
	stderr   *bytes.Buffer
	mu       sync.Mutex // guards messages
	messages []string   // progress
	notices  chan string
}

// mcpBegin starts a server whose model says the script.
func mcpBegin(t *testing.T, script, settings string, args ...string) *mcpFixture {
	t.Helper()
	model := modeltest.Start(t, modeltest.MustParse(script))
	home := serveHome(t, model.URL)
	if settings != "" {
		path := filepath.Join(home, ".config", "lathe", "lathe.jsonc")
		if err := os.WriteFile(path, []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := mcpStart(t, home, args...)
	w.model = model
	return w
}

// mcpStart starts a server in a home that is there, and connects to it.
func mcpStart(t *testing.T, home string, args ...string) *mcpFixture {
	t.Helper()
	w := &mcpFixture{T: t, home: home, cmd: mcpCommand(t, home, args...), stderr: &bytes.Buffer{}, notices: make(chan string, 1000)}
	w.cmd.Stderr = w.stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.messages = append(w.messages, r.Params.Message)
			w.notices <- r.Params.Message
		},
	})
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	if w.client, err = client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: w.stdin}, nil); err != nil {
		t.Fatalf("%v\n%s", err, w.stderr)
	}
	return w
}

func mcpCommand(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, home, append([]string{"mcp", "serve"}, args...)...)
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	return cmd
}

// call calls a tool; to is what its structure is read into.
func (w *mcpFixture) call(ctx context.Context, name string, args map[string]any, to any) (*mcp.CallToolResult, string) {
	w.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	p.SetProgressToken("token")
	r, err := w.client.CallTool(ctx, p)
	if err != nil {
		w.Fatalf("%s %v: %v\n%s", name, args, err, w.stderr)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if to != nil && !r.IsError || r.StructuredContent != nil && to != nil {
		data, _ := json.Marshal(r.StructuredContent)
		if err := json.Unmarshal(data, to); err != nil {
			w.Fatal(err)
		}
	}
	return r, text
}

// refuses is call for one that must fail, with these words.
func (w *mcpFixture) refuses(name string, args map[string]any, words string) {
	w.Helper()
	if r, text := w.call(w.Context(), name, args, nil); !r.IsError || !strings.Contains(text, words) {
		w.Errorf("%s %v: %v %q", name, args, r.IsError, text)
	}
}

func TestMCPServe_RunListRead(t *testing.T) {
	needUnix(t)
	w := mcpBegin(t, `text "Let me look."
call read {"filePath":"notes.txt"}
finish tool-calls
--
text "Two lines."
finish stop
--
text "And more."
finish stop`, "")
	if err := os.WriteFile(filepath.Join(w.home, "notes.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tools, err := w.client.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("tools %v %v", tools, err)
	}
	var list mcpserver.ListReply
	w.call(t.Context(), "sessions", nil, &list)
	if _, err := os.Stat(filepath.Join(w.home, "data", "lathe.db")); len(list.Sessions) != 0 || err == nil {
		t.Errorf("%v, and looking made a database", list)
	}
	var ran mcpserver.RunReply
	r, text := w.call(t.Context(), "run", map[string]any{"prompt": "How long is it?", "title": "Lines"}, &ran)
	if r.IsError || ran.Status != "done" || ran.Text != "Let me look.\n\nTwo lines." || ran.Tools != 1 || ran.Tokens == 0 || !strings.Contains(text, ran.Session) {
		t.Errorf("%+v %q", ran, text)
	}
	for _, word := range []string{"Let me look.", "→ read", "Two lines."} { // which the client may receive after the answer
		until(t, func() bool { return strings.Contains(strings.Join(w.progress(), "\n"), word) })
	}
	var again mcpserver.RunReply
	w.call(t.Context(), "run", map[string]any{"prompt": "More", "session": ran.Session}, &again)
	if again.Session != ran.Session || again.Text != "And more." {
		t.Errorf("then %+v", again)
	}
	w.call(t.Context(), "sessions", map[string]any{"limit": 5}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].ID != ran.Session || list.Sessions[0].Directory == "" {
		t.Errorf("list %+v", list)
	}
	var read mcpserver.ReadReply
	_, text = w.call(t.Context(), "session", map[string]any{"session": "last"}, &read)
	if read.ID != ran.Session || read.Messages != 5 || read.More {
		t.Errorf("read %+v", read)
	}
	for _, word := range []string{"How long is it?", "✓ read", "Two lines.", "And more."} {
		if !strings.Contains(text, word) {
			t.Errorf("the transcript lacks %q:\n%s", word, text)
		}
	}
	w.call(t.Context(), "session", map[string]any{"session": ran.Session, "messages": 1}, &read)
	if read.Messages != 1 || !read.More {
		t.Errorf("a part %+v", read)
	}
	w.ended()
}

// progress are the messages so far.
func (w *mcpFixture) progress() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.messages...)
}

// leave closes the input, as a client does that goes, and waits for the end of the process.
func (w *mcpFixture) leave() error {
	_ = w.stdin.Close()
	return w.cmd.Wait()
}

// ended holds how the process ended when its client left, and that it said nothing that no
// client asked for.
func (w *mcpFixture) ended() {
	w.Helper()
	if err := w.leave(); err != nil {
		w.Errorf("it ended with %v\n%s", err, w.stderr)
	}
	if w.stderr.Len() > 0 {
		w.Errorf("it wrote %s", w.stderr)
	}
}

func TestMCPServe_BadCalls(t *testing.T) {
	needUnix(t)
	w := mcpBegin(t, "text \"Here.\"\nfinish stop", "")
	outside := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(w.home, "sub"), 0o755), os.Symlink(outside, filepath.Join(w.home, "link")),
		os.WriteFile(filepath.Join(w.home, "file"), nil, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.refuses("session", map[string]any{"session": "last"}, "no sessions yet")
	var ran mcpserver.RunReply
	w.call(t.Context(), "run", map[string]any{"prompt": "Hello", "title": "Greeting", "directory": "sub"}, &ran)
	var list mcpserver.ListReply
	w.call(t.Context(), "sessions", nil, &list)
	if len(list.Sessions) != 1 || filepath.Base(list.Sessions[0].Directory) != "sub" {
		t.Errorf("it began in %+v", list)
	}
	for _, c := range []struct {
		name, args, words string
	}{
		{"run", `{"prompt":" "}`, "prompt is empty"},
		{"run", `{}`, "prompt"},
		{"run", `{"prompt":"x","directory":".."}`, "outside the project"},
		{"run", `{"prompt":"x","directory":"link"}`, "outside the project"},
		{"run", `{"prompt":"x","directory":"/"}`, "outside the project"},
		{"run", `{"prompt":"x","directory":"file"}`, "not a directory"},
		{"run", `{"prompt":"x","directory":"nowhere"}`, "does not exist"},
		{"run", `{"prompt":"x","directory":"sub","session":"last"}`, "leave out directory"},
		{"run", `{"prompt":"x","session":"ses_nonsense"}`, "Session not found"},
		{"run", `{"prompt":"x","model":"nonsense"}`, "model nonsense"},
		{"run", `{"prompt":"x","model":"script/other"}`, "other"},
		{"run", `{"prompt":"x","agent":"nobody"}`, "nobody"},
		{"session", `{"session":""}`, "session is empty"},
		{"session", `{"session":"last","messages":-1}`, "want 0 or more"},
		{"sessions", `{"limit":-1}`, "want 0 or more"},
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(err)
		}
		w.refuses(c.name, args, c.words)
	}
	w.call(t.Context(), "sessions", nil, &list)
	if len(list.Sessions) != 2 { // that of a model that does not exist tells so
		t.Errorf("calls that failed left sessions: %+v", list)
	}
	// A server of another folder does not show it.
	other := mcpStart(t, w.home, "-C", outside)
	other.call(t.Context(), "sessions", nil, &list)
	if len(list.Sessions) != 0 {
		t.Errorf("elsewhere %+v", list)
	}
	other.refuses("session", map[string]any{"session": ran.Session}, "another project")
	other.refuses("run", map[string]any{"prompt": "x", "session": ran.Session}, "another project")
	other.ended()
	w.ended()
	noneLeft(t, w.home)
}

func TestMCPServe_Permission(t *testing.T) {
	needUnix(t)
	const script = `call bash {"command":"touch made","description":"make it"}
finish tool-calls
--
text "Made."
finish stop
--
text "Looked at."
finish stop`
	for _, yes := range []bool{false, true} {
		t.Run(fmt.Sprint(yes), func(t *testing.T) {
			const settings = `{"permission":{"bash":"ask"},"sandbox":"off"}`
			var w *mcpFixture
			if yes {
				w = mcpBegin(t, script, settings, "--yes")
			} else {
				w = mcpBegin(t, script, settings)
			}
			var ran mcpserver.RunReply
			r, text := w.call(t.Context(), "run", map[string]any{"prompt": "Make it", "title": "Making"}, &ran)
			_, err := os.Stat(filepath.Join(w.home, "made"))
			if yes {
				if r.IsError || ran.Status != "done" || !strings.HasPrefix(ran.Text, "Made.") || err != nil {
					t.Errorf("%+v %v", ran, err)
				}
			} else if !r.IsError || ran.Status != "refused" || err == nil || len(ran.Refused) != 1 || !strings.Contains(ran.Refused[0], "touch made") || !strings.Contains(text, "--yes") {
				t.Errorf("%+v %v %q", ran, err, text)
			}
			w.ended()
		})
	}
}

func TestMCPServe_Fails(t *testing.T) {
	needUnix(t)
	w := mcpBegin(t, `error 400 "no such thing"`, "")
	var ran mcpserver.RunReply
	r, text := w.call(t.Context(), "run", map[string]any{"prompt": "Hello", "title": "Greeting"}, &ran)
	if !r.IsError || ran.Status != "failed" || ran.Error == "" || !strings.Contains(text, "failed") || ran.Session == "" {
		t.Errorf("%v %+v %q", r.IsError, ran, text)
	}
	w.ended()
}

// A canceled call ends its turn, is settled in the session, and leaves the server well.
func TestMCPServe_Cancel(t *testing.T) {
	needUnix(t)
	w := mcpBegin(t, "call read {\"filePath\":\"none\"}\nfinish tool-calls\n--\ntext \"begun \"\nstall\n--\ntext \"After it.\"\nfinish stop", "")
	cancel, failed := w.begin(map[string]any{"prompt": "Hello", "title": "Greeting"})
	w.until("✗ read failed")
	until(t, func() bool { return len(w.model.Requests()) == 2 }) // the answer stalls
	w.refuses("run", map[string]any{"prompt": "And?", "session": "last"}, "busy with another call")
	cancel()
	if err := <-failed; err == nil {
		t.Error("the cancelled call has an answer")
	}
	w.continues()
	var list mcpserver.ListReply
	w.call(t.Context(), "sessions", nil, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Interrupted {
		t.Errorf("%+v", list)
	}
	if _, text := w.call(t.Context(), "session", map[string]any{"session": "last"}, nil); !strings.Contains(text, "MessageAbortedError") {
		t.Errorf("the transcript does not tell:\n%s", text)
	}
	w.ended()
}

// begin makes a call that can be canceled, and tells its error.
func (w *mcpFixture) begin(args map[string]any) (cancel func(), failed <-chan error) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan error, 1)
	go func() {
		p := &mcp.CallToolParams{Name: "run", Arguments: args}
		p.SetProgressToken("token")
		_, err := w.client.CallTool(ctx, p)
		done <- err
	}()
	return cancel, done
}

// continues gives a prompt to the session whose turn is being canceled, until it is free.
func (w *mcpFixture) continues() {
	w.Helper()
	var ran mcpserver.RunReply
	for begin := time.Now(); ran.Status != "done"; {
		w.call(w.Context(), "run", map[string]any{"prompt": "Go on", "session": "last"}, &ran)
		if time.Since(begin) > time.Minute {
			w.Fatalf("the session stays at work: %+v", ran)
		}
	}
	if ran.Text != "After it." {
		w.Errorf("%+v", ran)
	}
}

// until waits for a word of progress.
func (w *mcpFixture) until(word string) {
	w.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case text := <-w.notices:
			if strings.Contains(text, word) {
				return
			}
		case <-late:
			w.Fatalf("%q was not told, but %q", word, w.progress())
		}
	}
}

// A client that goes, and a server that is killed, leave a turn that can be taken up again.
func TestMCPServe_GoneInTheMiddle(t *testing.T) {
	t.Parallel()
	needUnix(t)
	const script = "call read {\"filePath\":\"none\"}\nfinish tool-calls\n--\ntext \"begun \"\nstall\n--\ntext \"Resumed.\"\nfinish stop"
	for _, how := range []string{"closed", "terminated", "killed"} {
		t.Run(how, func(t *testing.T) {
			w := mcpBegin(t, script, "")
			cancel, _ := w.begin(map[string]any{"prompt": "Hello", "title": "Greeting"})
			defer cancel()
			w.until("✗ read failed")
			until(t, func() bool { return len(w.model.Requests()) == 2 }) // the answer stalls
			var err error
			switch how {
			case "closed":
				err = w.leave()
			case "killed":
				_ = w.cmd.Process.Kill()
				err = w.cmd.Wait()
			case "terminated":
				_ = w.cmd.Process.Signal(syscall.SIGTERM)
				err = w.cmd.Wait()
			}
			if code := exitCode(err); code != map[string]int{"closed": 0, "terminated": 143, "killed": -1}[how] {
				t.Errorf("exit code %d: %v\n%s", code, err, w.stderr)
			}
			next := mcpCommand(t, w.home)
			next.Args = []string{"lathe", "run", "--resume"}
			if out, err := next.Output(); err != nil || !strings.Contains(string(out), "Resumed.") {
				t.Errorf("resumed: %v %s", err, out)
			}
		})
	}
}

// What is no message is answered with what is wrong, and the connection continues.
func TestMCPServe_Nonsense(t *testing.T) {
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	cmd := mcpCommand(t, home)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	answer := func(line string) (code int, id any) {
		t.Helper()
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		text, err := lines.ReadBytes('\n')
		var m struct {
			ID    any
			Error struct{ Code int }
		}
		if err != nil || json.Unmarshal(text, &m) != nil {
			t.Fatalf("%.80q is answered with %q %v", line, text, err)
		}
		return m.Error.Code, m.ID
	}
	const hello = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for _, c := range []struct {
		line string
		code int
	}{
		{"hello", -32700},
		{`{"jsonrpc":"2.0"`, -32700},
		{"\x00\xff\x1b[31m", -32700},
		{"7", -32600},
		{"[]", -32600},
		{"{}", -32600},
		{strings.Repeat("[", 100_000), -32700},
		{`{"a":"` + strings.Repeat("x", mcpserver.MaxLine) + `"}`, -32600},
		{hello, 0},
		{`{"jsonrpc":"2.0","id":8,"method":"nonsense/method"}`, -32601},
		{`{"jsonrpc":"2.0","id":9,"method":"ping"}`, 0},
	} {
		if code, _ := answer(c.line); code != c.code {
			t.Errorf("%.80q: code %d, not %d", c.line, code, c.code)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// With --attach the sessions are those of a server.
func TestMCPServe_Attach(t *testing.T) {
	needUnix(t)
	model := modeltest.Start(t, modeltest.MustParse("text \"From the server.\"\nfinish stop\n--\ntext \"begun \"\nstall\n--\ntext \"After it.\"\nfinish stop"))
	s := startServe(t, serveHome(t, model.URL), nil)
	w := mcpStart(t, s.home, "--attach", s.url)
	var ran mcpserver.RunReply
	r, _ := w.call(t.Context(), "run", map[string]any{"prompt": "Hello", "title": "Greeting"}, &ran)
	if r.IsError || ran.Text != "From the server." {
		t.Errorf("%+v", ran)
	}
	var list mcpserver.ListReply
	w.call(t.Context(), "sessions", nil, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].ID != ran.Session {
		t.Errorf("%+v", list)
	}
	w.refuses("run", map[string]any{"prompt": "x", "directory": "/"}, "outside the project")
	cancel, failed := w.begin(map[string]any{"prompt": "Again", "session": ran.Session})
	until(t, func() bool { return len(model.Requests()) == 2 }) // the answer stalls
	cancel()
	if err := <-failed; err == nil {
		t.Error("the cancelled call has an answer")
	}
	w.continues()
	w.ended()
	s.end()
}
