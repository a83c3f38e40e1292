package tui

import "testing"

// A click on a file that changed shows what was done to it; one on the prompt below the column is the prompt's.
func TestSide_Click(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.resize(140, 30)
		s.click("greet.go                         +1")
		s.sees("Changes · this session")
		if at := s.p.reviewer.view.File(); at != "greet.go" {
			t.Errorf("at %q", at)
		}
		s.press("q")
		s.resize(80, 24)
		s.press("ctrl+x", "b")
		s.typed("some words that reach below the column at the right side")
		s.click("right side")
		s.typed("!")
		if got := s.p.drafts.edit.Text(); got != "some words that reach below the column at the !right side" {
			t.Errorf("in the prompt: %q", got)
		}
	})
}
