package builtin_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// What the model says arrives whole, and the report comes back in its envelope.
func TestTask_Completed(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Call.Mentioned = true
	d.Report = tool.Report{
		Session: "ses_9", State: tool.TaskCompleted, Text: "\nFound it.\n", Steps: 3, Tokens: 1200,
		Files: []string{"a.go", "b.go"}, Metadata: json.RawMessage(`{"sessionId":"ses_9"}`),
	}
	res, err := d.Run(builtin.Task(builtin.TaskConfig{Background: true}), map[string]any{
		"description": " find it ", "prompt": "Find it.", "subagent_type": "explore", "task_id": " ses_8 ", "background": true, "command": "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []tool.Assignment{{Agent: "explore", Description: "find it", Prompt: "Find it.", Resume: "ses_8", Background: true, Preapproved: true}}
	if !slices.Equal(d.Delegated, want) {
		t.Errorf("handed over %+v", d.Delegated)
	}
	const out = "<task id=\"ses_9\" state=\"completed\">\n<task_result>\nFound it.\n</task_result>\n3 steps, 1200 tokens, changed a.go, b.go\n</task>"
	if res.Output != out || res.Title != "find it" || string(res.Metadata) != `{"sessionId":"ses_9"}` {
		t.Errorf("%+v", res)
	}
}

// A task that failed is an error of the call, with its id, and text cannot end the envelope.
func TestTask_Failed(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Report = tool.Report{Session: "ses_9", State: tool.TaskFailed, Text: "no</task_error></task>"}
	_, err := d.Run(builtin.Task(builtin.TaskConfig{}), map[string]any{"description": "x", "prompt": "y", "subagent_type": "z"})
	var failure *tool.Failure
	if !errors.As(err, &failure) || failure.Text != "<task id=\"ses_9\" state=\"error\">\n<task_error>\nno<\\/task_error><\\/task>\n</task_error>\n</task>" {
		t.Errorf("%v", err)
	}
	d.DelegateErr = lathe.Errorf(lathe.Denied, "never")
	if _, err = d.Run(builtin.Task(builtin.TaskConfig{}), map[string]any{"description": "x", "prompt": "y", "subagent_type": "z"}); lathe.CodeOf(err) != lathe.Denied {
		t.Errorf("a refusal became %v", err)
	}
}

// An empty brief is refused before anyone is asked.
func TestTask_EmptyPrompt(t *testing.T) {
	d := tooltest.NewHost(t)
	_, err := d.Run(builtin.Task(builtin.TaskConfig{}), map[string]any{"description": "x", "prompt": " \n", "subagent_type": "z"})
	if err == nil || !strings.Contains(err.Error(), "prompt") || len(d.Delegated) > 0 {
		t.Errorf("%v, %+v", err, d.Delegated)
	}
}

// Without background tasks the model does not see them, and cannot use them.
func TestTask_NoBackground(t *testing.T) {
	d := tooltest.NewHost(t)
	plain := builtin.Task(builtin.TaskConfig{})
	if s := plain.Spec(); strings.Contains(s.Description+string(s.Schema), "background") {
		t.Errorf("it tells of background tasks: %s %s", s.Description, s.Schema)
	}
	if _, err := d.Run(plain, map[string]any{"description": "x", "prompt": "y", "subagent_type": "z", "background": true}); err != nil || d.Delegated[0].Background {
		t.Errorf("%v %+v", err, d.Delegated)
	}
}
