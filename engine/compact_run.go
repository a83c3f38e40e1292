package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/budget"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

const (
	// summaryOutput is how long an answer with a summary may be, with what is thought before.
	summaryOutput = 12_000
	// summaryTries is how often a model is asked; then the better attempt is used, if there is one.
	summaryTries = 2
)

// compactRun is one running compaction.
type compactRun struct {
	*stepRun
	runner        *runner
	state         state
	request       *history.Message
	part          lathe.Part // of the request
	compaction    *lathe.Compaction
	head          []*history.Message // summarized messages
	tail          []*history.Message // messages that stay verbatim
	replay        *history.Message   // prompt to repeat afterwards; nil means none
	previous      string             // an earlier summary
	source        string             // input of the summary
	ask           string
	context       []string
	defaultPrompt bool // by our own prompt
	records       compact.Records
}

// compress carries out a request to compress. The summary carries other errors; a returned
// error comes from the store.
func (r *runner) compress(ctx context.Context, s state, request *history.Message) error {
	c, err := r.newCompactRun(ctx, s, request)
	if err == nil {
		err = c.openSummary(ctx)
	}
	if err != nil {
		return r.refuse(ctx, s, err)
	}
	ctx, cancel := c.ledger.start(ctx)
	defer cancel()
	r.publishCompacting(ctx, c.fold.Message.Created)
	err = c.run(ctx)
	r.publishCompacting(ctx, 0)
	return err
}

// publishCompacting shows clients when the compaction started; 0 says that it ended. It is not essential, so a failure is only logged.
func (r *runner) publishCompacting(ctx context.Context, since lathe.Time) {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	if _, err := r.engine.store.Edit(ctx, r.log.lease.Session, lathe.Edit{Compacting: lathe.Some(since)}); err != nil {
		r.engine.log.Warn("compaction status not published", "session", r.log.lease.Session, "error", err)
	}
}

// newCompactRun reads the messages to compress.
func (r *runner) newCompactRun(ctx context.Context, s state, request *history.Message) (*compactRun, error) {
	if r.stepConfig.err != nil {
		return nil, r.stepConfig.err
	}
	c := &compactRun{runner: r, state: s, request: request, stepRun: r.newStepRun(s)}
	c.last = true
	for _, p := range request.Parts {
		if w, ok := p.Body.(*lathe.Compaction); ok {
			c.part, c.compaction = p, w
			break
		}
	}
	c.split(slices.Index(s.messages, request))
	if err := c.isWorthwhile(); err != nil {
		return nil, err
	}
	diffs, err := r.engine.store.Diff(ctx, s.session.ID)
	if err != nil {
		return nil, writeError{err}
	}
	c.records = compact.RecordsOf(s.messages, c.prompts(), diffs)
	if c.records.Todos, err = r.engine.store.Todos(ctx, s.session.ID); err != nil {
		return nil, writeError{err}
	}
	return c, c.prepare(ctx)
}

// isWorthwhile says why compressing would not help: the history is empty, or the oversized part
// is all that is left. Media that are no longer sent may still help.
func (c *compactRun) isWorthwhile() error {
	switch {
	case len(c.head) > 0:
		return nil
	case c.previous == "":
		return lathe.Errorf(lathe.Invalid, "Nothing to compress yet.")
	case c.compaction.Auto && (c.replay == nil || !compact.HasMedia(c.replay)):
		return stuckError()
	}
	return nil
}

// prompts are the messages that only the records will quote.
func (c *compactRun) prompts() []*history.Message {
	stays := map[*history.Message]bool{c.replay: true}
	for _, h := range c.tail {
		stays[h] = true
	}
	before := c.state.messages[:slices.Index(c.state.messages, c.request)]
	return slices.DeleteFunc(history.AppendMessages(nil, before), func(h *history.Message) bool { return stays[h] })
}

