package engine

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed prompt/build.md
var buildPrompt string

//go:embed prompt/laststep.md
var lastStepPrompt string

//go:embed prompt/structured.md
var structuredPrompt string

// stepConfig is what the settings say, taken at the start of a round; it holds until its end.
type stepConfig struct {
	settings  *Settings
	agent     *Agent
	model     *Model
	user      *history.Message // the prompt to answer
	variant   string           // of the model
	format    *format
	mentioned bool // the prompt names an agent
	output    tool.Output
	summary   lathe.MessageID // the newest of the history
	err       error           // why there is no agent or model
}

// sampled asks the settings for what the newest prompt wants, and tells plan.
func (r *runner) sampled(ctx context.Context, s *state) {
	r.stepConfig = stepConfig{}
	u := history.LastUser(s.messages)
	if u == nil {
		return
	}
	r.stepConfig = r.loadStepConfig(ctx, u)
	r.summary = lastSummary(s.messages)
	r.fallSample(ctx)
	if r.settings != nil {
		r.model = cached(r.model, r.settings.PromptCache, r.settings.Headless && hasLongWait(s.messages[history.LastExchange(s.messages):]))
		s.continueOnDeny = r.settings.ContinueOnDeny
		if c := r.settings.Compaction; !c.Off {
			s.usable = c.Usable(r.model.window())
		}
		r.sampleChecks(ctx, s)
	}
	if r.agent != nil {
		s.steps = r.agent.Steps
	}
}

// loadStepConfig asks the settings for what a prompt wants. When they were edited since the turn began, it
// is those that it began with.
func (r *runner) loadStepConfig(ctx context.Context, u *history.Message) (s stepConfig) {
	e, said := r.engine, u.Said.(*lathe.User)
	s.user, s.variant = u, said.Model.Variant
	switch edited := r.isEdited(); {
	case e.setup == nil:
		s.err = lathe.Errorf(lathe.Unavailable, "this engine was opened without models")
	case edited:
		s.settings = r.began.settings
	default:
		s.settings, s.err = e.setup.Settings(ctx, r.place)
	}
	if s.err != nil {
		return s
	}
	s.output = tool.Output{Dir: e.outputs, Limits: s.settings.Limits}.Of(u.Session)
	if s.agent, s.err = s.settings.agent(said.Agent); s.err != nil {
		return s
	}
	if s.format, s.err = readFormat(said.Format); s.err != nil {
		return s
	}
	s.mentioned = slices.ContainsFunc(u.Parts, func(p lathe.Part) bool {
		_, ok := p.Body.(*lathe.AgentMention)
		return ok
	})
	if was := r.began; was.model != nil && s.settings == was.settings && was.user.Said.(*lathe.User).Model == said.Model {
		s.model = was.model
	} else if s.model, s.err = e.setup.Model(ctx, r.place, said.Model); s.err != nil {
		return s
	}
	s.output.Limits = prompt.FamilyOf(s.model.Name).Limits(s.output.Limits)
	r.began = s
	return s
}

// editable is a [Setup] whose settings people may change while a turn runs.
type editable interface {
	// Edited reports whether the files that settings were made of say something else now. The error is
	// why they cannot be read.
	Edited(at workspace.Place, was *Settings) (bool, error)
}

// isEdited reports whether the settings are no longer those that the turn began with. Broken ones
// are told, once.
func (r *runner) isEdited() bool {
	source, ok := r.engine.setup.(editable)
	if !ok || r.began.settings == nil {
		return false
	}
	edited, err := source.Edited(r.place, r.began.settings)
	if err != nil && !r.told {
		r.told = true
		r.engine.log.Warn("config cannot be read; the turn keeps the settings it started with", "session", r.log.lease.Session, "error", err)
		r.log.publish(&lathe.TUIToast{
			Title: "The config was edited and cannot be read", Message: err.Error() + "\nThis turn keeps the settings it started with.", Variant: "warning",
		})
	}
	return edited || err != nil
}

// prepare makes a step of a prompt: the request, and the answer that begins with it.
func (r *runner) prepare(ctx context.Context, s state, last bool) (*stepRun, error) {
	if r.stepConfig.err != nil {
		return nil, r.stepConfig.err
	}
	if len(r.log.mem.Convert([]*history.Message{r.user}, r.stepConfig.model.Target)) == 0 { // the request would be empty, or end in an answer
		return nil, lathe.Errorf(lathe.Invalid, "The prompt has nothing a model could be told. Write some words, or attach a file.")
	}
	st := r.newStepRun(s)
	st.last = last
	if last {
		if err := r.remind(ctx, &s); err != nil {
			return nil, err
		}
	}
	var err error
	if st.judge, err = r.judgeFor(ctx, s.session); err != nil {
		return nil, err
	}
	if err := r.prefaced(ctx, s.session); err != nil {
		return nil, err
	}
	for _, h := range history.Visible(s.messages) {
		st.history = append(st.history, h.Message)
	}
	if st.format != nil {
		st.tools = tool.NewSet(append(st.tools.All(), st.structuredTool())...)
	}
	if st.prompt, err = st.build(ctx, s, st.tools); err != nil {
		return nil, err
	}
	m := r.answer(s)
	st.fold = &fold.Fold{
		IDs: r.engine.ids, Message: m, Price: st.model.Price, Hooked: st.settings.Hooks.TextComplete != nil,
		Resolve: st.tools.Resolve, Prior: history.Calls(s.messages[history.LastExchange(s.messages):]), Watch: r.watch(ctx, s),
	}
	err = st.reserve(ctx, append([]lathe.Fact{r.log.busy(), &lathe.MessageChanged{Info: m}}, st.fallNote()...)...)
	if h := r.log.mem.ByID[m.ID]; h != nil {
		st.fold.Message.Created = h.Created
	}
	if err == nil {
		st.picture()
		r.entitle(ctx, s)
	}
	return st, err
}

