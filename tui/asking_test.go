package tui

import (
	"strings"
	"testing"
	"time"

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
		s.pass(10 * time.Second) // the note is gone
		s.slash("sessions")
		s.sees("Write a parser  waits for your answer")
		s.tell(&lathe.PermissionReplied{Session: "ses_2", Request: "per_1", Reply: lathe.Once})
		s.lacks("waits for your answer")
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
		s.pass(time.Minute)
		s.lacks("goes to where it is asked")
		s.sees("△ Your answer is wanted: up")
		s.press("up")
		s.sees("Permission required")
	})
}

// The turn of a session that works for another is interrupted as any other, and the screen says so.
func TestInterrupt_OfAChild(t *testing.T) {
	e := sample()
	e.sessions = append(e.sessions, lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"})
	e.statuses = map[lathe.SessionID]lathe.Status{"ses_child": {Type: lathe.Busy}}
	onStage(t, e, Options{Start: Start{Session: "ses_child"}}, func(s *stage) {
		s.sees("esc interrupt")
		s.press("esc")
		s.sees("esc again to interrupt")
		s.did()
		s.press("esc")
		s.did("cancel ses_child")
	})
}

// Why an answer is tried again can be read on a narrow screen, too.
func TestRetry_SaysWhy(t *testing.T) {
	e := sample()
	e.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Retrying, Attempt: 2, Message: "too many requests", Next: lathe.Time(time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC).UnixMilli())}}
	onStage(t, e, inSample(), func(s *stage) {
		for _, width := range []int{40, 80, 140} {
			s.resize(width, 24)
			s.sees("again in")
			if n := strings.Count(s.screen(), "too many requests"); n != 1 {
				t.Errorf("at %d columns it is said %d times:\n%s", width, n, s.screen())
			}
		}
	})
}
