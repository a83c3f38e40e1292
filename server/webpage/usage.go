package webpage

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/termtext"
)

//go:embed usage.css
var usageStyle string

// The size of a chart in its own units; the page scales it.
const (
	chartWidth = 1000
	barHeight  = 26
)

// usageNames are the parts of a time, in the order of their colors.
func usageNames() []string {
	return []string{"Model", "Retries", "Tools", "Waiting for you", "Compaction", "Between prompts"}
}

func usageParts(t api.TimeUse) []int64 {
	return []int64{t.Model, t.Retries, t.Tools, t.Waiting, t.Compaction, t.Idle}
}

// WriteUsage writes the report of a session as a page with charts.
func WriteUsage(out io.Writer, s lathe.Session, u api.SessionUsage, at *time.Location) error {
	p := Write(out, s, at)
	p.write("<style>\n%s</style>\n", raw(usageStyle))
	p.timeChart(u)
	p.timeline(u)
	p.costChart(u)
	p.turnChart(u)
	p.usageTables(u)
	return p.End()
}

// timeChart is one bar with the parts of the whole time.
func (p *Page) timeChart(u api.SessionUsage) {
	p.write("<h2>Time</h2>\n<svg class=\"chart\" viewBox=\"0 0 %s %s\" role=\"img\" aria-label=\"Time by part\">\n", num(chartWidth), num(barHeight))
	p.stack(usageParts(u.Time), 0, chartWidth)
	p.write("</svg>\n<ul class=\"legend\">\n")
	for i, ms := range usageParts(u.Time) {
		if ms > 0 {
			p.write("<li><i class=\"c%s\"></i>%s <b>%s</b></li>\n", num(i), text(usageNames()[i]), text(duration(ms)))
		}
	}
	p.write("</ul>\n")
}

// timeline is one bar with the prompts in their order, each with the pause before it.
func (p *Page) timeline(u api.SessionUsage) {
	all := int64(0)
	for _, n := range usageParts(u.Time) {
		all += n
	}
	if all == 0 {
		return
	}
	p.write("<h2>Timeline</h2>\n<svg class=\"chart\" viewBox=\"0 0 %s %s\" role=\"img\" aria-label=\"Timeline\">\n", num(chartWidth), num(barHeight))
	x := 0.0
	for i, t := range u.Turns {
		parts := usageParts(t.Time)
		for k := range parts {
			k = (k + len(parts) - 1) % len(parts) // the pause comes first
			if parts[k] <= 0 {
				continue
			}
			w := float64(parts[k]) / float64(all) * chartWidth
			p.write("<rect class=\"c%s\" x=\"%s\" y=\"0\" width=\"%s\" height=\"%s\"><title>%s. %s: %s, %s</title></rect>\n",
				num(k), decimal(x), decimal(w), num(barHeight-6), num(i+1), text(t.Prompt), text(usageNames()[k]), text(duration(parts[k])))
			x += w
		}
	}
	p.write("</svg>\n")
}

// costChart has a bar for each model, as long as its cost, and one for subagents.
func (p *Page) costChart(u api.SessionUsage) {
	lines := append(u.Models[:len(u.Models):len(u.Models)], u.Subagents)
	lines[len(lines)-1].Name = "subagents"
	most := 0.0
	for _, m := range lines {
		most = max(most, m.Cost)
	}
	if most <= 0 {
		return
	}
	p.write("<h2>Money</h2>\n<table class=\"turns\">\n")
	for _, m := range lines {
		if m.Cost > 0 {
			p.write("<tr><td>%s</td><td class=\"bar\"><svg viewBox=\"0 0 300 %s\" role=\"img\"><rect class=\"c0\" x=\"0\" y=\"3\" width=\"%s\" height=\"%s\"/></svg></td><td>%s</td></tr>\n",
				text(m.Name), num(barHeight), decimal(300*m.Cost/most), num(barHeight-6), dollars(m.Cost))
		}
	}
	p.write("</table>\n")
}

