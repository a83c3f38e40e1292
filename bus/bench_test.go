package bus_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// grow publishes an open part and returns its text.
func grow(b *bus.Bus, in lathe.SessionID) *bus.Text {
	part := lathe.Part{ID: lathe.PartID("prt_" + in), Session: in, Message: "msg_1", Body: &lathe.Text{Time: &lathe.Span{Start: 1}}}
	e := lathe.Event{Seq: b.Last() + 1, Last: true, Session: in, Directory: "/d", Fact: &lathe.PartChanged{Part: part}}
	b.Publish(e)
	return b.Open(e)
}

// drain reads all that is there.
func drain(b *testing.B, subs ...*bus.Subscription) {
	for _, s := range subs {
		for s.Ready() {
			if _, err := s.Next(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A delta of the model, to no reader, to one reader, to a thousand of the same session (who do
// not read: their deltas merge), and to one while a thousand listen elsewhere.
func BenchmarkAppend(b *testing.B) {
	for _, bb := range []struct {
		name            string
		here, elsewhere int
	}{
		{"Subscribers=0", 0, 0},
		{"Subscribers=1", 1, 0},
		{"Subscribers=1000", 1000, 0},
		{"Elsewhere=1000", 1, 1000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			hub := bus.New()
			for range bb.here {
				hub.Subscribe(lathe.Scope{Session: "ses_here"})
			}
			for i := range bb.elsewhere {
				in := lathe.SessionID(fmt.Sprint("ses_", i))
				hub.Subscribe(lathe.Scope{Session: in})
				grow(hub, in)
			}
			text := grow(hub, "ses_here")
			b.ReportAllocs()
			for b.Loop() {
				text.Append(" word")
			}
		})
	}
}

// What a word costs must not depend on how much was said before. (Now and then the buffer
// grows by a quarter, which at any length is a few bytes copied for each byte said.)
func BenchmarkAppend_Length(b *testing.B) {
	for _, length := range []int{10, 10 << 20} {
		b.Run(fmt.Sprintf("Bytes=%d", length), func(b *testing.B) {
			hub := bus.New()
			s := hub.Subscribe(lathe.Scope{})
			var text *bus.Text
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%max(1000, length/100) == 0 { // so that it stays near that length
					b.StopTimer()
					if text != nil {
						text.Close()
						drain(b, s)
					}
					text = grow(hub, "ses_1")
					text.Append(strings.Repeat("x", length))
					text.Append(strings.Repeat("x", 100)) // grows, so that there is capacity for the measurement
					b.StartTimer()
				}
				text.Append(" word")
			}
		})
	}
}

// From the word to the reader who waits for nothing else.
func BenchmarkAppend_Read(b *testing.B) {
	hub := bus.New()
	s := hub.Subscribe(lathe.Scope{Session: "ses_1"})
	text := grow(hub, "ses_1")
	ctx := b.Context()
	_, _ = s.Next(ctx)
	b.ReportAllocs()
	for b.Loop() {
		text.Append(" word")
		if _, err := s.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// The same with a reader that has to be woken each time.
func BenchmarkAppend_Wake(b *testing.B) {
	hub := bus.New()
	there, back := hub.Subscribe(lathe.Scope{Session: "ses_1"}), hub.Subscribe(lathe.Scope{Session: "ses_2"})
	ctx := b.Context()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := there.Next(ctx); err != nil {
				return
			}
			hub.Publish(news("ses_2"))
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		hub.Publish(news("ses_1"))
		if _, err := back.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
	hub.Close()
	<-done
}

func BenchmarkPublish(b *testing.B) {
	fact := &lathe.PartChanged{Part: lathe.Part{
		ID: "prt_1", Session: "ses_1", Message: "msg_1", Body: &lathe.Text{Text: strings.Repeat("x", 1<<10)},
	}}
	for _, n := range []int{0, 1, 1000} {
		b.Run(fmt.Sprintf("Subscribers=%d", n), func(b *testing.B) {
			hub := bus.New()
			subs := make([]*bus.Subscription, n)
			for i := range subs {
				subs[i] = hub.Subscribe(lathe.Scope{Session: "ses_1"})
			}
			b.ReportAllocs()
			for i := int64(1); b.Loop(); i++ {
				hub.Publish(lathe.Event{Seq: i, Last: true, Session: "ses_1", Directory: "/d", Fact: fact})
				if n > 0 && i%10 == 0 { // as readers do that keep up
					b.StopTimer()
					drain(b, subs...)
					b.StartTimer()
				}
			}
		})
	}
}

// The cost of a reader that receives nothing, each of its own session.
func BenchmarkSubscribe_Idle(b *testing.B) {
	const n = 10_000
	sessions := make([]lathe.SessionID, n)
	for i := range sessions {
		sessions[i] = lathe.SessionID(fmt.Sprint("ses_", i))
	}
	for b.Loop() {
		var before, after runtime.MemStats
		hub := bus.New()
		runtime.GC()
		runtime.ReadMemStats(&before)
		for _, in := range sessions {
			hub.Subscribe(lathe.Scope{Session: in})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/subscriber")
		runtime.KeepAlive(hub)
	}
}
