package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// While there is no connection the screen says so, and nothing on it claims to be at work.
func TestConnection_IsLostAndFound(t *testing.T) {
	e := sample()
	e.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Busy}}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.sees("interrupt")
		s.p.feed.put(lathe.Event{}, &api.ConnectionChanged{Err: errors.New("refused")})
		s.pass(2 * frameTime)
		s.sees("connection lost, reconnecting")
		s.lacks("interrupt")
		if s.p.hasMotion() {
			t.Error("something moves")
		}
		e.statuses, e.cut = map[lathe.SessionID]lathe.Status{}, []lathe.SessionID{sampleID}
		s.p.feed.put(lathe.Event{}, &api.ConnectionChanged{})
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Idle}})
		s.sees("Reconnected to the server")
		s.lacks("no connection")
	})
}

// Who opens a session whose turn was cut off reads how to go on with it, until it has gone on.
func TestCut_IsReported(t *testing.T) {
	e := sample()
	e.cut = []lathe.SessionID{sampleID}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.sees("This turn was interrupted: /go resumes it")
		s.slash("go")
		s.did("resume " + string(sampleID))
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}})
		s.lacks("cut off")
		s.slash("go")
		s.sees("A turn is already running")
		e.cut = nil
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Idle}}, &lathe.SessionIdle{Session: sampleID})
		s.lacks("cut off")
		s.slash("go")
		s.sees("Nothing to resume")
		s.did()
	})
}

// The key that leaves wants to be pressed twice where it would cut a turn off, and only there.
func TestQuit_WhileATurnRuns(t *testing.T) {
	busy := func() *canned {
		e := sample()
		e.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Busy}}
		return e
	}
	onStage(t, busy(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("ctrl+c")
		s.sees("A turn is running")
		if s.quit {
			t.Fatal("it left at once")
		}
		s.press("ctrl+c")
		if !s.quit || !s.p.result().TurnInterrupted {
			t.Errorf("it did not leave, or did not tell: %+v", s.p.result())
		}
	})
	onStage(t, busy(), Options{Start: Start{Session: sampleID}, Remote: true}, func(s *stage) {
		if s.press("ctrl+c"); !s.quit || s.p.result().TurnInterrupted {
			t.Errorf("a turn elsewhere keeps one here, or was cut off: %+v", s.p.result())
		}
	})
	onStage(t, sample(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		if s.press("ctrl+c"); !s.quit {
			t.Error("it did not leave")
		}
	})
	onStage(t, busy(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.typed("exit")
		if s.press("enter"); !s.quit {
			t.Error("a word that means it did not leave")
		}
	})
}

// What is suggested stands right above the prompt, and what is asked has an empty row above it.
func TestSession_Rows(t *testing.T) {
	onStage(t, sample(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.typed("/sessions")
		rows := strings.Split(s.screen(), "\n")
		y := s.p.at.inputY
		if !strings.Contains(rows[y-1], "Switch session") || !strings.Contains(rows[y+1], "/sessions") {
			t.Errorf("not above each other:\n%s", s.screen())
		}
	})
	e := sample()
	e.asks = []lathe.Fact{&lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: "per_1", Session: sampleID, Permission: "bash", Patterns: []string{"ls"}}}}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		rows := strings.Split(s.screen(), "\n")
		if y := s.p.at.promptY; !strings.Contains(rows[y], "Permission required") || strings.TrimSpace(rows[y-1]) != "" {
			t.Errorf("no empty row:\n%s", s.screen())
		}
	})
}

// Prompts that were queued behind a turn which was interrupted still wait, and the screen says for what.
func TestWaits_AfterAnInterrupt(t *testing.T) {
	e := sample()
	at := e.messages[sampleID][0].Created
	e.messages[sampleID] = []lathe.Message{
		{ID: "msg_1", Session: sampleID, Created: at, Data: &lathe.User{Agent: "build"}, Parts: []lathe.Part{{ID: "prt_1", Session: sampleID, Message: "msg_1", Body: &lathe.Text{Text: "first"}}}},
		{ID: "msg_2", Session: sampleID, Created: at, Data: &lathe.Assistant{Parent: "msg_1", Completed: at + 9, Error: &lathe.AbortedFault{}}},
		{ID: "msg_3", Session: sampleID, Created: at, Data: &lathe.User{Agent: "build"}, Parts: []lathe.Part{{ID: "prt_3", Session: sampleID, Message: "msg_3", Body: &lathe.Text{Text: "second"}}}},
	}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.sees("PAUSED", "Your prompts are paused: /go sends them")
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}})
		s.lacks("What you sent waits")
	})
}

// Who has scrolled up sees that there is more below, and gets there with a click.
func TestScroll_SaysThatThereIsMoreBelow(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.resize(80, 12)
		s.lacks("more below")
		s.press("pgup")
		s.sees("↓ more below")
		s.click("more below")
		s.lacks("more below")
		s.sees("greet.go")
	})
}
