package fairqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
)

// One session that asks for much does not keep the others waiting: each has its turn.
func TestQueue_IsFairOverSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(1)
		first, err := q.Acquire(t.Context(), "busy")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		wait := func(session lathe.SessionID, name string) {
			all.Go(func() {
				leave, err := q.Acquire(t.Context(), session)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(time.Second) // the request
				leave()
			})
			synctest.Wait() // the next one comes later
		}
		for i := range 4 {
			wait("busy", fmt.Sprint("busy", i))
		}
		wait("a", "a0")
		wait("b", "b0")
		wait("a", "a1")
		if _, n := q.Counts(); n != 7 {
			t.Errorf("%d wait", n)
		}
		first()
		all.Wait()
		want := []string{"busy0", "a0", "b0", "busy1", "a1", "busy2", "busy3"}
		if !slices.Equal(order, want) {
			t.Errorf("the order was %v, not %v", order, want)
		}
		if q.free != 1 || len(q.lines) != 0 || len(q.order) != 0 {
			t.Errorf("left are %d free, lines %v, order %v", q.free, q.lines, q.order)
		}
	})
}

// Who gives up leaves no place after and takes none along.
func TestQueue_GivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(2)
		one, _ := q.Acquire(t.Context(), "a")
		two, _ := q.Acquire(t.Context(), "a")
		why := errors.New("enough")
		for i := range 50 { // some give up in the very instant a place is given
			ctx, stop := context.WithCancelCause(t.Context())
			var all sync.WaitGroup
			all.Go(func() {
				leave, err := q.Acquire(ctx, "b")
				if err == nil {
					leave()
				} else if !errors.Is(err, why) {
					t.Errorf("round %d: %v", i, err)
				}
			})
			synctest.Wait()
			all.Go(func() { stop(why) })
			all.Go(one)
			all.Wait()
			var err error
			if one, err = q.Acquire(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		one()
		two()
		if q.free != 2 || len(q.lines) != 0 || len(q.order) != 0 {
			t.Errorf("left are %d free, lines %v, order %v", q.free, q.lines, q.order)
		}
	})
}

// However many come and go, no more than the places are taken and everybody has one in the end.
func TestQueue_NeverMoreThanItsPlaces(t *testing.T) {
	const places, waiters = 3, 200
	q := New(places)
	var mu sync.Mutex
	inside, most, served := 0, 0, 0
	var all sync.WaitGroup
	for i := range waiters {
		all.Go(func() {
			leave, err := q.Acquire(t.Context(), lathe.SessionID(fmt.Sprint(i%7)))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			inside++
			most, served = max(most, inside), served+1
			mu.Unlock()
			mu.Lock()
			inside--
			mu.Unlock()
			leave()
		})
	}
	all.Wait()
	if most > places || served != waiters || q.free != places {
		t.Errorf("%d at once, %d served, %d free", most, served, q.free)
	}
}
