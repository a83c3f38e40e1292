package tui

import "testing"

// The search looks while the user types, and opens the place that is chosen; / in the list of sessions begins one.
func TestSearch_FindsAndOpens(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		s.slash("search")
		s.sees("Search sessions", "Type to search prompts, answers, tool calls and file names.")
		s.lacks("Nothing found")
		s.typed("absent")
		s.sees("Nothing found · older sessions are being indexed: 50%")
		s.press("ctrl+u")
		s.typed("off")
		s.sees("Search is off")
		s.lacks("Nothing found", "Could not")
		s.press("ctrl+u")
		s.sees("Type to search")
		s.typed("hello world")
		s.sees("hello world", "Greeting", "prompt", "older sessions are being indexed: 50%")
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
