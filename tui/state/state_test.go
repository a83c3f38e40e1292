package state_test

import (
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/tui/state"
)

func event(f lathe.Fact) lathe.Event { return lathe.Event{Session: lathe.SessionOf(f), Fact: f} }

func kinds(notes []state.Effect) (out []state.Kind) {
	for _, n := range notes {
		out = append(out, n.Kind)
	}
	return out
}

// Every fact there is can be told to a state, whatever it knows.
func TestApply_EveryFact(t *testing.T) {
	st := state.New()
	for range 2 {
		for _, f := range lathetest.Facts() {
			st.Apply(event(f))
		}
		st.Track(lathetest.SessionID)
	}
	if st.Status(lathetest.SessionID).Type == "" {
		t.Error("a session without a status")
	}
}

// What is told while a session is read is not lost, and what was read does not undo it.
func TestRead_EventsMeanwhile(t *testing.T) {
	st := state.New()
	o := st.Track("ses_1")
	o.Loading = true
	message := lathe.Message{ID: "msg_1", Session: "ses_1", Created: 5, Data: &lathe.Assistant{}}
	part := lathe.Part{ID: "prt_1", Session: "ses_1", Message: "msg_1", Body: &lathe.Text{Text: "old", Time: &lathe.Span{Start: 1}}}
	st.Apply(event(&lathe.MessageChanged{Info: message}))
	st.Apply(event(&lathe.PartChanged{Part: part}))
	st.Apply(event(&lathe.PartDelta{Session: "ses_1", Message: "msg_1", Part: "prt_1", Field: "text", Delta: " and new", Offset: 3}))
	message.Parts = []lathe.Part{part}
	st.SetTranscript(lathe.Session{ID: "ses_1", Title: "t"}, lathe.Page{Messages: []lathe.Message{message}, More: true, Next: lathe.Position{ID: "more"}}, []lathe.Todo{{Content: "x"}}, nil)
	got := st.Tracked("ses_1")
	if text := got.Transcript.Messages()[0].Parts[0].GrowingText(); text != "old and new" {
		t.Errorf("text is %q", text)
	}
	if got.Older.ID != "more" || got.Loading || len(got.Transcript.Todos()) != 1 {
		t.Errorf("%+v", got)
	}
}

// While a session is read afresh, what is on the screen stays and goes on.
func TestRead_Again(t *testing.T) {
	st := state.New()
	st.SetTranscript(lathe.Session{ID: "ses_1"}, lathe.Page{}, nil, nil)
	o := st.Track("ses_1")
	o.Loading = true
	m := lathe.Message{ID: "msg_1", Session: "ses_1", Created: 5, Data: &lathe.User{}}
	st.Apply(event(&lathe.MessageChanged{Info: m}))
	if o.Transcript.Count() != 1 {
		t.Error("the old transcript does not go on")
	}
	st.SetTranscript(lathe.Session{ID: "ses_1"}, lathe.Page{}, nil, nil)
	if n := st.Tracked("ses_1").Transcript.Count(); n != 1 {
		t.Errorf("%d messages after reading afresh, want the one that was told meanwhile", n)
	}
}

func TestAsks_OfThoseBelow(t *testing.T) {
	st := state.New()
	st.AddSessions(lathe.Session{ID: "ses_1"}, lathe.Session{ID: "ses_2", Parent: "ses_1"}, lathe.Session{ID: "ses_3", Parent: "ses_2"})
	ask := func(id lathe.AskID, s lathe.SessionID) *lathe.PermissionAsked {
		return &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: id, Session: s}}
	}
	st.Apply(event(ask("per_1", "ses_3")))
	st.Apply(event(ask("per_1", "ses_3")))
	st.Apply(event(ask("per_2", "ses_1")))
	if n := len(st.Asks("ses_1")); n != 2 {
		t.Errorf("%d asks for the root, want 2: once each", n)
	}
	if n := len(st.Asks("ses_3")); n != 1 {
		t.Errorf("%d asks for the grandchild", n)
	}
	if got := kinds(st.Apply(event(ask("per_9", "ses_9")))); len(got) != 2 || got[1] != state.UnknownSession {
		t.Errorf("a stranger's ask gives %v", got)
	}
	st.Apply(event(&lathe.PermissionReplied{Session: "ses_3", Request: "per_1"}))
	if n := len(st.Asks("ses_1")); n != 1 {
		t.Errorf("%d asks after an answer", n)
	}
}

func TestIsBelow_Circle(t *testing.T) {
	st := state.New()
	st.AddSessions(lathe.Session{ID: "ses_1", Parent: "ses_2"}, lathe.Session{ID: "ses_2", Parent: "ses_1"})
	if st.IsBelow("ses_1", "ses_7") {
		t.Error("below a session that is not there")
	}
}

func TestStatus_EndsOnce(t *testing.T) {
	st := state.New()
	busy := &lathe.StatusChanged{Session: "ses_1", Status: lathe.Status{Type: lathe.Busy}}
	idle := &lathe.StatusChanged{Session: "ses_1", Status: lathe.Status{Type: lathe.Idle}}
	if got := st.Apply(event(idle)); len(got) != 0 {
		t.Errorf("the end of nothing: %v", got)
	}
	st.Apply(event(busy))
	if !st.Busy("ses_1") {
		t.Error("it is not busy")
	}
	if got := kinds(st.Apply(event(idle))); len(got) != 1 || got[0] != state.TurnEnded {
		t.Errorf("notes %v", got)
	}
	if st.Busy("ses_1") {
		t.Error("it is still busy")
	}
}

func TestWork_OfAChild(t *testing.T) {
	st := state.New()
	call := func(id lathe.PartID, s lathe.ToolState) {
		st.Apply(event(&lathe.PartChanged{Part: lathe.Part{ID: id, Session: "ses_2", Message: "msg_1", Body: &lathe.ToolCall{Tool: "grep", State: s}}}))
	}
	call("prt_1", &lathe.Running{Title: "needle"})
	if doing, n, ok := st.Progress("ses_2"); doing != "grep needle" || n != 1 || !ok {
		t.Errorf("%q %d %v", doing, n, ok)
	}
	call("prt_1", &lathe.Completed{})
	call("prt_2", &lathe.Completed{})
	if doing, n, _ := st.Progress("ses_2"); doing != "" || n != 2 {
		t.Errorf("%q %d", doing, n)
	}
}
