package lathe_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

func TestCommand_OnTheWire(t *testing.T) {
	for _, tt := range []struct {
		command lathe.Command
		wire    string
	}{
		{lathe.Command{Name: "a", Template: "Do it."}, `{"name":"a","template":"Do it.","hints":[]}`},
		{
			lathe.Command{
				Name: "review", Description: "looks", Agent: "plan", Model: "p/m", Source: lathe.CommandOwn,
				Template: "Look at $1.", Subtask: lathe.Yes, Hints: []string{"$1"},
			},
			`{"name":"review","description":"looks","agent":"plan","model":"p/m","source":"command","template":"Look at $1.","subtask":true,"hints":["$1"]}`,
		},
	} {
		got, err := json.Marshal(tt.command)
		if err != nil || string(got) != tt.wire {
			t.Errorf("written as %s, %v; want %s", got, err, tt.wire)
		}
		var back lathe.Command
		if err := json.Unmarshal([]byte(tt.wire), &back); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(back)
		if diff := cmp.Diff(tt.wire, string(again)); diff != "" {
			t.Errorf("read and written again: %s", diff)
		}
	}
}

func TestSkill_OnTheWire(t *testing.T) {
	wire := `{"name":"a","description":"when","location":"/s/SKILL.md","content":"Do.","more":1}`
	var s lathe.Skill
	if err := json.Unmarshal([]byte(wire), &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "a" || s.Description != "when" || s.Location != "/s/SKILL.md" || s.Content != "Do." {
		t.Errorf("%+v", s)
	}
	if got, err := json.Marshal(s); err != nil || string(got) != wire {
		t.Errorf("%s %v", got, err)
	}
}
