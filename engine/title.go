package engine

import (
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
)

//go:embed prompt/title.md
var titlePrompt string

// TitleRequest is how the system prompt of a request for a title begins, by which scripted
// models know it.
const TitleRequest = "You name conversations"

const (
	titleTime  = time.Minute // for a title, in all
	titleLimit = 100         // characters
)

// errandResult is what an errand brings back. Errands never write: the runner does.
type errandResult interface {
	deliver(ctx context.Context, r *runner)
}

// title is an errand's: a name for the session.
type title struct {
	words string
	err   error
	spent lathe.Spending
}

// entitle sends for a title when a session begins, if nobody gave it one. It is asked of the
// small model, beside the first step.
func (r *runner) entitle(ctx context.Context, s state) {
	if s.session.Parent != "" || !lathe.IsDefaultTitle(s.session.Title) {
		return
	}
	real, until := 0, 0
	for i, h := range s.messages {
		if _, ok := h.Said.(*lathe.User); ok && !history.IsSynthetic(h.Parts) {
			if real++; real == 1 {
				until = i + 1
			}
		}
	}
	if real != 1 || r.titled {
		return
	}
	r.titled = true
	history := make([]lathe.Message, until)
	for i, h := range s.messages[:until] {
		history[i] = h.Message
		history[i].Parts = slices.DeleteFunc(slices.Clone(h.Parts), isAside)
	}
	e, m := r.engine, r.stepConfig.model
	agent, err := r.settings.agent(titleAgent)
	if err != nil {
		agent = &Agent{}
	}
	small := r.settings.SmallModel
	if agent.Model != nil {
		small = *agent.Model
	}
	if small.Model != "" {
		if other, err := e.setup.Model(ctx, r.place, small); err == nil {
			m = other
		}
	}
	req := titleRequest(m, agent, history)
	cost := estimated(req, m.Price)
	want := cost.reserve(titleSlot, e.today(), r.settings.Budget)
	want.Want.Steps, want.Least.Steps = 0, 0
	if g, err := r.log.reserve(ctx, want); err != nil || !g.Given() {
		return // what is left is for the answer
	}
	r.errands++
	id, hook, on := r.log.lease.Session, r.settings.Hooks.Params, Occasion{r.log.lease.Session, titleAgent, m.Ref, r.user.Message}
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(e.ctx, titleTime)
		defer cancel()
		if hook != nil {
			if err := hook(ctx, on, &req); err != nil {
				r.results <- title{err: err}
				return
			}
		}
		r.results <- askTitle(ctx, e, id, m, req, cost)
	})
}

// titleRequest asks for a title.
func titleRequest(m *Model, agent *Agent, history []lathe.Message) model.Request {
	half := 0.5
	req := model.Request{
		Model: m.Name, System: []string{or(agent.Prompt, strings.TrimSpace(titlePrompt))}, MaxOutput: min(compact.MaxOutput, max(m.Output, 1000)),
		Options: m.Options, Headers: m.Headers,
		Messages: append([]model.Message{{
			Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "Generate a title for this conversation:\n"}},
		}}, titleMessages(history, m)...),
	}
	if m.Temperature {
		req.Temperature = first(agent.Temperature, &half)
	}
	return req
}

// askTitle asks a model for a title.
func askTitle(ctx context.Context, e *Engine, id lathe.SessionID, m *Model, req model.Request, cost estimate) (out title) {
	leave, err := e.enter(ctx, id)
	if err != nil {
		return title{err: err}
	}
	defer leave()
	var text strings.Builder
	var used model.Usage
	for ev, err := range e.metered(m).Stream(ctx, req) {
		if err != nil {
			out.err = err
			break
		}
		out.spent = cost.total(0) // until it is counted
		switch ev := ev.(type) {
		case model.TextDelta:
			text.WriteString(ev.Text)
		case model.Used:
			used = ev.Usage
		default:
		}
	}
	if tokens, cost := model.Count(used, m.Price); tokens != (lathe.Tokens{}) {
		out.spent = lathe.Spending{Cost: cost, Tokens: lathe.TokensUsed(tokens)}
		e.meters.model(m.Ref).spent(tokens, cost)
	}
	out.spent.Steps = 0
	out.words = cleanTitle(text.String())
	return out
}

// titleMessages is the beginning of the conversation; a prompt of nothing but subtasks is
// told by what they are asked to do.
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

// thoughts are what some models put before the title.
var thoughts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<think>.*?</think>\s*`) })

// cleanTitle makes one line of what a model said.
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

// errandDone takes the result of an errand.
func (r *runner) errandDone(ctx context.Context, done errandResult) {
	r.errands--
	done.deliver(ctx, r)
}

// deliver names the session. A title that someone gave meanwhile stays.
func (done title) deliver(ctx context.Context, r *runner) {
	if err := r.log.write(ctx, &lathe.Spent{Session: r.log.lease.Session, Slot: titleSlot, Day: r.engine.today(), Used: done.spent}); err != nil {
		r.engine.log.Warn("what a title cost was not counted", "session", r.log.lease.Session, "error", err)
	}
	if done.err != nil {
		r.engine.log.Warn("the session has no title", "session", r.log.lease.Session, "error", done.err)
		return
	}
	r.log.catchUp()
	if done.words == "" || !lathe.IsDefaultTitle(r.log.mem.Session.Title) {
		return
	}
	ctx, cancel := settle(ctx)
	defer cancel()
	if _, err := r.engine.store.Edit(ctx, r.log.lease.Session, lathe.Edit{Title: lathe.Some(done.words)}); err != nil {
		r.engine.log.Warn("the title could not be kept", "session", r.log.lease.Session, "error", err)
	}
}
