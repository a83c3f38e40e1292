package lathe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// view is all that a transcript shows.
type view struct {
	Session  lathe.Session
	Deleted  bool
	Status   lathe.Status
	Todos    []lathe.Todo
	Diff     []lathe.FileDiff
	Messages []lathe.Message
	Asks     []lathe.Fact
	Stale    bool
}

func viewOf(t *lathe.Transcript) view {
	return view{t.Session(), t.Deleted(), t.Status(), t.Todos(), t.Diff(), t.Messages(), t.Asks(), t.Stale()}
}

// text is the view as JSON: comparing that is quick, and we compare many.
func (v view) text() string {
	out := fmt.Appendf(nil, "%v %v ", v.Deleted, v.Stale)
	for _, f := range append(v.Asks,
		&lathe.SessionChanged{Info: v.Session}, &lathe.StatusChanged{Status: v.Status},
		&lathe.TodosChanged{Todos: v.Todos}, &lathe.DiffChanged{Diff: v.Diff}) {
		out = lathe.Event{Fact: f}.AppendJSON(out)
	}
	for _, m := range v.Messages {
		out = m.AppendJSON(out)
	}
	return string(out)
}

// viewDiff shows how two views differ, "" if they do not.
func viewDiff(want, got view) string {
	if want.text() == got.text() {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// fold applies the facts to an empty transcript of ses_1.
func fold(facts ...[]lathe.Fact) *lathe.Transcript {
	t := lathe.NewTranscript(lathe.Session{ID: "ses_1"}, nil)
	for _, f := range slices.Concat(facts...) {
		t.Apply(lathe.Event{Fact: f})
	}
	return t
}

// feed is a model of how the store numbers rows and what it tells users who come back.
type feed struct {
	seq  int
	rows map[string]*feedRow
}

type feedRow struct {
	born, seq int
	facts     []lathe.Fact // the present state, or that it is gone
	message   lathe.MessageID
}

func (f *feed) commit(fact lathe.Fact) {
	f.seq++
	switch x := fact.(type) {
	case *lathe.SessionCreated:
		f.put("session", fact, &lathe.SessionChanged{Info: x.Info})
	case *lathe.SessionChanged:
		f.put("session", fact)
	case *lathe.SessionDeleted:
		f.rows = map[string]*feedRow{}
		f.put("session", fact)
	case *lathe.MessageChanged:
		f.put("message "+string(x.Info.ID), fact)
	case *lathe.MessageRemoved:
		for key, r := range f.rows {
			if r.message == x.Message {
				delete(f.rows, key)
			}
		}
		f.put("message "+string(x.Message), fact)
	case *lathe.PartChanged:
		f.put("part "+string(x.Part.ID), fact).message = x.Part.Message
	case *lathe.PartRemoved:
		f.put("part "+string(x.Part), fact)
	case *lathe.PartDelta: // a checkpoint
		p := f.rows["part "+string(x.Part)].facts[0].(*lathe.PartChanged).Part
		f.put("part "+string(x.Part), &lathe.PartChanged{Part: p.WithText(p.GrowingText() + x.Delta)})
	case *lathe.PermissionAsked:
		f.put("ask "+string(x.ID), fact)
	case *lathe.PermissionReplied:
		f.put("ask "+string(x.Request), fact)
	case *lathe.QuestionAsked:
		f.put("ask "+string(x.ID), fact)
	case *lathe.QuestionReplied:
		f.put("ask "+string(x.Request), fact)
	case *lathe.QuestionRejected:
		f.put("ask "+string(x.Request), fact)
	default:
		f.put(fact.Type(), fact)
	}
}

func (f *feed) put(key string, present ...lathe.Fact) *feedRow {
	r := f.rows[key]
	if r == nil {
		r = &feedRow{born: f.seq}
		f.rows[key] = r
	}
	r.seq, r.facts = f.seq, present
	return r
}

// since is the present state of what changed after number n: rows born later in the
// order of their birth, others in the order of their change.
func (f *feed) since(n int) []lathe.Fact {
	var changed []*feedRow
	for _, r := range f.rows {
		if r.seq > n {
			changed = append(changed, r)
		}
	}
	place := func(r *feedRow) int {
		if r.born > n {
			return r.born
		}
		return r.seq
	}
	slices.SortFunc(changed, func(a, b *feedRow) int { return place(a) - place(b) })
	var out []lathe.Fact
	for _, r := range changed {
		out = append(out, r.facts...)
	}
	return out
}

// feedAt is the feed after the first m facts; the number of a fact is its place.
func feedAt(facts []lathe.Fact, m int) *feed {
	f := &feed{rows: map[string]*feedRow{}}
	for _, fact := range facts[:m] {
		f.commit(fact)
	}
	return f
}

// Short ways to write facts of ses_1.

func message(id lathe.MessageID, created lathe.Time, said lathe.RoleData) lathe.Fact {
	return &lathe.MessageChanged{Info: lathe.Message{ID: id, Session: "ses_1", Created: created, Data: said}}
}

func changed(m lathe.MessageID, id lathe.PartID, b lathe.Body) lathe.Fact {
	return &lathe.PartChanged{Part: lathe.Part{ID: id, Session: "ses_1", Message: m, Body: b}}
}

func open(text string) *lathe.Text {
	return &lathe.Text{Text: text, Time: &lathe.Span{Start: 1}}
}

func ended(text string) *lathe.Text {
	return &lathe.Text{Text: text, Time: &lathe.Span{Start: 1, End: 2}}
}

// delta extends a part; offset -1 does not tell where.
func delta(m lathe.MessageID, id lathe.PartID, text string, offset int) lathe.Fact {
	return &lathe.PartDelta{Session: "ses_1", Message: m, Part: id, Field: "text", Delta: text, Offset: offset}
}

func asked(id lathe.AskID) lathe.Fact {
	if strings.HasPrefix(string(id), "per") {
		return &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: id, Session: "ses_1"}}
	}
	return &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{ID: id, Session: "ses_1"}}
}

