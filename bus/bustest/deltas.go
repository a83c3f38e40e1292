package bustest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// deltas has a test for each sentence under "Deltas".
var deltas = []test{
	{"1_subscribers_share_the_text", on(deltasShare)},
	{"1_two_deltas_that_wait_are_one", on(deltasMerge)},
	{"1_a_delta_does_not_overtake_its_part", on(deltasOrder)},
	{"1_cost_does_not_grow_with_the_text", on(deltasCost)},
	{"2_joining_at_every_cut", deltasJoin},
	{"3_offsets_in_UTF16_units_for_those_who_ask", on(deltasOffset)},
	{"4_checkpoints_are_silent", on(deltasCheckpoint)},
	{"5_arguments_of_tools_are_not_told", on(deltasTool)},
}

func deltasShare(t *testing.T, w *writer) {
	subs := []*bus.Subscription{w.Subscribe(everything), w.Subscribe(lathe.Scope{Session: a1})}
	text := w.grow(openPart(a1, "prt_1", ""))
	text.Append(strings.Repeat("x", 1000))
	text.Append("y")
	var starts []*byte
	for _, s := range subs {
		next(t, s)
		starts = append(starts, unsafe.StringData(next(t, s).Fact.(*lathe.PartDelta).Delta))
	}
	if starts[0] != starts[1] || starts[0] != unsafe.StringData(text.String()) {
		t.Error("the text was copied")
	}
}

