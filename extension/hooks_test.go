package extension_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

var occasion = engine.RequestInfo{
	Session: "ses_1", Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "big"},
	Prompt: lathe.Message{ID: "msg_1", Session: "ses_1", Data: &lathe.User{Agent: "build"}},
}

// Each hook is given what its authors expect, and may change what they expect to.
func TestHooks_RequestsAndTexts(t *testing.T) {
	w := newFixture(t, map[string]string{
		"experimental.chat.system.transform":   `{"system":["a","b"]}`,
		"chat.params":                          `{"temperature":0.5,"topP":0.9,"topK":7,"maxOutputTokens":99,"options":{"x":1}}`,
		"chat.headers":                         `{"headers":{"X-A":"1"}}`,
		"experimental.text.complete":           `{"text":"changed"}`,
		"experimental.session.compacting":      `{"context":["more"],"prompt":"Sum it up."}`,
		"experimental.compaction.autocontinue": `{"enabled":false}`,
		"experimental.chat.messages.transform": `{"messages":[{"info":{"id":"msg_9","sessionID":"ses_1","role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"big"}},"parts":[{"id":"prt_9","sessionID":"ses_1","messageID":"msg_9","type":"text","text":"other"}]}]}`,
	})
	h := w.join(w.open()).Hooks
	if h.ChatMessage != nil || h.ToolBefore != nil || h.PermissionAsk != nil {
		t.Error("hooks that nobody has cost something")
	}
	system, err := h.System(t.Context(), occasion, []string{"a"})
	if diff := cmp.Diff([]string{"a", "b"}, system); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	w.asked(`experimental.chat.system.transform {"sessionID":"ses_1","model":{"id":"big"}}`)
	r := model.Request{MaxOutput: 10, Headers: map[string]string{"X-B": "2"}}
	if err := h.Params(t.Context(), occasion, &r); err != nil {
		t.Fatal(err)
	}
	half, most, seven := 0.5, 0.9, 7
	want := model.Request{
		MaxOutput: 99, Temperature: &half, TopP: &most, TopK: &seven, Options: map[string]json.RawMessage{"x": json.RawMessage("1")},
		Headers: map[string]string{"X-A": "1", "X-B": "2"},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if all := strings.Join(w.was(), "\n"); !strings.Contains(all, `chat.params {"sessionID":"ses_1","agent":"build","model":{"id":"big"},"provider":{"id":"p"},"message":{"id":"msg_1"`) {
		t.Error(all)
	}
	if text, err := h.TextComplete(t.Context(), lathe.Part{ID: "prt_1", Session: "ses_1", Message: "msg_1"}, "said"); err != nil || text != "changed" {
		t.Errorf("%q %v", text, err)
	}
	w.asked(`experimental.text.complete {"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1"}`)
	words, err := h.Compacting(t.Context(), "ses_1")
	if diff := cmp.Diff(engine.CompactionPrompt{Context: []string{"more"}, Prompt: "Sum it up."}, words); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if on, err := h.Continue(t.Context(), occasion, true); err != nil || on {
		t.Errorf("%v %v", on, err)
	}
	all, err := h.Messages(t.Context(), []lathe.Message{occasion.Prompt})
	if err != nil || len(all) != 1 || all[0].ID != "msg_9" || all[0].Parts[0].GrowingText() != "" && all[0].Parts[0].Body.(*lathe.Text).Text != "other" {
		t.Errorf("%+v %v", all, err)
	}
}

func TestHooks_PromptsAndCalls(t *testing.T) {
	w := newFixture(t, map[string]string{
		"chat.message":           `{"message":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1},"agent":"plan","model":{"providerID":"p","modelID":"big"},"system":"Hm."},"parts":[{"type":"text","text":"new"}]}`,
		"command.execute.before": `{"parts":[{"type":"text","text":"instead"}]}`,
		"tool.execute.before":    `{"args":{"a":2}}`,
		"tool.execute.after":     `{"title":"T","output":"O","metadata":{"m":1}}`,
		"permission.ask":         `{"status":"deny"}`,
	})
	h := w.join(w.open()).Hooks
	m := lathe.Message{ID: "msg_1", Session: "ses_1", Created: 1, Data: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "big", Variant: "high"}}}
	if err := h.ChatMessage(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	if u := m.Data.(*lathe.User); u.Agent != "plan" || u.System != "Hm." || len(m.Parts) != 1 || m.Parts[0].Body.(*lathe.Text).Text != "new" {
		t.Errorf("%+v %+v", u, m.Parts)
	}
	w.asked(`chat.message {"sessionID":"ses_1","agent":"build","model":{"providerID":"p","modelID":"big"},"messageID":"msg_1","variant":"high"}`)
	other := lathe.Message{ID: "msg_2", Session: "ses_1", Data: &lathe.User{Agent: "build"}}
	if err := h.ChatMessage(t.Context(), &other); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("another message was taken: %v", err)
	}
	parts, err := h.CommandBefore(t.Context(), "ses_1", "init", "now", []lathe.Part{{Body: &lathe.Text{Text: "x"}}})
	if err != nil || len(parts) != 1 || parts[0].Body.(*lathe.Text).Text != "instead" {
		t.Errorf("%+v %v", parts, err)
	}
	w.asked(`command.execute.before {"command":"init","sessionID":"ses_1","arguments":"now"}`)
	c := &tool.Call{Session: "ses_1", ID: "call_1", Input: json.RawMessage(`{"a":1}`)}
	args, err := h.ToolBefore(t.Context(), "write", c)
	if err != nil || string(args) != `{"a":2}` {
		t.Errorf("%s %v", args, err)
	}
	w.asked(`tool.execute.before {"tool":"write","sessionID":"ses_1","callID":"call_1"}`)
	res, err := h.ToolAfter(t.Context(), "write", c, tool.Result{Output: "x", Attachments: []*lathe.File{{Mime: "image/png"}}})
	if err != nil || res.Title != "T" || res.Output != "O" || string(res.Metadata) != `{"m":1}` || len(res.Attachments) != 1 {
		t.Errorf("%+v %v", res, err)
	}
	w.asked(`tool.execute.after {"tool":"write","sessionID":"ses_1","callID":"call_1","args":{"a":1}}`)
	if action, err := h.PermissionAsk(t.Context(), lathe.PermissionRequest{ID: "per_1", Session: "ses_1", Permission: "edit", Patterns: []string{"a"}}); err != nil || action != lathe.Deny {
		t.Errorf("%q %v", action, err)
	}
	if got := w.was(); !strings.HasPrefix(got[len(got)-1], `permission.ask {"id":"per_1","sessionID":"ses_1","permission":"edit","patterns":["a"]`) {
		t.Error(got[len(got)-1])
	}
}

