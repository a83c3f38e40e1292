package extension_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// host allows what a tool asks, and notes it.
type host struct {
	tool.Host
	asked []tool.Permission
}

func (h *host) Ask(_ context.Context, all ...tool.Permission) error {
	h.asked = append(h.asked, all...)
	return nil
}
func (*host) Progress(string, json.RawMessage) {}

// Tools of plugins take the place of those with their name and ask like all others; variables come
// for commands; descriptions may be other words.
func TestApply_Plugin(t *testing.T) {
	w := newFixture(t, map[string]string{
		"shell.env": `{"env":{"A":"b"}}`, "tool.definition": `{"description":"In other words.","parameters":{"type":"object"}}`,
		"experimental.provider.small_model": `{"model":{"id":"tiny","providerID":"q"}}`, "config": `{"agent":{"x":{"prompt":"X"}},"plugin":["y"],"model":"a/b"}`,
		"event": `{}`,
	})
	events := make(chan lathe.Event)
	w.opt.Events = func(ctx context.Context) iter.Seq2[lathe.Event, error] {
		return func(yield func(lathe.Event, error) bool) {
			for {
				select {
				case e := <-events:
					if !yield(e, nil) {
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}
	g := w.open()
	added, err := g.Configure(t.Context(), json.RawMessage(`{"model":"a/b","agent":{"x":{"steps":1}}}`))
	if err != nil || added != `{"agent":{"x":{"prompt":"X"}}}` {
		t.Errorf("%s %v", added, err)
	}
	s := w.join(g)
	if s.SmallModel != (lathe.ModelRef{Provider: "q", Model: "tiny"}) {
		t.Errorf("%+v", s.SmallModel)
	}
	own, ok := s.Tools.Find("own")
	if !ok || own.Spec().Description != "In other words." || !own.Spec().Anywhere {
		t.Fatalf("%+v", own)
	}
	h := &host{}
	res, err := own.Run(t.Context(), &tool.Call{Session: "ses_1", ID: "c", Input: json.RawMessage(`{"a":1}`), Host: h})
	if err != nil || res.Output != "did {'a':1}" || res.Title != "it" || len(res.Attachments) != 1 || res.Attachments[0].Filename != "a.png" {
		t.Errorf("%+v %v", res, err)
	}
	if diff := cmp.Diff([]tool.Permission{{Name: "own", Patterns: []string{"*"}, Always: []string{"*"}}}, h.asked); diff != "" {
		t.Error(diff)
	}
	env, err := g.Env(t.Context(), w.dir, &tool.Call{Session: "ses_1", ID: "c"})
	if diff := cmp.Diff(map[string]string{"A": "b"}, env); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	w.asked(`shell.env {"cwd":"` + w.dir + `","sessionID":"ses_1","callID":"c"}`)
	events <- lathe.Event{Directory: w.dir, Fact: &lathe.InstanceDisposed{Directory: w.dir}}
	for deadline := time.Now().Add(60 * time.Second); !slices.Contains(w.was(), "event server.instance.disposed"); {
		if time.Now().After(deadline) {
			t.Fatalf("the plugin heard of no event: %q", w.was())
		}
		<-time.After(10 * time.Millisecond)
	}
	if again := w.join(g); again == s {
		t.Error("other settings gave the same")
	}
}

// What a server offers becomes tools, a command, an instruction and resources; a name that is taken
// stays whose it was.
func TestApply_Server(t *testing.T) {
	w := newFixture(t, nil).serve()
	w.opt.Wait = 20 * time.Second
	g := w.open()
	s := w.join(g)
	find, ok := s.Tools.Find("docs_find")
	if !ok {
		t.Fatal("the tool of the server is missing")
	}
	res, err := find.Run(t.Context(), &tool.Call{Session: "ses_1", ID: "c", Input: json.RawMessage(`{"word":"x"}`), Host: &host{}})
	if err != nil || res.Output != "found x" {
		t.Errorf("%+v %v", res, err)
	}
	i := slices.IndexFunc(s.Commands, func(c engine.SlashCommand) bool { return c.Name == "docs:ask" })
	if i < 0 || !slices.Equal(s.Commands[i].Hints, []string{"$1", "$2"}) || s.Commands[i].Source != lathe.CommandMCP {
		t.Fatalf("%+v", s.Commands)
	}
	if text, err := s.Commands[i].Fetch(t.Context(), []string{"a", "b", "c"}); err != nil || text != "Ask about a, b c." {
		t.Errorf("%q %v", text, err)
	}
	want := []prompt.Instruction{{Name: "AGENTS.md", Text: "Be kind."}, {Name: "the MCP server docs", Text: "Ask me about documents."}}
	if diff := cmp.Diff(want, s.Instructions); diff != "" {
		t.Error(diff)
	}
	contents, err := s.Resource(t.Context(), "docs", "docs://a")
	if diff := cmp.Diff([]prompt.Resource{{URI: "docs://a", Mime: "text/plain", Text: "A word."}}, contents); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := s.Resource(t.Context(), "other", "x"); lathe.CodeOf(err) != lathe.NotFound {
		t.Error(err)
	}
}

// A server cannot take the place of a tool by its name, nor that of a permission; one that is called
// like a tool has names of its own, and rules of the tool do not reach them.
func TestApply_NameTaken(t *testing.T) {
	w := newFixture(t, nil).serve()
	for _, name := range []string{"external", "bash"} {
		other := w.opt.Servers[0]
		other.Name = name
		w.opt.Servers = append(w.opt.Servers, other)
	}
	g := w.open()
	base := &engine.StepSettings{Tools: tool.NewSet(named{"docs_find"}, named{"bash"})}
	g.Servers().WaitReady(t.Context())
	s, err := g.Apply(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs_find", "bash"} {
		if found, _ := s.Tools.Find(name); found != (named{name}) {
			t.Errorf("%s: %T", name, found)
		}
	}
	var names []string
	for _, found := range s.Tools.All() {
		names = append(names, found.Spec().Name)
	}
	slices.Sort(names)
	want := []string{"bash", "bash_directory", "bash_find", "docs_directory", "docs_find", "external_find", "invalid", "list_mcp_resource_templates", "list_mcp_resources", "read_mcp_resource"}
	if !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	h := &host{}
	found, _ := s.Tools.Find("bash_find")
	if _, err := found.Run(t.Context(), &tool.Call{Session: "ses_1", ID: "c", Input: json.RawMessage(`{"word":"x"}`), Host: h}); err != nil || len(h.asked) != 1 {
		t.Fatal(h.asked, err)
	}
	for rule, want := range map[string]lathe.Action{"bash": lathe.Ask, "bash_*": lathe.Allow, "bash_find": lathe.Allow, "external_*": lathe.Ask} {
		rules := lathe.Ruleset{{Permission: rule, Pattern: "*", Action: lathe.Allow}}
		if got := h.asked[0].Evaluate(rules, 0); got != want {
			t.Errorf("with %s allowed, bash_find is %s, want %s", rule, got, want)
		}
	}
}

type named struct{ name string }

func (n named) Spec() tool.Spec { return tool.Spec{Name: n.name} }
func (n named) Run(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{}, nil
}

// Twenty servers that never answer hold up nothing.
func TestApply_SilentServers(t *testing.T) {
	w := newFixture(t, nil)
	for _, n := range strings.Split("abcdefghijklmnopqrst", "") {
		w.opt.Servers = append(w.opt.Servers, mcp.Server{Name: n, Command: []string{"sleep", "600"}})
	}
	g := w.open()
	s := w.join(g)
	if len(s.Tools.All()) == 0 {
		t.Error("no tools")
	}
	states := map[mcp.State]int{}
	for _, st := range g.Servers().Status() {
		states[st.State]++
	}
	if states[mcp.Connecting] != 20 {
		t.Errorf("%v", states)
	}
}
