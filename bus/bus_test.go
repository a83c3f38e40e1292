package bus_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/bus/bustest"
)

func TestBus(t *testing.T) {
	bustest.Run(t, func(*testing.T) bustest.Bus { return bus.New() })
}

// A reader that waits is woken by its own event, a deadline and a close, and by nothing else.
// The bubble also fails if anything is left running.
func TestSubscription_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New(bus.Limit(1))
		s := b.Subscribe(lathe.Scope{Session: "ses_1"})
		results := make(chan error, 1)
		next := func(ctx context.Context) {
			go func() {
				_, err := s.Next(ctx)
				results <- err
			}()
		}
		// waits says that Next has not returned, once nothing moves any more.
		waits := func(when string) {
			t.Helper()
			if synctest.Wait(); len(results) > 0 {
				t.Fatalf("%s: Next returned %v", when, <-results)
			}
		}
		returns := func(when string, want error) {
			t.Helper()
			if synctest.Wait(); len(results) == 0 {
				t.Fatalf("%s: Next still waits", when)
			}
			if err := <-results; !errors.Is(err, want) {
				t.Fatalf("%s: %v, want %v", when, err, want)
			}
		}

		next(t.Context())
		waits("before anything")
		b.Publish(news("ses_2"))
		waits("after an event of another session")
		b.Publish(news("ses_1"))
		returns("after its own", nil)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		next(ctx)
		time.Sleep(9 * time.Second)
		waits("before the deadline")
		time.Sleep(time.Second)
		returns("after the deadline", context.DeadlineExceeded)

		next(t.Context())
		waits("after a deadline")
		b.Close()
		returns("after the close", bus.ErrClosed)
	})
}

// A reader that has lagged holds nothing, although it does not know yet.
func TestSubscription_LagFreesItsQueue(t *testing.T) {
	b := bus.New(bus.Limit(64 << 10))
	s := b.Subscribe(lathe.Scope{})
	first := weak.Make(publishPart(b, 1))
	for seq := range int64(100) {
		publishPart(b, seq+2)
	}
	for range 10 { // the collector may need more than one look
		runtime.GC()
	}
	if first.Value() != nil {
		t.Error("what was queued is still held")
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, bus.ErrLagged) {
		t.Errorf("Next: %v", err)
	}
	runtime.KeepAlive(s)
}

// publishPart publishes a part of 1 KB and returns its body.
func publishPart(b *bus.Bus, seq int64) *lathe.Text {
	body := &lathe.Text{Text: string(make([]byte, 1<<10))}
	b.Publish(lathe.Event{
		Seq: seq, Last: true, Session: "ses_1",
		Fact: &lathe.PartChanged{Part: lathe.Part{ID: "prt_1", Session: "ses_1", Body: body}},
	})
	return body
}

func TestNew_IDs(t *testing.T) {
	ids := lathe.NewIDsFrom(func() lathe.Time { return 1 }, func(b []byte) { clear(b) })
	b := bus.New(bus.IDs(ids))
	s := b.Subscribe(lathe.Scope{})
	b.Publish(news("ses_1"))
	e, err := s.Next(t.Context())
	if want := lathe.EventID("evt_00000000100100000000000000"); err != nil || e.ID != want {
		t.Errorf("the id is %q, want %q (%v)", e.ID, want, err)
	}
}

func news(in lathe.SessionID) lathe.Event {
	return lathe.Event{Session: in, Fact: &lathe.SessionIdle{Session: in}}
}
