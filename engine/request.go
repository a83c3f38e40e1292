package engine

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

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

//go:embed prompt/laststep.md
var lastStepPrompt string

//go:embed prompt/structured.md
var structuredPrompt string

// stepInput is the input of a step. Nothing changes it while calls run, so that they may read
// it in their own goroutines. Between two attempts a fallback may replace the model.
type stepInput struct {
	stepConfig
	engine      *Engine
	session     lathe.Session
	place       workspace.Place
	evaluator   permission.Evaluator // as it was when the step began
	tools       *tool.Set
	savedPrompt *lathe.SystemPrompt // the saved system prompt
	history     []lathe.Message     // as the model sees it
	last        bool                // no tool runs
	userInvoked bool                // the user's prompt made the call: no rule hides it
	noUndo      *sync.Once          // warns once that commands cannot be undone
}

// loadConfig loads the config for the newest prompt and copies plan's inputs to s.
func (r *runner) loadConfig(ctx context.Context, s *state) {
	r.stepConfig = stepConfig{}
	u := history.LastUser(s.messages)
	if u == nil {
		return
	}
	r.stepConfig = r.config.load(ctx, u)
	c := &r.stepConfig
	c.summary = lastSummary(s.messages)
	if c.settings == nil {
		return
	}
	if c.agent != nil {
		r.applyFallback(ctx, c)
		s.steps = c.agent.Steps
	}
	c.model = withPromptCache(c.model, c.settings.PromptCache, c.settings.Headless && hasLongWait(s.messages[history.LastExchange(s.messages):]))
	s.continueOnDeny = c.settings.ContinueOnDeny
	if compaction := c.settings.Compaction; !compaction.Off {
		s.usable = compaction.Usable(c.model.window())
	}
	r.loadChecks(ctx, s)
}

// applyFallback replaces a model that has failed in this turn, and one that cannot even be opened.
func (r *runner) applyFallback(ctx context.Context, c *stepConfig) {
	wanted := c.user.Data.(*lathe.User).Model
	m := r.fallback.modelFor(wanted)
	if m == nil && c.model == nil && c.err != nil {
		m = r.fallback.switchModel(ctx, r.engine.services, r.config.place, c, wanted, c.err)
	}
	if m != nil {
		c.model, c.err = m, nil
	}
}

// prepare makes a step of a prompt: the request, and the answer that begins with it.
func (r *runner) prepare(ctx context.Context, s state, last bool) (*stepRun, error) {
	if r.stepConfig.err != nil {
		return nil, r.stepConfig.err
	}
	if len(r.log.mem.Convert([]*history.Message{r.user}, r.model.Target)) == 0 { // the request would be empty, or end in an answer
		return nil, lathe.Errorf(lathe.Invalid, "The prompt is empty. Write some text, or attach a file.")
	}
	if last {
		if err := r.addLastStepNotice(ctx, &s); err != nil {
			return nil, err
		}
	}
	st := r.newStepRun(s)
	st.last = last
	if err := st.loadPermissions(ctx); err != nil {
		return nil, err
	}
	var err error
	if st.savedPrompt, err = r.systemPrompt.ensure(ctx, s.session, &r.stepConfig, r.fallback.model != nil); err != nil {
		return nil, err
	}
	visible := history.Visible(s.messages)
	st.history = plainMessages(visible)
	if st.format != nil {
		st.tools = tool.NewSet(append(st.tools.All(), structuredTool(st.format))...)
	}
	st.rebuild = func(ctx context.Context) (model.Request, error) { return st.build(ctx, r.log.mem, visible) }
	if st.prompt, err = st.rebuild(ctx); err != nil {
		return nil, err
	}
	m := r.newAnswer(s)
	st.fold = &fold.Fold{
		IDs: r.engine.ids, Message: m, Price: st.model.Price, HasTextHook: st.settings.Hooks.TextComplete != nil,
		Resolve: st.tools.Resolve, Prior: history.Calls(s.messages[history.LastExchange(s.messages):]), Checker: r.watch(ctx, s),
	}
	if err := st.open(ctx, st.fallback.noteFacts(r.log, m.ID)...); err != nil {
		return nil, err
	}
	st.startSnapshot()
	r.jobs.generateTitle(ctx, s, &r.stepConfig)
	return st, nil
}

// open writes the message of the step down, and holds what its request may cost.
func (s *stepRun) open(ctx context.Context, more ...lathe.Fact) error {
	m := s.fold.Message
	err := s.reserve(ctx, append([]lathe.Fact{s.log.busyFact(), &lathe.MessageChanged{Info: m}}, more...)...)
	if h := s.log.mem.ByID[m.ID]; h != nil {
		s.fold.Message.Created = h.Created
	}
	return err
}

