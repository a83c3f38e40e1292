package events

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The engine looks five times a second while anyone listens, and not at all otherwise.
func TestWatch_OnlyWhileSomeoneListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		w := &watch{poll: func(context.Context) error { looks.Add(1); return nil }, log: slog.New(slog.DiscardHandler)}
		expect := func(when string, want int32) {
			t.Helper()
			synctest.Wait()
			if got := looks.Swap(0); got != want {
				t.Errorf("%s: %d looks, want %d", when, got, want)
			}
		}
		time.Sleep(time.Minute)
		expect("nobody", 0)
		leave, first := w.enter()
		again, second := w.enter()
		if !first || second {
			t.Errorf("first %v, then %v", first, second)
		}
		time.Sleep(time.Second)
		expect("two listen", 5)
		leave()
		leave() // once is enough
		time.Sleep(time.Second)
		expect("one listens", 5)
		again()
		time.Sleep(time.Minute)
		expect("nobody any more", 0)
		if leave, first = w.enter(); !first {
			t.Error("whoever comes after all have left is the first again")
		}
		time.Sleep(time.Second)
		expect("one again", 5)
		w.close()
		w.close()
		leave()
		leave, _ = w.enter()
		time.Sleep(time.Minute)
		expect("closed", 0)
		leave()
	})
}

// Close waits for every look that has started, also of users who were stopped before others
// began.
func TestWatch_CloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var under atomic.Int32
		w := &watch{log: slog.New(slog.DiscardHandler), poll: func(context.Context) error {
			under.Add(1)
			defer under.Add(-1)
			<-release // a look that does not heed its context
			return nil
		}}
		for range 3 {
			leave, _ := w.enter()
			time.Sleep(pollEvery)
			synctest.Wait()
			leave()
		}
		if n := under.Load(); n != 3 {
			t.Fatalf("%d looks are under way", n)
		}
		closed := make(chan struct{})
		go func() {
			w.close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("closed while a look was under way")
		default:
		}
		close(release)
		<-closed
		if n := under.Load(); n != 0 {
			t.Errorf("%d looks are left", n)
		}
	})
}

// A failed poll is repeated. The first of several in a row is logged.
func TestWatch_ContinuesAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		looks := 0
		w := &watch{log: slog.New(slog.NewTextHandler(&out, nil)), poll: func(context.Context) error {
			if looks++; looks == 3 {
				return nil
			}
			return errors.New("no such luck")
		}}
		leave, _ := w.enter()
		time.Sleep(5*pollEvery + 1)
		leave()
		w.close()
		if n := strings.Count(out.String(), "no such luck"); looks != 5 || n != 2 {
			t.Errorf("%d looks, %d in the log", looks, n)
		}
	})
}
