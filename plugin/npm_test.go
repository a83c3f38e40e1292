package plugin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/plugin"
)

// published opens packages of the registry, and skips where they cannot be fetched.
func published(t *testing.T, w *fixture, specs ...string) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("published plugins need %s, which is not installed", name)
		}
	}
	w.opt.Timeouts.Load = time.Minute
	w.open(specs...).start()
	for _, s := range w.c.Status() {
		if s.State == plugin.Failed && strings.Contains(s.Reason, "install ") {
			t.Skipf("%s cannot be fetched here: %s", s.Name, s.Reason)
		}
		if s.State != plugin.Ready {
			t.Fatalf("%s", w.state())
		}
	}
}

// opencode-vibeguard hides secrets from the model and puts them back before tools run: three hooks that
// must agree with each other.
func TestNPM_Vibeguard(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]string{"vibeguard.config.json": `{"enabled":true,"patterns":{"keywords":[{"value":"hunter2","category":"PASSWORD"}]}}`})
	published(t, w, "opencode-vibeguard@0.1.0")
	message := `{"messages":[{"info":{"id":"msg_1","sessionID":"ses_1","role":"user"},"parts":[{"type":"text","text":"%s"}]}]}`
	hidden := w.call("experimental.chat.messages.transform", `{}`, fmt.Sprintf(message, "log in with hunter2 now"))
	if strings.Contains(hidden, "hunter2") || !strings.Contains(hidden, "__VG_PASSWORD_") {
		t.Fatalf("the model would read %s", hidden)
	}
	var out struct {
		Messages []struct{ Parts []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(hidden), &out); err != nil {
		t.Fatal(err)
	}
	placeholder := strings.Fields(out.Messages[0].Parts[0].Text)[3]
	args := w.call("tool.execute.before", `{"tool":"bash","sessionID":"ses_1","callID":"c"}`, fmt.Sprintf(`{"args":{"command":"login %s"}}`, placeholder))
	if args != `{"args":{"command":"login hunter2"}}` {
		t.Errorf("the tool would get %s", args)
	}
	text := w.call("experimental.text.complete", `{"sessionID":"ses_1"}`, fmt.Sprintf(`{"text":"used %s"}`, placeholder))
	if text != `{"text":"used hunter2"}` {
		t.Errorf("the user would read %s", text)
	}
}

// opencode-skills imports from "bun" and @opencode-ai/plugin, makes a tool of each skill, and prompts
// the session through its client, which is the real SDK it depends on.
func TestNPM_Skills(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]string{".opencode/skills/brewing/SKILL.md": "---\nname: brewing\ndescription: How tea is made in this house, step by step\n---\nWarm the pot first.\n"})
	var mu sync.Mutex
	var prompts []string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session/{id}/message", func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing fails the comparison
		mu.Lock()
		prompts = append(prompts, r.PathValue("id")+" "+string(body))
		mu.Unlock()
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(`{"info":{},"parts":[]}`))
	})
	w.opt.Client = mux
	w.opt.Env = append(w.opt.Env, "HOME="+w.dir+"/home", "XDG_CONFIG_HOME="+w.dir+"/config", "npm_config_cache="+w.dir+"/npm")
	published(t, w, "opencode-skills@0.1.7")
	tools := w.c.Tools()
	if len(tools) != 1 || tools[0].ID != "skills_brewing" || tools[0].Description != "How tea is made in this house, step by step" {
		t.Fatalf("%+v\n%s", tools, w.state())
	}
	res, err := w.c.Execute(t.Context(), "skills_brewing", json.RawMessage(`{}`), plugin.ToolContext{Session: "ses_7", Agent: "build"}, plugin.ToolCallbacks{})
	if err != nil || res.Output != "Launching skill: brewing" {
		t.Fatalf("%+v, %v", res, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(prompts) != 2 || !strings.HasPrefix(prompts[1], "ses_7 ") {
		t.Fatalf("%q", prompts)
	}
	contains(t, prompts[1], "Warm the pot first.", `"noReply":true`, `"agent":"build"`)
}

// A custom tool in TypeScript, with the function and the types of the plugin package, beside which nothing is
// installed: the host has it from the cache.
func TestNPM_TypeScriptTool(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]string{
		"tool/greet.ts": `
			import { tool } from "@opencode-ai/plugin"
			import { polite } from "./manners"
			enum Tone { Plain, Warm }
			export default tool({
				description: "greets",
				args: { name: tool.schema.string().min(2).describe("whom"), times: tool.schema.number().int().default(1), tone: tool.schema.enum(["plain", "warm"]).optional() },
				async execute(args, context): Promise<string> { return polite(args.name as string).repeat(args.times) + Tone[Tone.Warm] },
			})`,
		"tool/manners.ts": "export const polite = (name: string): string => `Dear ${name}!`",
	})
	w.opt.Tools = []string{filepath.Join(w.dir, "tool/greet.ts")}
	published(t, w)
	want := `{"type":"object","properties":{"name":{"type":"string","minLength":2,"description":"whom"},"times":{"default":1,"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},"tone":{"type":"string","enum":["plain","warm"]}},"required":["name"]}`
	if tools := w.c.Tools(); len(tools) != 1 || !sameJSON(t, string(tools[0].Schema), want) {
		t.Fatalf("%s\n%s", tools[0].Schema, w.state())
	}
	run := func(args string) (string, error) {
		res, err := w.c.Execute(t.Context(), "greet", json.RawMessage(args), plugin.ToolContext{}, plugin.ToolCallbacks{})
		return res.Output, err
	}
	if got, err := run(`{"name":"usr"}`); got != "Dear usr!Warm" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := run(`{"name":"x","times":"many"}`); err == nil || !strings.Contains(err.Error(), "the arguments do not fit: name: ") {
		t.Errorf("arguments that do not fit: %q, %v", got, err)
	}
}

