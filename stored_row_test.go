package lathe_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// A fork copies rows as they are, so a row may not say whose it is.
var ownIDs = [][]byte{
	[]byte(`"sessionID"`), []byte(`"messageID"`), []byte(`"parentID"`),
	[]byte(lathetest.SessionID), []byte(lathetest.AnswerID), []byte(`"role"`),
}

func TestRow_Parts(t *testing.T) {
	for i, p := range lathetest.Parts(lathetest.SessionID, lathetest.AnswerID) {
		row := p.AppendRow(nil)
		for _, id := range append(ownIDs, []byte(p.ID), []byte(`"type":"`+p.Body.Kind()+`"`)) {
			if _, file := p.Body.(*lathe.File); file && bytes.HasPrefix(id, []byte(`"type"`)) {
				continue // its source has its own type
			}
			if bytes.Contains(row, id) {
				t.Errorf("%s: the row holds %s:\n%s", p.Body.Kind(), id, row)
			}
		}
		value(t, row)
		got := lathe.Part{ID: "prt_copy", Session: "ses_copy", Message: "msg_copy"}
		if err := got.ReadRow(p.Body.Kind(), row); err != nil {
			t.Fatal(err)
		}
		if !lathe.SameBody(got, p) {
			t.Errorf("%s: the copy says something else", p.Body.Kind())
		}
		want := lathetest.Parts("ses_copy", "msg_copy")[i]
		want.ID = "prt_copy"
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestRow_Messages(t *testing.T) {
	for _, m := range lathetest.Messages() {
		row := m.AppendRow(nil)
		for _, id := range append(ownIDs, []byte(m.ID), []byte(`"created"`)) {
			if bytes.Contains(row, id) {
				t.Errorf("%s: the row holds %s:\n%s", m.Data.Role(), id, row)
			}
		}
		value(t, row)
		got := lathe.Message{ID: m.ID, Session: m.Session, Created: m.Created}
		if err := got.ReadRow(m.Data.Role(), row); err != nil {
			t.Fatal(err)
		}
		m.Parts = nil
		if d := cmp.Diff(m, got.WithParent(m.Parent()), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestRow_Errors(t *testing.T) {
	var p lathe.Part
	if err := p.ReadRow("text", []byte(`{"text":1}`)); err == nil || err.Error() != "part.text: want a string, got 1" {
		t.Error(err)
	}
	var m lathe.Message
	if err := m.ReadRow("user", nil); err == nil || err.Error() != "message: want an object, got nothing" {
		t.Error(err)
	}
}

func TestSameBody(t *testing.T) {
	all := lathetest.Parts(lathetest.SessionID, lathetest.AnswerID)
	others := lathetest.Parts("ses_other", "msg_other")
	for i := range all {
		for j := range others {
			if lathe.SameBody(all[i], others[j]) != (i == j) {
				t.Errorf("%d. and %d. sample: same %v", i, j, i != j)
			}
		}
	}
}

func TestPart_Text(t *testing.T) {
	for _, tt := range []struct {
		body lathe.Body
		open bool
		text string
	}{
		{&lathe.Text{Text: "a"}, false, "a"},
		{&lathe.Text{Text: "a", Time: &lathe.Span{Start: 1}}, true, "a"},
		{&lathe.Text{Text: "a", Time: &lathe.Span{Start: 1, End: 2}}, false, "a"},
		{&lathe.Reasoning{Text: "b", Time: lathe.Span{Start: 1}}, true, "b"},
		{&lathe.Reasoning{Text: "b", Time: lathe.Span{Start: 1, End: 2}}, false, "b"},
		{&lathe.StepStart{}, false, ""},
	} {
		p := lathe.Part{Body: tt.body}
		if p.Open() != tt.open || p.GrowingText() != tt.text {
			t.Errorf("%+v: open %v, text %q", tt.body, p.Open(), p.GrowingText())
		}
		changed := p.WithText("new")
		if p.GrowingText() != tt.text || changed.Open() != tt.open {
			t.Errorf("%+v: WithText changed the part", tt.body)
		}
		if want := map[bool]string{true: "new"}[tt.text != ""]; changed.GrowingText() != want {
			t.Errorf("%+v: text %q", tt.body, changed.GrowingText())
		}
	}
}

func TestMessage_Order(t *testing.T) {
	a, b, c := lathe.Message{ID: "msg_f", Created: 1}, lathe.Message{ID: "msg_0", Created: 2}, lathe.Message{ID: "msg_1", Created: 2}
	if !a.Before(b) || b.Before(a) || !b.Before(c) || c.Before(b) || a.Before(a) {
		t.Error("order is creation, then id")
	}
	m := lathe.Message{Data: &lathe.Assistant{Parent: "msg_1"}}
	if n := m.WithParent("msg_2"); n.Parent() != "msg_2" || m.Parent() != "msg_1" {
		t.Errorf("%s, %s", n.Parent(), m.Parent())
	}
	u := lathe.Message{Data: &lathe.User{}}
	if n := u.WithParent("msg_2"); n.Parent() != "" {
		t.Error("a prompt has a parent")
	}
}
