package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// armed is a play with one more tool.
type armed struct {
	engine.Environment
	tool tool.Tool
}

func (a armed) Settings(ctx context.Context, at workspace.Place) (*engine.StepSettings, error) {
	s, err := a.Environment.Settings(ctx, at)
	if err != nil {
		return nil, err
	}
	own := *s
	own.Tools = tool.NewSet(append(s.Tools.All(), a.tool)...)
	return &own, nil
}

// deaf is a tool that ignores its deadline: it asks when its time has long been over.
func deaf(asks time.Duration) tool.Tool {
	return tool.Define(tool.Spec{Name: "deaf", Description: "Hears nothing."}, func(ctx context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		<-time.After(asks)
		err := c.Host.Ask(context.WithoutCancel(ctx), tool.Permission{Name: "late", Patterns: []string{"*"}})
		return tool.Result{Output: "Heard nothing."}, err
	})
}

// A tool that asks after its deadline, while it has a moment to settle or when no caller waits
// for it any more, ends neither the process nor the turn.
func TestCampaign_AsksAfterItsDeadline(t *testing.T) {
	t.Parallel()
	for _, asks := range []time.Duration{5 * time.Second, 5100 * time.Millisecond, 6 * time.Second} {
		t.Run(asks.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := parseScript(t, "-- settings --\ndeadline tool=5s\n-- rules --\nask late *\n-- model --\ncall deaf {}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n")
				p := beginPlayWith(t, s, modeltest.Anthropic, func(o *opening) { o.Environment = armed{o.Environment, deaf(asks)} })
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
				p.ok(err)
				p.ok(p.settledIn(time.Hour))
				<-time.After(10 * time.Second) // what was left behind has ended, too
				if m := p.lastOf(p.session); wordsOf(m) != "Done." {
					t.Errorf("it ends with %q, %v", wordsOf(m), m.Data.(*lathe.Assistant).Error)
				}
				p.check()
				if said := p.shown.history(p.all()); asks > 5*time.Second+250*time.Millisecond && !strings.Contains(said, "it ran for more than 5s") {
					t.Errorf("the call does not say why it was stopped:\n%s", said)
				}
			})
		})
	}
}

// A tool that does not wait for an answer any longer takes its question back.
func TestCampaign_GivesUpAsking(t *testing.T) {
	t.Parallel()
	impatient := tool.Define(tool.Spec{Name: "impatient", Description: "Cannot wait."}, func(ctx context.Context, c *tool.Call, _ struct{}) (tool.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := c.Host.Ask(ctx, tool.Permission{Name: "late", Patterns: []string{"*"}}); err == nil {
			return tool.Result{}, tool.Failf("nobody should have answered")
		}
		return tool.Result{Output: "Did without."}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		s := parseScript(t, "-- rules --\nask late *\n-- model --\ncall impatient {}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n")
		p := beginPlayWith(t, s, modeltest.Chat, func(o *opening) { o.Environment = armed{o.Environment, impatient} })
		m, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
		p.ok(err)
		if wordsOf(m) != "Done." || !strings.Contains(p.shown.events(), "asked") || !strings.Contains(p.shown.history(p.all()), "Did without.") {
			t.Errorf("it ends with %q:\n%s", wordsOf(m), p.shown.events())
		}
		p.rest()
		p.check()
	})
}
