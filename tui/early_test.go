package tui

import (
	"context"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
)

// slowly opens an engine after a second.
func slowly(e *canned) Options {
	return Options{Open: func(context.Context) (host.Engine, error) {
		time.Sleep(time.Second)
		return e, nil
	}}
}

// What is sent before the engine is there is sent when it is, unless it was changed meanwhile.
func TestEarly_IsSentLater(t *testing.T) {
	e := sample()
	onStage(t, e, slowly(e), func(s *stage) {
		s.typed("hello")
		s.press("enter")
		s.sees("hello", "it is sent in a moment")
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
		if s.p.session == "" || s.p.edit.Draft().Input != "x" {
			t.Errorf("in %q the prompt is %q", s.p.session, s.p.edit.Draft().Input)
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
