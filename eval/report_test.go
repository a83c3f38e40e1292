package eval

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resultsOf makes results of two cases with a model: n runs of each, of which some pass.
func resultsOf(model string, passed ...int) (plan []Run, results []Result) {
	for i, p := range passed {
		c := &Case{Name: fmt.Sprintf("case-%d", i+1), Runs: 10}
		for n := 1; n <= 10; n++ {
			key := c.key(model, n)
			plan = append(plan, Run{Case: c, Model: model, Number: n, Key: key})
			exit := 0
			if n > p {
				exit = 1
			}
			results = append(results, Result{Key: key, Case: c.Name, Model: model, Run: n, End: Done, Passed: n <= p, Exit: &exit, Effort: Effort{Steps: 2, Tokens: 1000, Cost: .01, Seconds: 3, Additions: 4}})
		}
	}
	return plan, results
}

func lines(all []Result) (out []byte) {
	for _, r := range all {
		out = append(out, r.Line()...)
	}
	return out
}

func TestReadResults(t *testing.T) {
	_, all := resultsOf("m", 3)
	text := lines(all)
	got, err := ReadResults("f", text)
	if diff := cmp.Diff(all, got.All); err != nil || diff != "" || got.Size != int64(len(text)) {
		t.Fatalf("%v %d %s", err, got.Size, diff)
	}
	// A last line that was cut off anywhere is left out.
	for cut := 1; cut < len(all[9].Line()); cut += 7 {
		got, err := ReadResults("f", text[:len(text)-cut])
		if err != nil || len(got.All) != 9 || got.Size != int64(len(text)-len(all[9].Line())) {
			t.Fatalf("cut %d: %v, %d results", cut, err, len(got.All))
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"other text": {"hello\n", "f:1: the line is not a result"}, "no end": {"hello", "f:1:"}, "no key": {"{}\n", "f:1:"},
		"middle": {string(text) + "{\n" + string(text), "f:11:"}, "end": {`{"key":"a","end":"no"}` + "\n", "the end"},
		"negative": {`{"key":"a","end":"done","cost":-1}` + "\n", "out of range"}, "huge": {`{"key":"a","end":"done","cost":1e300}` + "\n", "out of range"},
		"long": {`{"key":"a","end":"done","case":"` + strings.Repeat("x", 300) + "\"}\n", "too long"},
	} {
		if _, err := ReadResults("f", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	fresh, err := ReadResults("f", append(text, Result{Key: "fresh", Fresh: true}.Line()...))
	if err != nil || len(fresh.All) != 0 || fresh.Size <= int64(len(text)) {
		t.Errorf("after a fresh line: %v", fresh)
	}
}

func TestResults_Kept(t *testing.T) {
	plan, all := resultsOf("m", 10)
	began := Result{Key: all[0].Key, Session: "ses_1", Began: true}
	failed := Result{Key: all[1].Key, End: Failed, Effort: Effort{Cost: .5}}
	other := Result{Key: "other", End: Done, Effort: Effort{Cost: 7}}
	r := Results{All: []Result{began, failed, other, {Key: "cut", Session: "ses_2", Began: true}, all[2], {Key: "cut", Session: "ses_3", Began: true}}}
	if kept := r.Kept(plan); len(kept) != 1 || !kept[all[2].Key].Passed {
		t.Errorf("kept %v", kept)
	}
	if cost := r.Cost(plan); cost != .51 {
		t.Errorf("cost %v", cost)
	}
	if cut := r.Cut(); len(cut) != 2 || cut[0].Session != "ses_1" || cut[1].Session != "ses_3" {
		t.Errorf("cut %v", cut)
	}
}

func reportOf(plan []Run, all []Result) *Report {
	latest := map[string]Result{}
	for _, r := range all {
		latest[r.Key] = r
	}
	return NewReport("Mine", plan, latest)
}

func TestReport(t *testing.T) {
	plan, all := resultsOf("m", 10, 3)
	all[0].End, all[0].Passed = ByTimeout, false
	all[1] = Result{Key: all[1].Key, Case: "case-1", Model: "m", End: Failed, Error: "no network"}
	all[2] = Result{Key: all[2].Key, Case: "case-1", Model: "m", End: Interrupted}
	r := reportOf(plan, all)
	w := r.Cases[0]
	if w.Passed != 7 || w.Runs != 8 || w.Errors != 1 || w.Notes() != "1× timeout, 1 error" || w.Steps != 2 || w.Additions != 4 || r.Finished != 18 || r.Planned != 20 {
		t.Errorf("%+v, %d of %d", w, r.Finished, r.Planned)
	}
	if m := r.Models[0]; m.Passed != 10 || m.Runs != 18 {
		t.Errorf("%+v", m)
	}
	if r.Summary() != "10 of 18 runs passed, 2 of 20 are missing, cost $0.00" {
		t.Errorf("got %s", r.Summary())
	}
}

func TestReport_Compare(t *testing.T) {
	plan, now := resultsOf("new", 10, 2, 5)
	_, before := resultsOf("old", 3, 9)
	r := reportOf(plan, now)
	r.Compare("old.jsonl", Results{All: before})
	c := r.Baseline
	if diff := cmp.Diff([]string{"case-2 (new)"}, c.Regressions); diff != "" || len(c.Improvements) != 1 || c.Unmatched != 1 {
		t.Errorf("%s %v %d", diff, c.Improvements, c.Unmatched)
	}
	if one := c.Cases[1]; one.BaseModel != "old" || one.Less.Rate > -.69 || !one.Less.IsClear() || one.verdict() != "worse" {
		t.Errorf("%+v", one)
	}
	if m := c.Models[0]; m.Now.Runs != 20 || m.Base.Passed != 12 || m.verdict() != "same" {
		t.Errorf("%+v", m)
	}
}

// hostile has what terminals, browsers and Markdown viewers would act on.
const hostile = "</td><script>alert(1)</script><img src=x onerror=a>\x1b[31m\x1b]0;t\a\u202e[a](https://evil.test)![b](//c)`|`www.evil.test a@b.test\n# x"

// A result file of a stranger puts nothing active into a report.
func TestReport_Hostile(t *testing.T) {
	plan, all := resultsOf("m", 0)
	for i := range all {
		all[i].Error, all[i].Session = hostile, "ses_<b>"
	}
	plan[0].Case.Name = hostile
	r := reportOf(plan, all)
	r.Name = hostile
	_, base := resultsOf(hostile, 9)
	for i := range base {
		base[i].Case = hostile
	}
	r.Compare(hostile, Results{All: base})
	var page, text bytes.Buffer
	if err := errors.Join(r.WriteHTML(&page), r.WriteMarkdown(&text)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "onerror=a>", "\x1b", "\a", "\u202e", "<b>", "http-equiv=\"refresh\"", "href", "src=\""} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, bad := range []string{"<", "\x1b", "\a", "\u202e", "](", "://", "www.", "@b", "\n# x"} {
		if strings.Contains(strings.ReplaceAll(text.String(), `\]`, ""), bad) {
			t.Errorf("the text has %q", bad)
		}
	}
	if !strings.Contains(page.String(), "&lt;script&gt;") || !strings.Contains(page.String(), "default-src 'none'") {
		t.Error("the page lost the text or its policy")
	}
	// It is well-formed, so that no text ended an element.
	body, _, _ := strings.Cut(strings.TrimPrefix(page.String(), "<!doctype html>"), "\x00")
	dec := xml.NewDecoder(strings.NewReader(body))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "a" || e.Name.Local == "img") {
			t.Errorf("the page has the element %s", e.Name.Local)
		}
	}
}

func TestReport_JSON(t *testing.T) {
	plan, all := resultsOf("m", 4)
	data, err := json.Marshal(reportOf(plan, all))
	if err != nil || !bytes.Contains(data, []byte(`"rate":0.4`)) {
		t.Errorf("%s, %v", data, err)
	}
}

func FuzzReadResults(f *testing.F) {
	_, all := resultsOf("m", 1)
	f.Add(lines(all))
	f.Add([]byte(`{"key":"a","began":true}` + "\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadResults("f", data)
		if err != nil {
			return
		}
		if r.Size < 0 || r.Size > int64(len(data)) {
			t.Fatal(r.Size)
		}
		rep := NewReport("x", nil, nil)
		rep.Compare("y", r)
		r.Cut()
		if err := rep.WriteHTML(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}
