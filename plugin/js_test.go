package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/plugin"
)

// Everything that a module may export as a plugin is one, and gets what it expects.
func TestJS_Forms(t *testing.T) {
	w := newFixture(t, map[string]string{
		"a.js": `
			export const First = async ({ directory, worktree, project, serverUrl, $, client }, options) => ({
				"chat.params": async (input, output) => {
					output.options.first = [directory === worktree, project.id, serverUrl instanceof URL, serverUrl.port, options?.color, typeof client.session.prompt]
				},
			})
			export const Again = First
			export const text = "no plugin"
			export default async () => ({ "chat.params": async (input, output) => { output.options.agent = input.agent } })`,
		"b.mjs":          `export default { id: "b", server: async () => ({ "chat.params": (i, o) => { o.options.b = true } }) }`,
		"c/package.json": `{"name":"c","exports":{"./server":{"import":"./s.js"},".":"./nothing.js"},"type":"module"}`,
		"c/s.js":         `export const C = async () => ({ "chat.params": async (i, o) => { delete o.temperature; o.options.c = o.options.b } })`,
		"d.cjs":          `module.exports = async () => ({ "chat.headers": async (i, o) => {} })`,
	})
	w.opt.Plugins = []plugin.Plugin{{Spec: "./a.js", Options: json.RawMessage(`{"color":"red"}`)}}
	w.js("./b.mjs", "file://"+filepath.Join(w.dir, "c"), "./d.cjs")
	got := w.call("chat.params", `{"agent":"build"}`, `{"temperature":1,"options":{}}`)
	if got != `{"options":{"first":[true,"global",true,"4096","red","function"],"agent":"build","b":true,"c":true}}` {
		t.Error(got, w.state())
	}
	if out := w.call("chat.headers", `{}`, `{ "headers": {} }`); out != `{ "headers": {} }` {
		t.Errorf("what was not changed came back as %s", out)
	}
	for _, s := range w.c.Status() {
		if s.State != plugin.Ready || s.Process != "JavaScript host" {
			t.Errorf("%+v", s)
		}
	}
}

// A hook that throws fails the call with what it said; the settings are one object.
func TestJS_ThrowAndConfig(t *testing.T) {
	w := newFixture(t, map[string]string{"a.js": `
		export const A = async () => ({
			"tool.execute.before": async (input, output) => { if (output.args.filePath?.includes(".env")) throw new Error("Do not read .env files") },
			config: async (config) => { config.theme = "dark" },
			auth: { provider: "acme", methods: [] },
			provider: { id: "acme-models" },
			"chat.message": async (i, o) => { o.self = o },
			"chat.headers": async (i, o) => { o.headers = [] },
			"shell.env": (i, o) => { process.exit(3) },
		})`}).js("./a.js")
	w.fails(lathe.Denied, "tool.execute.before", `{"args":{"filePath":".env"}}`, "plugin a.js: tool.execute.before: Do not read .env files")
	if got := w.call("config", "", `{"model":"x"}`); got != `{"model":"x","theme":"dark"}` {
		t.Error(got)
	}
	if s := w.status("a.js"); s.Auth != "acme" || s.Provider != "acme-models" || s.Faults != 0 {
		t.Errorf("%+v", s)
	}
	w.waitMessage("The plugin a.js brings logins for acme (hook auth) and models of acme-models (hook provider), which lathe does not support")
	w.fails(lathe.Denied, "shell.env", `{"env":{}}`, "process.exit(3)")
	w.fails(lathe.Unavailable, "chat.message", `{"parts":[]}`, "cannot be JSON")
	w.fails(lathe.Unavailable, "chat.headers", `{"headers":{}}`, "it made a list of headers, which is a object")
}

// What a plugin prints, wherever, does no harm, nor do its children.
func TestJS_Printing(t *testing.T) {
	w := newFixture(t, map[string]string{"a.js": `
		import fs from "node:fs"
		import { execSync, spawnSync } from "node:child_process"
		console.log("at the top")
		export const A = async ({ $ }) => ({ "chat.params": async (i, o) => {
			console.log("by console"); process.stdout.write('{"half":'); fs.writeSync(1, "by number\n")
			execSync("echo by a child", { stdio: "inherit" })
			spawnSync("cat", { stdio: "inherit" })
			await $` + "`echo by shell`" + `
			o.said = true
		} })`}).js("./a.js")
	if got := w.call("chat.params", `{}`, `{}`); got != `{"said":true}` {
		t.Error(got)
	}
	w.said("a.js", "at the top", "by console", `{"half":by number`, "by a child", "by shell")
	if s := w.status("a.js"); s.Skipped != 0 {
		t.Errorf("%+v", s)
	}
}

