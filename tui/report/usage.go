package report

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// maxTurns is how many turns a report lists; the most expensive and longest stay.
const maxTurns = 40

// Usage renders where the time and the money of a session went.
func Usage(u api.SessionUsage, width int) []Row {
	width = max(width, 40)
	out := []Row{pair(Row{{cmp.Or(clean(u.Title), "Untitled"), Heading}}, Span{string(u.Session), Muted}, width), nil}
	out = append(out, pair(Row{{"Time", Heading}}, Span{ms(active(u.Time)) + " active", Heading}, width))
	for i, p := range timeParts(u.Time) {
		if p.ms > 0 {
			out = append(out, meter(p.name, p.ms, sumOf(u.Time), ms(p.ms), Part+Tone(i), width))
		}
	}
	out = append(out, costRows(u, width)...)
	if len(u.Tools) > 0 {
		out = append(out, nil, say("Tools", Heading))
	}
	for _, t := range u.Tools[:min(len(u.Tools), 10)] {
		text := style.Plural(t.Calls, "call")
		if t.Failed > 0 {
			text += ", " + strconv.Itoa(t.Failed) + " failed"
		}
		out = append(out, pair(Row{{"  " + pad(clean(t.Name), 14), Normal}, {text + ", " + size(t.Bytes), Muted}}, Span{ms(t.Time), Normal}, width))
	}
	out = append(out, findings(u.Events, width)...)
	return append(out, timeline(u, width)...)
}

type timePart struct {
	name string
	ms   int64
}

// timeParts are the parts of a time in the order of the charts.
func timeParts(t api.TimeUse) []timePart {
	return []timePart{{"Model", t.Model}, {"Retries", t.Retries}, {"Tools", t.Tools}, {"Waiting for you", t.Waiting}, {"Compaction", t.Compaction}, {"Between prompts", t.Idle}}
}

func active(t api.TimeUse) int64 { return t.Model + t.Retries + t.Tools + t.Waiting + t.Compaction }

func sumOf(t api.TimeUse) int64 { return active(t) + t.Idle }

// ms formats milliseconds.
func ms(n int64) string { return style.Duration(time.Duration(n) * time.Millisecond) }

// size formats bytes of a tool result.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
	case n >= 1<<10:
		return strconv.FormatInt(n>>10, 10) + " KB"
	default:
		return strconv.FormatInt(n, 10) + " B"
	}
}

// meter is a name, a bar for its share and a value.
func meter(name string, part, all int64, value string, t Tone, width int) Row {
	room := max(width-18-14, 4)
	n := 0
	if all > 0 {
		n = int(part * int64(room) / all)
	}
	return pair(Row{{"  " + pad(name, 16), Normal}, {strings.Repeat("█", max(n, 1)), t}}, Span{value, Normal}, width)
}

// costRows lists the models and the subagents.
func costRows(u api.SessionUsage, width int) []Row {
	total := u.Subagents.Cost
	for _, m := range u.Models {
		total += m.Cost
	}
	out := []Row{nil, pair(Row{{"Cost", Heading}}, Span{style.Money(total), Heading}, width)}
	for _, m := range u.Models {
		out = append(out, pair(Row{{"  " + clean(m.Name), Normal}}, Span{style.Money(m.Cost), Normal}, width))
		out = append(out, wrap(usageOf(m), "    ", Muted, width)...)
	}
	if u.Subagents.Sessions > 0 {
		out = append(out, pair(Row{{"  " + style.Plural(u.Subagents.Sessions, "subagent"), Normal}}, Span{style.Money(u.Subagents.Cost), Normal}, width))
	}
	return out
}

// findingTitles are the headings of findings in their order.
func findingTitle(kind string) string {
	switch kind {
	case "failure":
		return "Repeated failures"
	case "cache-miss":
		return "Cache misses"
	case "result":
		return "Largest results"
	case "request":
		return "Failed requests"
	case "retry":
		return "Retries"
	default:
		return "Compactions"
	}
}

// findings lists what a user may want to avoid, by kind.
func findings(all []api.Finding, width int) (out []Row) {
	kind := ""
	for _, f := range all {
		if f.Kind != kind {
			kind = f.Kind
			out = append(out, nil, say(findingTitle(kind), Heading))
		}
		value := "×" + strconv.Itoa(f.Count)
		switch {
		case f.Bytes > 0:
			value = size(f.Bytes)
		case f.Tokens > 0:
			value = style.Count(f.Tokens) + " tokens"
		}
		out = append(out, pair(Row{{"  " + clean(strings.Trim(f.Name+": "+f.Detail, ": ")), Normal}}, Span{value, Normal}, width))
	}
	return out
}

// timeline lists the prompts: when each came after the first, its time and its cost.
func timeline(u api.SessionUsage, width int) []Row {
	all := u.Turns
	if len(all) == 0 {
		return nil
	}
	out := []Row{nil, say("Timeline", Heading)}
	if n := len(all) - maxTurns; n > 0 {
		out = append(out, say("  "+style.Plural(n, "earlier prompt")+" not shown; --json has all", Muted))
		all = all[n:]
	}
	for _, t := range all {
		prompt := t.Prompt
		if prompt == "" {
			prompt = "(no text)"
		}
		at := "+" + ms(int64(max(t.At-u.From, 0)))
		out = append(out, pair(Row{{"  " + pad(at, 8) + " ", Muted}, {clean(prompt), Normal}}, Span{ms(active(t.Time)) + "  " + style.Money(t.Cost), Normal}, width))
		out = append(out, wrap(turnText(t), "    ", Muted, width)...)
	}
	return out
}

// turnText is the parts of a turn.
func turnText(t api.TurnUse) string {
	parts := []string{style.Plural(t.Steps, "step"), style.Plural(t.Calls, "call")}
	if t.Failed > 0 {
		parts = append(parts, strconv.Itoa(t.Failed)+" failed")
	}
	for _, p := range timeParts(t.Time)[:5] {
		if p.ms > 0 {
			parts = append(parts, strings.ToLower(p.name)+" "+ms(p.ms))
		}
	}
	if t.Sent > 0 {
		parts = append(parts, strconv.Itoa(int(100*float64(t.Cached)/float64(t.Sent)))+"% cached")
	}
	return strings.Join(parts, " · ")
}
