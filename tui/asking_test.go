package tui

import (
	"testing"

	"github.com/lathe-agent/lathe"
)

func askFor(id lathe.AskID, session lathe.SessionID) lathe.Fact {
	return &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: id, Session: session, Permission: "bash", Patterns: []string{"ls"}}}
}

// A request that the screen does not show is told of, with the way to it.
func TestAsk_OfAnotherSession(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.slash("sessions")
		s.press("esc")
		s.tell(askFor("per_1", "ses_2"))
		s.sees("“Write a parser” waits for your answer: /sessions")
		s.lacks("Permission required")
	})
	e := sample()
	e.sessions = append(e.sessions, lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"})
	onStage(t, e, inSample(), func(s *stage) {
		s.tell(askFor("per_1", "ses_child"))
		s.sees("Permission required", "explore")
		s.lacks("waits for your answer")
	})
	onStage(t, e, Options{Start: Start{Session: "ses_child"}}, func(s *stage) {
		s.tell(askFor("per_1", "ses_child"))
		s.lacks("Permission required")
		s.sees("Your answer is wanted; up goes to where it is asked")
		s.press("up")
		s.sees("Permission required")
	})
}
