package eval

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/termtext"
)

//go:embed report.css
var style string

// The size of a chart in its own units; the page scales it.
const (
	chartWidth  = 200
	chartHeight = 20
)

// raw is HTML that this package wrote.
type raw string

// text escapes a text. Control characters and marks of text direction become visible.
func text(s string) raw {
	return raw(html.EscapeString(termtext.Clip(termtext.OneLine(s), 500)))
}

// page writes HTML. Only raw values go in, so that no text is forgotten.
type page struct {
	out io.Writer
	err error // of the writer; nothing is written after it
}

func (p *page) write(format string, args ...raw) {
	if p.err != nil {
		return
	}
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	_, p.err = fmt.Fprintf(p.out, format, all...)
}

// WriteHTML writes the report as one page with charts that needs no other file and has no script. A policy in it forbids
// the rest.
func (r *Report) WriteHTML(out io.Writer) error {
	p := &page{out: out}
	p.write(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"/>
<meta name="referrer" content="no-referrer"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>%s</title>
<style>
%s</style>
</head>
<body>
<h1>%s</h1>
<p>%s.</p>
`, text(r.Name), raw(style), text(r.Name), text(r.Summary()))
	p.write("<h2>Models</h2>\n")
	p.rows(r, r.Models)
	p.write("<h2>Cases</h2>\n")
	p.rows(r, r.Cases)
	if c := r.Baseline; c != nil {
		p.comparison(c)
	}
	p.failures(r)
	p.write("<p class=\"note\">%s</p>\n</body>\n</html>\n", text(method))
	return p.err
}

// rows is a table with a chart of the pass rate in each row.
func (p *page) rows(r *Report, all []Row) {
	head, lines := r.Lines(all)
	at := slices.Index(head, "Passed") + 1
	p.table(slices.Insert(slices.Clone(head), at, ""), lines, at, func(i int) raw { return rateChart(all[i].Share) })
}

// table writes rows, with a chart before a column.
func (p *page) table(head []string, lines [][]string, at int, chart func(i int) raw) {
	p.write("<div class=\"scroll\"><table>\n<tr>")
	for _, h := range head {
		p.write("<th>%s</th>", text(h))
	}
	p.write("</tr>\n")
	for i, l := range lines {
		p.write("<tr>")
		for k, cell := range l {
			if k == at {
				p.write("<td class=\"bar\">%s</td>", chart(i))
			}
			p.write("<td>%s</td>", text(cell))
		}
		p.write("</tr>\n")
	}
	p.write("</table></div>\n")
}

// rateChart is a bar as long as the pass rate, with its interval.
func rateChart(s Share) raw {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight, text(Percent(s.Rate)+", "+s.Interval()))
	class := "track"
	if s.Runs > 0 && s.Passed == 0 {
		class = "none"
	}
	fmt.Fprintf(&b, `<rect class="track" x="0" y="4" width="%d" height="12"/><rect class="%s" x="0" y="4" width="2" height="12"/>`, chartWidth, class)
	fmt.Fprintf(&b, `<rect class="rate" x="0" y="4" width="%s" height="12"/>`, along(s.Rate))
	if s.Runs > 0 {
		whisker(&b, along(s.Low), along(s.High))
	}
	b.WriteString("</svg>")
	return raw(b.String())
}

// whisker draws an interval.
func whisker(b *strings.Builder, from, to string) {
	fmt.Fprintf(b, `<path class="range" d="M%s 10H%sM%s 6V14M%s 6V14"/>`, from, to, from, to)
}

// along is the place of a rate in a chart, from 0 to 1.
func along(x float64) string {
	return strconv.FormatFloat(min(max(x, 0), 1)*chartWidth, 'f', 1, 64)
}

// comparison shows each difference as a bar from the middle, with its interval.
func (p *page) comparison(c *Comparison) {
	p.write("<h2>Compared with %s</h2>\n", text(c.Name))
	all := append(slices.Clone(c.Models), c.Cases...)
	head, lines := c.Lines(all)
	at := slices.Index(head, "Points (95 %)")
	p.table(slices.Insert(slices.Clone(head), at, ""), lines, at, func(i int) raw { return differenceChart(all[i].Less) })
	if len(c.Regressions) > 0 {
		p.write("<p>Regressions: %s.</p>\n", text(strings.Join(c.Regressions, ", ")))
	}
	if c.Unmatched > 0 {
		p.write("<p class=\"note\">%s without a counterpart in the baseline.</p>\n", text(termtext.Plural(c.Unmatched, "row")))
	}
}

// differenceChart is a bar from the middle: to the right is better.
func differenceChart(d Difference) raw {
	var b strings.Builder
	place := func(x float64) string { return along((x + 1) / 2) }
	class, from, width := "better", place(0), d.Rate
	if d.Rate < 0 {
		class, from, width = "worse", place(d.Rate), -d.Rate
	}
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s"><rect class="track" x="0" y="4" width="%d" height="12"/>`, chartWidth, chartHeight, text(d.Text()), chartWidth)
	fmt.Fprintf(&b, `<rect class="%s" x="%s" y="4" width="%s" height="12"/><path class="zero" d="M%d 0V%d"/>`, class, from, along(width/2), chartWidth/2, chartHeight)
	whisker(&b, place(d.Low), place(d.High))
	b.WriteString("</svg>")
	return raw(b.String())
}

// failures lists the runs that did not pass.
func (p *page) failures(r *Report) {
	var rows [][]string
	for _, one := range r.Cases {
		for _, f := range one.Failures {
			rows = append(rows, []string{one.Case, one.Model, strconv.Itoa(f.Run), string(f.End), f.Why, f.Session})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.write("<h2>Runs that did not pass</h2>\n")
	p.table([]string{"Case", "Model", "Run", "End", "Reason", "Session"}, rows, -1, nil)
}
