package insight

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace"
)

// maxLargest is how many single consumers a report names.
const maxLargest = 12

// ContextUse says what fills the context window of a session's model. It rebuilds the parts of the next request.
func (r *Reports) ContextUse(ctx context.Context, id lathe.SessionID) (api.ContextUse, error) {
	w := window{parts: map[string]*api.ContextPart{}}
	rec, err := r.Engine.Get(ctx, id)
	if err != nil {
		return w.use, err
	}
	at, _, err := r.Source.Open(ctx, rec.Directory)
	if err != nil {
		return w.use, err
	}
	if w.settings, err = r.Source.Settings(ctx, at); err != nil {
		return w.use, err
	}
	var versions atomic.Int64
	conv, err := history.Load(ctx, r.Engine.Store(), id, &versions)
	if err != nil {
		return w.use, err
	}
	visible := history.Visible(conv.Messages)
	w.choose(rec, visible)
	if w.model, err = r.Source.Model(ctx, at, w.use.Model); err != nil {
		w.model = &engine.Model{Ref: w.use.Model} // the window is not known without it, the rest is
	}
	if err := w.addSystem(ctx, r, rec, at); err != nil {
		return w.use, err
	}
	w.addTools(rec, r.serverNames(ctx, rec.Directory))
	w.addMessages(conv, visible)
	return w.finish(visible), nil
}

// serverNames lists the MCP servers, whose tools begin with their names.
func (r *Reports) serverNames(ctx context.Context, dir string) (out []string) {
	all, err := r.Source.ToolServers(ctx, dir)
	if err != nil {
		return nil // their tools count as others then
	}
	for _, s := range all {
		out = append(out, s.Name)
	}
	return out
}

// window counts the parts of a request.
type window struct {
	use      api.ContextUse
	settings *engine.StepSettings
	agent    *engine.Agent
	model    *engine.Model
	parts    map[string]*api.ContextPart
}

// choose takes the agent and the model of the last prompt, or those of a first one.
func (w *window) choose(rec lathe.Session, visible []*history.Message) {
	name := rec.Agent
	w.use.Model = w.settings.DefaultModel
	if u := history.LastUser(visible); u != nil {
		said := u.Data.(*lathe.User)
		name, w.use.Model = said.Agent, said.Model
	} else if m := rec.Model; m != nil {
		w.use.Model = lathe.ModelRef{Provider: m.Provider, Model: m.ID}
	}
	for i := range w.settings.Agents {
		if a := &w.settings.Agents[i]; a.Name == name || w.agent == nil {
			w.agent = a
		}
	}
}

// add counts something of a part, and remembers it as a consumer if it has a name.
func (w *window) add(part, name string, tokens int) {
	p := w.parts[part]
	if p == nil {
		p = &api.ContextPart{Name: part}
		w.parts[part] = p
	}
	p.Tokens += tokens
	if p.Count++; name != "" && tokens > 0 {
		w.use.Largest = append(w.use.Largest, api.ContextPart{Name: name, Tokens: tokens})
	}
}

// addSystem counts the system prompt and the instructions in it.
func (w *window) addSystem(ctx context.Context, r *Reports, rec lathe.Session, at workspace.Place) error {
	saved, err := r.Engine.Store().SystemPrompt(ctx, rec.ID)
	if err != nil {
		return err
	}
	if saved == nil && w.agent != nil { // no prompt was sent yet
		s := w.settings
		fresh := prompt.System{
			Session: rec, Place: at, Agent: w.agent.Agent, Rules: w.rules(), Model: w.use.Model, ModelName: w.model.Name,
			Settings: prompt.Settings{Instructions: s.Instructions, Skills: s.Skills, Tools: s.Tools, ShellName: s.ShellName, Temporary: s.Temporary},
		}.Build(lathe.TimeOf(r.Now()))
		saved = &fresh
	}
	if saved == nil {
		return nil
	}
	rest := compact.TokensIn(saved.Text)
	for _, i := range w.settings.Instructions {
		// The file may have changed since: what was saved is about as long.
		if n := min(rest, compact.TokensIn(i.Text)); strings.Contains(saved.Text, "Instructions from: "+i.Name+"\n") {
			w.add(api.PartInstructions, i.Name, n)
			rest -= n
		}
	}
	w.add(api.PartSystem, "", max(0, rest))
	return nil
}

// rules are those that the engine judges the agent by.
func (w *window) rules() permission.Rules {
	if w.agent.Permissions != nil {
		return w.agent.Permissions
	}
	return w.agent.Rules
}

