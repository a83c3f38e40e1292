package bustest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// joins tests subscribers that join while a part is open, and how they learn of its end.
var joins = []test{
	{"Every_open_text_in_scope_oldest_first", on(joinScope)},
	{"Between_the_commit_and_the_opening", on(joinBeforeOpen)},
	{"An_opening_that_was_not_published", on(joinUnpublished)},
	{"Before_the_settling_the_end_follows", on(joinBeforeSettling)},
	{"After_the_settling_nothing_opens_it_again", on(joinAfterSettling)},
	{"Removals_end_texts", on(joinRemovals)},
	{"A_text_given_up_is_not_joined", on(joinGivenUp)},
	{"Resumed_while_the_store_is_ahead_of_the_bus", on(joinStoreAhead)},
	{"Resumed_before_the_settling", on(joinResumed)},
	{"A_part_has_one_text", on(joinOneText)},
	{"A_part_that_grows_in_another_process", on(joinForeign)},
	{"Every_schedule", joinProperty},
}

func joinScope(t *testing.T, w *writer) {
	for _, p := range []lathe.Part{
		openPart(a1, "prt_9", ""), openPart(b1, "prt_5", ""), openPart(a2, "prt_1", ""), openPart(a1, "prt_0", ""),
	} {
		w.grow(p)
	}
	for _, tt := range []struct {
		scope lathe.Scope
		want  []lathe.PartID
	}{
		{everything, []lathe.PartID{"prt_9", "prt_5", "prt_1", "prt_0"}},
		{lathe.Scope{Directory: "/a"}, []lathe.PartID{"prt_9", "prt_1", "prt_0"}},
		{lathe.Scope{Session: a1}, []lathe.PartID{"prt_9", "prt_0"}},
		{lathe.Scope{Session: a1, Directory: "/b"}, []lathe.PartID{"prt_9", "prt_0"}},
		{lathe.Scope{Session: "ses_b2"}, nil},
	} {
		s := w.Subscribe(tt.scope)
		if diff := cmp.Diff(tt.want, s.OpenTexts()); diff != "" {
			t.Errorf("scope %v: %s", tt.scope, diff)
		}
		for _, id := range tt.want {
			if e := next(t, s); e.Fact.(*lathe.PartChanged).Part.ID != id || e.ID == "" {
				t.Errorf("scope %v: got %v, want %v", tt.scope, e, id)
			}
		}
	}
}

