package stats

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/usage"
)

// View prints the statistics as text. Finish reports an error of the writer.
type View struct {
	app     *cli.App
	flags   statsFlags
	figures usage.Stats
	screen  int
	Color   bool
	begun   bool // output has started
}

func newStatsView(a *cli.App, f statsFlags, got usage.Stats) *View {
	return &View{app: a, flags: f, figures: got, screen: a.Width(), Color: a.HasColor(a.Stdout.File)}
}

// print shows the table that --by or --harness selects, or the whole report.
func (v *View) print() {
	switch {
	case v.flags.harness:
		v.harness()
	case v.flags.by == "model":
		v.models(v.flags.models)
	case v.flags.by == "tool":
		v.tools(v.flags.tools)
	case v.flags.by == "day":
		v.days(0)
	case v.flags.by == "project":
		v.projects(0)
	default:
		v.all()
	}
}

// all prints every table, shortened.
func (v *View) all() {
	const month, projects = 31, 10
	v.overview()
	if v.flags.byModels {
		v.models(v.flags.models)
	}
	v.tools(v.flags.tools)
	v.days(month)
	if v.flags.all && len(v.figures.ByProject) > 1 {
		v.projects(projects)
	}
	v.checks()
}

// title starts a section.
func (v *View) title(words string) {
	if v.begun {
		v.app.Printf("\n")
	}
	v.begun = true
	if v.Color {
		words = style.Paint(words, style.Attr{Bold: true})
	}
	v.app.Printf("%s\n", words)
}

func (v *View) Paint(bar string) string {
	if v.Color {
		return style.Paint(bar, style.Fg(style.Palette(6)))
	}
	return bar
}

// list prints names and values within the screen width.
func (v *View) list(rows [][2]string) {
	widest := 0
	for _, r := range rows {
		widest = max(widest, termtext.Columns(r[0]))
	}
	for i, r := range rows {
		if v.screen > 0 {
			rows[i][1] = termtext.Clip(r[1], max(layout.MinColumn, v.screen-widest-len(layout.ColumnGap)))
		}
	}
	_ = layout.Pairs(v.app.Out, rows)
}

// overview prints the totals of the selected sessions.
func (v *View) overview() {
	f := v.figures
	sessions := termtext.Count(f.Sessions)
	if f.Subagents > 0 {
		sessions += fmt.Sprintf(" (and %s of subagents)", termtext.Count(f.Subagents))
	}
	v.title("Overview")
	v.list([][2]string{
		{"Sessions", sessions},
		{"Messages", fmt.Sprintf("%s (%s)", termtext.Count(f.Messages), termtext.Plural(f.Prompts, "prompt"))},
		{"Tool calls", termtext.Count(f.Calls)},
		{"Days", termtext.Count(f.Days)},
		{"First", v.date(f.First)},
		{"Last", v.date(f.Last)},
	})
	t := f.Usage.Tokens
	cached := ""
	if t.Sent() > 0 {
		cached = fmt.Sprintf(" (%s of input)", FormatPercent(float64(t.CacheRead)/float64(t.Sent())))
	}
	v.title("Cost and tokens")
	v.list([][2]string{
		{"Cost", money(f.Usage.Cost)},
		{"  a day", money(f.Usage.Cost / lathe.Money(max(f.Days, 1)))},
		{"  a session", money(f.Usage.Cost / lathe.Money(max(f.Sessions, 1)))},
		{"Tokens", termtext.Count(t.Total())},
		{"  a day", termtext.Count(t.Total() / int64(max(f.Days, 1)))},
		{"  a session", fmt.Sprintf("%s (median %s)", termtext.Count(f.TokensPerSession()), termtext.Count(f.MedianTokens))},
		{"Input", termtext.Count(t.Input)},
		{"Output", termtext.Count(t.Output)},
		{"Reasoning", termtext.Count(t.Reasoning)},
		{"Cache read", termtext.Count(t.CacheRead) + cached},
		{"Cache write", termtext.Count(t.CacheWrite)},
	})
}

func (v *View) date(at lathe.Time) string {
	return at.Std().In(v.app.Now().Location()).Format("2 Jan 2006")
}

// priced reports whether anything had a price; otherwise bars are of tokens.
func (v *View) priced() bool { return v.figures.Usage.Cost > 0 }

func (v *View) weight(u usage.Usage) float64 {
	if v.priced() {
		return float64(u.Cost)
	}
	return float64(u.Tokens.Total())
}

// chart prints the first rows of a chart and the number of the rest.
func (v *View) chart(title string, c layout.Chart, most int) {
	v.title(title)
	more := 0
	if most > 0 && len(c.Rows) > most {
		more = len(c.Rows) - most
		c.Rows = c.Rows[:most]
	}
	_ = c.Write(v.app.Out, v.screen, v.Paint)
	if more > 0 {
		v.app.Printf("… and %s more\n", termtext.Count(more))
	}
}