// What a plugin makes of an output that cannot be used is an error that names the hook, and nothing
// of it is taken.
func TestHooks_Nonsense(t *testing.T) {
	w := newFixture(t, map[string]string{
		"chat.params": `{"temperature":"hot","options":{}}`, "tool.execute.before": `{"args":[1]}`, "shell.env": `{"env":{"A":3}}`,
		"chat.message": `{"message":{"role":"assistant"},"parts":[]}`,
	})
	g := w.open()
	h := w.join(g).Hooks
	r := model.Request{MaxOutput: 10}
	if err := h.Params(t.Context(), occasion, &r); err == nil || r.MaxOutput != 10 || r.Temperature != nil || !strings.Contains(err.Error(), "chat.params") {
		t.Errorf("%v %+v", err, r)
	}
	if args, err := h.ToolBefore(t.Context(), "write", &tool.Call{Input: json.RawMessage(`{}`)}); err == nil {
		t.Errorf("%s", args)
	}
	if env, err := g.Env(t.Context(), w.dir, nil); err == nil {
		t.Errorf("%v", env)
	}
	m := occasion.Prompt
	if err := h.ChatMessage(t.Context(), &m); err == nil {
		t.Errorf("%+v", m)
	}
}

// Hooks of the config follow those of plugins, and see what these made of a result.
func TestHooks_BehindPlugins(t *testing.T) {
	w := newFixture(t, map[string]string{"tool.execute.after": `{"title":"T","output":"of the plugin","metadata":{}}`})
	g := w.open()
	base := &engine.StepSettings{Tools: tool.NewSet(), Hooks: engine.Hooks{
		ToolAfter: func(_ context.Context, _ string, _ *tool.Call, r tool.Result) (tool.Result, error) {
			r.Output += ", then of the config"
			return r, nil
		},
		ChatMessage: func(context.Context, *lathe.Message) error { return nil },
	}}
	s, err := g.Apply(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Hooks.ToolAfter(t.Context(), "write", &tool.Call{Session: "ses_1", ID: "c", Input: json.RawMessage(`{}`)}, tool.Result{Output: "x"})
	if err != nil || res.Output != "of the plugin, then of the config" || s.Hooks.ChatMessage == nil {
		t.Errorf("%+v %v", res, err)
	}
}
