package eval

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// lastLine is the end of an output, short.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	return termtext.Clip(termtext.Plain(output[strings.LastIndexByte(output, '\n')+1:]), 120)
}

// Percent is a rate in whole percents.
func Percent(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }

// Interval is the interval of a rate.
func (s Share) Interval() string {
	return fmt.Sprintf("%.0f–%.0f%%", 100*s.Low, 100*s.High)
}

// Text is a difference with its interval, in percentage points.
func (d Difference) Text() string {
	return fmt.Sprintf("%+.0f (%+.0f to %+.0f)", 100*d.Rate, 100*d.Low, 100*d.High)
}

// Mean formats a mean of counts.
func Mean(x float64) string {
	if x >= 1000 || x == math.Trunc(x) {
		return termtext.Count(int64(math.Round(x)))
	}
	return fmt.Sprintf("%.1f", x)
}

// Money formats an amount in dollars.
func Money(x float64) string { return lathe.Dollars(x).Short() }

// Seconds formats a duration.
func Seconds(x float64) string {
	if x < 100 {
		return fmt.Sprintf("%.1fs", x)
	}
	return time.Duration(x * float64(time.Second)).Round(time.Second).String()
}

// Notes says which limits and errors a row has.
func (w Row) Notes() string {
	var out []string
	for _, end := range []End{ByBudget, ByTokens, BySteps, ByTimeout} {
		if n := w.Limited[end]; n > 0 {
			out = append(out, fmt.Sprintf("%d× %s", n, end))
		}
	}
	if w.Errors > 0 {
		out = append(out, termtext.Plural(w.Errors, "error"))
	}
	return strings.Join(out, ", ")
}

// cells are the columns of a row after case and model.
func (w Row) cells() []string {
	if w.Runs == 0 {
		return []string{"–", "–", "–", "–", "–", "–", "–", w.Notes()}
	}
	return []string{
		fmt.Sprintf("%d/%d %s", w.Passed, w.Runs, Percent(w.Rate)), w.Interval(), Mean(w.Steps), Mean(w.Tokens), Money(w.Cost), Seconds(w.Seconds),
		fmt.Sprintf("+%s −%s", Mean(w.Additions), Mean(w.Deletions)), w.Notes(),
	}
}

// heads are the names of the cells.
func heads() []string {
	return []string{"Passed", "95 %", "Steps", "Tokens", "Cost", "Time", "Diff", "Notes"}
}

// Lines are the tables of a report as texts: a head and rows, for a terminal and for Markdown.
func (r *Report) Lines(all []Row) (head []string, rows [][]string) {
	head = append([]string{"Case", "Model"}, heads()...)
	named := slices.ContainsFunc(all, func(w Row) bool { return w.Case != "" })
	if !named {
		head = head[1:]
	}
	for _, w := range all {
		line := append([]string{w.Case, w.Model}, w.cells()...)
		if !named {
			line = line[1:]
		}
		rows = append(rows, line)
	}
	return head, rows
}

// Lines are the rows of a comparison as texts.
func (c *Comparison) Lines(all []Compared) (head []string, rows [][]string) {
	head = []string{"Case", "Model", "Now", "Baseline", "Points (95 %)", "Cost", "Verdict"}
	for _, one := range all {
		name := one.Case
		if name == "" {
			name = "all"
		}
		model := one.Model
		if one.BaseModel != one.Model {
			model += " vs " + one.BaseModel
		}
		rows = append(rows, []string{
			name, model, fmt.Sprintf("%d/%d", one.Now.Passed, one.Now.Runs), fmt.Sprintf("%d/%d", one.Base.Passed, one.Base.Runs),
			one.Less.Text(), Money(one.CostNow) + " (" + Money(one.CostBase) + ")", one.verdict(),
		})
	}
	return head, rows
}

// verdict names the direction of a difference, and whether it is more than chance.
func (c Compared) verdict() string {
	word := "same"
	switch {
	case c.Less.Rate > 0:
		word = "better"
	case c.Less.Rate < 0:
		word = "worse"
	default:
		return word
	}
	if !c.Less.IsClear() {
		word += ", may be chance"
	}
	return word
}

// Summary is the report in a sentence.
func (r *Report) Summary() string {
	passed := 0
	for _, m := range r.Models {
		passed += m.Passed
	}
	text := fmt.Sprintf("%d of %s passed", passed, termtext.Plural(r.Finished, "run"))
	if r.Finished < r.Planned {
		text += fmt.Sprintf(", %d of %d are missing", r.Planned-r.Finished, r.Planned)
	}
	return text + ", cost " + Money(r.Cost)
}

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(out io.Writer) error {
	w := &markdown{out: out}
	w.line("# %s", w.text(r.Name))
	w.line("")
	w.line("%s.", w.text(r.Summary()))
	w.line("\n## Models\n")
	w.table(r.Lines(r.Models))
	w.line("\n## Cases\n")
	w.table(r.Lines(r.Cases))
	if c := r.Baseline; c != nil {
		w.line("\n## Compared with %s\n", w.text(c.Name))
		w.table(c.Lines(append(slices.Clone(c.Models), c.Cases...)))
		if len(c.Regressions) > 0 {
			w.line("\nRegressions: %s.", w.text(strings.Join(c.Regressions, ", ")))
		}
	}
	var rows [][]string
	for _, one := range r.Cases {
		for _, f := range one.Failures {
			rows = append(rows, []string{one.Case, one.Model, fmt.Sprint(f.Run), string(f.End), f.Why, f.Session})
		}
	}
	if len(rows) > 0 {
		w.line("\n## Runs that did not pass\n")
		w.table([]string{"Case", "Model", "Run", "End", "Reason", "Session"}, rows)
	}
	w.line("\n%s", w.text(method))
	return w.err
}

// method says how to read the numbers.
const method = "Numbers are means of a run. The intervals of pass rates are Wilson intervals of 95 %, those of differences are by Newcombe, with runs taken as independent. Runs that ended with an error do not count."

// markdown writes lines.
type markdown struct {
	out io.Writer
	err error
}

func (w *markdown) line(format string, args ...string) {
	if w.err != nil {
		return
	}
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	_, w.err = fmt.Fprintf(w.out, format+"\n", all...)
}

// text escapes a text for Markdown, in which HTML and links would count.
func (w *markdown) text(s string) string {
	var out strings.Builder
	for _, c := range termtext.Clip(termtext.OneLine(s), 300) {
		switch {
		case strings.ContainsRune("<>&@", c):
			fmt.Fprintf(&out, "&#%d;", c)
			continue
		case strings.ContainsRune("\\`*_[]|~", c):
			out.WriteByte('\\')
		}
		out.WriteRune(c)
	}
	return addresses().Replace(out.String())
}

// addresses breaks what Markdown would make a link of without further marks.
func addresses() *strings.Replacer {
	return strings.NewReplacer("://", "&#58;//", "www.", "www&#46;", "WWW.", "WWW&#46;", "Www.", "Www&#46;")
}

// table writes rows whose cells are texts of others. The head is ours.
func (w *markdown) table(head []string, rows [][]string) {
	w.line("| %s |", strings.Join(head, " | "))
	w.line("|%s", strings.Repeat("---|", len(head)))
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = w.text(c)
		}
		w.line("| %s |", strings.Join(cells, " | "))
	}
}
