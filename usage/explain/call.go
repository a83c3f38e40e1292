package explain

import (
	"cmp"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// interval is a time from one moment to another.
type interval struct{ from, to lathe.Time }

// callTimes are when the calls of a step ran, and when they waited for the user.
type callTimes struct {
	runs, waits []interval
	retries     []lathe.Time // when requests were made again
}

// calls counts the tool calls of a step.
func (e *explainer) calls(m lathe.Message) (out callTimes) {
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Retry:
			out.retries = append(out.retries, sane(b.Created))
			e.repeat(m, "retry", modelOf(m), lathe.FaultMessage(b.Error))
		case *lathe.ToolCall:
			from, to, ok := span(b)
			if !ok {
				continue
			}
			out.runs = append(out.runs, interval{from, to})
			waits := b.Waits()
			for _, w := range waits {
				out.waits = append(out.waits, interval{max(w[0], from), min(w[1], to)})
			}
			e.call(m, b, lathe.ActiveTime(from, max(from, to), waits).Milliseconds())
		default:
		}
	}
	return out
}

// span is the time of a call that has ended.
func span(c *lathe.ToolCall) (from, to lathe.Time, ok bool) {
	switch s := c.State.(type) {
	case *lathe.Completed:
		return sane(s.Start), sane(s.End), true
	case *lathe.Failed:
		return sane(s.Start), sane(s.End), true
	default:
		return 0, 0, false
	}
}

// call counts one call that has ended.
func (e *explainer) call(m lathe.Message, c *lathe.ToolCall, active int64) {
	t := e.tools[c.Tool]
	if t == nil {
		t = &api.ToolUse{Name: c.Tool}
		e.tools[c.Tool] = t
	}
	t.Calls++
	t.Time += active
	e.turn.Calls++
	switch s := c.State.(type) {
	case *lathe.Completed:
		n := int64(len(s.Output))
		t.Bytes += n
		if n >= largeResult {
			e.find(api.Finding{Kind: "result", Message: m.ID, Name: c.Tool, Detail: clip(s.Title), Count: 1, Bytes: n})
		}
	case *lathe.Failed:
		t.Failed++
		e.turn.Failed++
		e.repeat(m, "failure", c.Tool, s.Error)
	default:
	}
}

// repeat counts a failure that may occur again, by its first line.
func (e *explainer) repeat(m lathe.Message, kind, name, why string) {
	key := kind + "\n" + name + "\n" + clip(why)
	f := e.failures[key]
	if f == nil {
		f = &api.Finding{Kind: kind, Name: name, Detail: clip(why)}
		e.failures[key] = f
	}
	f.Count++
	f.Message = m.ID
}

// modelOf names the model of an answer.
func modelOf(m lathe.Message) string {
	if a, ok := m.Data.(*lathe.Assistant); ok {
		return modelName(a.Model)
	}
	return ""
}

// retried is the time of failed attempts and the pauses after them: until the last one was made again.
func retried(times []lathe.Time, from, to lathe.Time) (ms int64) {
	for _, t := range times {
		ms = max(ms, int64(min(t, to)-from))
	}
	return ms
}

// cover joins intervals that touch, within bounds; the result is disjoint and in order.
func cover(all []interval, from, to lathe.Time) (out []interval) {
	all = slices.SortedFunc(slices.Values(all), func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	for _, i := range all {
		i = interval{max(i.from, from), min(i.to, to)}
		if !(i.to > i.from) { // also for a NaN
			continue
		}
		if n := len(out); n > 0 && i.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, i.to)
		} else {
			out = append(out, i)
		}
	}
	return out
}

// total is the length of disjoint intervals in milliseconds.
func total(all []interval) (ms int64) {
	for _, i := range all {
		ms += int64(i.to - i.from)
	}
	return ms
}
