package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// todos makes a list of "status content" lines.
func todos(lines ...string) tooltest.Input {
	list := []tooltest.Input{}
	for _, line := range lines {
		status, content, _ := strings.Cut(line, " ")
		list = append(list, tooltest.Input{"content": content, "status": status, "priority": "high"})
	}
	return tooltest.Input{"todos": list}
}

func TestTodoWrite(t *testing.T) {
	c := tooltest.NewUserHost(t)
	x := builtin.TodoWrite(builtin.TodoConfig{})
	input := todos("done parse", "in-progress check", "pending test", "cancelled docs", "strange rest")
	r := c.Must(x, input)
	want := []lathe.Todo{
		{Content: "parse", Status: "completed", Priority: "high"},
		{Content: "check", Status: "in_progress", Priority: "high"},
		{Content: "test", Status: "pending", Priority: "high"},
		{Content: "docs", Status: "cancelled", Priority: "high"},
		{Content: "rest", Status: "strange", Priority: "high"},
	}
	if diff := cmp.Diff(want, c.TodoList); diff != "" {
		t.Error(diff)
	}
	list, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	result := tool.Result{Title: "4 todos", Output: "1 of 5 done, now: check.", Metadata: json.RawMessage(`{"todos":` + string(list) + `}`)}
	if diff := cmp.Diff(result, r); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]tool.Permission{{Name: "todowrite", Patterns: []string{"*"}, Always: []string{"*"}}}, c.Asked); diff != "" {
		t.Error(diff)
	}

	// The same entries make one line; others show the list.
	c.Next("todowrite", input, r)
	if r = c.Must(x, todos("done parse", "done check", "doing test", "cancelled docs", "strange rest")); r.Output != "2 of 5 done, now: test." || r.Title != "3 todos" {
		t.Errorf("%+v", r)
	}
	r = c.Must(x, todos("completed parse", "pending more"))
	if want := "1 of 2 done, none in progress.\n- completed: parse\n- pending: more"; r.Output != want {
		t.Errorf("%q", r.Output)
	}
}

func TestTodoWrite_Words(t *testing.T) {
	for _, tt := range []struct {
		input tooltest.Input
		want  string
	}{
		{todos(), "The list is empty now."},
		{todos("completed a"), "1 of 1 done."},
		{todos("active a", "current b"), "0 of 2 done, now: a; b. 2 are in progress: keep one, and set the others to pending."},
	} {
		c := tooltest.NewUserHost(t)
		if got := c.Must(builtin.TodoWrite(builtin.TodoConfig{}), tt.input).Output; got != tt.want || c.TodoList == nil {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	got := tooltest.NewUserHost(t).Must(builtin.TodoWrite(builtin.TodoConfig{JSON: true}), todos("pending a"))
	if want := "[\n  {\n    \"content\": \"a\",\n    \"status\": \"pending\",\n    \"priority\": \"high\"\n  }\n]"; got.Output != want {
		t.Errorf("%s", got.Output)
	}
}

func TestTodoWrite_Faults(t *testing.T) {
	c := tooltest.NewUserHost(t)
	tooltest.Contains(t, c.Fails(builtin.TodoWrite(builtin.TodoConfig{}), todos("pending ", "done x", "done  ")),
		`"todos[0].content": is empty; describe the task`, `"todos[2].content": is empty`)
	tooltest.Contains(t, c.Fails(builtin.TodoWrite(builtin.TodoConfig{}), tooltest.Input{"todos": []tooltest.Input{{"content": "x"}}}), "todos[0].status")
	tooltest.Contains(t, c.Fails(builtin.TodoWrite(builtin.TodoConfig{}), tooltest.Input{"todos": 7}), "todos")
	if c.TodoList != nil || len(c.Asked) > 0 {
		t.Errorf("%v %v", c.TodoList, c.Asked)
	}
	c.Refuse = "todowrite"
	if _, err := c.Run(builtin.TodoWrite(builtin.TodoConfig{}), todos("done x")); lathe.CodeOf(err) != lathe.Rejected || c.TodoList != nil {
		t.Errorf("%v %v", err, c.TodoList)
	}
	c.Refuse, c.Err = "", lathe.Errorf(lathe.Internal, "disk full")
	if _, err := c.Run(builtin.TodoWrite(builtin.TodoConfig{}), todos("done x")); lathe.CodeOf(err) != lathe.Internal {
		t.Error(err)
	}
}
