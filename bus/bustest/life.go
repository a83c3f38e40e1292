package bustest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// life tests the scope, start and end of subscriptions.
var life = []test{
	{"Scope", on(lifeScope)},
	{"Wanted", on(lifeWanted)},
	{"One_event_has_one_id", on(lifeIDs)},
	{"An_event_larger_than_a_queue_passes_alone", on(lifeHuge)},
	{"Ready", on(lifeReady)},
	{"A_context_wakes_Next_and_takes_nothing", on(lifeContext)},
	{"Closing_a_subscription", on(lifeClose)},
	{"Closing_the_bus", on(lifeCloseBus)},
	{"Many_at_once", on(lifeConcurrent)},
	{"No_goroutines_stay", lifeGoroutines},
}

func lifeScope(t *testing.T, w *writer) {
	named := func(name, dir string, in lathe.SessionID) lathe.Event {
		return lathe.Event{Session: in, Directory: dir, Fact: &lathe.CommandExecuted{Name: name, Session: in}}
	}
	scopes := []lathe.Scope{everything, {Directory: "/a"}, {Directory: "/b"}, {Session: a1}, {Session: a1, Directory: "/b"}}
	var subs []*bus.Subscription
	for _, s := range scopes {
		subs = append(subs, w.Subscribe(s))
	}
	w.Publish(named("a1", "/a", a1), named("a2", "/a", a2), named("b1", "/b", b1), named("/a", "/a", ""),
		named("all", "", ""), named("a1 anywhere", "", a1))
	want := []string{
		"a1 a2 b1 /a all a1 anywhere", "a1 a2 /a all a1 anywhere", "b1 all a1 anywhere", "a1 a1 anywhere", "a1 a1 anywhere",
	}
	for i, s := range subs {
		var got []string
		for _, e := range received(t, w, s, scopes[i]) {
			if !scopes[i].Includes(e) {
				t.Errorf("scope %v does not hold %v", scopes[i], e)
			}
			got = append(got, e.Fact.(*lathe.CommandExecuted).Name)
		}
		if diff := cmp.Diff(want[i], strings.Join(got, " ")); diff != "" {
			t.Errorf("scope %v: %s", scopes[i], diff)
		}
	}
}

func lifeWanted(t *testing.T, w *writer) {
	in := func(dir string, id lathe.SessionID) lathe.Scope { return lathe.Scope{Directory: dir, Session: id} }
	check := func(when string, want ...bool) {
		t.Helper()
		for i, s := range []lathe.Scope{in("/a", a1), in("/a", a2), in("/b", b1), in("/a", ""), in("", "")} {
			if got := w.HasSubscriber(s); got != want[i] {
				t.Errorf("%s: Wanted(%v) = %v", when, s, got)
			}
		}
	}
	check("no subscriber", false, false, false, false, false)
	one := w.Subscribe(lathe.Scope{Session: a1})
	check("a session", true, false, false, false, false)
	dir := w.Subscribe(lathe.Scope{Directory: "/a"})
	check("its directory too", true, true, false, true, true)
	all := w.Subscribe(everything)
	check("everyone", true, true, true, true, true)
	if n := w.Subscribers(); n != 3 {
		t.Errorf("%d subscribers, want 3", n)
	}
	all.Close()
	dir.Close()
	check("only the session again", true, false, false, false, false)
	one.Close()
	one.Close()
	if n := w.Subscribers(); n != 0 {
		t.Errorf("%d subscribers, want none", n)
	}
}

