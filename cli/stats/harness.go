package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/usage"
)

// finding is a line of `stats --harness`.
type finding struct {
	name, value string
	watch       bool // worth a look
}

// harness prints the statistics of --harness.
func (v *View) harness() {
	h := *v.figures.Harness
	for _, s := range []struct {
		title string
		lines []finding
	}{
		{"Turns", turnFindings(h)},
		{"Calls", callFindings(h)},
		{"Outputs and time", outputFindings(h)},
		{"Results of checks and turns", v.endFindings(h)},
	} {
		v.title(s.title)
		v.findings(s.lines)
	}
	v.errorTable(h)
	v.title("Not recorded")
	for _, line := range h.Unknown {
		for i, part := range layout.WrapWords(line, cmp.Or(v.screen, layout.ChartWidth)-2) {
			v.app.Printf("%s%s\n", []string{"- ", "  "}[min(i, 1)], part)
		}
	}
}

// findings prints aligned lines, and marks values worth a look with !.
func (v *View) findings(lines []finding) {
	var rows [][2]string
	for _, l := range lines {
		mark := "  "
		if l.watch {
			mark = "! "
		}
		rows = append(rows, [2]string{mark + l.name, l.value})
	}
	v.list(rows)
}

// turnFindings are about steps, tokens, cost and cache hits per turn.
func turnFindings(h usage.Harness) []finding {
	t := h.TokensPerTurn
	return []finding{
		{"Turns", termtext.Count(h.Turns), false},
		{"Steps a turn", decimal(h.StepsPerTurn), false},
		{"Calls a step", decimal(h.CallsPerStep), h.Calls > 0 && h.CallsPerStep < 1.3},
		{"Several calls at once", rate(h.Parallel), false},
		{"Cost a turn", "$" + strconv.FormatFloat(h.CostPerTurn, 'f', 4, 64), false},
		{"Tokens a turn", FormatCount(t.Total()), false},
		{"  fresh input", FormatCount(t.Input), false},
		{"  from cache", FormatCount(t.CacheRead), false},
		{"  to cache", FormatCount(t.CacheWrite), false},
		{"  output", FormatCount(t.Output), false},
		{"  reasoning", FormatCount(t.Reasoning), false},
		{"Tokens a step", FormatCount(h.TokensPerStep.Total()), false},
		{"Cache, later steps", FormatPercent(h.CacheHits), h.Steps > h.Turns && h.CacheHits < 0.85},
		{"Cache lost", rate(h.CacheRestarts), h.CacheRestarts.Count > 0},
	}
}

// callFindings are about failed and repeated tool calls.
func callFindings(h usage.Harness) []finding {
	arguments := usage.Rate{Count: h.ErrorKinds["arguments"], Of: h.Calls}
	return []finding{
		{"Calls", termtext.Count(h.Calls), false},
		{"Failed", rate(h.Errors), h.Errors.Share() > 0.05},
		{"Wrong arguments", rate(arguments), arguments.Share() > 0.01},
		{"Edits done", rate(h.Edits), false},
		{"First edit failed", rate(h.FirstEdits), h.FirstEdits.Share() > 0.08},
		{"Recovered in 3 calls", rate(h.Recovered), h.Recovered.Of > 0 && h.Recovered.Share() < 0.7},
		{"Repeated reads", rate(h.RepeatedReads), h.RepeatedReads.Share() > 0.15},
		{"Repeated calls", rate(h.RepeatedCalls), h.RepeatedCalls.Count > 0},
		{"Loops", termtext.Count(h.Loops), h.Loops > 0},
		{"Retries on record", termtext.Count(h.Retries), false},
	}
}

