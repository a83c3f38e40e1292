package engine

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/budget"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/model"
)

// TitleRequest is how the system prompt of a request for a title begins, by which scripted
// models know it.
const TitleRequest = "You name conversations"

const (
	titleTime  = time.Minute // for a title, in all
	titleLimit = 100         // characters
)

// title is the result of a job: a name for the session.
type title struct {
	text  string
	err   error
	spent lathe.Spending
}

// generateTitle asks the small model for a title while the first step runs, unless the session
// has one.
func (j *jobs) generateTitle(ctx context.Context, s state, c *stepConfig) {
	messages := titleSource(s)
	if j.titled || messages == nil {
		return
	}
	j.titled = true
	e, id := j.engine, j.log.lease.Session
	m, agent := j.titleModel(ctx, c)
	req := titleRequest(m, agent, messages)
	cost := budget.New(req, m.Price)
	want := cost.Reserve(titleSlot, e.Today(), c.settings.Budget)
	want.Max.Steps, want.Min.Steps = 0, 0
	if g, err := j.log.reserve(ctx, want); err != nil || !g.Allowed() {
		return // the rest of the budget is for the answer
	}
	hook, on := c.settings.Hooks.Params, RequestInfo{id, prompt.TitleAgent, m.Ref, c.user.Message}
	j.start(func() jobResult {
		ctx, cancel := context.WithTimeout(e.ctx, titleTime)
		defer cancel()
		if hook != nil {
			if err := hook(ctx, on, &req); err != nil {
				return title{err: err}
			}
		}
		return askTitle(ctx, e, id, m, req, cost)
	})
}

// titleSource is the start of a conversation that needs a title, up to its first prompt; nil if it
// has a title or more prompts.
func titleSource(s state) []lathe.Message {
	if s.session.Parent != "" || !lathe.IsDefaultTitle(s.session.Title) {
		return nil
	}
	isPrompt := func(h *history.Message) bool {
		_, ok := h.Data.(*lathe.User)
		return ok && !history.IsSynthetic(h.Parts)
	}
	first := slices.IndexFunc(s.messages, isPrompt)
	if first < 0 || slices.ContainsFunc(s.messages[first+1:], isPrompt) {
		return nil
	}
	messages := plainMessages(s.messages[:first+1])
	for i := range messages {
		messages[i].Parts = slices.DeleteFunc(slices.Clone(messages[i].Parts), isAddedByPromotion)
	}
	return messages
}

// titleModel is the model for titles: the small model, if there is one.
func (j *jobs) titleModel(ctx context.Context, c *stepConfig) (*Model, *Agent) {
	agent, err := c.settings.agent(prompt.TitleAgent)
	if err != nil {
		agent = &Agent{}
	}
	small := c.settings.SmallModel
	if agent.Model != nil {
		small = *agent.Model
	}
	if small.Model != "" {
		if m, err := j.engine.env.Model(ctx, j.config.place, small); err == nil {
			return m, agent
		}
	}
	return c.model, agent
}

// titleRequest asks for a title.
func titleRequest(m *Model, agent *Agent, history []lathe.Message) model.Request {
	half := 0.5
	req := model.Request{
		Model: m.Name, System: []string{cmp.Or(agent.Prompt, prompt.TitleText())}, MaxOutput: min(compact.MaxOutput, max(m.Output, 1000)),
		Options: m.Options, Headers: m.Headers,
		Messages: append([]model.Message{{
			Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "Generate a title for this conversation:\n"}},
		}}, titleMessages(history, m)...),
	}
	if m.Temperature {
		req.Temperature = cmp.Or(agent.Temperature, &half)
	}
	return req
}

// askTitle asks a model for a title.
func askTitle(ctx context.Context, e *Engine, id lathe.SessionID, m *Model, req model.Request, cost budget.Estimate) (out title) {
	leave, err := e.requests.Acquire(ctx, id)
	if err != nil {
		return title{err: err}
	}
	defer leave()
	var text strings.Builder
	var used model.Usage
	for ev, err := range e.client(m).Stream(ctx, req) {
		if err != nil {
			out.err = err
			break
		}
		out.spent = cost.Total(0) // until it is counted
		switch ev := ev.(type) {
		case model.TextDelta:
			text.WriteString(ev.Text)
		case model.UsageUpdate:
			used = ev.Usage
		default:
		}
	}
	if tokens, cost := model.Count(used, m.Price); tokens != (lathe.Tokens{}) {
		out.spent = lathe.Spending{Cost: cost, Tokens: lathe.TokensUsed(tokens)}
		e.telemetry.Spend(m.Ref, tokens, cost)
	}
	out.spent.Steps = 0
	out.text = cleanTitle(text.String())
	return out
}

// titleMessages is the start of the conversation; a prompt of nothing but subtasks is replaced by
// their descriptions.
func titleMessages(history []lathe.Message, m *Model) []model.Message {
	last := history[len(history)-1]
	var tasks []string
	for _, p := range last.Parts {
		if t, ok := p.Body.(*lathe.Subtask); ok {
			tasks = append(tasks, t.Prompt)
		}
	}
	if len(tasks) == 0 || len(tasks) < len(last.Parts) {
		to := m.Target
		to.StripMedia = true
		return model.Convert(history, to)
	}
	return []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: strings.Join(tasks, "\n")}}}}
}

// thoughts matches the reasoning that some models put before the title.
var thoughts = phrase.Regexp(`(?s)<think>.*?</think>\s*`)

// cleanTitle reduces a model's answer to one line.
func cleanTitle(text string) string {
	text = thoughts().ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > titleLimit {
			line = string([]rune(line)[:titleLimit-3]) + "..."
		}
		return line
	}
	return ""
}

// apply names the session. A title that someone gave meanwhile stays.
func (done title) apply(ctx context.Context, j *jobs) {
	if err := j.log.write(ctx, &lathe.Spent{Session: j.log.lease.Session, Slot: titleSlot, Day: j.engine.Today(), Used: done.spent}); err != nil {
		j.warn("title cost not recorded", err)
	}
	if done.err != nil {
		j.warn("title request failed", done.err)
		return
	}
	j.log.catchUp()
	if done.text == "" || !lathe.IsDefaultTitle(j.log.mem.Session.Title) {
		return
	}
	if _, err := j.log.edit(ctx, lathe.Edit{Title: lathe.Some(done.text)}); err != nil {
		j.warn("title not saved", err)
	}
}