// addTools counts the descriptions of the tools that the model is shown. The tools of an MCP server are one consumer.
func (w *window) addTools(rec lathe.Session, servers []string) {
	if w.agent == nil || w.settings.Tools == nil {
		return
	}
	hide := permission.Evaluator{Chain: []permission.Scope{{Name: w.agent.Name, Session: rec.Rules, Agent: w.rules(), Listed: w.agent.Rules}}}.Hide()
	unsuited, family := builtin.Unsuited(w.model.Name), prompt.FamilyOf(w.model.Name)
	byServer := map[string]int{}
	for _, t := range w.settings.Tools.Visible(func(s tool.Spec) bool { return hide(s) || unsuited(s) || family.Hides(s) }) {
		spec := t.Spec()
		n := compact.TokensIn(spec.Name + spec.Description + string(spec.Schema))
		i := slices.IndexFunc(servers, func(s string) bool { return strings.HasPrefix(spec.Name, toolPrefix(s)) })
		if i < 0 {
			w.add(api.PartTools, "", n)
			continue
		}
		w.add(api.PartMCP, "", n)
		byServer[servers[i]] += n
	}
	for name, n := range byServer {
		w.use.Largest = append(w.use.Largest, api.ContextPart{Name: "MCP server " + name, Tokens: n})
	}
}

// toolPrefix is how the names of a server's tools begin.
func toolPrefix(server string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, server) + "_"
}

// addMessages counts the conversation. Contents of files are a part of their own: attachments, and results of reads.
func (w *window) addMessages(conv *history.Conversation, visible []*history.Message) {
	var target model.Target
	if w.model != nil {
		target = w.model.Target
	}
	sizes := compact.Sizes(conv, visible, target)
	for i, h := range visible {
		rest := sizes[i]
		for _, p := range h.Parts {
			name, tokens, isFile := consumerOf(p)
			tokens = min(tokens, rest)
			if isFile {
				w.add(api.PartFiles, name, tokens)
				rest -= tokens
			} else if name != "" && tokens > 0 {
				w.use.Largest = append(w.use.Largest, api.ContextPart{Name: name, Tokens: tokens})
			}
		}
		w.add(api.PartMessages, "", rest)
	}
}

// consumerOf names a part of a message that can be long, and estimates its tokens.
func consumerOf(p lathe.Part) (name string, tokens int, isFile bool) {
	switch b := p.Body.(type) {
	case *lathe.File:
		return cmp.Or(b.Filename, "attachment"), compact.TokensIn(b.URL), true
	case *lathe.ToolCall:
		if done, ok := b.State.(*lathe.Completed); ok {
			return strings.TrimSpace(b.Tool + " " + done.Title), compact.TokensIn(done.Output), b.Tool == "read"
		}
	case *lathe.Text:
		if n := compact.TokensIn(b.Text); n > 1000 {
			return "text: " + strings.ToValidUTF8(b.Text[:min(len(b.Text), 60)], ""), n, false
		}
	default: // short
	}
	return "", 0, false
}

// finish puts the parts in order and fits the estimates to what the provider counted.
func (w *window) finish(visible []*history.Message) api.ContextUse {
	order := []string{api.PartSystem, api.PartTools, api.PartMCP, api.PartInstructions, api.PartFiles, api.PartMessages}
	sum := 0
	w.use.Parts = []api.ContextPart{}
	for _, name := range order {
		p := w.parts[name]
		if p == nil {
			p = &api.ContextPart{Name: name}
		}
		if name == api.PartSystem {
			p.Count = 0
		}
		sum += p.Tokens
		w.use.Parts = append(w.use.Parts, *p)
	}
	slices.SortStableFunc(w.use.Largest, func(a, b api.ContextPart) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Name, b.Name))
	})
	w.use.Largest = append([]api.ContextPart{}, w.use.Largest[:min(len(w.use.Largest), maxLargest)]...)
	if h := history.LastAnswer(visible); h != nil && sum > 0 {
		if counted := int(compact.Used(h.Data.(*lathe.Assistant))); counted > sum/4 && counted < sum*4 && !history.IsSummary(h) { // or it counts something else
			w.use.Measured = true
			scale(w.use.Parts, counted, sum)
			scale(w.use.Largest, counted, sum)
		}
	}
	for _, p := range w.use.Parts {
		w.use.Used += p.Tokens
	}
	w.use.Window = w.model.Context
	if usable := w.settings.Compaction.Usable(compact.Window{Context: w.model.Context, Input: w.model.Input, Output: w.model.Output}); usable > 0 {
		w.use.Reserve = max(0, w.model.Context-usable)
		if !w.settings.Compaction.Off {
			w.use.CompactAt = usable
		}
	}
	return w.use
}

// scale fits estimates whose sum is known.
func scale(parts []api.ContextPart, counted, sum int) {
	for i := range parts {
		parts[i].Tokens = int(int64(parts[i].Tokens) * int64(counted) / int64(sum))
	}
}
