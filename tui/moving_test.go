package tui

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// Who is at work moves in the list of sessions, also on the first screen, and nothing ticks when nobody is.
func TestSessions_Spin(t *testing.T) {
	e := sample()
	e.statuses = map[lathe.SessionID]lathe.Status{"ses_2": {Type: lathe.Busy}}
	onStage(t, e, Options{}, func(s *stage) {
		s.press("ctrl+x", "l")
		before := s.screen()
		s.pass(beatTime)
		if s.screen() == before {
			t.Errorf("nothing moves:\n%s", before)
		}
		s.tell(&lathe.StatusChanged{Session: "ses_2", Status: lathe.Status{Type: lathe.Idle}})
		s.pass(time.Second)
		if s.p.beating {
			t.Error("it ticks on though nobody works")
		}
	})
}
