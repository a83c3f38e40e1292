// Package explain says where the time and the money of one session went, from its messages and without a model.
//
// It is pure: the caller passes the messages of a session, oldest first, and the cost of its subagents. Messages
// may come from other programs, so times can be missing or run backwards; no time is counted twice or below zero.
//
// Start with [Session].
package explain

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/usage"
)

// The limits of a report.
const (
	maxFindings = 5         // of each kind
	maxLine     = 120       // characters of a prompt or an error
	largeResult = 16 << 10  // bytes; smaller ones are not worth a mention
	minMiss     = 4096      // tokens; below providers cache nothing
	cacheLife   = 5 * 60000 // milliseconds that most providers keep a cache
)

// Session computes the report of a session.
func Session(s lathe.Session, messages []lathe.Message, subagents api.CostLine) api.SessionUsage {
	e := &explainer{out: api.SessionUsage{
		Session: s.ID, Title: s.Title, Subagents: subagents,
		Models: []api.CostLine{}, Turns: []api.TurnUse{}, Tools: []api.ToolUse{}, Events: []api.Finding{},
	}, tools: map[string]*api.ToolUse{}, models: map[string]*api.CostLine{}, failures: map[string]*api.Finding{}}
	for _, m := range messages {
		e.add(m)
	}
	return e.finish()
}

// explainer is the state of a report.
type explainer struct {
	out      api.SessionUsage
	turn     *api.TurnUse
	tools    map[string]*api.ToolUse
	models   map[string]*api.CostLine
	failures map[string]*api.Finding
	findings []api.Finding
	last     lathe.Time // the end of the last message
	before   step       // the last request
}

// step is what a request sent.
type step struct {
	model    string
	sent     int64
	caches   bool // the provider reported cached tokens before
	at       lathe.Time
	replaced bool // the history was compacted since
}

func (e *explainer) add(m lathe.Message) {
	m.Created = sane(m.Created)
	if e.out.From == 0 {
		e.out.From = m.Created
	}
	switch d := m.Data.(type) {
	case *lathe.User:
		e.prompt(m)
		e.last = max(e.last, m.Created)
	case *lathe.Assistant:
		e.answer(m, d)
	default:
	}
	e.out.To = max(e.out.To, e.last)
}

// prompt begins a turn, unless the engine wrote the prompt.
func (e *explainer) prompt(m lathe.Message) {
	for _, p := range m.Parts {
		if _, ok := p.Body.(*lathe.Compaction); ok {
			e.before.replaced = true
		}
	}
	if !usage.IsPrompt(m) && e.turn != nil {
		return
	}
	e.out.Turns = append(e.out.Turns, api.TurnUse{Message: m.ID, Prompt: firstLine(m), At: m.Created})
	e.turn = &e.out.Turns[len(e.out.Turns)-1]
	if e.last > 0 && m.Created > e.last {
		e.turn.Time.Idle = int64(m.Created - e.last)
	}
}

// answer counts a step.
func (e *explainer) answer(m lathe.Message, a *lathe.Assistant) {
	if e.turn == nil { // a history that begins in the middle
		e.out.Turns = append(e.out.Turns, api.TurnUse{Message: m.ID, At: m.Created})
		e.turn = &e.out.Turns[0]
	}
	calls := e.calls(m)
	begin := max(m.Created, e.last) // a step that overlaps the one before counts once
	end := max(endOf(m, a), begin)
	work, wait := cover(calls.runs, begin, end), cover(calls.waits, begin, end)
	waited := total(wait)
	tools := total(cover(append(slices.Clone(work), wait...), begin, end)) - waited
	rest := int64(end-begin) - waited - tools
	t := &e.turn.Time
	if tried := retried(calls.retries, begin, end); tried > 0 {
		// A failed attempt leaves no parts, so no tool ran meanwhile, unless the step ended with its calls.
		tried = min(tried, rest)
		t.Retries += tried
		rest -= tried
	}
	t.Tools += tools
	t.Waiting += waited
	if a.Summary.On() {
		t.Compaction += rest
		e.find(api.Finding{Kind: "compaction", Message: m.ID, Name: modelName(a.Model), Count: 1})
	} else {
		t.Model += rest
	}
	e.last = max(e.last, end)
	if a.Error != nil {
		e.find(api.Finding{Kind: "request", Message: m.ID, Name: modelName(a.Model), Detail: clip(a.Error.Name() + ": " + lathe.FaultMessage(a.Error)), Count: 1})
	}
	e.cost(m, a)
}

// endOf is when a step ended: as it says, or with its last part.
func endOf(m lathe.Message, a *lathe.Assistant) lathe.Time {
	end := sane(a.Completed)
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if b.Time != nil {
				end = max(end, sane(b.Time.End))
			}
		case *lathe.ToolCall:
			_, to, _ := span(b)
			end = max(end, to)
		case *lathe.Retry:
			end = max(end, sane(b.Created))
		default:
		}
	}
	return end
}

