package tui

import (
	"encoding/json"
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
		s.pass(animationInterval)
		if s.screen() == before {
			t.Errorf("nothing moves:\n%s", before)
		}
		s.tell(&lathe.StatusChanged{Session: "ses_2", Status: lathe.Status{Type: lathe.Idle}})
		s.pass(time.Second)
		if s.p.ticking {
			t.Error("it ticks on though nobody works")
		}
	})
}

// A sub-agent that has not begun, since few may work at the same time, is said to wait.
func TestTask_WaitsForItsTurn(t *testing.T) {
	e := sample()
	e.sessions = append(e.sessions, lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"})
	e.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Busy}}
	last := e.messages[sampleID][len(e.messages[sampleID])-1]
	last.Parts = append(last.Parts, lathe.Part{ID: "prt_task", Session: sampleID, Message: last.ID, Body: &lathe.ToolCall{
		CallID: "c", Tool: "task", State: &lathe.Running{
			Input: json.RawMessage(`{"subagent_type":"explore","description":"look around"}`), Metadata: json.RawMessage(`{"sessionId":"ses_child"}`),
		},
	}})
	e.messages[sampleID][len(e.messages[sampleID])-1] = last
	onStage(t, e, inSample(), func(s *stage) {
		s.sees("Explore: look around", "↳ waiting for its turn")
		s.tell(&lathe.StatusChanged{Session: "ses_child", Status: lathe.Status{Type: lathe.Busy}})
		s.lacks("waiting for its turn")
	})
}