// script is a whole session: a prompt, two steps with a thought, a text, a tool and asks,
// a message that moves and one that goes.
func script() []lathe.Fact {
	call := &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.Pending{}}
	running, _ := call.Run([]byte(`{"command":"ls"}`), 5)
	done, _ := running.Complete(lathe.Completed{Output: "a\n", Title: "ls", End: 6})
	session := lathe.Session{ID: "ses_1", Title: "New"}
	named := session
	named.Title = "Named"
	return []lathe.Fact{
		&lathe.SessionCreated{Info: session},
		message("msg_u1", 10, &lathe.User{Agent: "build"}),
		changed("msg_u1", "prt_u1", &lathe.Text{Text: "do it"}),
		&lathe.StatusChanged{Session: "ses_1", Status: lathe.Status{Type: lathe.Busy}},
		message("msg_a1", 20, &lathe.Assistant{Parent: "msg_u1"}),
		changed("msg_a1", "prt_1", &lathe.StepStart{}),
		changed("msg_a1", "prt_2", &lathe.Reasoning{Time: lathe.Span{Start: 1}}),
		delta("msg_a1", "prt_2", "Let me ", 0),
		delta("msg_a1", "prt_2", "sée 😀", 7),
		changed("msg_a1", "prt_2", &lathe.Reasoning{Text: "Let me sée 😀", Time: lathe.Span{Start: 1, End: 2}}),
		changed("msg_a1", "prt_3", open("")),
		delta("msg_a1", "prt_3", "I ", 0),
		changed("msg_a1", "prt_4", call),
		delta("msg_a1", "prt_3", "look.", 2),
		changed("msg_a1", "prt_3", ended("I look.")),
		changed("msg_a1", "prt_4", running),
		asked("per_1"),
		&lathe.SessionChanged{Info: named},
		asked("que_1"),
		&lathe.PermissionReplied{Session: "ses_1", Request: "per_1", Reply: lathe.Once},
		changed("msg_a1", "prt_4", done),
		&lathe.TodosChanged{Session: "ses_1", Todos: []lathe.Todo{{Content: "one"}}},
		&lathe.QuestionReplied{Session: "ses_1", Request: "que_1", Answers: [][]string{{"Yes"}}},
		changed("msg_a1", "prt_5", &lathe.StepFinish{Reason: "tool-calls"}),
		message("msg_a1", 20, &lathe.Assistant{Parent: "msg_u1", Finish: "tool-calls", Completed: 25}),
		message("msg_u2", 21, &lathe.User{Agent: "build"}),
		changed("msg_u2", "prt_u2", &lathe.Text{Text: "and this"}),
		message("msg_u2", 30, &lathe.User{Agent: "build"}), // it got its place later
		message("msg_a2", 26, &lathe.Assistant{Parent: "msg_u1"}),
		changed("msg_a2", "prt_6", open("")),
		delta("msg_a2", "prt_6", "Do", -1),
		asked("que_2"),
		delta("msg_a2", "prt_6", "ne.", -1),
		&lathe.DiffChanged{Session: "ses_1", Diff: []lathe.FileDiff{{File: "a", Additions: 1}}},
		changed("msg_a2", "prt_7", &lathe.Patch{Hash: "h"}),
		&lathe.PartRemoved{Session: "ses_1", Message: "msg_a2", Part: "prt_7"},
		message("msg_u3", 31, &lathe.User{}),
		changed("msg_u3", "prt_u3", &lathe.Text{Text: "no"}),
		&lathe.MessageRemoved{Session: "ses_1", Message: "msg_u3"},
		asked("per_2"),
		&lathe.QuestionRejected{Session: "ses_1", Request: "que_2"},
		changed("msg_a2", "prt_6", ended("Done.")),
		message("msg_a2", 26, &lathe.Assistant{Parent: "msg_u1", Finish: "stop", Completed: 27}),
		&lathe.TodosChanged{Session: "ses_1", Todos: []lathe.Todo{{Content: "one", Status: "completed"}}},
		&lathe.StatusChanged{Session: "ses_1", Status: lathe.Status{Type: lathe.Idle}},
		&lathe.SessionIdle{Session: "ses_1"},
	}
}

