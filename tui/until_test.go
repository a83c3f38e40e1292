package tui

import (
	"context"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// repeating is an engine that repeats prompts until a command passes.
type repeating struct {
	*canned
	api.Untils
	last api.UntilRound
}

func (r repeating) RunUntil(_ context.Context, id lathe.SessionID, spec api.UntilSpec, p lathe.Prompt, _ func(api.UntilRound)) (api.UntilRound, error) {
	return r.last, r.did("until", id, spec.Command, p.Parts[0].Body.(*lathe.Text).Text)
}

// The command of /until counts for one prompt. Where an engine cannot do that, the draft stays.
func TestUntil(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.typed("/until make test")
		s.press("enter")
		s.sees("until it passes: make test")
		s.typed("fix it")
		s.press("enter")
		s.sees("/until is not available")
		if got := s.p.drafts.edit.Text(); got != "fix it" {
			t.Errorf("the draft is %q", got)
		}
	})
	onStage(t, sample(), inSample(), func(s *stage) {
		s.p.engine = repeating{canned: s.p.engine.(*canned), last: api.UntilRound{Verdict: api.UntilPassed, Command: "make test", Run: 2, Tries: 10}}
		s.typed("/until make test")
		s.press("enter")
		s.typed("fix it")
		s.press("enter")
		s.did("until " + string(sampleID) + " make test fix it")
		s.sees("Check passed (run 2 of 10): make test")
	})
	onStage(t, sample(), inSample(), func(s *stage) {
		s.typed("/until false")
		s.press("enter")
		s.typed("/until off")
		s.press("enter")
		s.sees("sent once")
	})
}
