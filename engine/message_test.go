package engine_test

import (
	"slices"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// Pages go from the newest to the oldest, ascending within each, by creation and id and
// so across the wrap. (spec 2.4, 18.15)
func TestMessages_Pages(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, m := w.wrapped()
	more := w.user(s.ID, "last")
	all := []lathe.MessageID{m[0].ID, m[1].ID, m[2].ID, m[3].ID, more.ID}
	for _, limit := range []int{1, 2, 3, 5, 6} {
		var got []lathe.MessageID
		at := lathe.Position{}
		for {
			page := must(w.Messages(t.Context(), s.ID, at, limit))(w)
			if n := len(page.Messages); n > limit || page.More && n != limit {
				t.Fatalf("a page of %d has %d, more %v", limit, n, page.More)
			}
			got = slices.Concat(ids(page.Messages, messageID), got)
			if !page.More {
				break
			}
			at = page.Next
		}
		w.same("all pages", got, all)
	}
	w.same("no limit", ids(w.history(s.ID), messageID), all)
	first := must(w.Messages(t.Context(), s.ID, lathe.Position{Time: m[1].Created, ID: string(m[1].ID)}, 0))(w)
	w.same("no limit, before a place", ids(first.Messages, messageID), all[:1])
	w.same("one message", must(w.Message(t.Context(), s.ID, m[2].ID))(w), w.history(s.ID)[2])
	empty := must(w.Messages(t.Context(), w.session().ID, lathe.Position{}, 3))(w)
	if empty.Messages == nil || len(empty.Messages) != 0 || empty.More {
		t.Errorf("of an empty session: %+v", empty)
	}
	_, err := w.Messages(t.Context(), "ses_none", lathe.Position{}, 3)
	w.is(err, lathe.NotFound)
	_, err = w.Message(t.Context(), s.ID, "msg_none")
	w.is(err, lathe.NotFound)
	_, err = w.Message(t.Context(), w.session().ID, m[0].ID)
	w.is(err, lathe.NotFound)
}

// A new message is always the last, whatever it says about its time; an old one keeps its
// time. (turn.md)
func TestUpdateMessage_Time(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	put := func(id lathe.MessageID, at lathe.Time) lathe.Message {
		return must(w.UpdateMessage(t.Context(), lathe.Message{ID: id, Session: s.ID, Created: at, Data: &lathe.User{Agent: "build"}}))(w)
	}
	now := w.clock.now()
	got := []lathe.Time{
		put("msg_c", 0).Created, put("msg_b", now).Created, put("msg_a", 5).Created, put("msg_d", now+0.5).Created, put("msg_c", 1).Created,
	}
	w.same("times", got, []lathe.Time{now, now + 1, now + 2, now + 3, now})
	w.same("order", ids(w.history(s.ID), messageID), []lathe.MessageID{"msg_c", "msg_b", "msg_a", "msg_d"})
}

func TestUpdateMessage_KeepsParts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.user(s.ID, "words")
	m.Data = &lathe.User{Agent: "plan", Model: lathe.ModelRef{Provider: "acme", Model: "m-2"}, Extra: `"x-kept":1`}
	w.same("returned", must(w.UpdateMessage(t.Context(), m))(w), m)
	w.same("stored", must(w.Message(t.Context(), s.ID, m.ID))(w), m)
}

// A message that becomes the other side's is read as what it was written.
func TestUpdateMessage_ChangesSides(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.user(s.ID, "words")
	for _, said := range []lathe.RoleData{
		&lathe.Assistant{Parent: "msg_1", Agent: "build", Mode: "build"}, &lathe.User{Agent: "build"},
	} {
		m.Data = said
		must(w.UpdateMessage(t.Context(), m))(w)
		w.same("stored", must(w.Message(t.Context(), s.ID, m.ID))(w), m)
	}
}