func TestTranscript_Script(t *testing.T) {
	got := viewOf(fold(script()))
	part := func(m lathe.MessageID, id lathe.PartID, b lathe.Body) lathe.Part {
		return lathe.Part{ID: id, Session: "ses_1", Message: m, Body: b}
	}
	want := view{
		Session: lathe.Session{ID: "ses_1", Title: "Named"},
		Status:  lathe.Status{Type: lathe.Idle},
		Todos:   []lathe.Todo{{Content: "one", Status: "completed"}},
		Diff:    []lathe.FileDiff{{File: "a", Additions: 1}},
		Asks:    []lathe.Fact{asked("per_2")},
		Messages: []lathe.Message{
			{
				ID: "msg_u1", Session: "ses_1", Created: 10, Data: &lathe.User{Agent: "build"},
				Parts: []lathe.Part{part("msg_u1", "prt_u1", &lathe.Text{Text: "do it"})},
			},
			{
				ID: "msg_a1", Session: "ses_1", Created: 20,
				Data: &lathe.Assistant{Parent: "msg_u1", Finish: "tool-calls", Completed: 25},
				Parts: []lathe.Part{
					part("msg_a1", "prt_1", &lathe.StepStart{}),
					part("msg_a1", "prt_2", &lathe.Reasoning{Text: "Let me sée 😀", Time: lathe.Span{Start: 1, End: 2}}),
					part("msg_a1", "prt_3", ended("I look.")),
					part("msg_a1", "prt_4", &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.Completed{
						Input: []byte(`{"command":"ls"}`), Output: "a\n", Title: "ls", Start: 5, End: 6,
					}}),
					part("msg_a1", "prt_5", &lathe.StepFinish{Reason: "tool-calls"}),
				},
			},
			{
				ID: "msg_a2", Session: "ses_1", Created: 26,
				Data:  &lathe.Assistant{Parent: "msg_u1", Finish: "stop", Completed: 27},
				Parts: []lathe.Part{part("msg_a2", "prt_6", ended("Done."))},
			},
			{
				ID: "msg_u2", Session: "ses_1", Created: 30, Data: &lathe.User{Agent: "build"},
				Parts: []lathe.Part{part("msg_u2", "prt_u2", &lathe.Text{Text: "and this"})},
			},
		},
	}
	if d := viewDiff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A reader that was cut off after k facts and comes back after m, from the number it
// noted (k, or an earlier one), ends where one ends that was there all the time.
func TestTranscript_ResumedAnywhere(t *testing.T) {
	facts := script()
	want := viewOf(fold(facts))
	for m := range len(facts) + 1 {
		store := feedAt(facts, m)
		for k := range m + 1 {
			for _, noted := range []int{k, k / 2, 0} {
				got := viewOf(fold(facts[:k], store.since(noted), facts[m:]))
				if d := viewDiff(want, got); d != "" {
					t.Fatalf("cut after %d, from %d on, back after %d (-want +got):\n%s", k, noted, m, d)
				}
			}
		}
	}
}

// Reading the history and then following gives the same as following all the time.
func TestTranscript_ReadThenFollowed(t *testing.T) {
	facts := script()
	want := viewOf(fold(facts)).Messages
	for m := range len(facts) + 1 {
		before := fold(facts[:m])
		after := lathe.NewTranscript(lathe.Session{ID: "ses_1"}, before.Messages())
		for _, f := range facts[m:] {
			after.Apply(lathe.Event{Fact: f})
		}
		if d := cmp.Diff(want, after.Messages(), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("read after %d (-want +got):\n%s", m, d)
		}
	}
}

