package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/memory"
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
		s.sees("“Write a parser” is waiting for your answer: /sessions")
		s.lacks("Permission required")
		s.pass(10 * time.Second) // the note is gone
		s.slash("sessions")
		s.sees("Write a parser  waiting for you")
		s.tell(&lathe.PermissionReplied{Session: "ses_2", Request: "per_1", Reply: lathe.Once})
		s.lacks("waiting for you")
	})
	e := sample()
	e.sessions = append(e.sessions, lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"})
	onStage(t, e, inSample(), func(s *stage) {
		s.tell(askFor("per_1", "ses_child"))
		s.sees("Permission required", "explore")
		s.lacks("waiting for you")
	})
	onStage(t, e, Options{Start: Start{Session: "ses_child"}}, func(s *stage) {
		s.tell(askFor("per_1", "ses_child"))
		s.lacks("Permission required")
		s.sees("Your answer is needed: press up to see the request")
		s.pass(time.Minute)
		s.lacks("goes to where it is asked")
		s.sees("△ Your answer is needed: up")
		s.press("up")
		s.sees("Permission required")
	})
}

// Esc leaves a subagent that works on. The list of commands can interrupt it.
func TestInterrupt_OfAChild(t *testing.T) {
	e := sample()
	e.sessions = append(e.sessions, lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"})
	e.statuses = map[lathe.SessionID]lathe.Status{"ses_child": {Type: lathe.Busy}}
	onStage(t, e, Options{Start: Start{Session: "ses_child"}}, func(s *stage) {
		s.sees("Parent esc")
		s.press("ctrl+p")
		s.typed("interrupt")
		s.press("enter")
		s.did("cancel ses_child")
		s.press("esc")
		s.sees("You are welcome.")
		s.did()
	})
}

// Where nothing is left to interrupt, esc leads back.
func TestEscape_LeavesAChild(t *testing.T) {
	e := sample()
	e.sessions = append(e.sessions, lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"})
	onStage(t, e, Options{Start: Start{Session: "ses_child"}}, func(s *stage) {
		s.sees("Parent esc")
		s.press("esc")
		s.sees("You are welcome.")
		s.did()
	})
}

// Two presses in an empty prompt pick an earlier one to edit. Nothing changes before it is chosen.
func TestEscape_EditsAnEarlierPrompt(t *testing.T) {
	e := sample()
	e.undone = lathe.Undone{Files: []lathe.UndoneFile{{File: "greet.go", Action: "restore"}}}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("esc")
		s.sees("esc again to edit an earlier prompt")
		s.pass(5 * time.Second)
		s.press("esc") // too late for the second press
		s.lacks("Edit an earlier prompt")
		s.press("esc")
		s.sees("Edit an earlier prompt", "Mend the greeting.", "Thank you")
		s.golden("edit-earlier")
		s.press("up", "enter")
		s.sees("Edit this prompt", "undo it, later messages and their file changes")
		s.press("esc")
		s.did()
		s.press("esc", "esc", "up", "enter", "enter")
		s.did("undo ses_1 msg_0")
		s.sees("Undone; files changed: 1")
		if got := s.p.drafts.edit.Text(); got != "Mend the greeting.\nThe test fails." {
			t.Errorf("the prompt is %q", got)
		}
		s.press("esc", "esc", "esc") // a prompt with a text is not given away
		s.lacks("Edit an earlier prompt")
	})
}

// The copy of a session begins before the prompt, which is there to be edited.
func TestEscape_EditsInAFork(t *testing.T) {
	onStage(t, sample(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("esc", "esc", "enter", "down", "enter")
		s.did("fork ses_1 msg_3")
		s.sees("Forked", "Thank you")
	})
}

// Why an answer is tried again can be read on a narrow screen, too.
func TestRetry_SaysWhy(t *testing.T) {
	e := sample()
	e.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Retrying, Attempt: 2, Message: "too many requests", Next: lathe.Time(time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC).UnixMilli())}}
	onStage(t, e, inSample(), func(s *stage) {
		for _, width := range []int{40, 80, 140} {
			s.resize(width, 24)
			s.sees("Retrying in")
			if n := strings.Count(s.screen(), "too many requests"); n != 1 {
				t.Errorf("at %d columns it is said %d times:\n%s", width, n, s.screen())
			}
		}
	})
}

// A sentence that is typed at a permission rejects it, in these words, and is shown as what it is.
func TestAsk_SentenceRejects(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.tell(askFor("per_1", sampleID))
		s.pass(time.Second)
		s.typed("no, stop it")
		s.sees("Reason for rejecting:", "no, stop it", "enter reject")
		s.did()
		s.press("enter")
		s.did("reply per_1 reject no, stop it")
	})
}

