package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// hooks adds the hooks that some plugin implements. Those of the config follow them where both have one.
// The others stay, so the engine does not call plugins for them.
func (g *Set) hooks(h engine.Hooks) engine.Hooks {
	if g.plugins == nil {
		return h
	}
	message, after := h.ChatMessage, h.ToolAfter
	put(g, &h.ChatMessage, "chat.message", func(ctx context.Context, m *lathe.Message) error {
		if err := g.chatMessage(ctx, m); err != nil || message == nil {
			return err
		}
		return message(ctx, m)
	})
	put(g, &h.Messages, "experimental.chat.messages.transform", g.messages)
	put(g, &h.System, "experimental.chat.system.transform", g.system)
	if g.plugins.Has("chat.params") || g.plugins.Has("chat.headers") {
		h.Params = g.params
	}
	put(g, &h.TextComplete, "experimental.text.complete", g.textComplete)
	put(g, &h.CommandBefore, "command.execute.before", g.commandBefore)
	put(g, &h.ToolBefore, "tool.execute.before", g.toolBefore)
	put(g, &h.ToolAfter, "tool.execute.after", func(ctx context.Context, name string, c *tool.Call, r tool.Result) (tool.Result, error) {
		r, err := g.toolAfter(ctx, name, c, r)
		if err != nil || after == nil {
			return r, err
		}
		return after(ctx, name, c, r)
	})
	put(g, &h.PermissionAsk, "permission.ask", g.permissionAsk)
	put(g, &h.Compacting, "experimental.session.compacting", g.compacting)
	put(g, &h.Continue, "experimental.compaction.autocontinue", g.autoContinue)
	return h
}

func put[F any](g *Set, place *F, name string, hook F) {
	if g.plugins.Has(name) {
		*place = hook
	}
}

// call runs a hook of all plugins that have it; they may change out.
func call[T any](ctx context.Context, g *Set, name string, in any, out *T) error {
	input, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	output, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	changed, err := g.plugins.Call(ctx, name, input, output)
	if err != nil {
		return err
	}
	var fresh T
	if err := json.Unmarshal(changed, &fresh); err != nil {
		return lathe.Errorf(lathe.Unavailable, "a plugin returned an invalid output for %s: %w", name, err)
	}
	*out = fresh
	return nil
}

// The inputs, in the words of the protocol.
type (
	modelName struct {
		Provider string `json:"providerID"`
		Model    string `json:"modelID"`
	}
	messageInput struct {
		Session lathe.SessionID `json:"sessionID"`
		Agent   string          `json:"agent,omitempty"`
		Model   *modelName      `json:"model,omitempty"`
		Message lathe.MessageID `json:"messageID,omitempty"`
		Variant string          `json:"variant,omitempty"`
	}
	requestInput struct {
		Session  lathe.SessionID `json:"sessionID"`
		Agent    string          `json:"agent,omitempty"`
		Model    json.RawMessage `json:"model,omitempty"`
		Provider json.RawMessage `json:"provider,omitempty"`
		Message  json.RawMessage `json:"message,omitempty"`
		Overflow *bool           `json:"overflow,omitempty"`
	}
	callInput struct {
		Tool    string          `json:"tool"`
		Session lathe.SessionID `json:"sessionID"`
		Call    string          `json:"callID"`
		Args    json.RawMessage `json:"args,omitempty"`
	}
	partInput struct {
		Session lathe.SessionID `json:"sessionID"`
		Message lathe.MessageID `json:"messageID,omitempty"`
		Part    lathe.PartID    `json:"partID,omitempty"`
	}
)

// chatMessage lets plugins change a prompt before it is stored.
func (g *Set) chatMessage(ctx context.Context, m *lathe.Message) error {
	in := messageInput{Session: m.Session, Message: m.ID}
	if u, ok := m.Data.(*lathe.User); ok {
		in.Agent, in.Variant = u.Agent, u.Model.Variant
		if u.Model.Model != "" {
			in.Model = &modelName{u.Model.Provider, u.Model.Model}
		}
	}
	out := struct {
		Message json.RawMessage `json:"message"`
		Parts   []lathe.Part    `json:"parts"`
	}{m.AppendInfo(nil), m.Parts}
	if err := call(ctx, g, "chat.message", in, &out); err != nil {
		return err
	}
	var changed lathe.Message
	if err := changed.ReadInfo(out.Message); err != nil {
		return lathe.Errorf(lathe.Invalid, "chat.message: a plugin returned an invalid message: %w", err)
	}
	said, ok := changed.Data.(*lathe.User)
	if !ok || changed.ID != m.ID || changed.Session != m.Session {
		return lathe.Errorf(lathe.Invalid, "chat.message: a plugin changed the ID or role of the prompt")
	}
	m.Data, m.Parts = said, out.Parts
	return nil
}

func (g *Set) messages(ctx context.Context, history []lathe.Message) ([]lathe.Message, error) {
	out := struct {
		Messages []lathe.Message `json:"messages"`
	}{history}
	err := call(ctx, g, "experimental.chat.messages.transform", struct{}{}, &out)
	return out.Messages, err
}

