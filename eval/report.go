package eval

import (
	"cmp"
	"slices"
	"strconv"
)

// Report is what an eval has found.
type Report struct {
	Name     string      `json:"name"`   // of the set
	Cases    []Row       `json:"cases"`  // by case and model
	Models   []Row       `json:"models"` // totals
	Baseline *Comparison `json:"baseline,omitempty"`
	Planned  int         `json:"planned"`  // runs
	Finished int         `json:"finished"` // those with a verdict
	Cost     float64     `json:"cost"`     // of all runs, also those that were stopped
}

// Row sums up the runs of a case with a model, or of all cases with it. The efforts are means of a run.
type Row struct {
	Case  string `json:"case,omitempty"`
	Model string `json:"model"`
	Share
	Errors    int         `json:"errors"`            // runs that say nothing about the model; the rate is without them
	Limited   map[End]int `json:"limited,omitempty"` // runs that a limit ended
	Steps     float64     `json:"steps"`
	Tokens    float64     `json:"tokens"`
	Cost      float64     `json:"cost"`
	Seconds   float64     `json:"seconds"`
	Files     float64     `json:"files"`
	Additions float64     `json:"additions"`
	Deletions float64     `json:"deletions"`
	Total     float64     `json:"total_cost"` // of all runs, also those that do not count
	Failures  []Failure   `json:"failures,omitempty"`
}

// Failure is a run that did not pass.
type Failure struct {
	Run     int    `json:"run"` // from 1
	End     End    `json:"end"`
	Why     string `json:"why"` // text of programs and models
	Session string `json:"session,omitempty"`
}

// Comparison is a report compared with the results of another eval.
type Comparison struct {
	Name         string     `json:"name"` // of the other results
	Cases        []Compared `json:"cases"`
	Models       []Compared `json:"models"`       // totals of the cases that both have
	Regressions  []string   `json:"regressions"`  // cases whose rate is lower
	Improvements []string   `json:"improvements"` // cases whose rate is higher
	Unmatched    int        `json:"unmatched"`    // rows that the baseline does not have
}

// Compared is a row and its counterpart.
type Compared struct {
	Case      string     `json:"case,omitempty"`
	Model     string     `json:"model"`
	BaseModel string     `json:"base_model"` // another one if the baseline has only that
	Now       Share      `json:"now"`
	Base      Share      `json:"base"`
	Less      Difference `json:"difference"` // above 0 is better than the baseline
	CostNow   float64    `json:"cost_now"`   // of a run
	CostBase  float64    `json:"cost_base"`
}

// NewReport sums up the results of a plan. latest has the last result of each run, also of those that do not count.
func NewReport(name string, plan []Run, latest map[string]Result) *Report {
	r := &Report{Name: name, Planned: len(plan)}
	rows, totals := newSums(), newSums()
	for _, p := range plan {
		rows.row(p.Case.Name, ModelName(p.Model))
		totals.row("", ModelName(p.Model))
		one, ok := latest[p.Key]
		if !ok {
			continue
		}
		if one.Counts() {
			r.Finished++
		}
		rows.add(p.Case.Name, ModelName(p.Model), one)
		totals.add("", ModelName(p.Model), one)
	}
	r.Cases, r.Models = rows.end(), totals.end()
	for i := range r.Models {
		r.Models[i].Failures = nil
	}
	return r
}

// sums collects results by case and model.
type sums struct {
	rows  map[[2]string]*Row
	order [][2]string
}

func newSums() *sums { return &sums{rows: map[[2]string]*Row{}} }

func (s *sums) row(name, model string) *Row {
	key := [2]string{name, model}
	if s.rows[key] == nil {
		s.rows[key] = &Row{Case: name, Model: model}
		s.order = append(s.order, key)
	}
	return s.rows[key]
}

func (s *sums) add(name, model string, r Result) {
	w := s.row(name, model)
	if w.Total += r.Cost; r.End == Interrupted || r.End == Stopped { // it is only missing
		return
	}
	if !r.Passed {
		w.Failures = append(w.Failures, Failure{Run: r.Run, End: r.End, Why: r.why(), Session: string(r.Session)})
	}
	if !r.Counts() {
		w.Errors++
		return
	}
	w.Runs++
	if r.Passed {
		w.Passed++
	}
	if r.End != Done {
		if w.Limited == nil {
			w.Limited = map[End]int{}
		}
		w.Limited[r.End]++
	}
	w.Steps, w.Tokens, w.Cost, w.Seconds = w.Steps+float64(r.Steps), w.Tokens+float64(r.Tokens), w.Cost+r.Cost, w.Seconds+r.Seconds
	w.Files, w.Additions, w.Deletions = w.Files+float64(r.Files), w.Additions+float64(r.Additions), w.Deletions+float64(r.Deletions)
}

