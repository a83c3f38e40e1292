package lathe_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

func TestAgent_OnTheWire(t *testing.T) {
	half := 0.5
	for _, tt := range []struct {
		agent lathe.Agent
		wire  string
	}{
		{lathe.Agent{Name: "build", Mode: lathe.Primary}, `{"name":"build","mode":"primary","permission":[],"options":{}}`},
		{
			lathe.Agent{
				Name: "review", Description: "looks", Mode: lathe.Subagent, Native: lathe.Yes, TopP: &half, Temperature: new(float64), Color: "#fff",
				Rules: lathe.Ruleset{{Permission: "edit", Pattern: "*", Action: lathe.Deny}},
				Model: &lathe.ModelRef{Provider: "p", Model: "m"}, Variant: "high", Prompt: "Look.", Options: []byte(`{"x":1}`), Steps: 3,
			},
			`{"name":"review","description":"looks","mode":"subagent","native":true,"topP":0.5,"temperature":0,"color":"#fff",` +
				`"permission":[{"permission":"edit","pattern":"*","action":"deny"}],"model":{"providerID":"p","modelID":"m"},` +
				`"variant":"high","prompt":"Look.","options":{"x":1},"steps":3}`,
		},
	} {
		got, err := json.Marshal(tt.agent)
		if err != nil || string(got) != tt.wire {
			t.Errorf("written as %s, %v; want %s", got, err, tt.wire)
		}
		var back lathe.Agent
		if err := json.Unmarshal([]byte(tt.wire), &back); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(back)
		if diff := cmp.Diff(tt.wire, string(again)); diff != "" {
			t.Errorf("read and written again: %s", diff)
		}
	}
}
