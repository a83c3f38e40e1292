package lathe_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// samples is the wire's text of every sample, by kind and name.
func samples() map[string]named {
	out := map[string]named{
		"part": {}, "message": {}, "info": {}, "event": {},
		"session": {"session": lathetest.Session().AppendJSON(nil)},
		"project": {"project": lathetest.Project().AppendJSON(nil)},
	}
	for _, p := range lathetest.Parts(lathetest.SessionID, lathetest.AnswerID) {
		name := p.Body.Kind()
		if call, ok := p.Body.(*lathe.ToolCall); ok {
			name += " " + call.State.Status()
		}
		out["part"].add(name, p.AppendJSON(nil))
	}
	for _, m := range lathetest.Messages() {
		out["message"].add(m.Data.Role(), m.AppendJSON(nil))
		out["info"].add(m.Data.Role(), m.AppendInfo(nil))
	}
	for _, f := range lathetest.Facts() {
		out["event"].add(f.Type(), sampleEvent(f).AppendWithOffset(nil))
	}
	for _, f := range lathetest.Faults() {
		e := sampleEvent(&lathe.SessionFailed{Session: lathetest.SessionID, Error: f})
		out["event"].add("session.error "+f.Name(), e.AppendJSON(nil))
	}
	return out
}

func sampleEvent(f lathe.Fact) lathe.Event {
	return lathe.Event{ID: "evt_bbef3b000001EventSampleAAA", Session: lathe.SessionOf(f), Fact: f}
}

func TestGolden(t *testing.T) {
	for kind, values := range samples() {
		t.Run(kind, func(t *testing.T) { golden(t, kind, values) })
	}
}

func TestGolden_Rows(t *testing.T) {
	rows := named{}
	for _, p := range lathetest.Parts(lathetest.SessionID, lathetest.AnswerID) {
		rows.add(p.Body.Kind(), p.AppendRow(nil))
	}
	for _, m := range lathetest.Messages() {
		rows.add(m.Data.Role(), m.AppendRow(nil))
	}
	golden(t, "row", rows)
}

func TestSamples_ReadAndWrittenAgain(t *testing.T) {
	for kind, values := range samples() {
		for name, data := range values {
			t.Run(kind+"/"+name, func(t *testing.T) {
				got := rewrite(t, kind, string(data))
				same(t, []byte(got), data)
				if !utf8.ValidString(got) {
					t.Error("not UTF-8")
				}
			})
		}
	}
}

// What comes back is the same Go value, not only the same text.
func TestSamples_SameValues(t *testing.T) {
	check := func(t *testing.T, want, got any, data []byte) {
		t.Helper()
		if err := json.Unmarshal(data, got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("(-sample +read):\n%s", d)
		}
	}
	session, project := lathetest.Session(), lathetest.Project()
	check(t, &session, new(lathe.Session), session.AppendJSON(nil))
	check(t, &project, new(lathe.Project), project.AppendJSON(nil))
	for _, m := range lathetest.Messages() {
		check(t, &m, new(lathe.Message), m.AppendJSON(nil))
	}
	for _, p := range lathetest.Parts(lathetest.SessionID, lathetest.AnswerID) {
		check(t, &p, new(lathe.Part), p.AppendJSON(nil))
	}
	for _, f := range lathetest.Facts() {
		e := sampleEvent(f)
		check(t, &e, new(lathe.Event), e.AppendWithOffset(nil))
	}
	for _, f := range lathetest.Faults() {
		e := sampleEvent(&lathe.SessionFailed{Session: lathetest.SessionID, Error: f})
		check(t, &e, new(lathe.Event), e.AppendJSON(nil))
		same(t, lathe.EncodeFault(f), field(t, e.AppendJSON(nil), "properties", "error"))
	}
}

// field digs a member out of a JSON text.
func field(t *testing.T, data []byte, path ...string) []byte {
	t.Helper()
	for _, key := range path {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			t.Fatal(err)
		}
		data = members[key]
	}
	return data
}

// Values are shared once they are built, so writing one must not touch it. The race
// detector sees if it does.
func TestSamples_WrittenByManyAtOnce(t *testing.T) {
	var all []interface{ AppendJSON([]byte) []byte }
	for _, m := range lathetest.Messages() {
		all = append(all, m)
	}
	for _, f := range lathetest.Facts() {
		all = append(all, sampleEvent(f))
	}
	for _, v := range all {
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for range 20 {
					v.AppendJSON(nil)
				}
			})
		}
		group.Wait()
	}
}

// Every sample is given again, so a test that changes one harms no other.
func TestSamples_Fresh(t *testing.T) {
	p := lathetest.Parts("ses_a", "msg_a")[0]
	p.Body.(*lathe.Text).Text = "changed"
	if lathetest.Parts("ses_a", "msg_a")[0].Body.(*lathe.Text).Text == "changed" {
		t.Error("samples are shared")
	}
}

// The pieces that also travel alone.
func TestSamples_Pieces(t *testing.T) {
	s := lathetest.Session()
	piece(t, *s.Summary)
	piece(t, *s.Share)
	piece(t, *s.Revert)
	piece(t, *s.Model)
	piece(t, *s.Tokens)
	piece(t, lathetest.Model())
	piece(t, lathetest.Tokens())
	piece(t, lathetest.Rule())
	piece(t, lathetest.Diff())
	for _, f := range lathetest.Stored() {
		switch f := f.(type) {
		case *lathe.StatusChanged:
			piece(t, f.Status)
		case *lathe.TodosChanged:
			piece(t, f.Todos[0])
		case *lathe.PermissionAsked:
			piece(t, f.PermissionRequest)
		case *lathe.QuestionAsked:
			piece(t, f.QuestionRequest)
		default: // seen whole
		}
	}
}

func piece[T any](t *testing.T, want T) {
	t.Helper()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%T (-want +got):\n%s", want, d)
	}
	if bytes.Contains(data, []byte(`"Extra"`)) {
		t.Errorf("%T is written the Go way: %s", want, data)
	}
}