func deltasMerge(t *testing.T, w *writer) {
	one, two := w.grow(openPart(a1, "prt_1", "")), w.grow(openPart(a1, "prt_2", ""))
	s := w.Subscribe(everything)
	one.Append("a")
	one.Append("b")
	two.Append("1")
	w.commit(title(a1, "in between"))
	one.Append("c")
	two.Append("2")
	got := said(received(t, w, s, everything))
	one.Append("d")
	one.Append("")
	two.Append("3")
	two.Append("4")
	got = append(got, said(received(t, w, s, everything))...)
	want := []string{
		`message.part.updated prt_1 ""`,
		`message.part.updated prt_2 ""`,
		`message.part.delta prt_1@0 "abc"`,
		`message.part.delta prt_2@0 "12"`,
		`3 session.updated`,
		`message.part.delta prt_1@3 "d"`,
		`message.part.delta prt_2@2 "34"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func deltasOrder(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	part := openPart(a1, "prt_1", "")
	text := w.grow(part)
	text.Append("ab")
	w.commit(&lathe.PartChanged{Part: part}) // published again while it grows, without text as in its row
	text.Append("c")
	text.Append("d")
	w.commit(settled(part, "abcd"))
	text.Append("late")
	text.Close()
	want := []string{
		`1 message.part.updated prt_1 ""`,
		`message.part.delta prt_1@0 "ab"`,
		`2 message.part.updated prt_1 "ab"`,
		`message.part.delta prt_1@2 "cd"`,
		`3 message.part.updated prt_1 "abcd"`,
	}
	if diff := cmp.Diff(want, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
	if text.String() != "abcdlate" {
		t.Errorf("the writer's own text is %q", text)
	}
}

func deltasCost(t *testing.T, w *writer) {
	w.Subscribe(everything)
	text := w.grow(openPart(a1, "prt_1", ""))
	w.Subscribe(lathe.Scope{Session: a1})
	for _, length := range []int{10, 10 << 20} {
		text.Append(strings.Repeat("x", length-text.Len()))
		text.Append(strings.Repeat("x", length/2)) // grow the buffer first, so that the count has no reallocation
		if n := testing.AllocsPerRun(500, func() { text.Append("a word") }); n >= 1 {
			t.Errorf("at %d bytes an append makes %v allocations", length, n)
		}
	}
}

// deltasJoin subscribes before each piece of a text, for every way to split it in two
// and for single bytes.
func deltasJoin(t *testing.T, open func() Bus) {
	const text = "aé€😀𝄞z\u200d👩‍💻."
	var bytewise []string
	for i := range len(text) {
		bytewise = append(bytewise, text[i:i+1])
	}
	ways := [][]string{bytewise}
	for i := range len(text) {
		ways = append(ways, []string{text[:i], text[i:]})
	}
	for _, pieces := range ways {
		b := open()
		w := &writer{Bus: b}
		part := openPart(a1, "prt_1", "")
		grown := w.grow(part)
		type joiner struct {
			sub   *bus.Subscription
			first string
		}
		var joined []joiner
		for i := range len(pieces) + 1 {
			s := w.Subscribe(lathe.Scope{Session: a1})
			if diff := cmp.Diff([]lathe.PartID{"prt_1"}, s.OpenTexts()); diff != "" {
				t.Fatal(diff)
			}
			joined = append(joined, joiner{s, grown.String()})
			if i < len(pieces) {
				grown.Append(pieces[i])
			}
		}
		for i, j := range joined {
			seen := transcript(a1)
			events := received(t, w, j.sub, lathe.Scope{Session: a1})
			if first := events[0].Fact.(*lathe.PartChanged).Part; first.GrowingText() != j.first || !first.Open() {
				t.Fatalf("pieces %q, joined before %d: begins with %q, want %q", pieces, i, first.GrowingText(), j.first)
			}
			for _, e := range events {
				seen.Apply(withoutOffset(e))
			}
			if p, _ := partOf(seen, part.ID); p.GrowingText() != text {
				t.Fatalf("pieces %q, joined before %d: %q", pieces, i, p.GrowingText())
			}
		}
		b.Close()
	}
}

// withoutOffset is the event as OpenCode's clients get it.
func withoutOffset(e lathe.Event) lathe.Event {
	if d, ok := e.Fact.(*lathe.PartDelta); ok {
		plain := *d
		plain.Offset = -1
		e.Fact = &plain
	}
	return e
}

func deltasOffset(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	text := w.grow(openPart(a1, "prt_1", "é")) // a text may start with content
	next(t, s)
	sent := "é"
	for _, piece := range []string{"a", "😀", "€", "\xf0\x9f", "\x98\x80𝄞", "\xff", "z"} {
		want := lathe.UTF16Len(sent)
		text.Append(piece)
		if text.String() == sent {
			continue // an incomplete character is held back
		}
		sent = text.String()
		e := next(t, s)
		d := e.Fact.(*lathe.PartDelta)
		if d.Offset != want || d.Field != "text" || d.Message != messageOf(a1, 0) || e.Session != a1 || e.Directory != "/a" {
			t.Errorf("delta %q: %+v of %+v, want offset %d", piece, d, e, want)
		}
		if bytes.Contains(e.AppendJSON(nil), []byte(`"offset"`)) || !bytes.Contains(e.AppendWithOffset(nil), []byte(`"offset"`)) {
			t.Error("the offset is only for readers that ask for it")
		}
	}
	if sent != "éa😀€😀𝄞\xffz" {
		t.Errorf("the text is %q", sent)
	}
}

func deltasCheckpoint(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	part := openPart(a1, "prt_1", "")
	text := w.grow(part)
	text.Append("one")
	w.commit(&lathe.Checkpoint{Session: a1, Part: part.ID, Text: text.Since(0)})
	at := text.Len()
	text.Append(" two")
	if text.Since(at) != " two" || text.Since(text.Len()) != "" || text.Since(1000) != "" {
		t.Errorf("since %d bytes: %q", at, text.Since(at))
	}
	if w.Last() != 2 {
		t.Errorf("a checkpoint takes a number: Last() = %d, want 2", w.Last())
	}
	want := []string{`1 message.part.updated prt_1 ""`, `message.part.delta prt_1@0 "one two"`}
	if diff := cmp.Diff(want, said(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func deltasTool(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	part := lathe.Part{
		ID: "prt_1", Session: a1, Message: messageOf(a1, 0),
		Body: &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.Pending{Input: json.RawMessage("{}")}},
	}
	text := w.grow(part)
	text.Append(`{"comm`)
	w.commit(&lathe.PartChanged{Part: part})
	text.Append(`and":""}`)
	joined := w.Subscribe(everything)
	if len(joined.OpenTexts()) != 0 || w.Text(part.ID) != text {
		t.Error("the arguments are only for the runner, not for readers")
	}
	part.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.Running{Input: json.RawMessage(text.String())}}
	w.commit(&lathe.PartChanged{Part: part})
	want := []int64{1, 2, 3}
	if diff := cmp.Diff(want, numbers(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
	if text.String() != `{"command":""}` || w.Text(part.ID) != nil {
		t.Errorf("in the end: %q, open %v", text, w.Text(part.ID) != nil)
	}
}