// The SDK, where a plugin imports it and does not bring it, comes from the cache; its streams
// come over the pipe.
func TestNPM_SDK(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bun"); err == nil {
		t.Skip("with bun a plugin has to bring the SDK that it imports")
	}
	w := newFixture(t, map[string]string{"a.js": `
		import { createOpencodeClient } from "@opencode-ai/sdk"
		export const A = async ({ client, serverUrl }) => ({ tool: { listen: { description: "", async execute() {
			const seen = []
			for (const c of [client, createOpencodeClient({ baseUrl: serverUrl.href })]) {
				const { stream } = await c.event.subscribe()
				for await (const event of stream) { seen.push(event.type); break }
			}
			return [client.constructor.name, ...seen].join(" ")
		} } } })`})
	w.opt.Client = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(rw, "data: {\"type\":%q}\n\n", r.URL.Path)
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	published(t, w, "./a.js")
	res, err := w.c.Execute(t.Context(), "listen", nil, plugin.ToolContext{}, plugin.ToolCallbacks{})
	if err != nil || res.Output != "OpencodeClient /event /event" {
		t.Fatalf("%q, %v\n%s", res.Output, err, w.state())
	}
}

// Two processes that want the same package at once do not spoil it for each other.
func TestNPM_InstallTwice(t *testing.T) {
	t.Parallel()
	a, b := newFixture(t, nil), newFixture(t, nil)
	b.opt.Cache = a.opt.Cache
	var both sync.WaitGroup
	both.Go(func() {
		b.opt.Plugins = []plugin.Plugin{{Spec: "opencode-vibeguard@0.1.0"}}
		b.open()
		_ = b.c.Start(t.Context())
	})
	published(t, a, "opencode-vibeguard@0.1.0")
	both.Wait()
	if s := b.c.Status()[0]; s.State != plugin.Ready {
		t.Errorf("%+v", s)
	}
	if n := strings.Count(a.logs.String()+b.logs.String(), "installing a package"); n != 1 {
		t.Errorf("it was installed %d times", n)
	}
}

// No package is installed that npm would take for something else.
func TestNPM_Specs(t *testing.T) {
	needNode(t)
	w := newFixture(t, nil)
	specs := []string{"git+https://example.com/x", "user/repo", "x@file:../y", "--registry=x", "name@npm:other", "../x y", "", "x@https://example.com/y.tgz"}
	for _, s := range specs {
		w.opt.Plugins = append(w.opt.Plugins, plugin.Plugin{Spec: s})
	}
	w.open().start()
	for _, s := range w.c.Status() {
		if s.State != plugin.Failed || s.Kind == "package" && !strings.Contains(s.Reason, "neither a path nor a package") {
			t.Errorf("%+v", s)
		}
	}
	if strings.Contains(w.logs.String(), "installing") {
		t.Error(w.logs)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		return a == b // down to texts and numbers
	}
	if len(x) != len(y) {
		return false
	}
	for name, value := range x {
		if !sameJSON(t, string(value), string(y[name])) {
			return false
		}
	}
	return true
}