func TestEdit_Refuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s, other := w.session(), w.session()
	m, foreign := w.user(s.ID, "mine"), w.user(other.ID, "not mine")
	before := w.stored(lathe.Scope{})
	user := &lathe.User{Agent: "build"}
	text := &lathe.Text{Text: "x"}
	message := func(id lathe.MessageID, in lathe.SessionID) func() error {
		return func() error {
			_, err := w.UpdateMessage(t.Context(), lathe.Message{ID: id, Session: in, Data: user})
			return err
		}
	}
	part := func(p lathe.Part, delta string) func() error {
		return func() error {
			_, err := w.UpdatePart(t.Context(), p, delta)
			return err
		}
	}
	mine := func(id lathe.PartID) lathe.Part { return lathe.Part{ID: id, Session: s.ID, Message: m.ID, Body: text} }
	for name, c := range map[string]struct {
		do   func() error
		code lathe.Code
	}{
		"a message with another kind of id":   {message("prt_1", s.ID), lathe.Invalid},
		"a message of no session":             {message("msg_1", "ses_none"), lathe.NotFound},
		"a message of another session":        {message(foreign.ID, s.ID), lathe.Conflict},
		"a part with another kind of id":      {part(mine("msg_1"), ""), lathe.Invalid},
		"a part with a path as id":            {part(mine("prt_/../x"), ""), lathe.Invalid},
		"a part of no session":                {part(lathe.Part{ID: "prt_1", Session: "ses_none", Message: m.ID, Body: text}, ""), lathe.NotFound},
		"a part of no message":                {part(lathe.Part{ID: "prt_1", Session: s.ID, Message: "msg_none", Body: text}, ""), lathe.NotFound},
		"a part of another's message":         {part(lathe.Part{ID: "prt_1", Session: s.ID, Message: foreign.ID, Body: text}, ""), lathe.NotFound},
		"a part that belongs to another":      {part(mine(foreign.Parts[0].ID), ""), lathe.Conflict},
		"a delta for no part":                 {part(mine("prt_none"), "more"), lathe.NotFound},
		"a delta for a part that has ended":   {part(mine(m.Parts[0].ID), "more"), lathe.Conflict},
		"a delta for a part of another":       {part(mine(foreign.Parts[0].ID), "more"), lathe.NotFound},
		"removal of no message":               {func() error { return w.RemoveMessage(t.Context(), s.ID, "msg_none") }, lathe.NotFound},
		"removal of another's message":        {func() error { return w.RemoveMessage(t.Context(), s.ID, foreign.ID) }, lathe.NotFound},
		"removal of a message of no session":  {func() error { return w.RemoveMessage(t.Context(), "ses_none", m.ID) }, lathe.NotFound},
		"removal of no part":                  {func() error { return w.RemovePart(t.Context(), s.ID, m.ID, "prt_none") }, lathe.NotFound},
		"removal of a part of another":        {func() error { return w.RemovePart(t.Context(), s.ID, m.ID, foreign.Parts[0].ID) }, lathe.NotFound},
		"removal of a part of another's":      {func() error { return w.RemovePart(t.Context(), s.ID, foreign.ID, foreign.Parts[0].ID) }, lathe.NotFound},
		"removal of a part through a session": {func() error { return w.RemovePart(t.Context(), "ses_none", m.ID, m.Parts[0].ID) }, lathe.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			l := w.listen(lathe.Scope{})
			w.is(c.do(), c.code)
			w.same("events", kinds(l.received()), []string{})
			must(w.Touch(t.Context(), other.ID))(w) // nothing is left busy or broken
			r := w.runner(s.ID)
			w.ok(r.Release(t.Context()))
		})
	}
	w.same("what is stored", w.stored(lathe.Scope{}), before)
}

func TestRemove_MessageAndPart(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.user(s.ID, "one")
	second := w.text(m, "two")
	next := w.user(s.ID, "three")
	w.ok(w.RemovePart(t.Context(), s.ID, m.ID, m.Parts[0].ID))
	m.Parts = []lathe.Part{second}
	w.same("after removePart", w.history(s.ID), []lathe.Message{m, next})
	w.is(w.RemovePart(t.Context(), s.ID, m.ID, "prt_gone"), lathe.NotFound)
	w.ok(w.RemoveMessage(t.Context(), s.ID, m.ID))
	w.same("after removeMessage", w.history(s.ID), []lathe.Message{next})
	if again := w.text(next, "four"); again.Message != next.ID {
		t.Errorf("written to %s", again.Message)
	}
}

