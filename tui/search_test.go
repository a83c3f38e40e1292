package tui

import "testing"

// The search looks while the user types, and opens the place that is chosen; / in the list of sessions begins one.
func TestSearch_FindsAndOpens(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		s.slash("search")
		s.sees("Search sessions")
		s.typed("hello world")
		s.sees("hello world", "Greeting", "prompt", "indexed so far: 50%")
		s.lacks("\x1b]", "\x07") // a snippet cannot control the terminal
		s.press("enter")
		s.lacks("Search sessions")
		s.sees("I look at the test first", "more below") // at the message, not at the end
	})
	onStage(t, sample(), inSample(), func(s *stage) {
		s.slash("sessions")
		s.typed("/")
		s.sees("Search sessions")
	})
}
