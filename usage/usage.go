// Package usage counts what sessions used and how the work went, from their records alone.
//
// It owns the figures behind `lathe stats`: sums of tokens and money by model, tool, day and project,
// and what the records tell about the harness itself (harness.go). It reads no database and prints
// nothing: whoever has messages gives them to a [Tally] one after the other, session after session and
// oldest first, as store.Walk does. What it keeps grows with the number of sessions by a few words, and
// not with what was said in them.
//
// A Tally is for one goroutine. Start reading with Add.
package usage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
)

// Counter takes messages in and gives figures out.
type Counter struct {
	zone   *time.Location
	habits *habits // nil unless wanted

	figures  Stats
	session  lathe.SessionID // whose messages come now
	sessions map[lathe.SessionID]*one
	models   map[string]*Model
	tools    map[string]*Tool
	days     map[string]*Day
	projects map[string]*Project
}

// one is what is kept of a session.
type one struct {
	parent lathe.SessionID
	tokens int64
}

// NewCounter makes a tally whose days are those of a place on earth. With habits it looks at each call
// for [Figures.Harness] too, which takes longer.
func NewCounter(zone *time.Location, withHabits bool) *Counter {
	t := &Counter{
		zone: zone, sessions: map[lathe.SessionID]*one{}, models: map[string]*Model{}, tools: map[string]*Tool{},
		days: map[string]*Day{}, projects: map[string]*Project{}, figures: Stats{Checks: map[string]int{}},
	}
	if withHabits {
		t.habits = newHabits()
	}
	return t
}

// Add counts a message. Those of a session come together. One that is older than its session is
// the copy that a fork has of it: it was said and paid for once, in the session it came from.
func (t *Counter) Add(s lathe.Session, m lathe.Message) {
	if s.ID != t.session {
		t.begin(s)
	}
	if m.Created < s.Created {
		return
	}
	f := &t.figures
	f.Messages++
	if f.First == 0 || m.Created < f.First {
		f.First = m.Created
	}
	f.Last = max(f.Last, m.Created)
	day, project := t.day(m.Created), t.project(s.Project)
	day.Messages++
	project.Messages++
	for check, n := range check.CountIssues([]lathe.Message{m}) {
		f.Checks[string(check)] += n
	}
	switch said := m.Data.(type) {
	case *lathe.User:
		if IsPrompt(m) {
			f.Prompts++
		}
	case *lathe.Assistant:
		f.Answers++
		used := usageOf(said, m.Parts)
		mine := t.sessions[s.ID]
		mine.tokens = plus(mine.tokens, used.Tokens.Total())
		model := t.model(said.Model)
		model.Answers++
		if said.Error != nil {
			model.Errors++
		}
		for _, to := range []*Usage{&f.Usage, &day.Usage, &project.Usage, &model.Usage} {
			*to = to.add(used)
		}
		t.calls(m.Parts)
	}
	if t.habits != nil {
		t.habits.add(s, m)
	}
}

// begin counts a session.
func (t *Counter) begin(s lathe.Session) {
	t.session = s.ID
	t.sessions[s.ID] = &one{parent: s.Parent}
	if s.Parent != "" {
		t.figures.Subagents++
		return
	}
	t.figures.Sessions++
	t.project(s.Project).Sessions++
}

// calls counts the calls of a message.
func (t *Counter) calls(parts []lathe.Part) {
	for _, p := range parts {
		c, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		tool := entry(t.tools, c.Tool, func() *Tool { return &Tool{Name: c.Tool} })
		tool.Calls++
		t.figures.Calls++
		switch s := c.State.(type) {
		case *lathe.Completed:
			tool.took(s.Start, s.End, c.Waits())
			tool.OutputBytes += int64(len(s.Output))
		case *lathe.Failed:
			tool.took(s.Start, s.End, c.Waits())
			tool.Errors++
		case *lathe.Pending, *lathe.Running:
		}
	}
}

