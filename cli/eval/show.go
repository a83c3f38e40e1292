package eval

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/session"
	cases "github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// report sums up all results of the plan.
func (v *evaluation) report(base *cases.Results) *cases.Report {
	r := cases.NewReport(v.file.Name, v.plan, v.latest)
	r.Cost = v.cost
	if base != nil {
		r.Compare(termtext.Plain(filepath.Base(v.flags.baseline)), *base)
	}
	return r
}

// show prints the report and writes its file.
func (v *evaluation) show(r *cases.Report) error {
	if v.flags.report != "" {
		name := pathOf(v.App, v.flags.report)
		_, err := session.WriteFile(name, func(w *cli.CountingFile) error {
			if strings.EqualFold(filepath.Ext(name), ".md") {
				return r.WriteMarkdown(w)
			}
			return r.WriteHTML(w)
		})
		if err != nil {
			return err
		}
	}
	if v.JSON {
		return v.PrintJSON(r)
	}
	if err := v.table(r.Lines(r.Cases)); err != nil {
		return err
	}
	if len(r.Cases) > len(r.Models) {
		v.Printf("\n")
		if err := v.table(r.Lines(r.Models)); err != nil {
			return err
		}
	}
	if c := r.Baseline; c != nil {
		v.Printf("\nCompared with %s\n", termtext.Plain(c.Name))
		if err := v.table(c.Lines(append(slices.Clone(c.Models), c.Cases...))); err != nil {
			return err
		}
		if len(c.Regressions) > 0 {
			v.Printf("Regressions: %s\n", termtext.Plain(strings.Join(c.Regressions, ", ")))
		}
	}
	v.Printf("\n%s\n", termtext.Plain(r.Summary()))
	v.Flush()
	if v.flags.report != "" {
		v.Notify("Report: %s", v.DisplayPath(pathOf(v.App, v.flags.report)))
	}
	return nil
}

// table prints rows. Columns without any text are left out.
func (v *evaluation) table(head []string, rows [][]string) error {
	t := layout.Table{Paths: -1}
	for i, h := range head {
		if !slices.ContainsFunc(rows, func(r []string) bool { return r[i] != "" }) {
			continue
		}
		t.Head = append(t.Head, strings.ToUpper(h))
		if h == "Case" || h == "Model" {
			t.Flexible = append(t.Flexible, len(t.Head)-1)
		}
	}
	for _, r := range rows {
		var cells []string
		for i, cell := range r {
			if slices.Contains(t.Head, strings.ToUpper(head[i])) {
				cells = append(cells, termtext.Plain(cell))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t.Write(v.Out, v.Width())
}
