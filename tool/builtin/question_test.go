package builtin_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

func TestQuestion(t *testing.T) {
	long := strings.Repeat("very ", 40) + "long"
	c := tooltest.NewUserHost(t)
	c.Answers = [][]string{{"SQLite", "or mine"}, {}}
	r := c.Must(builtin.Question(), tooltest.Input{"questions": []tooltest.Input{
		{"question": "Which database?", "header": long, "multiple": true, "options": []tooltest.Input{{"label": "SQLite", "description": "small"}, {"label": long, "description": ""}}},
		{"question": "Which port?", "header": "Port", "options": []tooltest.Input{}},
		{"question": "Why?", "header": "Why", "multiple": false, "options": []tooltest.Input{}},
	}})
	asked := []lathe.Question{
		{Question: "Which database?", Header: long, Multiple: lathe.Yes, Options: []lathe.Option{{Label: "SQLite", Description: "small"}, {Label: long}}},
		{Question: "Which port?", Header: "Port", Options: []lathe.Option{}},
		{Question: "Why?", Header: "Why", Multiple: lathe.No, Options: []lathe.Option{}},
	}
	if diff := cmp.Diff(asked, c.Questions); diff != "" {
		t.Error(diff)
	}
	want := tool.Result{
		Title: "Asked 3 questions",
		Output: `The user answered: "Which database?"="SQLite, or mine", "Which port?"="Unanswered", "Why?"="Unanswered".` +
			" Decide yourself what was left unanswered, and say what you assumed.",
		Metadata: json.RawMessage(`{"answers":[["SQLite","or mine"],[],[]]}`),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if len(c.Asked) > 0 {
		t.Errorf("asked for a permission: %v", c.Asked)
	}
	c.Answers = [][]string{{"yes"}}
	r = c.Must(builtin.Question(), tooltest.Input{"questions": []tooltest.Input{{"question": "Go?", "header": "Go", "options": []tooltest.Input{}}}})
	if r.Title != "Asked 1 question" || r.Output != `The user answered: "Go?"="yes".` {
		t.Errorf("%+v", r)
	}
}

func TestQuestion_Dismissed(t *testing.T) {
	c := tooltest.NewUserHost(t)
	c.Err = lathe.Errorf(lathe.Rejected, "The user dismissed the question.")
	if _, err := c.Run(builtin.Question(), tooltest.Input{"questions": []tooltest.Input{{"question": "Go?", "header": "Go", "options": []tooltest.Input{}}}}); !errors.Is(err, c.Err) {
		t.Error(err)
	}
}

func TestQuestion_Faults(t *testing.T) {
	c := tooltest.NewUserHost(t)
	tooltest.Contains(t, c.Fails(builtin.Question(), tooltest.Input{"questions": []tooltest.Input{}}), `"questions": must have at least one question`)
	tooltest.Contains(t, c.Fails(builtin.Question(), tooltest.Input{"questions": []tooltest.Input{
		{"question": " ", "header": "h", "options": []tooltest.Input{{"label": "", "description": "d"}, {"label": "A", "description": "d"}, {"label": " a", "description": "d"}}},
	}}),
		`"questions[0].question": is empty`, `"questions[0].options[0].label": is empty; name the choice`,
		`"questions[0].options[2].label": is " a", as options[1] is; labels must be unique`)
	tooltest.Contains(t, c.Fails(builtin.Question(), tooltest.Input{"questions": []tooltest.Input{{"question": "q", "header": "h", "options": []string{"a"}}}}), "options[0]")
	tooltest.Contains(t, c.Fails(builtin.Question(), tooltest.Input{}), "questions")
	if c.Questions != nil {
		t.Errorf("%v", c.Questions)
	}
}