// What is typed as a permission appears goes to the prompt, and an enter long after it confirms nothing: something
// must be selected.
func TestAsk_TypedAsItAppears(t *testing.T) {
	for _, before := range []string{"", "fix "} {
		onStage(t, sample(), inSample(), func(s *stage) {
			s.typed(before)
			s.tell(askFor("per_1", sampleID))
			s.typed("the test")
			s.pass(time.Second)
			s.press("enter")
			s.did()
			s.sees("Permission required", "1-2 ←→ select")
			if got := s.p.drafts.edit.Text(); got != before+"the test" {
				t.Errorf("the prompt has %q", got)
			}
			s.press("1", "enter")
			s.did("reply per_1 once")
		})
	}
}

// keptIn is what the memory has put aside, newest first, and whether the history has the same as its last.
func keptIn(t *testing.T, state string) (text string, both bool) {
	t.Helper()
	aside, err := memory.Open(state).Stash()
	if err != nil || len(aside) == 0 {
		t.Fatalf("nothing is put aside: %v", err)
	}
	history, err := memory.Open(state).History()
	if err != nil || len(history) == 0 {
		t.Fatalf("the history is empty: %v", err)
	}
	text = aside[len(aside)-1].Input
	return text, history[len(history)-1].Input == text
}

// What was typed and not sent is kept in the history and in the stash, wherever it was typed.
func TestTyped_IsSaved(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(s *stage)
		want string
	}{
		"a short draft": {func(s *stage) {
			s.typed("wait")
			s.press("ctrl+c")
			s.sees("Cleared: get it back from the history or /stash")
		}, "wait"},
		"a dialog": {func(s *stage) { s.slash("rename"); s.press("ctrl+u"); s.typed("a better name"); s.press("esc") }, "a better name"},
		"words that somebody else made needless": {func(s *stage) {
			s.tell(askFor("per_1", sampleID))
			s.pass(time.Second)
			s.typed("rather not")
			s.tell(&lathe.PermissionReplied{Session: sampleID, Request: "per_1", Reply: lathe.Once})
			s.sees("Your text was saved: /stash")
		}, "rather not"},
		"leaving with words": {func(s *stage) {
			s.tell(askFor("per_1", sampleID))
			s.pass(time.Second)
			s.typed("hm")
			if err := s.p.saveDrafts(); err != nil {
				t.Error(err)
			}
		}, "hm"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			onStage(t, sample(), Options{State: state, Start: Start{Session: sampleID}}, func(s *stage) {
				tt.do(s)
				s.settle()
			})
			if got, both := keptIn(t, state); got != tt.want || !both {
				t.Errorf("kept %q, in both %v", got, both)
			}
		})
	}
}

// One call that needs two permissions has one prompt, and one answer for both.
func TestAsk_TwoReasons(t *testing.T) {
	ref := &lathe.ToolRef{Message: "msg_1", Call: "call_1"}
	outside := &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
		ID: "per_1", Session: sampleID, Permission: "external_directory", Patterns: []string{"/etc/*"}, Always: []string{"/etc/*"}, Tool: ref,
	}}
	command := &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
		ID: "per_2", Session: sampleID, Permission: "bash", Patterns: []string{"cat /etc/hosts"}, Always: []string{"cat *"}, Tool: ref,
	}}
	for keys, did := range map[string][]string{
		"enter":             {"reply per_2 once", "reply per_1 once"},
		"2 enter":           {"grant per_2 session [cat *]", "grant per_1 session [/etc/*]"},
		"3 enter enter":     {"grant per_2 project [cat *]", "grant per_1 project [/etc/*]"},
		"4 enter n o enter": {"reply per_2 reject no"},
	} {
		onStage(t, sample(), inSample(), func(s *stage) {
			s.tell(outside)
			s.tell(command)
			s.pass(time.Second)
			s.sees("Run a command that leaves the project", "cat /etc/hosts", "/etc/*")
			s.lacks("more pending")
			for _, k := range strings.Fields(keys) {
				s.press(k)
				s.pass(time.Second)
				s.screen() // the choice is drawn before it counts
			}
			s.did(did...)
			s.lacks("Permission required") // at once, not when the engine has answered
		})
	}
	e := sample()
	e.fails = map[string]error{"reply": lathe.Errorf(lathe.Internal, "no connection")}
	onStage(t, e, inSample(), func(s *stage) {
		s.tell(command)
		s.pass(time.Second)
		s.press("enter")
		s.sees("Could not answer", "Permission required") // it is back
	})
	other := *command
	other.ID, other.Tool = "per_3", &lathe.ToolRef{Message: "msg_1", Call: "call_2"}
	onStage(t, sample(), inSample(), func(s *stage) {
		s.tell(outside)
		s.tell(&other) // of another call: it waits
		s.pass(time.Second)
		s.sees("Access files outside the project", "1 more pending")
	})
}