// took adds the time of a call, without that in which a person was waited for.
func (t *Tool) took(start, end lathe.Time, waits []lathe.Wait) {
	if start > 0 && end > start {
		t.Milliseconds += lathe.ActiveTime(start, end, waits).Milliseconds()
	}
}

// IsPrompt reports whether a message is the word of a person: not one that the engine wrote, nor
// the request to compress a history.
func IsPrompt(m lathe.Message) bool {
	_, isUser := m.Data.(*lathe.User)
	return isUser && !history.IsSynthetic(m.Parts) && !slices.ContainsFunc(m.Parts, func(p lathe.Part) bool {
		_, compaction := p.Body.(*lathe.Compaction)
		return compaction
	})
}

// usageOf is what an answer used: the sum of its steps, as the session's record has it. Messages
// of old have only their own count.
func usageOf(a *lathe.Assistant, parts []lathe.Part) (u Usage) {
	for _, p := range parts {
		if f, ok := p.Body.(*lathe.StepFinish); ok {
			u = u.add(Usage{Cost: f.Cost, Steps: 1, Tokens: tokensOf(f.Tokens)})
		}
	}
	if u.Steps == 0 {
		if u = (Usage{Cost: a.Cost, Tokens: tokensOf(a.Tokens)}); u != (Usage{}) {
			u.Steps = 1
		}
	}
	return u
}

func (t *Counter) day(at lathe.Time) *Day {
	name := at.Std().In(t.zone).Format(time.DateOnly)
	return entry(t.days, name, func() *Day { return &Day{Date: name} })
}

func (t *Counter) project(id string) *Project {
	return entry(t.projects, id, func() *Project { return &Project{ID: id} })
}

func (t *Counter) model(ref lathe.ModelRef) *Model {
	return entry(t.models, ref.Provider+"/"+ref.Model, func() *Model { return &Model{Provider: ref.Provider, Model: ref.Model} })
}

func entry[T any](m map[string]*T, key string, fresh func() *T) *T {
	if m[key] == nil {
		m[key] = fresh()
	}
	return m[key]
}

// Stats returns what was counted. Nothing may be added afterwards.
func (t *Counter) Stats() Stats {
	f := t.figures
	f.Days = len(t.days)
	f.ByModel = sorted(t.models, func(a, b Model) int {
		return cmp.Or(b.Usage.compare(a.Usage), cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Name(), b.Name()))
	})
	f.ByTool = sorted(t.tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	f.ByDay = sorted(t.days, func(a, b Day) int { return cmp.Compare(a.Date, b.Date) })
	f.ByProject = sorted(t.projects, func(a, b Project) int { return cmp.Or(b.Usage.compare(a.Usage), cmp.Compare(a.ID, b.ID)) })
	f.MedianTokens = t.median()
	if t.habits != nil {
		h := t.habits.harness(f)
		f.Harness = &h
	}
	return f
}

func sorted[T any](m map[string]*T, order func(a, b T) int) []T {
	out := make([]T, 0, len(m))
	for v := range maps.Values(m) {
		out = append(out, *v)
	}
	slices.SortFunc(out, order)
	return out
}

// median is that of the tokens of sessions, each with its subagents.
func (t *Counter) median() int64 {
	sums := map[lathe.SessionID]int64{}
	for id, s := range t.sessions {
		top := t.top(id)
		sums[top] = plus(sums[top], s.tokens)
	}
	all := slices.Sorted(maps.Values(sums))
	if len(all) == 0 {
		return 0
	}
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	return low + (high-low)/2
}

// top is the session above all others, as far as it was seen. Imported ones may have parents in
// a circle.
func (t *Counter) top(id lathe.SessionID) lathe.SessionID {
	for range len(t.sessions) {
		above := t.sessions[id].parent
		if t.sessions[above] == nil {
			break
		}
		id = above
	}
	return id
}