// models prints a chart of cost and tokens by model.
func (v *View) models(most int) {
	c := layout.Chart{Head: []string{"Model", "Cost", "Tokens", "Answers", "Errors", "In", "Out", "Cached"}}
	for _, m := range v.figures.ByModel {
		t := m.Usage.Tokens
		c.Rows = append(c.Rows, layout.Bar{Name: termtext.Plain(m.Name()), Cells: []string{
			money(m.Usage.Cost), FormatCount(t.Total()), termtext.Count(m.Answers), termtext.Count(m.Errors), FormatCount(t.Input), FormatCount(t.Output + t.Reasoning), FormatCount(t.CacheRead),
		}, Value: v.weight(m.Usage)})
	}
	v.chart("Models", c, most)
}

// tools prints a chart of calls and errors by tool.
func (v *View) tools(most int) {
	if len(v.figures.ByTool) == 0 {
		return
	}
	c := layout.Chart{Head: []string{"Tool", "Calls", "Share", "Errors", "Time"}}
	for _, t := range v.figures.ByTool {
		errs := "0"
		if t.Errors > 0 {
			errs = fmt.Sprintf("%s (%s)", termtext.Count(t.Errors), FormatPercent(float64(t.Errors)/float64(t.Calls)))
		}
		c.Rows = append(c.Rows, layout.Bar{Name: termtext.Plain(t.Name), Cells: []string{
			termtext.Count(t.Calls), FormatPercent(float64(t.Calls) / float64(max(v.figures.Calls, 1))), errs, FormatDuration(t.Milliseconds),
		}, Value: float64(t.Calls)})
	}
	v.chart("Tools", c, most)
}

// days prints the latest days, oldest first.
func (v *View) days(most int) {
	all, title := v.figures.ByDay, "Days"
	if most > 0 && len(all) > most {
		all = all[len(all)-most:]
		title = fmt.Sprintf("Days (the last %d of %s)", most, termtext.Count(v.figures.Days))
	}
	c := layout.Chart{Head: []string{"Day", "Cost", "Tokens", "Messages"}}
	for _, d := range all {
		c.Rows = append(c.Rows, layout.Bar{Name: d.Date, Cells: []string{money(d.Usage.Cost), FormatCount(d.Usage.Tokens.Total()), termtext.Count(d.Messages)}, Value: v.weight(d.Usage)})
	}
	v.chart(title, c, 0)
}

// projects prints a chart of cost and tokens by project.
func (v *View) projects(most int) {
	c := layout.Chart{Head: []string{"Project", "Cost", "Tokens", "Sessions", "Messages"}}
	for _, p := range v.figures.ByProject {
		name := "(no repository)"
		switch {
		case p.Worktree != "":
			name = termtext.Plain(termtext.Tilde(p.Worktree, v.app.Env("HOME")))
		case p.ID != lathe.GlobalProject:
			name = termtext.Plain(p.ID)
		}
		c.Rows = append(c.Rows, layout.Bar{Name: name, Cells: []string{money(p.Usage.Cost), FormatCount(p.Usage.Tokens.Total()), termtext.Count(p.Sessions), termtext.Count(p.Messages)}, Value: v.weight(p.Usage)})
	}
	v.chart("Projects", c, most)
}

// checks prints the checks that fired.
func (v *View) checks() {
	if len(v.figures.Checks) == 0 {
		return
	}
	c := layout.Chart{Head: []string{"Check", "Fired"}}
	names := slices.Sorted(maps.Keys(v.figures.Checks))
	slices.SortStableFunc(names, func(a, b string) int { return v.figures.Checks[b] - v.figures.Checks[a] })
	for _, name := range names {
		n := v.figures.Checks[name]
		c.Rows = append(c.Rows, layout.Bar{Name: termtext.Plain(name), Cells: []string{termtext.Count(n)}, Value: float64(n)})
	}
	v.chart("Fired checks", c, 0)
}

// money formats dollars to the cent, and small amounts with more digits.
func money(m lathe.Money) string {
	d := m.Dollars()
	switch {
	case m == 0:
		return "$0"
	case d >= 0.095:
		return "$" + thousands(strconv.FormatFloat(d, 'f', 2, 64))
	default:
		return "$" + strconv.FormatFloat(d, 'f', 4, 64)
	}
}

func thousands(number string) string {
	whole, cents, _ := strings.Cut(number, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return number
	}
	return termtext.Count(n) + "." + cents
}

// FormatCount formats a large number with three digits.
func FormatCount(n int64) string {
	if n < 10_000 {
		return termtext.Count(n)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"K", "M", "G", "T"} {
		if f /= 1000; f < 999.5 {
			break
		}
	}
	digits := 0
	if f < 99.95 {
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + unit
}

func FormatPercent(share float64) string {
	switch p := share * 100; {
	case p > 0 && p < 0.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// FormatDuration formats a working time.
func FormatDuration(milliseconds int64) string {
	d := time.Duration(milliseconds) * time.Millisecond
	switch {
	case d < time.Second:
		return d.String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return fmt.Sprintf("%sh%02dm", termtext.Count(int64(d.Hours())), int(d.Minutes())%60)
	}
}