// sane is a time, or 0 if no clock can have shown it.
func sane(t lathe.Time) lathe.Time {
	if t > 0 && t < 1e15 {
		return t
	}
	return 0
}

// plus adds without an overflow: old data holds absurd counts.
func plus(all ...int64) (n int64) {
	for _, x := range all {
		n = int64(lathe.Money(n).Add(lathe.Money(x)))
	}
	return n
}

// cost adds the requests of a step to its turn and its model.
func (e *explainer) cost(m lathe.Message, a *lathe.Assistant) {
	name := modelName(a.Model)
	line := e.models[name]
	if line == nil {
		line = &api.CostLine{Name: name}
		e.models[name] = line
	}
	for _, p := range m.Parts {
		f, ok := p.Body.(*lathe.StepFinish)
		if !ok {
			continue
		}
		t := f.Tokens
		sent := plus(t.Input, t.Cache.Read, t.Cache.Write)
		line.Cost += f.Cost.Dollars()
		line.Requests++
		line.Input = plus(line.Input, t.Input)
		line.Output = plus(line.Output, t.Output, t.Reasoning)
		line.CacheRead = plus(line.CacheRead, t.Cache.Read)
		line.CacheWrite = plus(line.CacheWrite, t.Cache.Write)
		e.turn.Cost += f.Cost.Dollars()
		e.turn.Steps++
		e.turn.Sent = plus(e.turn.Sent, sent)
		e.turn.Cached = plus(e.turn.Cached, t.Cache.Read)
		e.miss(m, name, t, sent)
		e.before = step{model: name, sent: sent, caches: e.before.caches || t.Cache.Read > 0 || t.Cache.Write > 0, at: e.last}
	}
}

// miss finds a request that read less than half of the history before it from a cache that worked before.
func (e *explainer) miss(m lathe.Message, model string, t lathe.Tokens, sent int64) {
	b := e.before
	known := min(b.sent, sent)
	if !b.caches || known < minMiss || t.Cache.Read >= known/2 {
		return
	}
	why := "the cached beginning changed, or the provider dropped it"
	switch {
	case b.replaced:
		why = "the history was compacted before"
	case b.model != model:
		why = "the model changed, from " + b.model
	case m.Created-b.at > cacheLife:
		why = "the pause before was longer than most caches live"
	}
	e.find(api.Finding{Kind: "cache-miss", Message: m.ID, Name: model, Detail: why, Count: 1, Tokens: known - t.Cache.Read})
}

func (e *explainer) find(f api.Finding) { e.findings = append(e.findings, f) }

// finish sorts and sums up.
func (e *explainer) finish() api.SessionUsage {
	out := e.out
	for _, t := range out.Turns {
		out.Time.Model += t.Time.Model
		out.Time.Retries += t.Time.Retries
		out.Time.Tools += t.Time.Tools
		out.Time.Waiting += t.Time.Waiting
		out.Time.Compaction += t.Time.Compaction
		out.Time.Idle += t.Time.Idle
	}
	for _, m := range e.models {
		if m.Requests > 0 {
			out.Models = append(out.Models, *m)
		}
	}
	slices.SortFunc(out.Models, func(a, b api.CostLine) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Output, a.Output), cmp.Compare(a.Name, b.Name))
	})
	for _, t := range e.tools {
		out.Tools = append(out.Tools, *t)
	}
	slices.SortFunc(out.Tools, func(a, b api.ToolUse) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	for _, f := range e.failures {
		if f.Count > 1 || f.Kind == "retry" {
			e.find(*f)
		}
	}
	out.Events = append(out.Events, worst(e.findings)...)
	return out
}

// worst returns the largest findings of each kind.
func worst(all []api.Finding) (out []api.Finding) {
	kinds := []string{"failure", "cache-miss", "result", "request", "retry", "compaction"}
	slices.SortStableFunc(all, func(a, b api.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(b.Count, a.Count), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Message, b.Message))
	})
	n, kind := 0, ""
	for _, f := range all {
		if f.Kind != kind {
			n, kind = 0, f.Kind
		}
		if n++; n <= maxFindings {
			out = append(out, f)
		}
	}
	return out
}

func modelName(m lathe.ModelRef) string { return strings.Trim(m.Provider+"/"+m.Model, "/") }

// firstLine is the first line that a user wrote.
func firstLine(m lathe.Message) string {
	for _, p := range m.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && strings.TrimSpace(t.Text) != "" {
			return clip(t.Text)
		}
	}
	return ""
}

// clip is the first line of a text, shortened.
func clip(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if utf8.RuneCountInString(text) > maxLine {
		text = string([]rune(text)[:maxLine-1]) + "…"
	}
	return text
}
