package engine

import (
	"cmp"
	"context"
	_ "embed"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/overview"
)

//go:embed prompt/enterplan.md
var enterPlanText string

//go:embed prompt/leaveplan.md
var leavePlanText string

// promote moves queued prompts into the history. Changes since the last prompt become parts of the
// newest one that only the model sees: anywhere else they would change the cached
// prefix of the request.
func (r *runner) promote(ctx context.Context, s state, prompts []lathe.MessageID) error {
	facts := []lathe.Fact{r.log.busyFact()}
	for _, id := range prompts {
		facts = append(facts, &lathe.Promote{Session: r.log.lease.Session, Message: id})
		r.jobs.changed = r.jobs.changed || isReport(r.log.mem.ByID[id]) // of a child that may have changed files
	}
	left, err := r.withdrawAll(ctx) // of a command whose process died while it asked
	if err != nil {
		return err
	}
	facts = append(facts, left...)
	u := r.log.mem.ByID[prompts[len(prompts)-1]]
	if u == nil {
		return r.log.write(ctx, facts...)
	}
	said := r.config.load(ctx, u)
	if said.err != nil { // the step will say so
		return r.log.write(ctx, facts...)
	}
	said.summary = lastSummary(s.messages)
	old, err := r.systemPrompt.load(ctx)
	if err != nil {
		return err
	}
	source := said.systemPrompt(s.session, r.config.place)
	fresh := source.Build(r.engine.now())
	texts := said.modeReminders(s, r.config.place)
	switch {
	case old == nil:
		texts = append(said.overview(ctx, s, r.config.place), texts...)
	case isFor(old, fresh) && !isCold(s, r.engine.now()):
		if received := source.Changed(old.Sources, fresh.Sources); received != "" {
			texts = append(texts, received)
		}
		fresh.Text = old.Text
	}
	if old == nil || !isFor(old, fresh) || old.Text != fresh.Text || !slices.Equal(old.Sources, fresh.Sources) {
		facts = append(facts, &lathe.SystemPromptSaved{Session: r.log.lease.Session, SystemPrompt: fresh})
	}
	texts = append(texts, said.lateNote(ctx, s.session.ID)...)
	texts = append(texts, rewinder{r}.rewoundNote(ctx, s)...)
	for _, text := range texts {
		facts = append(facts, &lathe.PartChanged{Time: r.engine.now(), Part: r.log.newPart(u.ID, history.Synthetic(text))})
	}
	if err := r.log.write(ctx, facts...); err != nil {
		return err
	}
	r.systemPrompt.replace(fresh)
	return nil
}

// coldAfter is how long providers keep what they have seen, at most.
const coldAfter = time.Hour

// isCold reports whether the session was idle for so long that the provider's cache has expired. A new
// system prompt then costs nothing and has today's date and the current instructions.
func isCold(s state, now lathe.Time) bool {
	if len(s.messages) == 0 {
		return false
	}
	last := s.messages[len(s.messages)-1]
	at := last.Created
	if a, ok := last.Data.(*lathe.Assistant); ok {
		at = max(at, a.Completed)
	}
	return now-at > lathe.Time(coldAfter.Milliseconds())
}

// overview is the project overview for the first prompt of a session.
func (c *stepConfig) overview(ctx context.Context, s state, at workspace.Place) []string {
	if c.settings.Overview == nil || s.session.Parent != "" || len(s.messages) > 0 {
		return nil
	}
	if text := overview.Describe(ctx, at.Directory, *c.settings.Overview); text != "" {
		return []string{text}
	}
	return nil
}

// modeReminders say that the mode has changed: on the first prompt of plan mode, and on the
// first after it.
func (c *stepConfig) modeReminders(s state, at workspace.Place) []string {
	last := ""
	if answers := history.Answers(s.messages); len(answers) > 0 {
		last = answers[len(answers)-1].Data.(*lathe.Assistant).Agent
	}
	plans := c.agent.Name == prompt.PlanAgent
	if plans == (last == prompt.PlanAgent) {
		return nil
	}
	file := planPath(s.session, at, c.settings.Plans)
	_, err := os.Stat(file)
	there := file != "" && err == nil
	if plans {
		state := "not there yet"
		if there {
			state = "it exists"
		}
		return []string{strings.TrimSpace(strings.NewReplacer("{file}", cmp.Or(file, "none here: give it as your answer"), "{state}", state).Replace(enterPlanText))}
	}
	where := ""
	if there {
		where = " The plan is in " + file + "."
	}
	return []string{strings.TrimSpace(strings.NewReplacer("{agent}", c.agent.Name, "{file}", where).Replace(leavePlanText))}
}

// isAddedByPromotion reports whether promote added the part. Such a part is not the
// user's own text.
func isAddedByPromotion(p lathe.Part) bool {
	t, ok := p.Body.(*lathe.Text)
	return ok && t.IsReminder()
}
