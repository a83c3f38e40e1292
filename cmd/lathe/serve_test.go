package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/debug"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// serving is `lathe serve` as its own process.
type serving struct {
	*testing.T
	home   string
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	client *http.Client
	key    string // of Basic, "" without a password
}

// serveHome is a home whose settings use a scripted model.
func serveHome(t *testing.T, model string) string {
	t.Helper()
	home := t.TempDir()
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, fmt.Appendf(nil, debug.ScriptConfig, model), 0o644); err != nil {
		t.Fatal(err)
	}
	return home
}

// startServe starts a server and waits for its line.
func startServe(t *testing.T, home string, env []string, args ...string) *serving {
	t.Helper()
	return startProgram(t, "", home, env, args...)
}

// startProgram starts a server of another copy of the program; "" is the usual one.
func startProgram(t *testing.T, program, home string, env []string, args ...string) *serving {
	t.Helper()
	s := &serving{T: t, home: home, cmd: command(t, home, append([]string{"serve"}, args...)...), stderr: &bytes.Buffer{}, client: &http.Client{}}
	s.cmd.Env = append(s.cmd.Env, append([]string{"XDG_CONFIG_HOME=" + filepath.Join(home, ".config")}, env...)...)
	s.cmd.Stderr, s.cmd.Path = s.stderr, cmp.Or(program, s.cmd.Path)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	where, ok := strings.CutPrefix(line, "opencode server listening on ")
	if err != nil || !ok {
		_ = s.cmd.Wait()
		t.Fatalf("it said %q (%v)\n%s", line, err, s.stderr)
	}
	s.url = strings.TrimSpace(where)
	return s
}

// end interrupts the server and holds how it ended.
func (s *serving) end() {
	s.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("it ended with %v\n%s", err, s.stderr)
	}
}

// kill ends the server at once.
func (s *serving) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// ask makes one request and reads the answer into to, unless that is nil.
func (s *serving) ask(want int, to any, method, path, body string) string {
	s.Helper()
	res := s.do(method, path, body)
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	if res.StatusCode != want {
		s.Fatalf("%s %s: status %d, not %d: %s", method, path, res.StatusCode, want, data)
	}
	if to != nil {
		if err := json.Unmarshal(data, to); err != nil {
			s.Fatalf("%s %s: %v: %s", method, path, err, data)
		}
	}
	return string(data)
}

// do sends a request. The caller closes the body of the response.
func (s *serving) do(method, path, body string) *http.Response {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		r.SetBasicAuth("opencode", s.key)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	return res
}

// listen reads a stream and tells each event with the cursor of its frame, until it says false.
func (s *serving) listen(path, after string, each func(cursor string, ev lathe.Event) bool) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), 60*time.Second)
	defer stop()
	r, _ := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	if s.key != "" {
		r.SetBasicAuth("opencode", s.key)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.Error(err)
		return
	}
	defer res.Body.Close()
	for in := sse.NewReader(res.Body); ; {
		one, err := in.Next()
		if err != nil {
			return
		}
		var ev lathe.Event
		if err := json.Unmarshal(one.Data, &ev); err != nil {
			s.Error(err)
			return
		}
		if !each(string(one.ID), ev) {
			return
		}
	}
}

func TestServe_Password(t *testing.T) {
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	s := startServe(t, home, nil, "--port", "0")
	s.ask(401, nil, "GET", "/session", "")
	file := filepath.Join(home, "data", "state", "server-password")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the password is kept in %v (%v)", info, err)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.key = strings.TrimSpace(string(kept))
	s.ask(200, nil, "GET", "/session", "")
	s.end()
	if !strings.Contains(s.stderr.String(), "server-password, for the user opencode") {
		t.Errorf("it does not say where the password is: %s", s.stderr)
	}
	if strings.Contains(s.stderr.String(), s.key) {
		t.Error("the password was printed")
	}
	again := startServe(t, home, nil)
	again.key = s.key // it stays
	again.ask(200, nil, "GET", "/session", "")
	again.end()
	own := startServe(t, home, []string{"OPENCODE_SERVER_PASSWORD=mine"})
	own.key = "mine"
	own.ask(200, nil, "GET", "/session", "")
	own.end()
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, home, "serve").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "other users can read the password") {
		t.Errorf("with a password that others can read: %v\n%s", err, out)
	}
}

