package bustest

import (
	"slices"
	"testing"

	"github.com/lathe-agent/lathe"
	"pgregory.net/rapid"
)

// joinProperty changes the simulation by random steps and checks repeatedly that every reader
// has exactly the current text of each part. (I1, I2)
func joinProperty(t *testing.T, open func() Bus) {
	rapid.Check(t, func(t *rapid.T) {
		b := open()
		defer b.Close()
		w := newSimulation(t, b)
		actions := map[string]func(*rapid.T){"": func(*rapid.T) {}}
		for _, family := range []map[string]func(*rapid.T){w.runnerSteps(), w.readerSteps()} {
			for name, step := range family {
				actions[name] = step
			}
		}
		for range 4 { // long enough for readers to come, fall behind and come back
			t.Repeat(actions)
			w.check()
		}
		for _, r := range w.rows { // and after every part has ended
			if r.part.Open() && !w.isGone(r) {
				w.settle(r)
			}
		}
		w.check()
	})
}

// words are the texts of the simulated model: characters of one to four bytes, one to two units.
var words = rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'é', '€', '😀', '𝄞', '\u200d'}), 1, 12, -1)

var (
	anySession = rapid.SampledFrom([]lathe.SessionID{a1, a2, b1})
	anyMessage = rapid.IntRange(0, messagesEach-1)
	anyScope   = rapid.SampledFrom([]lathe.Scope{
		{}, {Directory: "/a"}, {Directory: "/b"}, {Session: a1}, {Session: a2}, {Session: b1},
	})
)

// runnerSteps are the random actions of runners and the store.
func (w *simulation) runnerSteps() map[string]func(*rapid.T) {
	opened := func(r *row) bool { return r.text != nil }
	these := func(t *rapid.T, ok func(*row) bool) *row {
		return pick(t, slices.DeleteFunc(w.live(), func(r *row) bool { return !ok(r) }), "part")
	}
	return map[string]func(*rapid.T){
		"begin": func(t *rapid.T) {
			w.begin(anySession.Draw(t, "in"), anyMessage.Draw(t, "message"), words.Draw(t, "words"))
		},
		"publish": func(t *rapid.T) { pick(t, w.pending, "commit"); w.publish() },
		"stream": func(t *rapid.T) { // the usual case: no step in between
			w.begin(anySession.Draw(t, "in"), anyMessage.Draw(t, "message"), words.Draw(t, "words"))
			w.publishAll()
			for _, r := range w.live() {
				if r.text == nil {
					r.text = w.w.Open(r.opening)
				}
				r.grow(1)
			}
		},
		"open": func(t *rapid.T) {
			r := these(t, func(r *row) bool { return r.shown && r.text == nil })
			r.text = w.w.Open(r.opening)
		},
		"append":     func(t *rapid.T) { these(t, opened).grow(rapid.IntRange(1, 7).Draw(t, "bytes")) },
		"continue":   func(t *rapid.T) { these(t, opened).grow(3) },
		"checkpoint": func(t *rapid.T) { w.checkpoint(these(t, opened)) },
		"retell":     func(t *rapid.T) { w.republish(these(t, opened)) },
		"settle":     func(t *rapid.T) { w.settle(these(t, opened)) },
		"close": func(t *rapid.T) { // after the settling was committed, published or not
			r := pick(t, slices.DeleteFunc(slices.Clone(w.rows), func(r *row) bool {
				return r.text == nil || r.part.Open() && !w.isGone(r)
			}), "text")
			r.text.Close()
		},
		"give up": func(t *rapid.T) {
			r := these(t, opened)
			r.lost = true
			r.text.Close()
		},
		"repair": func(t *rapid.T) {
			w.settle(pick(t, slices.DeleteFunc(slices.Clone(w.rows), func(r *row) bool { return !r.lost || w.isGone(r) }), "lost"))
		},
		"remove part":    func(t *rapid.T) { w.removePart(these(t, func(*row) bool { return true })) },
		"remove message": func(t *rapid.T) { w.maybeRemoveMessage(t) },
	}
}

// maybeRemoveMessage rarely removes a message, because it gets no text afterwards.
func (w *simulation) maybeRemoveMessage(t *rapid.T) {
	in, i := anySession.Draw(t, "in"), anyMessage.Draw(t, "message")
	if w.gone[messageOf(in, i)] > 0 || rapid.IntRange(0, 4).Draw(t, "chance") > 0 {
		t.Skip("not now")
	}
	w.removeMessage(in, i)
}

// readerSteps are the random actions of readers.
func (w *simulation) readerSteps() map[string]func(*rapid.T) {
	caughtUp := func(t *rapid.T, want bool) *reader {
		return pick(t, slices.DeleteFunc(slices.Clone(w.readers), func(r *reader) bool { return r.behind == want }), "reader")
	}
	return map[string]func(*rapid.T){
		"subscribe": func(t *rapid.T) {
			if len(w.readers) >= 5 {
				t.Skip("enough")
			}
			w.subscribe(anyScope.Draw(t, "scope"), rapid.Bool().Draw(t, "without a cursor"))
		},
		"since": func(t *rapid.T) { w.since(caughtUp(t, false)) },
		"read": func(t *rapid.T) {
			r, n := caughtUp(t, true), rapid.IntRange(1, 4).Draw(t, "events")
			if !r.sub.Ready() {
				t.Skip("nothing there")
			}
			w.read(r, func(lathe.Event) bool { n--; return n <= 0 || !r.sub.Ready() })
		},
		"reconnect": func(t *rapid.T) { w.reconnect(pick(t, w.readers, "reader")) },
		"flood": func(t *rapid.T) { // readers that do not read now will lag
			if len(w.pending) > 0 || rapid.IntRange(0, 4).Draw(t, "chance") > 0 {
				t.Skip("not now")
			}
			for range 5 {
				w.commit(title(a1, bigURL), &lathe.DiffChanged{Session: a1, Diff: []lathe.FileDiff{{Patch: bigURL}}})
				w.publish()
			}
		},
	}
}