// reserve holds what the request of the step may cost, and commits facts with that.
func (s *stepRun) reserve(ctx context.Context, facts ...lathe.Fact) error {
	if s.engine.files.undoable(s.place, s.settings) != nil { // nobody replays steps of a project without snapshots
		facts = append(facts, &lathe.RequestSent{Session: s.session.ID, Message: s.fold.Message.ID, Digest: s.engine.requestDigest(s.prompt)})
	}
	return s.ledger.reserve(ctx, s.prompt, s.model.Price, facts...)
}

// addLastStepNotice writes down that this is the last step. It is its own message: words that
// were only in this request would be missing from the next (I7).
func (r *runner) addLastStepNotice(ctx context.Context, s *state) error {
	notice := r.log.message(r.engine.now(), samePrompt(r.user.Data.(*lathe.User)), history.Synthetic(strings.TrimSpace(lastStepPrompt)))
	if err := r.log.write(ctx, notice...); err != nil {
		return err
	}
	s.messages = append(s.messages, r.log.mem.ByID[notice[0].(*lathe.MessageChanged).Info.ID])
	return nil
}

// build assembles the request. The same history gives the same bytes: tools are sorted,
// and nothing in it depends on the hour.
func (s *stepInput) build(ctx context.Context, mem *history.Conversation, visible []*history.Message) (model.Request, error) {
	req := s.newRequest()
	hooks := &s.settings.Hooks
	var err error
	if hooks.Messages == nil {
		req.Messages = mem.Convert(visible, s.model.Target)
	} else {
		changed, err := hooks.Messages(ctx, plainMessages(visible)) // a fresh copy each time
		if err != nil {
			return req, err
		}
		req.Messages = model.Convert(changed, s.model.Target)
	}
	if hooks.System != nil {
		if req.System, err = hooks.System(ctx, s.requestInfo(), req.System); err != nil {
			return req, err
		}
	}
	if hooks.Params != nil {
		err = hooks.Params(ctx, s.requestInfo(), &req)
	}
	return req, err
}

// newRequest is the pure half of build, without the conversation.
func (s *stepInput) newRequest() model.Request {
	req := s.bareRequest()
	req.System, req.Cache = s.system(), s.model.Cache
	hide, unsuited, fam := s.evaluator.Hide(), builtin.Unsuited(req.Model), prompt.FamilyOf(req.Model)
	for _, t := range s.tools.Visible(func(spec tool.Spec) bool {
		return hide(spec) || unsuited(spec) || fam.Hides(spec) || spec.Child && s.session.Parent == ""
	}) {
		spec := t.Spec()
		req.Tools = append(req.Tools, model.Tool{Name: spec.Name, Description: s.describe(spec), Schema: spec.Schema, Freeform: (*model.Freeform)(spec.Freeform)})
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

// bareRequest has what model and agent say of every request.
func (s *stepInput) bareRequest() model.Request {
	m := s.model
	req := model.Request{
		Model: m.Name, MaxOutput: compact.MaxOutput, Options: s.options(), Headers: m.Headers,
		TopP: cmp.Or(s.agent.TopP, m.DefaultTopP), TopK: m.DefaultTopK,
	}
	if m.Output > 0 {
		req.MaxOutput = m.Output
	}
	if m.Temperature {
		req.Temperature = cmp.Or(s.agent.Temperature, m.DefaultTemperature)
	}
	return req
}

// system is what goes before the conversation, as one text: what was sampled, and behind it
// what belongs to the prompt.
func (s *stepInput) system() []string {
	p, source := s.savedPrompt, s.stepConfig.systemPrompt(s.session, s.place)
	if !isFor(p, source.Key()) { // of a model that stands in for another
		own := source.Build(s.engine.now())
		p = &own
	}
	texts := []string{p.Text}
	if s.format != nil {
		texts = append(texts, strings.TrimSpace(structuredPrompt))
	}
	if extra := s.user.Data.(*lathe.User).System; extra != "" {
		texts = append(texts, extra)
	}
	return []string{strings.Join(texts, "\n\n")}
}

// options merges those of the model, the agent and the variant, the later over the earlier.
func (s *stepInput) options() map[string]json.RawMessage {
	var own map[string]json.RawMessage
	_ = json.Unmarshal(s.agent.Options, &own) // nil, or what is no object, adds nothing
	base := s.model.Options
	if s.model.SessionOptions != nil {
		base = s.model.SessionOptions(s.session.ID)
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