func TestJS_LoadFailures(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]string{
		"syntax.js": `export const A = (`,
		"throws.js": `export const A = async () => { throw new Error("no key") }`,
		"empty.js":  `export const x = 1`,
		"import.js": `import "a-package-nobody-has"; export const A = async () => ({})`,
		"exits.js":  `process.reallyExit(7)`,
		"blocks.js": `for (;;) {}`,
		"waits.js":  `await new Promise(() => setInterval(() => {}, 1e6)); export const A = async () => ({})`,
		"good.js":   `export const A = async () => ({ "chat.params": (i, o) => { o.good = true } })`,
	})
	w.opt.Timeouts.Load = 6 * time.Second
	w.js("./syntax.js", "./throws.js", "./missing.js", "./exits.js", "./empty.js", "./import.js", "./blocks.js", "./waits.js", "./good.js")
	if got := w.call("chat.params", "{}", "{}"); got != `{"good":true}` {
		t.Error(got)
	}
	for name, words := range map[string]string{
		"syntax.js": "Unexpected", "throws.js": "no key", "missing.js": "missing.js", "empty.js": "exports no function",
		"import.js": "a-package-nobody-has", "exits.js": "ended by itself", "blocks.js": "not ready within", "waits.js": "not ready within",
	} {
		if s := w.status(name); s.State != plugin.Failed {
			t.Errorf("%s: %+v", name, s)
		} else {
			contains(t, s.Reason, words)
		}
	}
	if s := w.status("good.js"); s.State != plugin.Ready {
		t.Errorf("%+v", s)
	}
}

// A plugin that stops the whole host is found out and left out; the others continue in a new
// one.
func TestJS_Faults(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]string{
		"bad.js": `export const A = async () => ({
			"chat.params": () => { for (;;) {} }, "chat.headers": () => { process.reallyExit(1) }, "shell.env": () => new Promise(() => {}) })`,
		"good.js": `export const A = async () => ({ "tool.execute.after": (i, o) => { o.title = "good" } })
			setTimeout(() => { throw new Error("later") }, 1); Promise.reject(new Error("nobody listens"))`,
	})
	w.opt.Timeouts.Hook, w.opt.Timeouts.Probe = 3*time.Second, 8*time.Second // the machine may be busy
	w.js("./bad.js", "./good.js")
	after := func() {
		t.Helper()
		if got := w.call("tool.execute.after", "{}", `{"title":""}`); got != `{"title":"good"}` {
			t.Error(got)
		}
	}
	after()
	w.line("nobody listens")
	w.line("later")
	w.fails(lathe.Unavailable, "shell.env", `{"env":{}}`, "plugin bad.js: shell.env: no answer within 3s")
	after()
	if s := w.status("good.js"); s.Restarts != 0 {
		t.Errorf("a promise that never ends is no reason for a restart: %+v", s)
	}
	w.fails(lathe.Unavailable, "chat.headers", `{"headers":{}}`, "plugin bad.js: chat.headers: its process ended")
	w.waitMessage("JavaScript host ended")
	after()
	w.fails(lathe.Unavailable, "chat.params", `{}`, "no answer within")
	w.waitMessage("plugin bad.js switched off after 3 failures in a row")
	w.waitMessage("JavaScript host ended", "no longer answered")
	if got := w.call("chat.params", "{}", `{"a":1}`); got != `{"a":1}` {
		t.Error(got)
	}
	after()
	if s := w.status("good.js"); s.State != plugin.Ready || s.Restarts != 2 || s.Process != "JavaScript host of good.js" {
		t.Errorf("%+v", s)
	}
}

