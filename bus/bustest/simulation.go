package bustest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"pgregory.net/rapid"
)

// simulation simulates a store, its runners and the readers of a bus, one small step at a
// time: commit, publish, open and read are separate steps, so that every order of them
// can happen.
type simulation struct {
	tb      *rapid.T // shrinks failures
	w       *writer
	rows    []*row
	gone    map[lathe.MessageID]int64 // removed messages, with their number
	pending [][]lathe.Event           // committed, not yet published
	readers []*reader
}

// row is a stored part and the state of its runner.
type row struct {
	part    lathe.Part // with its text as far as it is stored
	seq     int64
	removed bool
	opening lathe.Event // its first event
	shown   bool        // whether that was published
	text    *bus.Text   // once the runner has opened it
	sent    string      // all that the runner appended
	coming  string      // the text that the model has yet to send
	lost    bool        // the runner gave up: nothing more comes until a repair
}

// reader is a client. It has one transcript that uses offsets and one that does not.
type reader struct {
	scope   lathe.Scope
	sub     *bus.Subscription
	cursor  int64
	partial bool // it never read the store, so it knows only the events
	behind  bool // it has subscribed and not yet read Since
	exact   map[lathe.SessionID]*lathe.Transcript
	plain   map[lathe.SessionID]*lathe.Transcript
}

const messagesEach = 2

func newSimulation(tb *rapid.T, b Bus) *simulation {
	return &simulation{tb: tb, w: &writer{Bus: b}, gone: map[lathe.MessageID]int64{}}
}

// commit numbers facts and leaves them to be published later.
func (w *simulation) commit(facts ...lathe.Fact) []lathe.Event {
	events := w.w.number(facts...)
	w.pending = append(w.pending, events)
	return events
}

// publish publishes the oldest commit. For a commit without events the bus gets
// only the number.
func (w *simulation) publish() {
	events := w.pending[0]
	w.pending = w.pending[1:]
	if _, silent := events[0].Fact.(*lathe.Checkpoint); silent {
		w.w.Advance(events[0].Seq)
		return
	}
	w.w.Publish(events...)
	for _, e := range events {
		for _, r := range w.rows {
			if r.opening.Seq == e.Seq {
				r.shown = true
			}
		}
	}
}

func (w *simulation) publishAll() {
	for len(w.pending) > 0 {
		w.publish()
	}
}

// begin commits a new open part.
func (w *simulation) begin(in lathe.SessionID, message int, coming string) {
	p := openPart(in, lathe.PartID(fmt.Sprintf("prt_%d", len(w.rows))), "")
	if p.Message = messageOf(in, message); w.gone[p.Message] > 0 {
		return
	}
	e := w.commit(&lathe.PartChanged{Part: p})[0]
	w.rows = append(w.rows, &row{part: p, seq: e.Seq, opening: e, coming: coming})
}

func (w *simulation) isGone(r *row) bool { return r.removed || w.gone[r.part.Message] > 0 }

// live lists the parts a runner works on: not settled, not removed, not given up.
func (w *simulation) live() []*row {
	var out []*row
	for _, r := range w.rows {
		if r.part.Open() && !r.lost && !w.isGone(r) {
			out = append(out, r)
		}
	}
	return out
}

// grow sends the next bytes of the model.
func (r *row) grow(n int) {
	n = min(n, len(r.coming))
	r.text.Append(r.coming[:n])
	r.sent, r.coming = r.sent+r.coming[:n], r.coming[n:]
}

// settle commits the settled part with all its text, or with the stored text if the runner
// has given up.
func (w *simulation) settle(r *row) {
	text := r.part.GrowingText()
	if r.text != nil && !r.lost {
		text = r.text.String()
	}
	f := settled(r.part, text)
	r.part, r.lost = f.Part, false
	r.seq = w.commit(f)[0].Seq
}

// checkpoint stores the text so far, silently.
func (w *simulation) checkpoint(r *row) {
	at := len(r.part.GrowingText())
	f := &lathe.Checkpoint{Session: r.part.Session, Part: r.part.ID, Offset: at, Text: r.text.Since(at)}
	r.part = r.part.WithText(r.part.GrowingText() + f.Text)
	r.seq = w.commit(f)[0].Seq
}

// republish commits another change of an open part. Its row and its event have no text.
func (w *simulation) republish(r *row) {
	r.seq = w.commit(&lathe.PartChanged{Part: r.part.WithText("")})[0].Seq
}

func (w *simulation) removePart(r *row) {
	r.removed = true
	r.seq = w.commit(&lathe.PartRemoved{Session: r.part.Session, Message: r.part.Message, Part: r.part.ID})[0].Seq
}

func (w *simulation) removeMessage(in lathe.SessionID, i int) {
	id := messageOf(in, i)
	w.gone[id] = w.commit(&lathe.MessageRemoved{Session: in, Message: id})[0].Seq
}

// subscribe adds a reader that has or has not read the store.
func (w *simulation) subscribe(scope lathe.Scope, partial bool) {
	r := &reader{scope: scope, partial: partial, behind: !partial, exact: w.transcripts(), plain: w.transcripts()}
	r.sub = w.w.Subscribe(scope)
	if partial {
		r.cursor = r.sub.Last()
	}
	w.readers = append(w.readers, r)
}