func lifeIDs(t *testing.T, w *writer) {
	one, two := w.Subscribe(everything), w.Subscribe(lathe.Scope{Session: a1})
	text := w.grow(openPart(a1, "prt_1", ""))
	text.Append("x")
	w.commit(title(a1, "x"))
	w.Publish(lathe.Event{ID: "evt_given", Session: a1, Fact: &lathe.SessionIdle{Session: a1}})
	seen := map[lathe.EventID]int{}
	for _, s := range []*bus.Subscription{one, two} {
		for _, e := range received(t, w, s, lathe.Scope{Session: a1}) {
			if !strings.HasPrefix(string(e.ID), "evt_") {
				t.Errorf("%v has the id %q", said([]lathe.Event{e}), e.ID)
			}
			seen[e.ID]++
		}
	}
	if seen["evt_given"] != 2 || len(seen) != 5 { // the part, two deltas, the session, the given one
		t.Errorf("ids: %v", seen)
	}
}

func lifeHuge(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	huge := big(a1)
	huge.Part.Body = &lathe.File{URL: strings.Repeat("x", bus.DefaultLimit+1)}
	for i := range int64(3) {
		w.commit(huge)
		if e := next(t, s); e.Seq != i+1 {
			t.Fatalf("got %d, want %d", e.Seq, i+1)
		}
	}
	w.commit(title(a1, "x"), huge)
	if err := fails(s); !errors.Is(err, bus.ErrLagged) {
		t.Errorf("with other readers: %v", err)
	}
}

func lifeReady(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	if s.Ready() {
		t.Error("ready before anything happened")
	}
	w.commit(title(a1, "1"), title(a1, "2"))
	next(t, s)
	if !s.Ready() {
		t.Error("the second event waits")
	}
	if next(t, s); s.Ready() {
		t.Error("ready after the last one")
	}
	if s.Close(); !s.Ready() {
		t.Error("the end is there to be read")
	}
}

func lifeContext(t *testing.T, w *writer) {
	s := w.Subscribe(everything)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan error)
	go func() {
		_, err := s.Next(ctx)
		got <- err
	}()
	cancel(why)
	if err := <-got; !errors.Is(err, why) {
		t.Errorf("while it waits: %v", err)
	}
	w.commit(title(a1, "1"))
	if _, err := s.Next(ctx); !errors.Is(err, why) {
		t.Errorf("done before: %v", err)
	}
	if e := next(t, s); e.Seq != 1 {
		t.Errorf("the event is gone: %v", e)
	}
}

func lifeClose(t *testing.T, w *writer) {
	s, other := w.Subscribe(everything), w.Subscribe(everything)
	got := make(chan error)
	go func() {
		_, err := s.Next(context.Background())
		got <- err
	}()
	s.Close()
	if err := <-got; !errors.Is(err, bus.ErrClosed) || lathe.CodeOf(err) != lathe.Canceled {
		t.Errorf("while it waits: %v", err)
	}
	w.commit(title(a1, "1"))
	s.Skip(5)
	if _, err := try(s); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	if e := next(t, other); e.Seq != 1 {
		t.Errorf("the other one: %v", e)
	}
}

func lifeCloseBus(t *testing.T, w *writer) {
	part := openPart(a1, "prt_1", "")
	text := w.grow(part)
	s := w.Subscribe(lathe.Scope{Session: a1})
	waiting, resuming := w.Subscribe(lathe.Scope{Directory: "/b"}), w.Subscribe(everything)
	got := make(chan error)
	go func() {
		_, err := waiting.Next(context.Background())
		got <- err
	}()
	text.Append("a")
	w.Bus.Close()
	if err := <-got; !errors.Is(err, bus.ErrClosed) {
		t.Errorf("the one who waits: %v", err)
	}
	text.Append("b") // a runner that still settles its part
	w.commit(settled(part, text.String()))
	if text.String() != "ab" || w.Subscribers() != 0 || w.Text(part.ID) != nil || w.Last() != 2 {
		t.Errorf("text %q, %d subscribers, last %d", text, w.Subscribers(), w.Last())
	}
	next(t, s)
	if d, ok := next(t, s).Fact.(*lathe.PartDelta); !ok || d.Delta != "a" {
		t.Errorf("the queue can still be read: %v", d)
	}
	if _, err := try(s); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("then the end: %v", err)
	}
	resuming.Skip(5)
	if e, err := try(resuming); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("the one who was about to resume: %v, %v", e, err)
	}
	if late := w.Open(about(&lathe.PartChanged{Part: openPart(a1, "prt_2", "x")})); late.String() != "x" {
		t.Errorf("a text opened late: %q", late)
	}
	if _, err := try(w.Subscribe(everything)); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("subscribed late: %v", err)
	}
	s.Close()
	w.Bus.Close()
}