// remind writes down that this is the last step. It is a message of its own: words that
// were only in this request would be missing from the next (I7).
func (r *runner) remind(ctx context.Context, s *state) error {
	m := r.ownPrompt(*s)
	p := lathe.Part{ID: r.engine.ids.Part(), Session: m.Session, Message: m.ID, Body: &lathe.Text{Text: strings.TrimSpace(lastStepPrompt), Synthetic: lathe.Yes}}
	if err := r.log.write(ctx, &lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: p, Time: m.Created}); err != nil {
		return err
	}
	s.messages = append(s.messages, r.log.mem.ByID[m.ID])
	return nil
}

// judgeFor gathers all that decides on permissions: the session's rules over its agent's,
// and those of its ancestors, which no child exceeds.
func (r *runner) judgeFor(ctx context.Context, session lathe.Session) (permission.Judge, error) {
	j := permission.Judge{Off: map[string]bool{}}
	var switches map[string]bool
	if said := r.user.Said.(*lathe.User); said.Tools != nil {
		_ = json.Unmarshal(said.Tools, &switches) // what is no such object switches nothing
	}
	for name, on := range switches {
		j.Off[name] = !on // a prompt takes away and never gives
	}
	j.Chain = []permission.Scope{{Name: r.agent.Name, Session: session.Rules, Agent: r.agent.judge(), Listed: r.agent.Rules}}
	for id := session.Parent; id != ""; {
		parent, err := r.engine.store.Session(ctx, id)
		if lathe.CodeOf(err) == lathe.NotFound {
			break
		}
		if err != nil {
			return j, err
		}
		if a, err := r.settings.agent(parent.Agent); err == nil {
			j.Chain = append(j.Chain, permission.Scope{Name: a.Name, Session: parent.Rules, Agent: a.judge(), Listed: a.Rules})
		}
		id = parent.Parent
	}
	var err error
	j.Approved, err = r.engine.store.Approvals(ctx, session.Project, session.Directory)
	return j, err
}

// build assembles the request. The same history gives the same bytes: tools are sorted,
// and nothing in it depends on the hour.
func (s *stepRun) build(ctx context.Context, st state, tools *tool.Set) (model.Request, error) {
	req := s.request(tools)
	hooks := &s.settings.Hooks
	var err error
	if req.Messages, err = s.told(ctx, history.Visible(st.messages)); err != nil {
		return req, err
	}
	if hooks.System != nil {
		if req.System, err = hooks.System(ctx, s.occasion(), req.System); err != nil {
			return req, err
		}
	}
	if hooks.Params != nil {
		err = hooks.Params(ctx, s.occasion(), &req)
	}
	return req, err
}

// request is the pure half of build, without the conversation.
func (s *stepRun) request(tools *tool.Set) model.Request {
	m := s.model
	req := model.Request{
		Model: m.Name, System: s.system(),
		MaxOutput: compact.MaxOutput, Options: s.options(), Headers: m.Headers, Cache: m.Cache,
	}
	if m.Output > 0 {
		req.MaxOutput = m.Output
	}
	if m.Temperature {
		req.Temperature = first(s.agent.Temperature, m.DefaultTemperature)
	}
	req.TopP, req.TopK = first(s.agent.TopP, m.DefaultTopP), m.DefaultTopK
	hide, unsuited, fam := s.judge.Hide(), builtin.Unsuited(m.Name), prompt.FamilyOf(m.Name)
	for _, t := range tools.Visible(func(spec tool.Spec) bool { return hide(spec) || unsuited(spec) || fam.Overwhelms(spec) }) {
		spec := t.Spec()
		req.Tools = append(req.Tools, model.Tool{Name: spec.Name, Description: s.described(spec), Schema: spec.Schema, Freeform: (*model.Freeform)(spec.Freeform)})
	}
	switch {
	case len(req.Tools) == 0:
	case s.format != nil && s.last:
		req.Choice = fold.StructuredTool
	case s.format != nil:
		req.Choice = "required"
	case s.last:
		req.Choice = "none" // shown still: the cache of what comes before rests on them
	}
	return req
}

func first(values ...*float64) *float64 {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// system is what goes before the conversation, as one text: what was sampled, and behind it
// what belongs to the prompt.
func (s *stepRun) system() []string {
	p := s.preface
	if !isFor(p, s.stepConfig.prefaceKey(s.place)) { // of a model that stands in for another
		own := s.stepConfig.newPreface(s.session, s.place, s.engine.now())
		p = &own
	}
	texts := []string{p.Text}
	if s.format != nil {
		texts = append(texts, strings.TrimSpace(structuredPrompt))
	}
	if extra := s.user.Said.(*lathe.User).System; extra != "" {
		texts = append(texts, extra)
	}
	return []string{strings.Join(texts, "\n\n")}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// options merges those of the model, the agent and the variant, the later over the earlier.
func (s *stepRun) options() map[string]json.RawMessage {
	var own map[string]json.RawMessage
	_ = json.Unmarshal(s.agent.Options, &own) // nil, or what is no object, adds nothing
	base := s.model.Options
	if s.model.For != nil {
		base = s.model.For(s.session.ID)
	}
	return mergeOptions(mergeOptions(base, own), s.model.Variants[s.variant])
}

// mergeOptions lays options over others, objects deeply.
func mergeOptions(base, over map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		var a, b map[string]json.RawMessage
		if json.Unmarshal(out[k], &a) == nil && json.Unmarshal(v, &b) == nil && a != nil && b != nil {
			v, _ = json.Marshal(mergeOptions(a, b))
		}
		out[k] = v
	}
	return out
}