func (w *simulation) transcripts() map[lathe.SessionID]*lathe.Transcript {
	out := map[lathe.SessionID]*lathe.Transcript{}
	for _, in := range []lathe.SessionID{a1, a2, b1} {
		var history []lathe.Message
		for i := range messagesEach {
			if w.gone[messageOf(in, i)] == 0 {
				history = append(history, message(in, i))
			}
		}
		out[in] = lathe.NewTranscript(lathe.Session{ID: in}, history)
	}
	return out
}

// since reads the store from the reader's number and continues with the queue.
func (w *simulation) since(r *reader) {
	for _, row := range w.rows {
		var f lathe.Fact = &lathe.PartChanged{Part: row.part}
		if row.removed {
			f = &lathe.PartRemoved{Session: row.part.Session, Message: row.part.Message, Part: row.part.ID}
		}
		if row.seq > r.cursor && w.gone[row.part.Message] == 0 {
			r.apply(about(f))
		}
	}
	for id, seq := range w.gone {
		for _, in := range []lathe.SessionID{a1, a2, b1} {
			if seq > r.cursor && strings.HasPrefix(string(id), string(messageOf(in, 0)[:6])) {
				r.apply(about(&lathe.MessageRemoved{Session: in, Message: id}))
			}
		}
	}
	r.cursor, r.behind = w.w.seq, false
	r.sub.Skip(w.w.seq)
}

// apply applies an event as a client does.
func (r *reader) apply(e lathe.Event) {
	if e.Session == "" || !r.scope.Includes(e) {
		return
	}
	r.exact[e.Session].Apply(e)
	r.plain[e.Session].Apply(withoutOffset(e))
}

// reconnect drops the connection and resumes from the last number.
func (w *simulation) reconnect(r *reader) {
	r.sub.Close()
	r.sub, r.behind = w.w.Subscribe(r.scope), true
}

// read takes events until stop returns true or the queue is empty. A reader that lagged
// reconnects.
func (w *simulation) read(r *reader, stop func(lathe.Event) bool) {
	for {
		e, err := try(r.sub)
		switch {
		case errors.Is(err, bus.ErrLagged):
			w.reconnect(r)
			return
		case err != nil:
			w.tb.Fatalf("Next: %v", err)
		case e.Seq > 0 && e.Seq <= r.cursor:
			w.tb.Fatalf("the reader has come to %d and gets %d", r.cursor, e.Seq)
		case !r.scope.Includes(e):
			w.tb.Fatalf("scope %v gets %v", r.scope, e)
		}
		if r.apply(e); e.Last {
			r.cursor = e.Seq
		}
		if stop(e) {
			return
		}
	}
}

// drain reads the whole queue of a reader.
func (w *simulation) drain(r *reader) {
	for {
		if r.behind {
			w.since(r)
		}
		mark := &lathe.UnknownEvent{TypeName: "mark"}
		w.w.Publish(lathe.Event{Session: r.scope.Session, Directory: r.scope.Directory, Fact: mark})
		w.read(r, func(e lathe.Event) bool { return e.Fact == lathe.Fact(mark) })
		if !r.behind { // it did not lag
			return
		}
	}
}

// check delivers everything and compares each reader with the store.
func (w *simulation) check() {
	w.publishAll()
	for _, r := range w.readers {
		w.drain(r)
		for _, row := range w.rows {
			if r.scope.Includes(row.opening) {
				w.compare(r, row, r.exact[row.part.Session])
				w.compare(r, row, r.plain[row.part.Session])
			}
		}
		for in, t := range r.exact {
			if t.Stale() {
				w.tb.Fatalf("reader of %v: a delta of %s did not fit", r.scope, in)
			}
		}
	}
}

// compare checks one part of a reader against the store.
func (w *simulation) compare(r *reader, row *row, t *lathe.Transcript) {
	got, known := partOf(t, row.part.ID)
	text := row.part.GrowingText()
	switch growing := row.part.Open() && !row.lost; {
	case w.isGone(row):
		if known {
			w.tb.Fatalf("reader of %v has %s, which was removed", r.scope, got.ID)
		}
		return
	case !known:
		if growing || !r.partial {
			w.tb.Fatalf("reader of %v has never heard of %s", r.scope, row.part.ID)
		}
		return
	case row.lost:
		return // the progress of each is unknown
	case growing && row.text != nil:
		text = row.text.String()
		if rest, ok := strings.CutPrefix(row.sent, text); !ok || len(rest) > 3 {
			w.tb.Fatalf("%q was sent, the text is %q", row.sent, text)
		}
	}
	if got.Open() != row.part.Open() || got.GrowingText() != text {
		w.tb.Fatalf("reader of %v has %s open %v %q, want open %v %q",
			r.scope, got.ID, got.Open(), got.GrowingText(), row.part.Open(), text)
	}
}

// pick draws one of a list; an action that has nothing to act on is skipped.
func pick[T any](t *rapid.T, from []T, what string) T {
	if len(from) == 0 {
		t.Skip("no " + what)
	}
	return from[rapid.IntRange(0, len(from)-1).Draw(t, what)]
}