// lifeConcurrent runs runners and readers concurrently. Readers join at any moment, and
// each must end with every part of its scope settled and complete.
func lifeConcurrent(t *testing.T, w *writer) {
	const parts, pieces = 12, 100
	var runners, readers sync.WaitGroup
	listen := func(scope lathe.Scope) {
		s := w.Subscribe(scope)
		readers.Go(func() {
			defer s.Close()
			readSettled(t, s, scope)
		})
	}
	for _, in := range []lathe.SessionID{a1, a2, b1} {
		listen(everything)
		runners.Go(func() {
			for i := range parts {
				part := openPart(in, lathe.PartID(fmt.Sprintf("prt_%s_%d", in, i)), "")
				text := w.grow(part)
				for j := range pieces {
					text.Append(fmt.Sprintf("%s/%d/%d😀", in, i, j)[j%3:])
					if j == i*pieces/parts {
						listen(lathe.Scope{Session: in})
						listen(lathe.Scope{Directory: directoryOf(in)})
					}
				}
				w.commit(settled(part, text.String()))
				text.Close()
			}
		})
	}
	runners.Wait()
	w.Bus.Close()
	readers.Wait()
}

// readSettled reads until the bus closes and then checks the parts of the reader.
func readSettled(t *testing.T, s *bus.Subscription, scope lathe.Scope) {
	seen := map[lathe.SessionID]*lathe.Transcript{a1: transcript(a1), a2: transcript(a2), b1: transcript(b1)}
	open := map[lathe.PartID]string{} // as it grew for a reader without offsets
	for {
		e, err := try(s)
		if err != nil {
			if !errors.Is(err, bus.ErrClosed) {
				t.Errorf("scope %v: %v", scope, err)
			}
			break
		}
		seen[e.Session].Apply(withoutOffset(e))
		f, ok := e.Fact.(*lathe.PartChanged)
		if !ok || f.Part.Open() {
			p, _ := partOf(seen[e.Session], partID(e.Fact))
			open[p.ID] = p.GrowingText()
		} else if grown, known := open[f.Part.ID]; known && grown != f.Part.GrowingText() {
			t.Errorf("scope %v: %s grew to %d bytes, %d were said", scope, f.Part.ID, len(grown), len(f.Part.GrowingText()))
		}
	}
	for in, tr := range seen {
		for _, p := range tr.Messages()[0].Parts {
			if p.Open() || tr.Stale() {
				t.Errorf("scope %v: part %s of %s stayed open", scope, p.ID, in)
			}
		}
	}
}

// partID is the part that a fact updates or extends.
func partID(f lathe.Fact) lathe.PartID {
	switch f := f.(type) {
	case *lathe.PartChanged:
		return f.Part.ID
	case *lathe.PartDelta:
		return f.Part
	default:
		return ""
	}
}

func lifeGoroutines(t *testing.T, open func() Bus) {
	before := runtime.NumGoroutine()
	b := open()
	ctx, cancel := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for i := range 100 {
		s := b.Subscribe(lathe.Scope{Session: []lathe.SessionID{a1, a2, b1}[i%3]})
		readers.Go(func() {
			for {
				if _, err := s.Next(ctx); err != nil {
					return
				}
			}
		})
	}
	(&writer{Bus: b}).commit(title(a1, "x"))
	cancel()
	readers.Wait()
	b.Close()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
