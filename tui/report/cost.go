package report

import (
	"strings"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// Cost renders the cost of a session by model, with subagents, today's cost and the budgets.
func Cost(c api.SessionCost, width int) []Row {
	width = max(width, 20)
	line := func(name string, l api.CostLine, t Tone) []Row {
		row := pair(Row{{clean(name), t}}, Span{style.Money(l.Cost), t}, width)
		return append([]Row{row}, wrap(usageOf(l), "  ", Muted, width)...)
	}
	out := line("This session", c.Total, Heading)
	if len(c.Models) > 0 {
		out = append(out, nil, say("Models", Heading))
	}
	for _, m := range c.Models {
		out = append(out, line(m.Name, m, Normal)...)
	}
	if c.Subagents.Sessions > 0 {
		out = append(out, nil)
		out = append(out, line("Subagents, included above", c.Subagents, Normal)...)
	}
	out = append(out, nil)
	out = append(out, line("Today, all sessions", c.Today, Normal)...)
	return append(append(out, nil), budgets(c.Budgets, width)...)
}

// usageOf lists the counts of requests.
func usageOf(l api.CostLine) string {
	var parts []string
	if l.Sessions > 0 {
		parts = append(parts, style.Plural(l.Sessions, "session"))
	}
	parts = append(parts, style.Plural(l.Requests, "request"),
		style.Count(l.Input)+" input", style.Count(l.Output)+" output")
	if l.CacheRead > 0 || l.CacheWrite > 0 {
		parts = append(parts, "cache "+style.Count(l.CacheRead)+" read, "+style.Count(l.CacheWrite)+" written")
	}
	return strings.Join(parts, " · ")
}

// budgets renders what is left of each limit.
func budgets(all []api.Budget, width int) (out []Row) {
	if len(all) == 0 {
		return wrap("No cost limit is set. Set one with budget in /config.", "", Muted, width)
	}
	out = append(out, say("Budget", Heading))
	for _, b := range all {
		tone, left := Good, b.Limit-b.Spent
		switch {
		case left <= 0:
			tone = Bad
		case left < b.Limit/5:
			tone = Warn
		}
		name := clean(strings.ToUpper(b.Name[:min(1, len(b.Name))]) + b.Name[min(1, len(b.Name)):])
		text := style.Money(b.Spent) + " of " + style.Money(b.Limit)
		out = append(out, pair(Row{{"  " + pad(name, 9), Normal}, {text, Muted}}, Span{style.Money(left) + " left", tone}, width))
	}
	return out
}
