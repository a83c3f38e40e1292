// Package usage computes statistics from stored sessions.
//
// It owns the statistics of `lathe stats`: sums of tokens and cost by model, tool, day and project,
// and metrics of the harness itself (harness.go). It reads no database and prints nothing. The caller
// passes messages to a [Counter] one by one, session after session and oldest first, as store.Walk
// does. Its memory grows by a few words per session, not with the length of the messages.
//
// A Counter is for one goroutine. Start reading with Add.
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

// Counter computes Stats from messages.
type Counter struct {
	zone   *time.Location
	habits *habits // nil unless requested

	figures  Stats
	session  lathe.SessionID // of the current messages
	sessions map[lathe.SessionID]*one
	models   map[string]*Model
	tools    map[string]*Tool
	days     map[string]*Day
	projects map[string]*Project
}

// one is the state of a session.
type one struct {
	parent lathe.SessionID
	tokens int64
}

// NewCounter returns a counter with days in a time zone. With habits it also reads each call for
// [Stats.Harness], which takes longer.
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

// Add counts a message. The messages of a session must come together. A message older than its
// session is a fork's copy and does not count: the original session was charged for it.
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

// took adds the time of a call, without the time spent waiting for the user.
func (t *Tool) took(start, end lathe.Time, waits []lathe.Wait) {
	if start > 0 && end > start {
		t.Milliseconds += lathe.ActiveTime(start, end, waits).Milliseconds()
	}
}

// IsPrompt reports whether a user wrote the message: the engine writes other prompts itself, such
// as the request to compact a history.
func IsPrompt(m lathe.Message) bool {
	_, isUser := m.Data.(*lathe.User)
	return isUser && !history.IsSynthetic(m.Parts) && !slices.ContainsFunc(m.Parts, func(p lathe.Part) bool {
		_, compaction := p.Body.(*lathe.Compaction)
		return compaction
	})
}

// usageOf is the usage of an answer: the sum of its steps, as in the session record. Messages of
// old versions have only their own count.
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

// Stats returns the statistics. Do not call Add afterwards.
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

// median is the median number of tokens per session, including its subagents.
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

// top is the topmost counted ancestor of a session. Imported sessions may have a cycle of
// parents.
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
