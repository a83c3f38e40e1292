package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/acp/acptest"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// acpHome is a home whose model follows a script and names sessions by itself.
func acpHome(t *testing.T, script, settings string) string {
	t.Helper()
	model := modeltest.Start(t, modeltest.MustParse(script))
	model.Respond(func(r modeltest.Request) modeltest.Answer {
		if bytes.Contains(r.Body, []byte(engine.TitleRequest)) {
			return modeltest.Answer{modeltest.Text{"A title"}, modeltest.Finish("stop")}
		}
		return nil // the script answers
	})
	home := serveHome(t, model.URL)
	if settings != "" {
		if err := os.WriteFile(filepath.Join(home, ".config", "lathe", "lathe.jsonc"), []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// acpProcess is `lathe acp` as its own process.
type acpProcess struct {
	*acptest.Client
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *bytes.Buffer
}

func acpStart(t *testing.T, home string) *acpProcess {
	t.Helper()
	p := &acpProcess{cmd: command(t, home, "acp"), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(p.cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.Client = acptest.Connect(t, p.in, out, false)
	return p
}

// begin initializes, and makes a session.
func (p *acpProcess) begin(home string) (id string) {
	p.Must("initialize", map[string]any{"protocolVersion": 1}, nil)
	var s struct {
		ID string `json:"sessionId"`
	}
	p.Must("session/new", map[string]any{"cwd": home, "mcpServers": []any{}}, &s)
	return s.ID
}

// leave closes the input and waits for a good end.
func (p *acpProcess) leave(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	ended := make(chan error, 1)
	go func() {
		<-p.Done() // all output is read
		ended <- p.cmd.Wait()
	}()
	select {
	case err := <-ended:
		if err != nil || p.stderr.Len() > 0 {
			t.Errorf("%v: %s", err, p.stderr)
		}
	case <-time.After(acptest.Patience):
		t.Error("it does not end with its input")
	}
}

func acpPrompt(id, text string) map[string]any {
	return map[string]any{"sessionId": id, "prompt": []any{map[string]string{"type": "text", "text": text}}}
}

const dayScript = `
text "Good " "morning."
finish stop
--
call read {"filePath":"a.txt"}
finish tool-calls
--
call edit {"filePath":"a.txt","oldString":"unsaved","newString":"edited"}
finish tool-calls
--
text "Edited."
finish stop
--
call question {"questions":[{"question":"Which database?","header":"Database","options":[{"label":"SQLite","description":"no server"},{"label":"Postgres","description":"a server"}]}]}
and todowrite {"todos":[{"content":"one","status":"in_progress"},{"content":"two","status":"pending"}]}
finish tool-calls
--
text "Asked."
finish stop
--
call bash {"command":"sleep 60"}
finish tool-calls
--
text "I begin " "to think."
stall
--
text "Here."
finish stop
`

// The official SDK drives a whole day: new, prompt, permission, question, plan, edit, cancel, mode, load after kill -9,
// delete. It needs Node, and the package from a registry.
func TestACP_SDK(t *testing.T) {
	needUnix(t)
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs Node: ", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	work := t.TempDir()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", work, "@agentclientprotocol/sdk@2.4.0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("needs the package @agentclientprotocol/sdk: %v %.300s", err, out)
	}
	script, err := os.ReadFile("testdata/acp-day.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "day.mjs"), script, 0o644); err != nil {
		t.Fatal(err)
	}
	home := acpHome(t, dayScript, `{"permission":{"edit":"ask"}}`)
	project := filepath.Join(home, "p")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	lathe, err := exec.LookPath("lathe")
	if err != nil {
		t.Fatal(err)
	}
	day := exec.CommandContext(ctx, node, filepath.Join(work, "day.mjs"), project, lathe)
	day.Env = append(command(t, home).Env, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	out, err := day.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok ") != 17 {
		t.Fatalf("%v\n%s", err, out)
	}
}

// A process that is killed in the middle of a turn loses nothing that was said: another loads the session, asks what
// was asked, and goes on.
func TestACP_Kill(t *testing.T) {
	needUnix(t)
	t.Parallel()
	home := acpHome(t, `
text "begun"
call bash {"command":"touch asked"}
finish tool-calls
--
text "after"
finish stop
`, `{"permission_mode":"ask"}`)
	p := acpStart(t, home)
	asked := make(chan bool, 10)
	p.Answer("session/request_permission", func(json.RawMessage) (any, error) { asked <- true; return nil, nil })
	id := p.begin(home)
	p.Start("session/prompt", acpPrompt(id, "go"))
	<-asked
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	p = acpStart(t, home)
	p.Must("initialize", map[string]any{"protocolVersion": 1}, nil)
	p.Must("session/load", map[string]any{"cwd": home, "mcpServers": []any{}, "sessionId": id}, nil)
	if got := p.Texts("user_message_chunk") + "|" + p.Texts("agent_message_chunk"); got != "go|begun" {
		t.Errorf("loaded %q", got)
	}
	calls := p.Updates("tool_call")
	if len(calls) != 1 || !strings.Contains(string(calls[0].Data), `"status":"failed"`) {
		t.Errorf("%s", p.Script())
	}
	p.Must("session/prompt", acpPrompt(id, "/continue"), nil)
	if got := p.Texts("agent_message_chunk"); got != "begunafter" {
		t.Errorf("continued %q\n%s", got, p.Script())
	}
	p.leave(t)
}

// Whatever a client sends, every line of the output is a message, nothing else is printed, and the session can be used
// afterwards. The client checks each line.
func TestACP_Garbage(t *testing.T) {
	needUnix(t)
	t.Parallel()
	home := acpHome(t, "text \"fine\"\nfinish stop\n", "")
	p := acpStart(t, home)
	id := p.begin(home)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	pieces := []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"` + id + `","prompt":`, `[]`, `{}`, `null`, `"\u0000"`, "\x00", "\xff\xfe", `{"jsonrpc":"2.0","id":{},"method":"x"}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + id + `"}}`, `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{"outcome":7}}`, `[{"jsonrpc":"2.0"}]`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5000) + `","method":"session/load","params":{}}`, strings.Repeat("[", 20000), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`,
	}
	for range 300 {
		line := ""
		for range random.IntN(3) + 1 {
			line += pieces[random.IntN(len(pieces))]
		}
		p.SendRaw(line + "\n")
	}
	var r struct{ StopReason string }
	if err := p.Call("session/prompt", acpPrompt(id, "are you fine?"), &r); err != nil {
		t.Errorf("%v", err)
	}
	p.leave(t)
}

// A client that answers permission requests twice, with nonsense, or after a cancel, breaks nothing.
func TestACP_Answers(t *testing.T) {
	needUnix(t)
	t.Parallel()
	home := acpHome(t, `
call bash {"command":"touch one"}
finish tool-calls
--
text "ok"
finish stop
`, `{"permission_mode":"ask"}`)
	p := acpStart(t, home)
	var once sync.Once
	p.Answer("session/request_permission", func(json.RawMessage) (any, error) {
		once.Do(func() {
			for n := range 50 {
				p.SendRaw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}`+"\n", n))
				p.SendRaw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}`+"\n", n))
			}
		})
		return nil, nil
	})
	id := p.begin(home)
	var r struct{ StopReason string }
	p.Must("session/prompt", acpPrompt(id, "go"), &r)
	if _, err := os.Stat(filepath.Join(home, "one")); err != nil || r.StopReason != "end_turn" {
		t.Errorf("%v %v", err, r)
	}
	p.leave(t)
}

// A client that goes away in the middle of a turn interrupts it; the process ends soon, and the turn can be continued.
func TestACP_ClosedInput(t *testing.T) {
	needUnix(t)
	t.Parallel()
	home := acpHome(t, `
text "begun"
stall
--
text "after"
finish stop
`, "")
	p := acpStart(t, home)
	id := p.begin(home)
	p.Start("session/prompt", acpPrompt(id, "go"))
	p.Until("text", func(u acptest.Update) bool { return u.Kind == "agent_message_chunk" })
	p.leave(t)
	p = acpStart(t, home)
	p.Must("initialize", map[string]any{"protocolVersion": 1}, nil)
	p.Must("session/load", map[string]any{"cwd": home, "mcpServers": []any{}, "sessionId": id}, nil)
	p.Must("session/prompt", acpPrompt(id, "/continue"), nil)
	if got := p.Texts("agent_message_chunk"); got != "begunafter" {
		t.Errorf("%q\n%s", got, p.Script())
	}
	p.leave(t)
}