func TestServe_WithoutPassword(t *testing.T) {
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	for _, c := range []struct {
		env  []string
		args []string
	}{{args: []string{"--no-auth"}}, {env: []string{"LATHE_NO_AUTH=1"}, args: []string{"--hostname=127.0.0.1", "--port=0"}}, {env: []string{`OPENCODE_CONFIG_CONTENT={"server":{"auth":"none"}}`}}} {
		s := startServe(t, home, c.env, c.args...)
		s.ask(200, nil, "GET", "/global/health", "")
		s.end()
		for _, want := range []string{"requires no password", "server for browsers and OpenCode clients", "Connect   lathe attach http://127.0.0.1:", "Browser   http://127.0.0.1:", "Stop      Ctrl-C"} {
			if !strings.Contains(s.stderr.String(), want) {
				t.Errorf("%v: %q is not on standard error: %s", c, want, s.stderr)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(home, "data", "state", "server-password")); err == nil {
		t.Error("a password was made that nobody needs")
	}
	for _, args := range [][]string{{"--no-auth", "--hostname", "0.0.0.0"}, {"--port", "70000"}, {"--tls-cert", "x"}, {"--socket", "s", "--tls-cert", "x", "--tls-key", "y"}} {
		out, err := command(t, home, append([]string{"serve"}, args...)...).CombinedOutput()
		if code := exitCode(err); code != cli.ExitUsage {
			t.Errorf("serve %v: exit %d\n%s", args, code, out)
		}
	}
}

// A server on all addresses names one that a phone can open, and one for this machine.
func TestServe_Addresses(t *testing.T) {
	needUnix(t)
	s := startServe(t, serveHome(t, "http://127.0.0.1:1"), nil, "--hostname", "0.0.0.0", "--allow-host", "build.lan")
	s.end()
	for _, want := range []string{"Connect   lathe attach http://127.0.0.1:", "Browser   http://127.0.0.1:", "Phone     http://build.lan:"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("%q is not on standard error: %s", want, s.stderr)
		}
	}
}

func TestServe_Socket(t *testing.T) {
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	path := filepath.Join(home, "s.sock")
	s := startServe(t, home, nil, "--socket", path, "--no-auth")
	if s.url != "unix://"+path {
		t.Errorf("it listens on %s", s.url)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v (%v)", info, err)
	}
	s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	s.url = "http://anything"
	s.ask(200, nil, "GET", "/session", "")
	out, err := command(t, home, "serve", "--socket", path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another server is listening") {
		t.Errorf("a second one: %v\n%s", err, out)
	}
	s.kill() // its socket stays, and is replaced
	next := startServe(t, home, nil, "--socket", path, "--no-auth")
	next.end()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
}

func TestServe_SettingsAndProviders(t *testing.T) {
	t.Parallel()
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	if text := s.ask(200, nil, "GET", "/config", ""); !strings.Contains(text, `"model":"script/script"`) || strings.Contains(text, "apiKey") {
		t.Errorf("settings %s", text)
	}
	var usable struct {
		Providers []struct {
			ID, Source string
			Models     map[string]struct{ ProviderID string }
		}
		Default map[string]string
	}
	s.ask(200, &usable, "GET", "/config/providers", "")
	if len(usable.Providers) != 1 || usable.Providers[0].ID != "script" || usable.Default["script"] != "script" || usable.Providers[0].Models["script"].ProviderID != "script" {
		t.Errorf("usable %+v", usable)
	}
	var all struct {
		All       []struct{ ID string }
		Connected []string
	}
	s.ask(200, &all, "GET", "/provider", "")
	if len(all.All) < 10 || len(all.Connected) != 1 {
		t.Errorf("%d providers, connected %v", len(all.All), all.Connected)
	}
	s.ask(200, nil, "PUT", "/auth/anthropic", `{"type":"api","key":"sk-very-secret"}`)
	if text := s.ask(200, &all, "GET", "/provider", ""); len(all.Connected) != 2 || strings.Contains(text, "sk-very-secret") {
		t.Errorf("connected %v", all.Connected)
	}
	s.ask(400, nil, "PUT", "/auth/anthropic", `{"type":"other"}`)
	s.ask(200, nil, "DELETE", "/auth/anthropic", "")
	s.ask(200, &all, "GET", "/config/providers", "")
	var agents []lathe.Agent
	s.ask(200, &agents, "GET", "/agent", "")
	if len(agents) == 0 || agents[0].Name != "build" {
		t.Errorf("agents %v", agents)
	}
	if text := s.ask(200, nil, "PATCH", "/config", `{"username":"usr"}`); !strings.Contains(text, `"username":"usr"`) {
		t.Errorf("changed to %s", text)
	}
	if text := s.ask(400, nil, "PATCH", "/config", `{"username":3}`); !strings.Contains(text, "Config") {
		t.Errorf("refused with %s", text)
	}
	if text := s.ask(200, nil, "PATCH", "/global/config", `{"small_model":"script/script"}`); !strings.Contains(text, `"small_model"`) {
		t.Errorf("changed to %s", text)
	}
	for _, path := range []string{"/lsp", "/lathe/lsp", "/find/symbol?query=x", "/experimental/workspace"} {
		if text := s.ask(200, nil, "GET", path, ""); text != "[]" {
			t.Errorf("%s: %s", path, text)
		}
	}
	for path, name := range map[string]string{"/command": "init", "/skill": "customize-lathe", "/formatter": "gofmt"} {
		if text := s.ask(200, nil, "GET", path, ""); !strings.Contains(text, `"name":"`+name+`"`) {
			t.Errorf("%s: %s", path, text)
		}
	}
	var names []string
	s.ask(200, &names, "GET", "/experimental/tool/ids", "")
	if !slices.Contains(names, "bash") || !slices.Contains(names, "read") {
		t.Errorf("tools %v", names)
	}
	if text := s.ask(200, nil, "GET", "/experimental/tool?provider=script&model=script", ""); !strings.Contains(text, `"parameters":{"type":"object"`) {
		t.Errorf("tools %.300s", text)
	}
	s.ask(400, nil, "POST", "/provider/anthropic/oauth/callback", `{"method":0}`)
	s.end()
}

// Clients read the config without keys, and change it by sending back what they read with one
// member more. No key is reported, and none is lost.
func TestServe_ConfigKeys(t *testing.T) {
	t.Parallel()
	needUnix(t)
	home := serveHome(t, "http://127.0.0.1:1")
	file := filepath.Join(home, ".config", "lathe", "lathe.json")
	const secrets = `"mcp": {"a": {"type": "local", "enabled": false, "command": ["x", "--token", "SECRET1"], "environment": {"PLAIN": "SECRET2"}},
	"b": {"type": "remote", "enabled": false, "url": "https://me:SECRET3@host.example/", "headers": {"X-Team": "SECRET4"}, "oauth": {"clientSecret": "SECRET5"}}},
	"provider": {"own": {"options": {"apiKey": "SECRET6", "baseURL": "https://host.example/?key=SECRET7"}}}`
	if err := os.WriteFile(file, []byte("// a comment comes first\n{"+secrets+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	for _, path := range []string{"/global/config", "/config"} {
		var received map[string]json.RawMessage
		if text := s.ask(200, &received, "GET", path, ""); strings.Contains(text, "SECRET") || !strings.Contains(text, `"command":["x","--token","[scrubbed]"]`) {
			t.Errorf("GET %s: %s", path, text)
		}
		if received["snapshot"] = json.RawMessage("false"); path == "/config" {
			delete(received, "mcp") // a server without its command has no place in another file
		}
		change, err := json.Marshal(received)
		if err != nil {
			t.Fatal(err)
		}
		if text := s.ask(200, nil, "PATCH", path, string(change)); strings.Contains(text, "SECRET") || !strings.Contains(text, `"snapshot":false`) {
			t.Errorf("PATCH %s: %s", path, text)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "SECRET") != 7 || !strings.Contains(string(text), `"snapshot"`) || strings.Contains(string(text), "[scrubbed]") {
		t.Errorf("your file is now %s (%v)", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(home, "lathe.json")); err != nil || !strings.Contains(string(text), `"snapshot"`) || strings.Contains(string(text), "[scrubbed]") {
		t.Errorf("the directory's file is %s (%v)", text, err)
	}
	s.end()
}

// TestServe_Undo writes a file by a tool, takes that back and does it again.
func TestServe_Undo(t *testing.T) {
	t.Parallel()
	needUnix(t)
	model := modeltest.Start(t, modeltest.MustParse(`call write {"filePath":"new.txt","content":"by the model\n"}
finish tool-calls
--
text "Written."
finish stop`))
	home := serveHome(t, model.URL)
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	var rec lathe.Session
	s.ask(200, &rec, "POST", "/session", `{"title":"T"}`)
	path, file := "/session/"+string(rec.ID), filepath.Join(home, "new.txt")
	s.ask(200, nil, "POST", path+"/message", `{"messageID":"msg_mine","parts":[{"type":"text","text":"write it"}]}`)
	if text, err := os.ReadFile(file); err != nil || string(text) != "by the model\n" {
		t.Fatalf("it wrote %q (%v)", text, err)
	}
	var diffs []lathe.FileDiff
	for begin := time.Now(); len(diffs) == 0 && time.Since(begin) < 20*time.Second; { // it is counted after the turn
		s.ask(200, &diffs, "GET", path+"/diff", "")
	}
	if len(diffs) != 1 || diffs[0].Additions != 1 {
		t.Errorf("changed %v", diffs)
	}
	s.ask(200, &rec, "POST", path+"/revert", `{"messageID":"msg_mine"}`)
	if _, err := os.Stat(file); err == nil || rec.Revert == nil || rec.Revert.Message != "msg_mine" {
		t.Errorf("undone to %s, the file is there: %v", rec.AppendJSON(nil), err == nil)
	}
	s.ask(200, &rec, "POST", path+"/unrevert", "")
	if text, err := os.ReadFile(file); err != nil || string(text) != "by the model\n" || rec.Revert != nil {
		t.Errorf("done again: %q (%v), %s", text, err, rec.AppendJSON(nil))
	}
	s.ask(200, &rec, "POST", path+"/revert", `{"messageID":"msg_nobody"}`)
	if rec.Revert != nil {
		t.Errorf("undone from nowhere: %s", rec.AppendJSON(nil))
	}
	s.ask(400, nil, "POST", path+"/revert", `{}`)
	s.ask(404, nil, "POST", "/session/ses_gone/revert", `{"messageID":"msg_mine"}`)
	var out lathe.Message
	s.ask(200, &out, "POST", path+"/shell", `{"agent":"build","command":"echo hello there"}`)
	if text := s.ask(200, nil, "GET", path+"/message", ""); !strings.Contains(text, "hello there") || out.Data.Role() != "assistant" {
		t.Errorf("the shell said %s", text)
	}
	s.end()
}

// TestServe_KilledWithManyTurns kills a server in the middle of 50 turns. A second one on the
// same database continues: every client resumes its stream by number, and every session comes
// to rest.
func TestServe_KilledWithManyTurns(t *testing.T) {
	t.Parallel()
	needUnix(t)
	const many = 50
	model := modeltest.Start(t, nil)
	slow := make(chan struct{})
	model.Respond(func(r modeltest.Request) modeltest.Answer {
		select {
		case <-slow:
			return modeltest.Answer{modeltest.Text{"again ", "done"}, modeltest.Finish("stop")}
		default:
			return modeltest.Answer{modeltest.Text{"begun "}, modeltest.Stall{}}
		}
	})
	home := serveHome(t, model.URL)
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	ids := make([]lathe.SessionID, many)
	at := ""
	streaming := map[lathe.SessionID]bool{}
	for i := range ids {
		var rec lathe.Session
		s.ask(200, &rec, "POST", "/session", `{"title":"T"}`)
		ids[i] = rec.ID
	}
	s.listen("/event", "", func(cursor string, ev lathe.Event) bool {
		if at == "" {
			at = cursor
			for _, id := range ids {
				s.ask(204, nil, "POST", "/session/"+string(id)+"/prompt_async", `{"parts":[{"type":"text","text":"go"}]}`)
			}
		}
		if d, ok := ev.Fact.(*lathe.PartDelta); ok {
			streaming[d.Session] = true
		}
		return len(streaming) < many
	})
	if len(streaming) < many {
		t.Fatalf("%d of %d turns began", len(streaming), many)
	}
	s.kill()
	close(slow)
	next := startServe(t, home, []string{"LATHE_NO_AUTH=1", `LATHE_CONFIG_CONTENT={"resume":"auto"}`})
	resting := map[lathe.SessionID]string{}
	views := map[lathe.SessionID]*lathe.Transcript{}
	for _, id := range ids {
		views[id] = lathe.NewTranscript(lathe.Session{ID: id}, nil)
	}
	next.listen("/event", at, func(_ string, ev lathe.Event) bool {
		if v := views[lathe.SessionOf(ev.Fact)]; v != nil {
			v.Apply(ev)
			if msgs := v.Messages(); v.Status().Type == lathe.Idle && len(msgs) > 1 {
				if last := msgs[len(msgs)-1]; strings.Contains(partsText(last), "again done") {
					resting[lathe.SessionOf(ev.Fact)] = "done"
				}
			}
		}
		return len(resting) < many
	})
	if len(resting) < many {
		t.Errorf("%d of %d sessions came to rest", len(resting), many)
	}
	for _, id := range ids {
		var stored []lathe.Message
		next.ask(200, &stored, "GET", "/session/"+string(id)+"/message", "")
		seen := views[id].Messages()
		if len(stored) != len(seen) {
			t.Errorf("%s: %d messages are stored, %d were told", id, len(stored), len(seen))
		}
		for _, m := range stored {
			if a, ok := m.Data.(*lathe.Assistant); ok && a.Completed == 0 {
				t.Errorf("%s: message %s is open", id, m.ID)
			}
		}
	}
	next.end()
}

func partsText(m lathe.Message) (out string) {
	for _, p := range m.Parts {
		if b, ok := p.Body.(*lathe.Text); ok {
			out += b.Text
		}
	}
	return out
}

// TestServe_StoppedInATurn ends a server in the middle of a turn, which the next one continues.
func TestServe_StoppedInATurn(t *testing.T) {
	needUnix(t)
	model := modeltest.Start(t, modeltest.MustParse("text \"begun \"\nstall\n--\ntext \"again done\"\nfinish stop"))
	home := serveHome(t, model.URL)
	s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	var rec lathe.Session
	s.ask(200, &rec, "POST", "/session", `{"title":"T"}`)
	path := "/session/" + string(rec.ID)
	s.listen("/event", "", func(_ string, ev lathe.Event) bool {
		if _, ok := ev.Fact.(*lathe.ServerConnected); ok {
			s.ask(204, nil, "POST", path+"/prompt_async", `{"parts":[{"type":"text","text":"go"}]}`)
		}
		_, streaming := ev.Fact.(*lathe.PartDelta)
		return !streaming
	})
	s.end()
	next := startServe(t, home, []string{"LATHE_NO_AUTH=1", `LATHE_CONFIG_CONTENT={"resume":"auto"}`})
	var stored []lathe.Message
	for begin := time.Now(); ; {
		next.ask(200, &stored, "GET", path+"/message", "")
		if last := stored[len(stored)-1]; partsText(last) == "again done" {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("it did not go on: %d messages, the last says %q", len(stored), partsText(stored[len(stored)-1]))
		}
	}
	next.end()
}

// TestServe_TwoOnOneDatabase lets a client of one server see what is done at the other.
func TestServe_TwoOnOneDatabase(t *testing.T) {
	needUnix(t)
	model := modeltest.Start(t, modeltest.MustParse("text \"Hello.\"\nfinish stop"))
	home := serveHome(t, model.URL)
	one, two := startServe(t, home, []string{"LATHE_NO_AUTH=1"}), startServe(t, home, []string{"LATHE_NO_AUTH=1"})
	if one.url == two.url {
		t.Fatalf("both listen on %s", one.url)
	}
	var rec lathe.Session
	one.ask(200, &rec, "POST", "/session", `{"title":"T"}`)
	text, idle := "", false
	two.listen("/event", "", func(_ string, ev lathe.Event) bool {
		switch f := ev.Fact.(type) {
		case *lathe.ServerConnected:
			one.ask(204, nil, "POST", "/session/"+string(rec.ID)+"/prompt_async", `{"parts":[{"type":"text","text":"hi"}]}`)
		case *lathe.PartChanged:
			if b, ok := f.Part.Body.(*lathe.Text); ok {
				text = b.Text
			}
		case *lathe.StatusChanged:
			idle = f.Status.Type == lathe.Idle
		default:
		}
		return !idle || text != "Hello."
	})
	if text != "Hello." {
		t.Errorf("the other server told %q", text)
	}
	var stored []lathe.Message
	two.ask(200, &stored, "GET", "/session/"+string(rec.ID)+"/message", "")
	if len(stored) != 2 {
		t.Errorf("%d messages", len(stored))
	}
	one.end()
	two.end()
}