func TestTranscript_Deltas(t *testing.T) {
	begin := []lathe.Fact{message("msg_1", 1, &lathe.Assistant{}), changed("msg_1", "prt_1", open("a😀"))}
	for _, tt := range []struct {
		name  string
		facts []lathe.Fact
		want  string
		stale bool
	}{
		{"in order", []lathe.Fact{delta("msg_1", "prt_1", "b", 3), delta("msg_1", "prt_1", "c", 4)}, "a😀bc", false},
		{"without offsets", []lathe.Fact{delta("msg_1", "prt_1", "b", -1), delta("msg_1", "prt_1", "c", -1)}, "a😀bc", false},
		{"repeated", []lathe.Fact{delta("msg_1", "prt_1", "bé", 3), delta("msg_1", "prt_1", "bé", 3)}, "a😀bé", false},
		{"overlapping", []lathe.Fact{delta("msg_1", "prt_1", "😀bc", 1)}, "a😀bc", false},
		{"overlapping twice", []lathe.Fact{delta("msg_1", "prt_1", "a😀b", 0), delta("msg_1", "prt_1", "😀b😀c", 1)}, "a😀b😀c", false},
		{"all there already", []lathe.Fact{delta("msg_1", "prt_1", "a", 0), delta("msg_1", "prt_1", "", 0)}, "a😀", false},
		{"a hole", []lathe.Fact{delta("msg_1", "prt_1", "x", 4)}, "a😀", true},
		{"a hole that is filled later", []lathe.Fact{delta("msg_1", "prt_1", "x", 4), changed("msg_1", "prt_1", open("a😀bx"))}, "a😀bx", true},
		{"unknown part", []lathe.Fact{delta("msg_1", "prt_2", "x", 0)}, "a😀", true},
		{"another field", []lathe.Fact{&lathe.PartDelta{Session: "ses_1", Message: "msg_1", Part: "prt_1", Field: "title", Delta: "x", Offset: -1}}, "a😀", false},
		{"after the end", []lathe.Fact{changed("msg_1", "prt_1", ended("a😀b")), delta("msg_1", "prt_1", "b", -1), delta("msg_1", "prt_1", "b", 3)}, "a😀b", false},
		{"told anew in between", []lathe.Fact{delta("msg_1", "prt_1", "b", 3), changed("msg_1", "prt_1", open("a😀b")), delta("msg_1", "prt_1", "c", 4)}, "a😀bc", false},
		{"told shorter", []lathe.Fact{delta("msg_1", "prt_1", "b", 3), changed("msg_1", "prt_1", open("")), delta("msg_1", "prt_1", "c", 0)}, "c", false},
		{"empty", []lathe.Fact{delta("msg_1", "prt_1", "", 3)}, "a😀", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := fold(begin, tt.facts)
			if text := got.Messages()[0].Parts[0].GrowingText(); text != tt.want {
				t.Errorf("text %q, want %q", text, tt.want)
			}
			if got.Stale() != tt.stale {
				t.Errorf("stale: %v", got.Stale())
			}
		})
	}
}

// A delta costs what it is long: it does not copy the text before it.
func TestTranscript_DeltaCost(t *testing.T) {
	tr := fold([]lathe.Fact{
		message("msg_1", 1, &lathe.Assistant{}), changed("msg_1", "prt_1", open(strings.Repeat("x", 1<<20))),
	})
	e := lathe.Event{Fact: delta("msg_1", "prt_1", "0123456789", -1)}
	if n := testing.AllocsPerRun(1000, func() { tr.Apply(e) }); n >= 1 {
		t.Errorf("%.0f allocations for each delta", n)
	}
}

// A delta for what has no text changes nothing.
func TestTranscript_DeltaOfOtherParts(t *testing.T) {
	tr := fold([]lathe.Fact{
		message("msg_1", 1, &lathe.Assistant{}), changed("msg_1", "prt_1", &lathe.StepStart{}), delta("msg_1", "prt_1", "x", -1),
	})
	if d := cmp.Diff(&lathe.StepStart{}, tr.Messages()[0].Parts[0].Body); d != "" {
		t.Error(d)
	}
}