// split divides the history into summarized messages, messages that stay, and a prompt to repeat.
func (c *compactRun) split(at int) {
	before := c.state.messages[:at]
	visible := history.Visible(before)
	if len(visible) > 1 && history.CompactionOf(visible[0]) != nil {
		c.previous, visible = compact.ModelText(visible[1]), visible[2:]
	}
	if again := history.ReplayedPrompt(before, c.compaction); again >= 0 && slices.Contains(visible, before[again]) {
		c.replay = before[again]
		visible = visible[:slices.Index(visible, c.replay)]
	}
	answers, settings := c.runner.model, c.settings.Compaction
	start := compact.TailStart(visible, compact.Sizes(c.log.mem, visible, answers.Target), settings.TailBudget(settings.Usable(answers.window())), settings.TailTurns)
	if c.state.stuck() > 0 {
		start = len(visible) // leaving a tail has not helped
	}
	if open := history.UnansweredPrompt(visible); c.replay == nil && open > 0 && !c.compaction.Overflow.On() {
		start = min(start, open) // the unanswered prompt stays
	}
	c.head, c.tail = visible[:start], visible[start:]
}

// prepare makes the request for the summary.
func (c *compactRun) prepare(ctx context.Context) error {
	said := c.request.Data.(*lathe.User)
	agent, err := c.settings.agent(compactionAgent)
	if err != nil {
		agent = &Agent{Agent: lathe.Agent{Name: compactionAgent}}
	}
	ref := said.Model
	if agent.Model != nil {
		ref = *agent.Model
	}
	if now := c.runner.model.Ref; ref.Provider != now.Provider || ref.Model != now.Model {
		if m, err := c.engine.env.Model(ctx, c.place, ref); err == nil {
			c.model = m // else the one that answers will do
		}
	}
	c.agent, c.variant, c.format, c.user = agent, "", nil, c.request
	c.ask, c.defaultPrompt = compact.Ask, agent.Prompt == "" || strings.TrimSpace(agent.Prompt) == strings.TrimSpace(compact.SystemPrompt)
	if hook := c.settings.Hooks.Compaction; hook != nil {
		point := BeforeManual
		if c.compaction.Auto {
			point = BeforeAuto
		}
		hook(ctx, c.session.ID, point)
	}
	if hook := c.settings.Hooks.Compacting; hook != nil {
		more, err := hook(ctx, c.session.ID)
		if err != nil {
			return err
		}
		c.context = more.Context
		if more.Prompt != "" {
			c.ask, c.defaultPrompt = more.Prompt, false
		}
	}
	c.rebuild = func(ctx context.Context) (model.Request, error) { return c.build(ctx, nil) }
	c.prompt, err = c.rebuild(ctx)
	return err
}

// build assembles the request: no tools, one text. What was wrong with the last attempt is named.
func (c *compactRun) build(ctx context.Context, faults []string) (req model.Request, err error) {
	limit := 0
	if usable := c.settings.Compaction.Usable(c.model.window()); usable > 0 {
		limit = max(usable-compact.MinSummary-compact.TokensIn(c.previous+compact.Ask), usable/2) * budget.BytesPerToken
	}
	head, err := c.transformHistory(ctx, c.head)
	if err != nil {
		return req, err
	}
	conversation := compact.Fit(compact.Serialize(head, compact.ResultLimit), limit)
	c.source = conversation + "\n" + c.previous
	text := compact.Request(conversation, c.previous, c.ask, c.context)
	if len(faults) > 0 {
		text += "\n\n" + compact.FaultsText(faults)
	}
	req = c.bareRequest()
	req.MaxOutput = min(req.MaxOutput, summaryOutput)
	req.System = []string{strings.TrimSpace(cmp.Or(c.agent.Prompt, compact.SystemPrompt))}
	req.Messages = []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: text}}}}
	if hook := c.settings.Hooks.Params; hook != nil {
		err = hook(ctx, c.requestInfo(), &req)
	}
	return req, err
}

// openSummary writes the summary's message and reserves its possible cost.
func (c *compactRun) openSummary(ctx context.Context) error {
	m := c.runner.newAnswer(c.state)
	a := m.Data.(*lathe.Assistant)
	a.Parent, a.Agent, a.Mode, a.Model, a.Summary = c.request.ID, compactionAgent, compactionAgent, c.model.Ref, lathe.Yes
	c.fold = &fold.Fold{IDs: c.engine.ids, Message: m, Price: c.model.Price}
	c.fold.Reset()
	return c.open(ctx)
}