// A plugin that stops the host between calls cannot be identified; then each has its own host,
// and the hooks of the others continue.
func TestJS_Split(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]string{
		"bad.js":  `export const A = async () => ({ event: async () => { await null; console.error("blocking"); for (;;) {} } })`,
		"good.js": `export const A = async () => ({ "chat.params": (i, o) => { o.good = true } })`,
	})
	w.opt.Timeouts.Hook = 4 * time.Second
	w.js("./bad.js", "./good.js").start()
	for round := range 6 {
		w.c.Event(lathe.Event{Fact: &lathe.SessionIdle{Session: "ses_1"}})
		failed := false
		for began := time.Now(); ; {
			if time.Since(began) > 90*time.Second {
				t.Fatalf("round %d does not end\n%s", round, w.state())
			}
			got, err := w.c.Call(t.Context(), "chat.params", nil, json.RawMessage(`{}`))
			if err == nil && string(got) == `{"good":true}` && (failed || round >= 2) {
				break
			}
			failed = failed || err != nil
			if err == nil {
				runtime.Gosched() // the event is on its way
			}
		}
		if round >= 2 && failed {
			t.Errorf("round %d: a plugin that has its own host is held up by another", round)
		}
	}
	if s := w.status("good.js"); s.State != plugin.Ready || s.Process != "JavaScript host of good.js" {
		t.Errorf("%+v", s)
	}
}

// Custom tools have the names of their files and run with a context.
func TestJS_Tools(t *testing.T) {
	w := newFixture(t, map[string]string{
		"tools/add.js": `
			export default {
				description: "adds",
				args: { a: { type: "number" }, b: { type: "number", optional: true } },
				async execute(args, ctx) {
					ctx.metadata({ title: "adding", metadata: { a: args.a } })
					await ctx.ask({ permission: "add", patterns: ["*"], always: [], metadata: {} })
					return { title: "sum", output: String(args.a + (args.b ?? 0)), metadata: { agent: ctx.agent, session: ctx.sessionID, dir: ctx.directory }, attachments: [{ type: "file", mime: "text/plain", url: "data:,x" }] }
				},
			}
			export const wait = { description: "waits", execute: (args, ctx) => new Promise((done) => {
				ctx.metadata({ title: "waiting" })
				ctx.abort.addEventListener("abort", () => { console.error("was aborted"); done("stopped") })
			}) }
			export const helper = 7
			export const broken = { description: "breaks", args: {}, execute: async () => ({ nothing: 1 }) }`,
		"tools/bad.js": `export default { description: "has no execute" }`,
	})
	w.opt.Tools = []string{filepath.Join(w.dir, "tools/add.js"), filepath.Join(w.dir, "tools/bad.js")}
	w.js().start()
	var ids []string
	for _, tool := range w.c.Tools() {
		ids = append(ids, tool.ID+" "+string(tool.Schema))
	}
	want := `add_broken {"type":"object","properties":{}}
add {"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number","optional":true}},"required":["a"]}
add_wait {"type":"object","properties":{}}`
	if got := strings.Join(ids, "\n"); got != want {
		t.Errorf("tools:\n%s", got)
	}
	contains(t, w.status("bad.js").Reason, "none of its exports is a tool")
	shown := make(chan plugin.Progress, 1)
	back := plugin.ToolCallbacks{
		Ask: func(_ context.Context, a plugin.PermissionRequest) error {
			return map[bool]error{false: errors.New("no")}[a.Permission == "add"]
		},
		Progress: func(p plugin.Progress) { shown <- p },
	}
	res, err := w.c.Execute(t.Context(), "add", json.RawMessage(`{"a":2,"b":3}`), plugin.ToolContext{Session: "ses_1", Agent: "build", Directory: "/d"}, back)
	if err != nil || res.Title != "sum" || res.Output != "5" || string(res.Metadata) != `{"agent":"build","session":"ses_1","dir":"/d"}` ||
		len(res.Attachments) != 1 || res.Attachments[0].Mime != "text/plain" {
		t.Errorf("%+v, %v", res, err)
	}
	if p := <-shown; p.Title != "adding" || string(p.Metadata) != `{"a":2}` {
		t.Errorf("%+v", p)
	}
	_, err = w.c.Execute(t.Context(), "add_broken", nil, plugin.ToolContext{}, back)
	if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "neither a text nor an object") {
		t.Errorf("a broken tool: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	back.Progress = func(plugin.Progress) { cancel() }
	if _, err := w.c.Execute(ctx, "add_wait", nil, plugin.ToolContext{}, back); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled tool: %v", err)
	}
	w.said("add.js", "was aborted")
}