func joinBeforeOpen(t *testing.T, w *writer) {
	events := w.commit(&lathe.PartChanged{Part: openPart(a1, "prt_1", "")})
	s := w.Subscribe(everything)
	text := w.Open(events[0])
	text.Append("x")
	want := []string{`message.part.updated prt_1 ""`, `message.part.delta prt_1@0 "x"`}
	if diff := cmp.Diff(want, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func joinUnpublished(t *testing.T, w *writer) {
	s, other := w.Subscribe(lathe.Scope{Session: a1}), w.Subscribe(lathe.Scope{Session: a2})
	text := w.Open(about(&lathe.PartChanged{Part: openPart(a1, "prt_1", "a")}))
	text.Append("b")
	want := []string{`message.part.updated prt_1 "a"`, `message.part.delta prt_1@1 "b"`}
	if diff := cmp.Diff(want, said(received(t, w, s, lathe.Scope{Session: a1}))); diff != "" {
		t.Error(diff)
	}
	if got := received(t, w, other, lathe.Scope{Session: a2}); len(got) > 0 {
		t.Errorf("out of scope: %v", said(got))
	}
}

func joinBeforeSettling(t *testing.T, w *writer) {
	part := openPart(a1, "prt_1", "")
	text := w.grow(part)
	text.Append("all")
	end := w.number(settled(part, "all")) // on disk, not published
	s := w.Subscribe(everything)
	w.Publish(end...)
	text.Close()
	want := []string{`message.part.updated prt_1 "all"`, `2 message.part.updated prt_1 "all"`}
	if diff := cmp.Diff(want, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func joinAfterSettling(t *testing.T, w *writer) {
	part := openPart(a1, "prt_1", "")
	text := w.grow(part)
	text.Append("all")
	w.commit(settled(part, "all"))
	s := w.Subscribe(everything) // before the runner closes the text
	text.Close()
	if got := received(t, w, s, everything); len(got) > 0 || len(s.OpenTexts()) > 0 || w.Text(part.ID) != nil {
		t.Errorf("joined %v and heard %v", s.OpenTexts(), said(got))
	}
}

func joinRemovals(t *testing.T, w *writer) {
	for _, tt := range []struct {
		name   string
		remove lathe.Fact
		stays  bool
	}{
		{"part", &lathe.PartRemoved{Session: a1, Message: messageOf(a1, 0), Part: "prt_1"}, false},
		{"message", &lathe.MessageRemoved{Session: a1, Message: messageOf(a1, 0)}, false},
		{"session", &lathe.SessionDeleted{Info: lathe.Session{ID: a1}}, false},
		{"another part", &lathe.PartRemoved{Session: a1, Message: messageOf(a1, 0), Part: "prt_2"}, true},
		{"another message", &lathe.MessageRemoved{Session: a1, Message: messageOf(a1, 1)}, true},
		{"another session", &lathe.SessionDeleted{Info: lathe.Session{ID: a2}}, true},
	} {
		text := w.grow(openPart(a1, "prt_1", ""))
		s := w.Subscribe(everything)
		w.commit(tt.remove)
		text.Append("late")
		got := received(t, w, s, everything)
		if grew := len(got) == 3; grew != tt.stays || (w.Text("prt_1") != nil) != tt.stays {
			t.Errorf("after removal of the %s: %v", tt.name, said(got))
		}
		text.Close()
		s.Close()
	}
}

func joinGivenUp(t *testing.T, w *writer) {
	part := openPart(a1, "prt_1", "")
	before := w.Subscribe(everything)
	text := w.grow(part)
	text.Append("half")
	text.Close() // for example after a lost lease
	text.Append(" more")
	after := w.Subscribe(everything)
	w.commit(settled(part, "ha")) // by a repair
	want := []string{
		`1 message.part.updated prt_1 ""`,
		`message.part.delta prt_1@0 "half"`,
		`2 message.part.updated prt_1 "ha"`,
	}
	if diff := cmp.Diff(want, said(received(t, w, before, everything))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[2:], said(received(t, w, after, everything))); diff != "" {
		t.Error(diff)
	}
}

func joinStoreAhead(t *testing.T, w *writer) {
	part, other := openPart(a1, "prt_1", ""), openPart(a1, "prt_2", "")
	text, grows := w.grow(part), w.grow(other)
	text.Append("all")
	s := w.Subscribe(everything)
	end := w.number(settled(part, "all"))
	s.Skip(w.seq) // Since showed it settled, as number 3
	grows.Append("x")
	w.Publish(about(&lathe.SessionIdle{Session: a1})) // ephemeral events need not wait
	if diff := cmp.Diff([]string{`session.idle`}, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
	w.Publish(end...)
	grows.Append("y")
	want := []string{`message.part.updated prt_2 "x"`, `message.part.delta prt_2@1 "y"`}
	if diff := cmp.Diff(want, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
	s.Skip(4) // the number of a checkpoint, which has no event
	w.Advance(4)
	if diff := cmp.Diff([]string{`message.part.updated prt_2 "xy"`}, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func joinResumed(t *testing.T, w *writer) {
	part := openPart(a1, "prt_1", "")
	s := w.Subscribe(everything)
	text := w.grow(part)
	text.Append("a")
	h := w.seq
	late := w.grow(openPart(a1, "prt_2", ""))
	late.Append("1")
	s.Skip(h) // Since has shown the first part open, with the text of its tails
	text.Append("b")
	late.Append("2")
	w.commit(settled(part, "ab"))
	want := []string{
		`2 message.part.updated prt_2 ""`,
		`message.part.updated prt_1 "a"`,
		`message.part.updated prt_2 "1"`,
		`message.part.delta prt_1@1 "b"`,
		`message.part.delta prt_2@1 "2"`,
		`3 message.part.updated prt_1 "ab"`,
	}
	if diff := cmp.Diff(want, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func joinOneText(t *testing.T, w *writer) {
	events := w.commit(&lathe.PartChanged{Part: openPart(a1, "prt_1", "")})
	first := w.Open(events[0])
	if w.Open(events[0]) != first || w.Text("prt_1") != first {
		t.Error("the same part, another text")
	}
	first.Close()
	var again *bus.Text
	if again = w.Open(events[0]); again == first || w.Text("prt_1") != again {
		t.Error("a text that was given up came back")
	}
	first.Close() // a second time, and of the old one
	if w.Text("prt_1") != again {
		t.Error("closing the old one closed the new one")
	}
}

func joinForeign(t *testing.T, w *writer) {
	early := w.Subscribe(everything)
	w.commit(&lathe.PartChanged{Part: openPart(a1, "prt_1", "a")})
	w.commit(&lathe.PartChanged{Part: openPart(a1, "prt_1", "ab")}) // from a checkpoint of the other process
	late := w.Subscribe(everything)
	w.Text("prt_1").Append("c") // or as a delta, if the publisher knows the offset
	w.commit(settled(openPart(a1, "prt_1", ""), "abcd"))
	want := []string{
		`1 message.part.updated prt_1 "a"`,
		`2 message.part.updated prt_1 "ab"`,
		`message.part.delta prt_1@2 "c"`,
		`3 message.part.updated prt_1 "abcd"`,
	}
	if diff := cmp.Diff(want, said(received(t, w, early, everything))); diff != "" {
		t.Error(diff)
	}
	want = append([]string{`message.part.updated prt_1 "ab"`}, want[2:]...)
	if diff := cmp.Diff(want, said(received(t, w, late, everything))); diff != "" {
		t.Error(diff)
	}
}