// A part grows by deltas in the store as it does for clients, also by those that come to
// another process, and no further once it has ended.
func TestUpdatePart_Delta(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.answer(w.user(s.ID, "go"))
	p := w.growing(m, "Ein ")
	l := w.listen(lathe.Scope{Session: s.ID})
	p = must(w.UpdatePart(t.Context(), p, ""))(w)
	grown := must(w.UpdatePart(t.Context(), lathe.Part{ID: p.ID, Session: s.ID, Message: m.ID}, "Wört"))(w)
	w.same("returned", grown, p.WithText("Ein Wört"))
	w.Engine, w.ids = w.reopen()
	w.same("stored", must(w.Store().Part(t.Context(), s.ID, m.ID, p.ID))(w), p.WithText("Ein Wört"))

	l = w.listen(lathe.Scope{Session: s.ID}, l.at)
	l.received()
	f := newFold()
	f.read(w.stored(lathe.Scope{Session: s.ID})[s.ID])
	for i, delta := range []string{" 😀", "…"} {
		must(w.UpdatePart(t.Context(), p, delta))(w)
		events := l.received()
		want := []string{"message.part.delta"}
		if i == 0 { // the part is new to this process
			want = append([]string{"message.part.updated"}, want...)
		}
		w.same("told", kinds(events), want)
		f.apply(events...)
		f.compare(w, lathe.Scope{Session: s.ID})
	}

	must(w.UpdatePart(t.Context(), closedBody(p, "Ein Wört 😀…"), ""))(w)
	_, err := w.UpdatePart(t.Context(), p, "late")
	w.is(err, lathe.Conflict)
	w.same("at the end", says(w.history(s.ID)), [][]string{{"go"}, {"Ein Wört 😀…"}})
}

// A part that is written open again with another text is reported again, and grows from there.
func TestUpdatePart_OpenAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	m := w.answer(w.user(s.ID, "go"))
	l := w.listen(lathe.Scope{})
	f := newFold()
	f.read(w.stored(lathe.Scope{})[s.ID])
	p := w.growing(m, "first")
	for _, c := range []struct{ text, delta string }{
		{"first", " more"}, {"another", " text"}, {"another text", "."}, {"ano", "ther way"}, {"", "from nothing"},
	} {
		must(w.UpdatePart(t.Context(), p.WithText(c.text), ""))(w)
		f.apply(l.received()...)
		f.compare(w, lathe.Scope{})
		must(w.UpdatePart(t.Context(), p, c.delta))(w)
		w.same("stored", says(w.history(s.ID))[1], []string{c.text + c.delta})
		f.apply(l.received()...)
		f.compare(w, lathe.Scope{})
	}
}

// While a runner works on a session no other process writes below it; its columns can still be
// edited, and it can be removed. (I8, turn.md)
func TestBusySession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := w.another()
	s := w.session()
	m := w.user(s.ID, "one")
	r := w.runner(s.ID)
	for name, w := range map[string]*fixture{"this process": w, "another process": other} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			before := w.history(s.ID)
			_, err := w.UpdateMessage(t.Context(), m)
			w.is(err, lathe.Conflict)
			_, err = w.UpdatePart(t.Context(), m.Parts[0], "")
			w.is(err, lathe.Conflict)
			_, err = w.UpdatePart(t.Context(), m.Parts[0], "delta")
			w.is(err, lathe.Conflict)
			w.is(w.RemovePart(t.Context(), s.ID, m.ID, m.Parts[0].ID), lathe.Conflict)
			w.is(w.RemoveMessage(t.Context(), s.ID, m.ID), lathe.Conflict)
			_, err = engine.Take(t.Context(), w.Engine, s.ID)
			w.is(err, lathe.Conflict)
			w.same("history", w.history(s.ID), before)

			must(w.Rename(t.Context(), s.ID, name))(w)
			must(w.Touch(t.Context(), s.ID))(w)
			if got := w.get(s.ID).Title; got != name {
				t.Errorf("the title is %q", got)
			}
		})
	}
	must(r.Commit(t.Context(), &lathe.MessageChanged{Info: m}))(w)
	w.ok(other.Remove(t.Context(), s.ID))
	_, err := r.Commit(t.Context(), &lathe.MessageChanged{Info: m})
	w.is(err, lathe.Conflict)
	w.ok(r.Release(t.Context()))
}

// A panic while a session is edited does not leave it busy: a server continues after one.
func TestEdit_PanicLeavesNothingBusy(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	s := w.session()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a message that says nothing was accepted")
			}
		}()
		_, _ = w.UpdateMessage(t.Context(), lathe.Message{ID: "msg_1", Session: s.ID})
	}()
	w.user(s.ID, "still works")
}
