package bustest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// live has a test for each sentence under "Live".
var live = []test{
	{"1_subscribe_then_Since_then_the_queue_without_what_is_known", on(liveResume)},
	{"1_without_a_cursor_the_id_is_that_of_the_moment", on(liveMoment)},
	{"1_what_the_store_knew_before_the_bus_is_left_out", on(liveStoreAhead)},
	{"2_number_order", on(liveOrder)},
	{"2_what_was_handed_out_is_not_handed_out_again", on(liveRepeat)},
	{"3_only_the_last_event_of_a_commit_can_be_resumed_from", on(liveLastOfCommit)},
	{"4_bounded_by_bytes", on(liveBounded)},
	{"4_publishing_never_waits", on(liveNeverWaits)},
	{"4_resume_after_a_lag", on(liveLagResume)},
}

var everything = lathe.Scope{}

func liveResume(t *testing.T, w *writer) {
	w.commit(title(a1, "1"))
	s := w.Subscribe(everything)
	w.commit(title(a1, "2"), title(a1, "3"))
	h := w.seq // the counter that Since returns
	w.commit(title(a1, "4"))
	s.Skip(h)
	w.commit(title(a1, "5"))
	if diff := cmp.Diff([]int64{4, 5}, numbers(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func liveMoment(t *testing.T, w *writer) {
	w.Advance(7)
	w.seq = 7
	if got := w.Subscribe(everything).Last(); got != 7 {
		t.Errorf("after the store's counter: Last() = %d, want 7", got)
	}
	w.commit(title(a1, "8"), title(a1, "9"))
	w.Publish(about(&lathe.SessionIdle{Session: a1}))
	s := w.Subscribe(everything)
	if s.Last() != 9 || w.Last() != 9 {
		t.Errorf("after a commit: Last() = %d and %d, want 9", s.Last(), w.Last())
	}
	w.commit(title(a1, "10"))
	if s.Last() != 9 {
		t.Errorf("Last() of a subscription moved to %d", s.Last())
	}
}

func liveStoreAhead(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	committed := w.number(title(a1, "1"), title(a1, "2"))
	s.Skip(2) // Since saw the commit before it was published
	w.Publish(committed...)
	w.commit(title(a1, "3"))
	if diff := cmp.Diff([]int64{3}, numbers(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
}

func liveOrder(t *testing.T, w *writer) {
	scopes := []lathe.Scope{everything, {Directory: "/a"}, {Session: a1}}
	var subs []*bus.Subscription
	for _, scope := range scopes {
		subs = append(subs, w.Subscribe(scope))
	}
	var want []int64
	for i := range 200 {
		facts := make([]lathe.Fact, 1+i%5)
		for j := range facts {
			facts[j] = title(a1, fmt.Sprint(i, j))
		}
		w.Publish(about(&lathe.SessionIdle{Session: a1})) // ephemeral events in between have no number
		for _, e := range w.commit(facts...) {
			want = append(want, e.Seq)
		}
	}
	for i, s := range subs {
		got := slices.DeleteFunc(numbers(received(t, w, s, lathe.Scope{Session: a1})), func(n int64) bool { return n == 0 })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("scope %v: %s", scopes[i], diff)
		}
	}
}

func liveRepeat(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	first := w.commit(title(a1, "1"), title(a1, "2"))
	w.Publish(first...)
	w.Publish(append(first, w.number(title(a1, "3"))...)...)
	w.Advance(2) // never back
	if diff := cmp.Diff([]int64{1, 2, 3}, numbers(received(t, w, s, everything))); diff != "" {
		t.Error(diff)
	}
	if w.Last() != 3 {
		t.Errorf("Last() = %d, want 3", w.Last())
	}
}

func liveLastOfCommit(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	events := w.number(title(a1, "1"), title(a1, "2"), title(a1, "3"))
	w.Publish(events[0])
	w.Publish(events[1]) // a commit may come in pieces
	if w.Last() != 0 {
		t.Errorf("in the middle of a commit: Last() = %d, want 0", w.Last())
	}
	w.Publish(events[2])
	text := w.grow(openPart(a1, "prt_1", ""))
	text.Append("x")
	w.Publish(about(&lathe.SessionIdle{Session: a1}))
	joined := w.Subscribe(everything)
	type mark struct {
		Seq  int64
		Last bool
	}
	var got []mark
	for _, e := range append(received(t, w, s, everything), received(t, w, joined, everything)...) {
		got = append(got, mark{e.Seq, e.Last})
	}
	want := []mark{{1, false}, {2, false}, {3, true}, {4, true}, {0, false}, {0, false}, {0, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func liveBounded(t *testing.T, w *writer) {
	stalled, other := w.Subscribe(everything), w.Subscribe(lathe.Scope{Session: b1})
	text := w.grow(openPart(b1, "prt_1", ""))
	for range 2 * bus.DefaultLimit / 1024 { // shared bytes do not count: no delta fills a queue
		text.Append(bigURL[:1024])
	}
	for range 3 {
		w.commit(big(a1))
	}
	if !stalled.Ready() || w.Subscribers() != 2 {
		t.Fatal("lagged below the limit")
	}
	w.commit(big(a1))
	if err := fails(stalled); !errors.Is(err, bus.ErrLagged) || lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("above the limit: %v", err)
	}
	if w.Subscribers() != 1 {
		t.Errorf("%d subscribers, want the other one", w.Subscribers())
	}
	if got := len(received(t, w, other, lathe.Scope{Session: b1})); got != 2 { // the part, one delta
		t.Errorf("the other one heard %d events", got)
	}
	if _, err := try(stalled); !errors.Is(err, bus.ErrLagged) {
		t.Errorf("and ever after: %v", err)
	}
}

func liveNeverWaits(t *testing.T, w *writer) {
	const many = 100_000
	stalled, reading := w.Subscribe(everything), w.Subscribe(everything)
	for i := range int64(many) {
		w.commit(title(a1, "x"))
		if e := next(t, reading); e.Seq != i+1 {
			t.Fatalf("the one who reads got %d, want %d", e.Seq, i+1)
		}
	}
	if err := fails(stalled); !errors.Is(err, bus.ErrLagged) {
		t.Errorf("the one who does not: %v", err)
	}
}

func liveLagResume(t *testing.T, w *writer) {
	part := openPart(a1, "prt_1", "")
	s := w.Subscribe(everything)
	seen := transcript(a1)
	text := w.grow(part)
	text.Append("Hello")
	cursor := int64(0)
	read := func() {
		for _, e := range received(t, w, s, everything) {
			if seen.Apply(e); e.Last {
				cursor = e.Seq
			}
		}
	}
	read()
	for range 5 {
		w.commit(big(b1))
	}
	text.Append(", world")
	if err := fails(s); !errors.Is(err, bus.ErrLagged) {
		t.Fatal(err)
	}
	if cursor != 1 {
		t.Fatalf("cursor %d, want 1", cursor)
	}
	s = w.Subscribe(everything)
	text.Append("!")
	s.Skip(w.seq) // Since(1) returned the others; the open part has not changed in the store
	read()
	if p, _ := partOf(seen, part.ID); p.GrowingText() != "Hello, world!" || seen.Stale() {
		t.Errorf("after the resume: %q", p.GrowingText())
	}
}
