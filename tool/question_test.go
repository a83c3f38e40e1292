package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

func TestQuestion(t *testing.T) {
	long := strings.Repeat("very ", 40) + "long"
	c := newClerk(t)
	c.answers = [][]string{{"SQLite", "or mine"}, {}}
	r := c.must(tool.Question(), in{"questions": []in{
		{"question": "Which database?", "header": long, "multiple": true, "options": []in{{"label": "SQLite", "description": "small"}, {"label": long, "description": ""}}},
		{"question": "Which port?", "header": "Port", "options": []in{}},
		{"question": "Why?", "header": "Why", "multiple": false, "options": []in{}},
	}})
	asked := []lathe.Question{
		{Question: "Which database?", Header: long, Multiple: lathe.Yes, Options: []lathe.Option{{Label: "SQLite", Description: "small"}, {Label: long}}},
		{Question: "Which port?", Header: "Port", Options: []lathe.Option{}},
		{Question: "Why?", Header: "Why", Multiple: lathe.No, Options: []lathe.Option{}},
	}
	if diff := cmp.Diff(asked, c.questions); diff != "" {
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
	if len(c.asked) > 0 {
		t.Errorf("asked for a permission: %v", c.asked)
	}
	c.answers = [][]string{{"yes"}}
	r = c.must(tool.Question(), in{"questions": []in{{"question": "Go?", "header": "Go", "options": []in{}}}})
	if r.Title != "Asked 1 question" || r.Output != `The user answered: "Go?"="yes".` {
		t.Errorf("%+v", r)
	}
}

func TestQuestion_Dismissed(t *testing.T) {
	c := newClerk(t)
	c.err = lathe.Errorf(lathe.Rejected, "The user dismissed the question.")
	if _, err := c.run(tool.Question(), in{"questions": []in{{"question": "Go?", "header": "Go", "options": []in{}}}}); !errors.Is(err, c.err) {
		t.Error(err)
	}
}

func TestQuestion_Faults(t *testing.T) {
	c := newClerk(t)
	contains(t, c.fails(tool.Question(), in{"questions": []in{}}), `"questions": must have at least one question`)
	contains(t, c.fails(tool.Question(), in{"questions": []in{
		{"question": " ", "header": "h", "options": []in{{"label": "", "description": "d"}, {"label": "A", "description": "d"}, {"label": " a", "description": "d"}}},
	}}),
		`"questions[0].question": is empty`, `"questions[0].options[0].label": is empty; name the choice`,
		`"questions[0].options[2].label": is " a", as options[1] is; answers are told apart by their labels`)
	contains(t, c.fails(tool.Question(), in{"questions": []in{{"question": "q", "header": "h", "options": []string{"a"}}}}), "options[0]")
	contains(t, c.fails(tool.Question(), in{}), "questions")
	if c.questions != nil {
		t.Errorf("%v", c.questions)
	}
}
