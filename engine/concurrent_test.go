package engine_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
)

// Title, time, summary, metadata and the sums of usage are changed by many at once, in one
// process and in two. No change is lost, and no published record shows an older value than an
// earlier one. (spec 16.7.131)
func TestUpdate_NothingIsLost(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d processes", processes), func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			engines := []*fixture{w, w}
			if processes == 2 {
				engines[1] = w.another()
			}
			s := w.session()
			m := w.answer(w.user(s.ID, "go"))
			readers := []*listener{engines[0].listen(lathe.Scope{Session: s.ID}), engines[1].listen(lathe.Scope{Session: s.ID})}
			const rounds = 30
			edits := []func(i int) lathe.Edit{
				func(i int) lathe.Edit { return lathe.Edit{Title: lathe.Some(fmt.Sprint(i))} },
				func(int) lathe.Edit { w.clock.forward(1); return lathe.Edit{Touch: true} },
				func(i int) lathe.Edit { return lathe.Edit{Summary: lathe.Some(&lathe.SessionSummary{Additions: i})} },
				func(i int) lathe.Edit { return lathe.Edit{Metadata: lathe.Some(json.RawMessage(fmt.Sprint(i)))} },
				func(i int) lathe.Edit {
					return lathe.Edit{Revert: lathe.Some(&lathe.Revert{Message: m.ID, Diff: fmt.Sprint(i)})}
				},
			}
			var all sync.WaitGroup
			for n, edit := range edits {
				all.Go(func() {
					for i := range rounds {
						if _, err := engines[n%2].Update(t.Context(), s.ID, edit(i+1)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			r := engines[1].runner(s.ID)
			all.Go(func() {
				for range rounds {
					p := lathe.Part{ID: w.ids.Part(), Session: s.ID, Message: m.ID, Body: &lathe.StepFinish{
						Reason: "stop", Cost: lathe.Dollars(0.125), Tokens: Used(1),
					}}
					if _, err := r.Commit(t.Context(), &lathe.PartChanged{Part: p}); err != nil {
						t.Error(err)
					}
				}
			})
			all.Wait()
			w.ok(r.Release(t.Context()))

			cost, tokens := lathe.Dollars(0.125*rounds), Used(rounds)
			s.Title, s.Updated, s.Summary = fmt.Sprint(rounds), w.clock.now(), &lathe.SessionSummary{Additions: rounds}
			s.Metadata, s.Revert = json.RawMessage(fmt.Sprint(rounds)), &lathe.Revert{Message: m.ID, Diff: fmt.Sprint(rounds)}
			s.Cost, s.Tokens = &cost, &tokens
			w.same("at the end", w.get(s.ID), s)
			for i, l := range readers {
				w.ok(engines[i].Store().Poll(t.Context()))
				last := onlyForward(t, l.received())
				w.same("as it was told last", last, s)
			}
		})
	}
}

// onlyForward checks that what only grows in the store also only grows in what is reported, and
// returns the last record.
func onlyForward(t *testing.T, events []lathe.Event) (last lathe.Session) {
	t.Helper()
	count := func(s lathe.Session) [6]float64 {
		var title, metadata, diff float64
		_, _ = fmt.Sscan(s.Title, &title)
		_, _ = fmt.Sscan(string(s.Metadata), &metadata)
		out := [6]float64{title, float64(s.Updated), 0, metadata, 0, float64(*s.Cost)}
		if s.Summary != nil {
			out[2] = float64(s.Summary.Additions)
		}
		if s.Revert != nil {
			_, _ = fmt.Sscan(s.Revert.Diff, &diff)
			out[4] = diff
		}
		return out
	}
	var before [6]float64
	for _, e := range events {
		c, ok := e.Fact.(*lathe.SessionChanged)
		if !ok {
			continue
		}
		now := count(c.Info)
		for i := range now {
			if now[i] < before[i] {
				t.Fatalf("%v was told after %v", now, before)
			}
		}
		before, last = now, c.Info
	}
	return last
}

// A cancel continues to the session itself when a child is removed meanwhile.
func TestCancel_ChildrenGo(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	inst, err := w.Instance(t.Context(), w.dir)
	w.ok(err)
	s := w.session()
	var children []lathe.SessionID
	for range 100 {
		c, err := w.CreateNext(t.Context(), inst, lathe.NewSession{Parent: s.ID})
		w.ok(err)
		children = append(children, c.ID)
	}
	var removing sync.WaitGroup
	for _, id := range children {
		removing.Go(func() { w.ok(w.Remove(t.Context(), id)) })
	}
	err = w.Cancel(t.Context(), s.ID)
	removing.Wait()
	w.ok(err)
}