// run asks for a summary until there is one that can be used.
func (c *compactRun) run(ctx context.Context) error {
	if len(c.head) == 0 && c.previous != "" { // no message since
		return c.accept(ctx, c.previous)
	}
	better, fewest := "", 0 // words that can be worked from, and what is wrong with them
	for try := 1; ; try++ {
		words, faults, err := c.requestSummary(ctx)
		switch {
		case err != nil:
			return c.giveUp(ctx, err)
		case len(faults) == 0:
			return c.accept(ctx, words)
		}
		if words != "" && (better == "" || len(faults) <= fewest) {
			better, fewest = words, len(faults)
		}
		c.engine.log.Warn("summary rejected", "session", c.session.ID, "attempt", try, "faults", strings.Join(faults, "; "))
		if err := c.reject(ctx); err != nil {
			return err
		}
		if try == summaryTries {
			return c.accept(ctx, better)
		}
		if c.prompt, err = c.build(ctx, faults); err == nil {
			err = c.reserve(ctx, c.log.busyFact())
		}
		if err != nil {
			return c.giveUp(ctx, err)
		}
	}
}

// requestSummary asks once, with retries, and returns the faults of the summary. The words are empty if the model called
// a tool or the end is missing.
func (c *compactRun) requestSummary(ctx context.Context) (words string, faults []string, err error) {
	err = c.persist(ctx)
	if calledTool(err) {
		return "", []string{"it called a tool, but has no tools"}, nil
	}
	if err != nil {
		return "", nil, err
	}
	c.fold.CloseBlocks(c.engine.now())
	if err := c.applyEffects(ctx); err != nil {
		return "", nil, err
	}
	if err := c.batch.flush(ctx); err != nil {
		return "", nil, err
	}
	h := *c.log.mem.ByID[c.fold.Message.ID]
	h.Parts = slices.DeleteFunc(slices.Clone(h.Parts), func(p lathe.Part) bool { return !slices.Contains(c.fold.Created, p.ID) })
	words = strings.TrimSpace(thoughts().ReplaceAllString(compact.ModelText(&h), ""))
	faults = compact.Faults(words, c.source, c.headChanges(), c.defaultPrompt)
	if c.fold.End != nil && c.fold.End.Reason == model.FinishLength {
		return "", append(faults, "it was cut off because it was too long"), nil
	}
	return words, faults, nil
}

// headChanges are the files that what is summarized has changed.
func (c *compactRun) headChanges() []string { return compact.RecordsOf(c.head, nil, nil).Names() }

// persist makes one request, again and again while that may help.
func (c *compactRun) persist(ctx context.Context) error {
	for n := 1; ; n++ {
		err := c.attempt(ctx)
		c.queue.close()
		if err == nil || calledTool(err) {
			return err
		}
		retry := c.planRetry(ctx, err, n)
		if !retry.again {
			if n = 0; !c.switchModel(ctx, &c.runner.stepConfig, err) {
				return err
			}
		}
		if err := c.restart(ctx, n, retry, err); err != nil {
			return err
		}
	}
}

// restart makes ready for another attempt. Clients hear of another model before the session is busy again.
func (c *compactRun) restart(ctx context.Context, n int, retry retryPlan, failure error) error {
	if retry.again {
		return c.stepRun.restart(ctx, n, retry, failure)
	}
	if err := c.discard(ctx); err != nil {
		return err
	}
	message, note, err := c.useFallback(ctx)
	if err != nil {
		return err
	}
	return c.reserve(ctx, append(note, message, c.log.busyFact())...)
}

// reject takes the words of an attempt away; what it cost stays.
func (c *compactRun) reject(ctx context.Context) error {
	c.ledger.spend(c.fold, c.model)
	at, f := c.engine.now(), c.fold
	c.removeText()
	if tokens, cost := model.Count(f.Usage, f.Price); tokens != (lathe.Tokens{}) {
		a := *f.Message.Data.(*lathe.Assistant)
		a.Cost, a.Tokens = a.Cost.Add(cost), tokens
		f.Message.Data = &a
		f.Put(f.NewPart(&lathe.StepFinish{Reason: model.FinishUnknown, Cost: cost, Tokens: tokens}), at)
		f.Fact(&lathe.MessageChanged{Info: f.Message})
	}
	c.batch.add(f.Take().Facts...)
	f.Reset()
	return c.batch.flush(ctx)
}

// removeText removes the text of a failed attempt.
func (c *compactRun) removeText() {
	f := c.fold
	clear(f.Blocks)
	for _, p := range c.log.mem.ByID[f.Message.ID].Parts {
		switch p.Body.(type) {
		case *lathe.Text, *lathe.Reasoning:
			if slices.Contains(f.Created, p.ID) {
				f.Fact(&lathe.PartRemoved{Session: f.Message.Session, Message: f.Message.ID, Part: p.ID})
			}
		default:
		}
	}
}

