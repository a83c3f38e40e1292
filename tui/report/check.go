package report

import (
	"strconv"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// Checks renders health checks: one row each, and below it what to do about a problem. A check without a status is
// still running.
func Checks(all []api.Check, width int) []Row {
	width = max(width, 20)
	names := 0
	for _, c := range all {
		names = max(names, min(style.Width(clean(c.Name)), width/3))
	}
	var out []Row
	warned, failed, running := 0, 0, 0
	for _, c := range all {
		sign, tone := "✓", Good
		switch c.Status {
		case api.CheckOK:
		case api.CheckOff:
			sign, tone = "–", Muted
		case api.CheckWarn:
			sign, tone = "!", Warn
			warned++
		case api.CheckFail:
			sign, tone = "✗", Bad
			failed++
		default:
			sign, tone, c.Detail = "…", Muted, "checking"
			running++
		}
		name, _ := fit(say(c.Name, Normal), names)
		rows := wrap(c.Detail, "", Muted, width-names-4)
		for i, r := range rows {
			lead := Row{{"  ", Normal}, {pad("", names+2), Normal}}
			if i == 0 {
				lead = Row{{sign + " ", tone}, {pad(name.String(), names+2), Normal}}
			}
			out = append(out, append(lead, r...))
		}
		if len(rows) == 0 {
			out = append(out, append(Row{{sign + " ", tone}}, name...))
		}
		if c.Fix != "" {
			out = append(out, wrap("→ "+c.Fix, "    ", Normal, width)...)
		}
	}
	return append(append(out, nil), summary(len(all), running, warned, failed))
}

// summary is the last line of the checks.
func summary(all, running, warned, failed int) Row {
	switch {
	case running > 0:
		return say(strconv.Itoa(all-running)+" of "+strconv.Itoa(all)+" done", Muted)
	case failed > 0:
		return say("Failed: "+strconv.Itoa(failed)+". Warnings: "+strconv.Itoa(warned)+".", Bad)
	case warned > 0:
		return say("Warnings: "+strconv.Itoa(warned)+". Everything else is fine.", Warn)
	}
	return say("Everything is fine.", Good)
}