// end turns sums into means.
func (s *sums) end() (out []Row) {
	for _, key := range s.order {
		w := s.rows[key]
		w.Share = ShareOf(w.Passed, w.Runs)
		for _, x := range []*float64{&w.Steps, &w.Tokens, &w.Cost, &w.Seconds, &w.Files, &w.Additions, &w.Deletions} {
			*x /= float64(max(w.Runs, 1))
		}
		slices.SortStableFunc(w.Failures, func(a, b Failure) int { return cmp.Compare(a.Run, b.Run) })
		out = append(out, *w)
	}
	return out
}

// why says in a line why a run did not pass.
func (r Result) why() string {
	switch {
	case r.Error != "":
		return r.Error
	case len(r.Changed) > 0:
		return "a file that decides the result was changed: " + r.Changed[0]
	case r.Exit == nil:
		return "the check did not run"
	}
	why := "the check failed with exit code " + strconv.Itoa(*r.Exit)
	if last := lastLine(r.Output); last != "" {
		why += ": " + last
	}
	return why
}

// Compare compares the report with the results of another eval, by case and model. A model that the other does not have
// is compared with its model if it has only one.
func (r *Report) Compare(name string, base Results) {
	latest := map[string]Result{}
	rows := newSums()
	var keys []string
	for _, one := range base.All {
		if one.Began || !one.Counts() {
			continue
		}
		if _, ok := latest[one.Key]; !ok {
			keys = append(keys, one.Key)
		}
		latest[one.Key] = one
	}
	for _, k := range keys {
		rows.add(latest[k].Case, ModelName(latest[k].Model), latest[k])
	}
	bases := map[[2]string]Row{}    // by case and model
	models := map[string][]string{} // of a case
	for _, w := range rows.end() {
		bases[[2]string{w.Case, w.Model}] = w
		models[w.Case] = append(models[w.Case], w.Model)
	}
	c := &Comparison{Name: name, Regressions: []string{}, Improvements: []string{}}
	totals := map[string]*Compared{}
	for _, now := range r.Cases {
		other := now.Model
		if all := models[now.Case]; len(all) == 1 {
			other = all[0]
		}
		b, ok := bases[[2]string{now.Case, other}]
		if !ok || now.Runs == 0 {
			c.Unmatched++
			continue
		}
		c.add(now, b, totals)
	}
	for _, m := range r.Models {
		if t := totals[m.Model]; t != nil {
			t.CostNow, t.CostBase = t.CostNow/float64(max(t.Now.Runs, 1)), t.CostBase/float64(max(t.Base.Runs, 1))
			t.Now, t.Base = ShareOf(t.Now.Passed, t.Now.Runs), ShareOf(t.Base.Passed, t.Base.Runs)
			t.Less = t.Now.Less(t.Base)
			c.Models = append(c.Models, *t)
		}
	}
	r.Baseline = c
}

// add compares a row, and adds it to the total of its model.
func (c *Comparison) add(now, b Row, totals map[string]*Compared) {
	one := Compared{Case: now.Case, Model: now.Model, BaseModel: b.Model, Now: now.Share, Base: b.Share, Less: now.Less(b.Share), CostNow: now.Cost, CostBase: b.Cost}
	c.Cases = append(c.Cases, one)
	name := now.Case + " (" + now.Model + ")"
	switch {
	case one.Less.Rate < 0:
		c.Regressions = append(c.Regressions, name)
	case one.Less.Rate > 0:
		c.Improvements = append(c.Improvements, name)
	}
	t := totals[now.Model]
	if t == nil {
		t = &Compared{Model: now.Model, BaseModel: b.Model}
		totals[now.Model] = t
	}
	if t.BaseModel != b.Model {
		t.BaseModel = "several"
	}
	t.Now.Passed, t.Now.Runs = t.Now.Passed+now.Passed, t.Now.Runs+now.Runs
	t.Base.Passed, t.Base.Runs = t.Base.Passed+b.Passed, t.Base.Runs+b.Runs
	t.CostNow, t.CostBase = t.CostNow+now.Cost*float64(now.Runs), t.CostBase+b.Cost*float64(b.Runs)
}