func (g *Set) system(ctx context.Context, o engine.RequestInfo, system []string) ([]string, error) {
	in := g.request(o)
	in.Agent, in.Provider, in.Message = "", nil, nil
	out := struct {
		System []string `json:"system"`
	}{system}
	err := call(ctx, g, "experimental.chat.system.transform", in, &out)
	return out.System, err
}

// request describes the purpose of a request to a model.
func (g *Set) request(o engine.RequestInfo) requestInput {
	in := requestInput{Session: o.Session, Agent: o.Agent, Message: o.Prompt.AppendInfo(nil)}
	if g.Models != nil {
		in.Model, in.Provider = g.Models(o.Model)
	}
	return in
}

// params lets plugins change the sampling parameters of a request.
func (g *Set) params(ctx context.Context, o engine.RequestInfo, r *model.Request) error {
	in := g.request(o)
	if g.plugins.Has("chat.params") {
		out := struct {
			Temperature *float64                   `json:"temperature,omitempty"`
			TopP        *float64                   `json:"topP,omitempty"`
			TopK        *int                       `json:"topK,omitempty"`
			MaxOutput   *int                       `json:"maxOutputTokens,omitempty"`
			Options     map[string]json.RawMessage `json:"options"`
		}{r.Temperature, r.TopP, r.TopK, &r.MaxOutput, r.Options}
		if out.Options == nil {
			out.Options = map[string]json.RawMessage{}
		}
		if err := call(ctx, g, "chat.params", in, &out); err != nil {
			return err
		}
		r.Temperature, r.TopP, r.TopK, r.Options = out.Temperature, out.TopP, out.TopK, out.Options
		if out.MaxOutput != nil && *out.MaxOutput > 0 {
			r.MaxOutput = *out.MaxOutput
		}
	}
	if !g.plugins.Has("chat.headers") {
		return nil
	}
	out := struct {
		Headers map[string]string `json:"headers"`
	}{map[string]string{}}
	if err := call(ctx, g, "chat.headers", in, &out); err != nil || len(out.Headers) == 0 {
		return err
	}
	headers := map[string]string{}
	maps.Copy(headers, r.Headers)
	maps.Copy(headers, out.Headers)
	r.Headers = headers
	return nil
}

func (g *Set) textComplete(ctx context.Context, p lathe.Part, text string) (string, error) {
	out := struct {
		Text string `json:"text"`
	}{text}
	err := call(ctx, g, "experimental.text.complete", partInput{p.Session, p.Message, p.ID}, &out)
	return out.Text, err
}

func (g *Set) commandBefore(ctx context.Context, id lathe.SessionID, name, arguments string, parts []lathe.Part) ([]lathe.Part, error) {
	in := struct {
		Command   string          `json:"command"`
		Session   lathe.SessionID `json:"sessionID"`
		Arguments string          `json:"arguments"`
	}{name, id, arguments}
	out := struct {
		Parts []lathe.Part `json:"parts"`
	}{parts}
	err := call(ctx, g, "command.execute.before", in, &out)
	return out.Parts, err
}

func (g *Set) toolBefore(ctx context.Context, name string, c *tool.Call) (json.RawMessage, error) {
	out := struct {
		Args json.RawMessage `json:"args"`
	}{c.Input}
	err := call(ctx, g, "tool.execute.before", callInput{Tool: name, Session: c.Session, Call: c.ID}, &out)
	return out.Args, err
}

func (g *Set) toolAfter(ctx context.Context, name string, c *tool.Call, r tool.Result) (tool.Result, error) {
	out := struct {
		Title    string          `json:"title"`
		Output   string          `json:"output"`
		Metadata json.RawMessage `json:"metadata"`
	}{r.Title, r.Output, r.Metadata}
	if len(out.Metadata) == 0 {
		out.Metadata = json.RawMessage("{}")
	}
	if err := call(ctx, g, "tool.execute.after", callInput{name, c.Session, c.ID, c.Input}, &out); err != nil {
		return r, err
	}
	r.Title, r.Output, r.Metadata = out.Title, out.Output, out.Metadata
	return r, nil
}

func (g *Set) permissionAsk(ctx context.Context, r lathe.PermissionRequest) (lathe.Action, error) {
	out := struct {
		Status string `json:"status"`
	}{"ask"}
	if err := call(ctx, g, "permission.ask", r, &out); err != nil {
		return "", err
	}
	switch out.Status {
	case "allow":
		return lathe.Allow, nil
	case "deny":
		return lathe.Deny, nil
	default:
		return "", nil
	}
}

func (g *Set) compacting(ctx context.Context, id lathe.SessionID) (engine.CompactionPrompt, error) {
	out := struct {
		Context []string `json:"context"`
		Prompt  string   `json:"prompt,omitempty"`
	}{Context: []string{}}
	err := call(ctx, g, "experimental.session.compacting", partInput{Session: id}, &out)
	return engine.CompactionPrompt{Context: out.Context, Prompt: out.Prompt}, err
}

func (g *Set) autoContinue(ctx context.Context, o engine.RequestInfo, overflow bool) (bool, error) {
	in := g.request(o)
	in.Overflow = &overflow
	out := struct {
		Enabled bool `json:"enabled"`
	}{true}
	err := call(ctx, g, "experimental.compaction.autocontinue", in, &out)
	return out.Enabled, err
}
