package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
)

// fullThenSummary fills the window with the first step, then sums up in its own words.
const fullThenSummary = `-- settings --
prefix no the history was compressed
-- model --
call write {"path":"notes.txt","content":"one"}
usage 191990 20
--
text "We wrote notes.txt with its first line, as it was asked for; nothing else was done so far."
finish stop
--
text "All done."
finish stop
`

// Hooks may add to what a summary is asked for with, ask in other words, and change the request
// like any other (trap 94).
func TestCompact_Hooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := parseScript(t, fullThenSummary)
		p := beginPlayWith(t, s, s.protocols[0], func(o *opening) {
			o.Hooks.Compacting = func(context.Context, lathe.SessionID) (engine.CompactionPrompt, error) {
				return engine.CompactionPrompt{Context: []string{"The weather is fine."}, Prompt: "Say what happened."}, nil
			}
			o.Hooks.Params = func(_ context.Context, on engine.RequestInfo, r *model.Request) error {
				if on.Agent == "compaction" {
					r.System = append(r.System, "Be brief.")
				}
				return nil
			}
		})
		p.act([]string{"prompt", "keep notes"})
		p.rest()
		p.check()
		requests := p.server.Requests()
		if len(requests) != 3 {
			t.Fatalf("%d requests", len(requests))
		}
		asked := requests[1].String()
		if !strings.Contains(asked, `</conversation>\n\nThe weather is fine.\n\nSay what happened."`) || !strings.Contains(asked, "Be brief.") || strings.Contains(asked, "## Objective") {
			t.Errorf("the summary was asked for with\n%s", asked)
		}
	})
}

// A hook may end the turn with its compaction.
func TestCompact_HookStopsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := parseScript(t, strings.Replace(fullThenSummary, "-- model --", "compaction-agent prompt=short\n-- model --", 1))
		p := beginPlayWith(t, s, s.protocols[0], func(o *opening) {
			o.Hooks.Continue = func(_ context.Context, _ engine.RequestInfo, overflow bool) (bool, error) {
				if overflow {
					t.Error("nothing was refused")
				}
				return false, nil
			}
		})
		p.act([]string{"prompt", "keep notes"})
		p.rest()
		p.check()
		all := p.all()
		last, ok := all[len(all)-1].Data.(*lathe.Assistant)
		if !ok || !last.Summary.On() || len(p.server.Requests()) != 2 {
			t.Errorf("it does not end with the summary:\n%s", p.shown.history(all))
		}
	})
}