// The client of a plugin reaches the handler, without a socket, streams included.
func TestJS_Client(t *testing.T) {
	w := newFixture(t, map[string]string{"a.js": `
		export const A = async ({ client, serverUrl }) => ({ tool: { ask: { description: "", async execute(args, ctx) {
			const made = await client.session.prompt({ path: { id: "ses/1" }, query: { x: "y" }, body: { parts: [{ type: "text", text: "hé" }] } })
			const lost = await client.session.get({ path: { id: "none" } })
			const { stream } = await client.event.subscribe()
			const events = []
			for await (const event of stream) { events.push(event.n); if (events.length === 3) break }
			let missing = ""
			try { client.session.fly() } catch (error) { missing = error.message }
			await client.app.log({ body: { service: "a", level: "info", message: "m" } })
			const direct = await fetch(new URL("/session/none", serverUrl), { headers: { accept: "*/*" } })
			return JSON.stringify([made.data, lost.error, lost.response.status, direct.status, events, missing.includes("client.session.fly")])
		} } } })`})
	ended := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session/{id}/message", func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"id":%q,"dir":%t,"x":%q,"body":%s,"host":%q,"err":%t}`, r.PathValue("id"), r.URL.Query().Get("directory") == w.dir, r.URL.Query().Get("x"), body, r.Host, err != nil)
	})
	mux.HandleFunc("GET /session/{id}", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusNotFound)
		_, _ = rw.Write([]byte(`{"name":"NotFoundError"}`))
	})
	mux.HandleFunc("GET /event", func(rw http.ResponseWriter, r *http.Request) {
		defer close(ended)
		rw.Header().Set("Content-Type", "text/event-stream")
		for n := 0; r.Context().Err() == nil; n++ {
			_, _ = fmt.Fprintf(rw, "data: {\"n\":%d,\"long\":%q}\n\n", n, strings.Repeat("é", 50_000))
			rw.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("POST /log", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("true")) })
	w.opt.Client = mux
	w.js("./a.js").start()
	res, err := w.c.Execute(t.Context(), "ask", nil, plugin.ToolContext{}, plugin.ToolCallbacks{})
	want := `[{"id":"ses/1","dir":true,"x":"y","body":{"parts":[{"type":"text","text":"hé"}]},"host":"127.0.0.1:4096","err":false},{"name":"NotFoundError"},404,404,[0,1,2],true]`
	if err != nil || res.Output != want {
		t.Fatalf("%s, %v", res.Output, err)
	}
	<-ended // the handler of a stream without a reader any more is reported
}

// The shell that plugins get quotes what is put in, and has the ways to read that Bun's has.
func TestJS_Shell(t *testing.T) {
	text, err := os.ReadFile("testdata/shell.js")
	if err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, map[string]string{"a.js": string(text), "n.txt": "n"})
	w.js("./a.js").start()
	res, err := w.c.Execute(t.Context(), "sh", nil, plugin.ToolContext{}, plugin.ToolCallbacks{})
	want := `["a b'c; echo no",{"x":1},"1","2","",3,[4,"Failed with exit code 4"],"v\n","/","l m n\n",["a.js"],"n",true]`
	if err != nil || res.Output != want {
		t.Fatalf("%s, %v\n%s", res.Output, err, w.state())
	}
}

// Without anything to run JavaScript, the message says what to install; other plugins work.
func TestJS_NoRuntime(t *testing.T) {
	w := newFixture(t, map[string]string{"a.js": ""})
	w.opt.Env = []string{"PATH=" + t.TempDir()}
	w.opt.Plugins = []plugin.Plugin{stub("well"), {Spec: "./a.js"}}
	w.open()
	if got := w.call("chat.params", "{}", names); got != `{"args":{},"names":["well"]}` {
		t.Error(got)
	}
	w.waitMessage("plugin a.js does not run", "JavaScript plugins need bun, or Node.js 20 or newer")
	if s := w.status("a.js"); s.State != plugin.Failed {
		t.Errorf("%+v", s)
	}
}