// outputFindings are about the size of tool outputs, and the time of models and tools.
func outputFindings(h usage.Harness) []finding {
	largest := []string{}
	for _, o := range h.Outputs[:min(len(h.Outputs), 2)] {
		largest = append(largest, termtext.Plain(o.Tool)+" "+FormatPercent(o.Share))
	}
	never := usage.Rate{Count: h.Opened.Of - h.Opened.Count, Of: h.Opened.Of}
	return []finding{
		{"Outputs", termtext.ByteSize(h.OutputBytes), false},
		{"  largest", strings.Join(largest, ", "), false},
		{"Cut short", rate(h.Truncated), false},
		{"  never opened", rate(never), never.Share() > 0.5},
		{"Model time", FormatDuration(h.Time.Model), false},
		{"Tool time", FormatDuration(h.Time.Tools), false},
		{"Calls over a minute", rate(h.Time.Long), false},
		{"Timed out", rate(h.Time.TimedOut), h.Time.TimedOut.Share() > 0.02},
	}
}

// endFindings are about tests after changes, and the checks that asked the model for more work.
func (v *View) endFindings(h usage.Harness) []finding {
	ver := h.Verified
	turns := ver.Passed + ver.Failed + ver.None
	fired := 0
	for _, n := range v.figures.Checks {
		fired += n
	}
	out := []finding{
		{"Turns with code changed", termtext.Count(turns), false},
		{"  tests passed after", rate(usage.Rate{Count: ver.Passed, Of: turns}), false},
		{"  tests failed after", rate(usage.Rate{Count: ver.Failed, Of: turns}), false},
		{"  no tests after", rate(usage.Rate{Count: ver.None, Of: turns}), turns > 0 && float64(ver.None) > 0.3*float64(turns)},
		{"Fired checks", termtext.Count(fired), false},
		{"  led to a change", rate(h.ChecksHeeded), h.ChecksHeeded.Of > 0 && h.ChecksHeeded.Share() < 0.1},
	}
	for _, name := range slices.Sorted(maps.Keys(v.figures.Checks)) {
		out = append(out, finding{"  " + termtext.Plain(name), termtext.Count(v.figures.Checks[name]), false})
	}
	out = append(out, []finding{
		{"Compactions", termtext.Count(h.Compactions.Count), false},
		{"  tokens before", FormatCount(h.Compactions.TokensBefore), false},
		{"  read again after", termtext.Count(h.Compactions.Rereads), h.Compactions.Rereads > 5*max(h.Compactions.Count, 1)},
		{"Sub-agents", termtext.Count(h.Subagents.Sessions), false},
		{"  share of the cost", FormatPercent(h.Subagents.CostShare), false},
		{"  tokens", FormatCount(h.Subagents.Tokens), false},
		{"  a report", termtext.ByteSize(h.Subagents.ReportBytes), false},
	}...)
	for _, end := range slices.Sorted(maps.Keys(h.Ends)) {
		out = append(out, finding{"Ended: " + end, rate(usage.Rate{Count: h.Ends[end], Of: h.Turns}), false})
	}
	return out
}

// errorTable lists failures by tool and kind.
func (v *View) errorTable(h usage.Harness) {
	if len(h.ByTool) == 0 {
		return
	}
	t := layout.Table{Head: []string{"Tool", "Failed", "Share", "Kinds"}, Flexible: []int{3, 0}, Paths: -1}
	for _, e := range h.ByTool {
		kinds := slices.Sorted(maps.Keys(e.Kinds))
		slices.SortStableFunc(kinds, func(a, b string) int { return e.Kinds[b] - e.Kinds[a] })
		for i, k := range kinds {
			kinds[i] = fmt.Sprintf("%s %s", k, termtext.Count(e.Kinds[k]))
		}
		t.Rows = append(t.Rows, []string{termtext.Plain(e.Tool), termtext.Count(e.Errors.Count), FormatPercent(e.Errors.Share()), strings.Join(kinds, ", ")})
	}
	v.title("Failures by tool and kind")
	_ = t.Write(v.app.Out, v.screen)
}

func rate(r usage.Rate) string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s of %s)", FormatPercent(r.Share()), termtext.Count(r.Count), termtext.Count(r.Of))
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