// giveUp ends a compaction that failed. The history stays as it was.
func (c *compactRun) giveUp(ctx context.Context, err error) error {
	if isWrite(err) {
		return err
	}
	if lathe.CodeOf(err) == lathe.Overflow {
		text := "The conversation is too long to be summarized, even without media: the model refused it. Choose a model with a larger context for it (agent.compaction.model in the config), or start a new session."
		if c.replay != nil {
			text = "The conversation before the last prompt is too long to be summarized: the model refused it. Choose a model with a larger context for it (agent.compaction.model in the config), or fork the session at an earlier message."
		}
		err = &lathe.Error{Code: lathe.Overflow, Message: text, Err: err, Fault: &lathe.OverflowFault{Message: text}}
	}
	if ctx.Err() == nil {
		a := *c.fold.Message.Data.(*lathe.Assistant)
		a.Finish = "error"
		c.fold.Message.Data = &a
	}
	return c.fail(ctx, err)
}

// accept writes the summary and all that follows from it in one commit: until then the history
// is unchanged.
func (c *compactRun) accept(ctx context.Context, words string) error {
	at, f := c.engine.now(), c.fold
	more, err := c.continueFacts(ctx, at)
	if err != nil {
		return c.giveUp(ctx, err)
	}
	c.saveHistory()
	if len(f.Created) == 0 { // no attempt is valid: the text is ours
		c.ledger.spend(c.fold, c.model)
		f.OpenStep(at)
		c.addText(words, lathe.Unset, at)
	} else if h := c.log.mem.ByID[f.Message.ID]; compact.ModelText(h) != words {
		c.removeText()
		c.addText(words, lathe.Unset, at)
	}
	c.addText(c.records.Text(), lathe.Yes, at)
	if hook := c.settings.Hooks.Compaction; hook != nil {
		c.addText(hook(ctx, c.session.ID, AfterCompaction), lathe.Yes, at)
	}
	f.End = &model.Finish{Reason: model.FinishStop}
	f.Finish(at, snapshot.Patch{})
	f.Close(at, nil)
	c.batch.add(f.Take().Facts...)
	if len(c.tail) > 0 {
		body := *c.compaction
		body.TailStart = c.tail[0].ID
		c.part.Body = &body
		c.batch.add(&lathe.PartChanged{Part: c.part, Time: at})
	}
	c.batch.add(append(more, &lathe.SessionCompacted{Session: c.session.ID})...)
	c.noteIneffective(words)
	return c.end(ctx, nil)
}

func (c *compactRun) addText(text string, synthetic lathe.Flag, at lathe.Time) {
	if text != "" {
		c.fold.Put(c.fold.NewPart(&lathe.Text{Text: text, Synthetic: synthetic, Time: &lathe.Span{Start: at, End: at}}), at)
	}
}

// noteIneffective logs a compaction that shortens nothing. One is harmless; after three in a row
// the turn ends (see stuck).
func (c *compactRun) noteIneffective(words string) {
	was, is := compact.Sum(compact.Sizes(c.log.mem, c.head, c.runner.model.Target))+compact.TokensIn(c.previous), compact.TokensIn(words)+compact.TokensIn(c.records.Text())
	if is >= was {
		c.engine.log.Warn("compaction did not shorten the history", "session", c.session.ID, "before", was, "after", is)
	}
}

// saveHistory writes the whole conversation to a file, in which the model can look things up. It
// is not essential, so a failure is only logged.
func (c *compactRun) saveHistory() {
	if c.engine.files.outputs == "" {
		return
	}
	dir := c.engine.files.output(c.session.ID, tool.Limits{}).Dir
	said := history.AppendMessages(nil, c.state.messages[:slices.Index(c.state.messages, c.request)])
	path := filepath.Join(dir, string(lathe.PrefixTool)+"_history_"+string(c.session.ID)+".txt")
	if err := atomicfile.Write(path, []byte(strings.Join(compact.Serialize(said, 0), "\n\n")+"\n")); err != nil {
		c.engine.log.Warn("full conversation not saved to a file", "session", c.session.ID, "error", err)
		return
	}
	c.records.File = path
}
