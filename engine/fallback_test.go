package engine

import (
	"context"
	"log/slog"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/workspace"
)

// someModels is an environment in which only these models can be opened.
type someModels map[string]bool

func (someModels) Settings(context.Context, workspace.Place) (*StepSettings, error) {
	return &StepSettings{}, nil
}

func (s someModels) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*Model, error) {
	if !s[ref.Model] {
		return nil, lathe.Errorf(lathe.NotFound, "no such model")
	}
	return &Model{Ref: ref}, nil
}

// A turn goes down the list, opens each model once, and answers only the prompt that asked for the model that failed.
func TestFallback_SwitchModel(t *testing.T) {
	ref := func(name string) lathe.ModelRef { return lathe.ModelRef{Provider: "test", Model: name} }
	down := lathe.Errorf(lathe.Unavailable, "down")
	e := &services{env: someModels{"second": true, "fourth": true}, log: slog.New(slog.DiscardHandler)}
	c := &stepConfig{
		settings: &StepSettings{Fallback: Fallback{Models: []lathe.ModelRef{ref("first"), ref("second"), ref("third"), ref("fourth")}}},
		agent:    &Agent{}, user: &history.Message{Message: lathe.Message{Data: &lathe.User{Model: ref("first")}}},
	}
	var f fallbackState
	if m := f.switchModel(t.Context(), e, workspace.Place{}, c, ref("first"), lathe.Errorf(lathe.Invalid, "no words")); m != nil || f.tried != nil {
		t.Errorf("a failure that every model has switches to %v", m)
	}
	for _, step := range []struct{ failed, want string }{{"first", "second"}, {"second", "fourth"}, {"fourth", ""}} {
		m := f.switchModel(t.Context(), e, workspace.Place{}, c, ref(step.failed), down)
		if (m == nil) != (step.want == "") || m != nil && m.Ref.Model != step.want {
			t.Errorf("after %s: %v, want %q", step.failed, m, step.want)
		}
	}
	if m := f.modelFor(ref("first")); m == nil || m.Ref.Model != "fourth" {
		t.Errorf("the model of the turn is %v", m)
	}
	if m := f.modelFor(ref("other")); m != nil {
		t.Errorf("a prompt for another model is answered by %v", m)
	}
	own := fallbackState{}
	c.agent.Fallback = []lathe.ModelRef{ref("fourth")}
	if m := own.switchModel(t.Context(), e, workspace.Place{}, c, ref("first"), down); m == nil || m.Ref.Model != "fourth" {
		t.Errorf("an agent with a list of its own switches to %v", m)
	}
}