// stack draws parts next to each other, within a width.
func (p *Page) stack(parts []int64, y, width int) {
	all := int64(0)
	for _, n := range parts {
		all += n
	}
	x := 0.0
	for i, n := range parts {
		if n <= 0 || all == 0 {
			continue
		}
		w := float64(n) / float64(all) * float64(width)
		p.write("<rect class=\"c%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>%s: %s</title></rect>\n",
			num(i), decimal(x), num(y), decimal(w), num(barHeight-6), text(usageNames()[i]), text(duration(n)))
		x += w
	}
}

// turnChart has a bar for each prompt, as long as its active time, with its cost beside it.
func (p *Page) turnChart(u api.SessionUsage) {
	if len(u.Turns) == 0 {
		return
	}
	longest := int64(1)
	for _, t := range u.Turns {
		longest = max(longest, activeTime(t.Time))
	}
	p.write("<h2>Prompts</h2>\n<table class=\"turns\">\n<tr><th>Prompt</th><th>Time</th><th></th><th>Steps</th><th>Calls</th><th>Cached</th><th>Cost</th></tr>\n")
	for _, t := range u.Turns {
		parts := usageParts(t.Time)
		parts[5] = 0 // the time before it is not work on it
		p.write("<tr><td>%s</td><td class=\"bar\"><svg viewBox=\"0 0 300 %s\" role=\"img\">", text(t.Prompt), num(barHeight))
		p.stack(parts, 3, int(300*activeTime(t.Time)/longest))
		cached := "–"
		if t.Sent > 0 {
			cached = strconv.Itoa(int(100*float64(t.Cached)/float64(t.Sent))) + "%"
		}
		p.write("</svg></td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			text(duration(activeTime(t.Time))), num(t.Steps), calls(t.Calls, t.Failed), text(cached), dollars(t.Cost))
	}
	p.write("</table>\n")
}

func activeTime(t api.TimeUse) int64 { return t.Model + t.Retries + t.Tools + t.Waiting + t.Compaction }

// usageTables lists models, tools and findings.
func (p *Page) usageTables(u api.SessionUsage) {
	p.write("<h2>Models</h2>\n<table>\n<tr><th>Model</th><th>Requests</th><th>Input</th><th>Cache read</th><th>Cache written</th><th>Output</th><th>Cost</th></tr>\n")
	models := u.Models
	if u.Subagents.Sessions > 0 {
		sub := u.Subagents
		sub.Name = termtext.Plural(sub.Sessions, "subagent")
		models = append(models[:len(models):len(models)], sub)
	}
	for _, m := range models {
		p.write("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", text(m.Name), num(m.Requests),
			count(m.Input), count(m.CacheRead), count(m.CacheWrite), count(m.Output), dollars(m.Cost))
	}
	p.write("</table>\n<h2>Tools</h2>\n<table>\n<tr><th>Tool</th><th>Calls</th><th>Time</th><th>Output</th></tr>\n")
	for _, t := range u.Tools {
		p.write("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", text(t.Name), calls(t.Calls, t.Failed), text(duration(t.Time)), text(termtext.ByteSize(t.Bytes)))
	}
	p.write("</table>\n")
	if len(u.Events) == 0 {
		return
	}
	p.write("<h2>Findings</h2>\n<table>\n<tr><th>Kind</th><th>Of</th><th>Detail</th><th>Times</th><th>Size</th></tr>\n")
	for _, f := range u.Events {
		size := raw("")
		switch {
		case f.Bytes > 0:
			size = text(termtext.ByteSize(f.Bytes))
		case f.Tokens > 0:
			size = count(f.Tokens) + " tokens"
		}
		p.write("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", text(f.Kind), text(f.Name), text(f.Detail), num(f.Count), size)
	}
	p.write("</table>\n")
}

func num(n int) raw { return raw(strconv.Itoa(n)) }

func decimal(x float64) raw { return raw(strconv.FormatFloat(x, 'f', 2, 64)) }

func count(n int64) raw { return raw(termtext.Count(n)) }

func dollars(x float64) raw { return text(lathe.Dollars(x).Short()) }

func calls(n, failed int) raw {
	if failed == 0 {
		return num(n)
	}
	return num(n) + " (" + num(failed) + " failed)"
}

// duration formats milliseconds: 320 ms, 4.2 s, 3m 05s, 2h 07m.
func duration(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}