func TestTranscript_PartBeforeItsMessage(t *testing.T) {
	tr := fold([]lathe.Fact{
		changed("msg_1", "prt_1", open("a")), delta("msg_1", "prt_1", "b", 1), changed("msg_1", "prt_2", &lathe.StepStart{}),
		&lathe.PartRemoved{Session: "ses_1", Message: "msg_1", Part: "prt_2"},
		&lathe.PartRemoved{Session: "ses_1", Message: "msg_9", Part: "prt_9"},
	})
	if n := len(tr.Messages()); n != 0 {
		t.Fatalf("%d messages before there is one", n)
	}
	tr.Apply(lathe.Event{Fact: message("msg_1", 1, &lathe.Assistant{})})
	m := tr.Messages()
	if len(m) != 1 || len(m[0].Parts) != 1 || m[0].Parts[0].GrowingText() != "ab" || tr.Stale() {
		t.Errorf("%+v", m)
	}
}

func TestTranscript_OrderOfMessages(t *testing.T) {
	var facts []lathe.Fact
	for _, m := range []struct {
		id      lathe.MessageID
		created lathe.Time
	}{{"msg_c", 3}, {"msg_a", 1}, {"msg_z", 2}, {"msg_y", 2}, {"msg_0", 9}, {"msg_c", 0.5}, {"msg_0", 2}} {
		facts = append(facts, message(m.id, m.created, &lathe.User{}))
	}
	var got []string
	for _, m := range fold(facts).Messages() {
		got = append(got, fmt.Sprint(m.ID))
	}
	if want := []string{"msg_c", "msg_a", "msg_0", "msg_y", "msg_z"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTranscript_Asks(t *testing.T) {
	tr := fold([]lathe.Fact{asked("per_1"), asked("que_1"), asked("per_2"), asked("per_1")})
	if d := cmp.Diff([]lathe.Fact{asked("per_1"), asked("que_1"), asked("per_2")}, tr.Asks()); d != "" {
		t.Errorf("told again, an ask keeps its place (-want +got):\n%s", d)
	}
	tr.Apply(lathe.Event{Fact: &lathe.QuestionRejected{Session: "ses_1", Request: "que_1"}})
	tr.Apply(lathe.Event{Fact: &lathe.PermissionReplied{Session: "ses_1", Request: "per_9"}})
	if d := cmp.Diff([]lathe.Fact{asked("per_1"), asked("per_2")}, tr.Asks()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTranscript_Deleted(t *testing.T) {
	gone := &lathe.SessionDeleted{Info: lathe.Session{ID: "ses_1", Title: "last"}}
	tr := fold(script(), []lathe.Fact{gone}, script()[1:])
	want := view{Session: gone.Info, Deleted: true, Status: lathe.Status{Type: lathe.Idle}}
	if d := viewDiff(want, viewOf(tr)); d != "" {
		t.Errorf("late events change what is gone (-want +got):\n%s", d)
	}
	for _, f := range script() { // imported again
		tr.Apply(lathe.Event{Fact: f})
	}
	if d := viewDiff(viewOf(fold(script())), viewOf(tr)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTranscript_OtherSessions(t *testing.T) {
	tr := lathe.NewTranscript(lathe.Session{ID: "ses_2"}, nil)
	before := viewOf(tr)
	for _, f := range script() {
		tr.Apply(lathe.Event{Fact: f})
	}
	tr.Apply(lathe.Event{Fact: &lathe.ServerConnected{}})
	if d := viewDiff(before, viewOf(tr)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What a transcript gave out does not change when it continues.
func TestTranscript_GivesCopies(t *testing.T) {
	facts := script()
	tr := fold(nil)
	for i, f := range facts {
		before := viewOf(tr)
		kept := viewOf(fold(facts[:i]))
		tr.Apply(lathe.Event{Fact: f})
		if d := viewDiff(kept, before); d != "" {
			t.Fatalf("%T changed what was given out before (-want +got):\n%s", f, d)
		}
	}
}

// Older pages can be read in any order and again: the messages are those of one reading.
func TestTranscript_Include(t *testing.T) {
	x := lathetest.Long(200)
	want := lathe.NewTranscript(x.Info, x.Messages).Messages()
	n := len(x.Messages)
	got := lathe.NewTranscript(x.Info, x.Messages[n-3:])
	for _, page := range [][2]int{{n - 6, n - 1}, {n - 6, n - 3}, {0, 2}, {2, n - 6}, {0, n}} {
		got.Include(x.Messages[page[0]:page[1]])
	}
	if diff := cmp.Diff(want, got.Messages()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
