package tui

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/memory"
)

// slowly opens an engine after a second.
func slowly(e *canned) Options {
	return Options{Open: func(context.Context) (Engine, error) {
		<-time.After(time.Second)
		return e, nil
	}}
}

// What is sent before the engine is there is sent when it is, unless it was changed meanwhile.
func TestEarly_IsSentLater(t *testing.T) {
	e := sample()
	onStage(t, e, slowly(e), func(s *stage) {
		s.typed("hello")
		s.press("enter")
		s.sees("hello", "your prompt is sent in a moment")
		s.did()
		s.pass(2 * time.Second)
		s.did("create build", "submit ses_new3 hello")
	})
	e = sample()
	onStage(t, e, slowly(e), func(s *stage) {
		s.typed("hello")
		s.press("enter")
		s.typed(" you")
		s.pass(2 * time.Second)
		s.did()
		s.sees("hello you")
	})
}

// What is typed while a session opens stays in the prompt of that session, and is sent there.
func TestEarly_GoesToTheSessionThatOpens(t *testing.T) {
	e := sample()
	o := slowly(e)
	o.Start.Continue = true
	onStage(t, e, o, func(s *stage) {
		s.typed("hello")
		s.press("enter")
		s.pass(2 * time.Second)
		s.did("submit " + string(sampleID) + " hello")
		s.sees("Thank you")
	})
	e = sample()
	o = slowly(e)
	o.Start.Session = sampleID
	onStage(t, e, o, func(s *stage) {
		s.typed("half a sent")
		s.pass(2 * time.Second)
		s.sees("Thank you", "half a sent")
		s.typed("ence")
		s.sees("half a sentence")
	})
}

// What is typed while a new session is made for the prompt before it is not left on the home screen.
func TestPrompt_NextGoesAlong(t *testing.T) {
	e := sample()
	onStage(t, e, Options{}, func(s *stage) {
		s.typed("first")
		s.send(keyPress(t, "enter"))
		s.send(keyPress(t, "x"))
		s.pass(time.Second)
		if s.p.state.Current == "" || s.p.drafts.edit.Draft().Input != "x" {
			t.Errorf("in %q the prompt is %q", s.p.state.Current, s.p.drafts.edit.Draft().Input)
		}
	})
}

// The prompt of the command line is sent where nothing can be gone on with, and kept where what was named is missing.
func TestFirst_PromptWithoutItsSession(t *testing.T) {
	e := sample()
	e.sessions = nil
	onStage(t, e, Options{Start: Start{Continue: true, Prompt: "begin"}}, func(s *stage) {
		s.did("create build", "submit ses_new0 begin")
	})
	e = sample()
	onStage(t, e, Options{Start: Start{Session: lathe.SessionID("ses_gone"), Prompt: "begin"}}, func(s *stage) {
		s.did()
		s.sees("Could not open the session", "begin")
	})
}

// A command for the shell cannot be run while a turn is; it stays in the prompt.
func TestShell_WhileATurnRuns(t *testing.T) {
	e := sample()
	e.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Busy}}
	onStage(t, e, inSample(), func(s *stage) {
		s.typed("!ls")
		s.press("enter")
		s.did()
		s.sees("Commands run after the turn ends", "Shell")
		if got := s.p.drafts.edit.Draft().Input; got != "ls" {
			t.Errorf("the prompt is %q", got)
		}
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Idle}})
		s.press("enter")
		s.did("shell " + string(sampleID) + " ls")
	})
}

// What was being typed when the program ends is called back the next time: here, and in sessions that were left.
func TestSaveLast_AllDrafts(t *testing.T) {
	state := t.TempDir()
	onStage(t, sample(), Options{State: state, Start: Start{Session: sampleID}}, func(s *stage) {
		s.typed("the draft of the first session")
		s.press("ctrl+x", "n")
		s.typed("short")
		s.run(s.p.sessions.open("ses_2"))
		s.settle()
		s.typed("the draft of the second session")
		if err := s.p.saveDrafts(); err != nil {
			t.Fatal(err)
		}
	})
	var got []string
	all, err := memory.Open(state).History()
	for _, d := range all {
		got = append(got, d.Input)
	}
	if want := []string{"short", "the draft of the first session", "the draft of the second session"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("kept %q, %v", got, err)
	}
	if aside, err := memory.Open(state).Stash(); err != nil || len(aside) != 3 {
		t.Errorf("put aside %v, %v", aside, err)
	}
}
