package bustest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

// writer numbers facts and publishes them, as the store's writer does.
type writer struct {
	Bus
	mu  sync.Mutex
	seq int64
}

// commit publishes facts as one commit and returns its events.
func (w *writer) commit(facts ...lathe.Fact) []lathe.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.number(facts...)
	w.Publish(events...)
	return events
}

// number makes the events of a commit without publishing them.
func (w *writer) number(facts ...lathe.Fact) []lathe.Event {
	events := make([]lathe.Event, len(facts))
	for i, f := range facts {
		w.seq++
		events[i] = about(f)
		events[i].Seq, events[i].Last = w.seq, i == len(facts)-1
	}
	return events
}

// grow commits an open part and opens its text.
func (w *writer) grow(p lathe.Part) *bus.Text {
	events := w.commit(&lathe.PartChanged{Part: p})
	return w.Open(events[0])
}

// directoryOf returns the directory of a session in the suite: the letter after its prefix.
func directoryOf(s lathe.SessionID) string {
	if s == "" {
		return ""
	}
	return "/" + strings.TrimPrefix(string(s), "ses_")[:1]
}

// about fills in the session and directory of an event.
func about(f lathe.Fact) lathe.Event {
	id := lathe.SessionOf(f)
	return lathe.Event{Session: id, Directory: directoryOf(id), Project: "prj", Fact: f}
}

// The sessions of the suite: two in directory /a, one in /b.
const (
	a1 lathe.SessionID = "ses_a1"
	a2 lathe.SessionID = "ses_a2"
	b1 lathe.SessionID = "ses_b1"
)

// openPart is an open text part of the only message of a session.
func openPart(in lathe.SessionID, id lathe.PartID, text string) lathe.Part {
	return lathe.Part{
		ID: id, Session: in, Message: messageOf(in, 0),
		Body: &lathe.Text{Text: text, Time: &lathe.Span{Start: 1}},
	}
}

// settled is the settled part with its whole text.
func settled(p lathe.Part, text string) *lathe.PartChanged {
	b := *p.Body.(*lathe.Text)
	b.Text, b.Time = text, &lathe.Span{Start: 1, End: 2}
	p.Body = &b
	return &lathe.PartChanged{Part: p}
}

// messageOf names the messages of a session.
func messageOf(in lathe.SessionID, i int) lathe.MessageID {
	return lathe.MessageID(fmt.Sprintf("msg_%s_%d", strings.TrimPrefix(string(in), "ses_"), i))
}

// transcript is the state of a reader before its first event.
func transcript(in lathe.SessionID) *lathe.Transcript {
	return lathe.NewTranscript(lathe.Session{ID: in}, []lathe.Message{message(in, 0)})
}

func message(in lathe.SessionID, i int) lathe.Message {
	return lathe.Message{ID: messageOf(in, i), Session: in, Created: lathe.Time(i + 1), Data: &lathe.Assistant{}}
}

// partOf returns the part as the transcript has it.
func partOf(t *lathe.Transcript, id lathe.PartID) (lathe.Part, bool) {
	for _, m := range t.Messages() {
		for _, p := range m.Parts {
			if p.ID == id {
				return p, true
			}
		}
	}
	return lathe.Part{}, false
}

// patience is the longest wait for an expected event; it only limits a failure.
const patience = 20 * time.Second

// next returns the next event, or fails the test.
func next(t testing.TB, s *bus.Subscription) lathe.Event {
	t.Helper()
	e, err := try(s)
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return e
}

func try(s *bus.Subscription) (lathe.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Next(ctx)
}

// fails reads until the subscription ends and returns the error.
func fails(s *bus.Subscription) error {
	for {
		if _, err := try(s); err != nil {
			return err
		}
	}
}

// received returns everything up to a mark that is sent now, in the given scope.
func received(t testing.TB, b Bus, s *bus.Subscription, in lathe.Scope) []lathe.Event {
	t.Helper()
	mark := &lathe.UnknownEvent{TypeName: "mark"}
	b.Publish(lathe.Event{Session: in.Session, Directory: in.Directory, Fact: mark})
	var out []lathe.Event
	for {
		e := next(t, s)
		switch other, ok := e.Fact.(*lathe.UnknownEvent); {
		case ok && other == mark:
			return out
		case !ok: // ignore the marks of other readers
			out = append(out, e)
		}
	}
}

// numbers lists the numbers of events.
func numbers(events []lathe.Event) []int64 {
	out := []int64{}
	for _, e := range events {
		out = append(out, e.Seq)
	}
	return out
}

// said shows events briefly, to compare them whole: type, number, text.
func said(events []lathe.Event) []string {
	out := []string{}
	for _, e := range events {
		line := e.Fact.Type()
		if e.Seq > 0 {
			line = fmt.Sprintf("%d %s", e.Seq, line)
		}
		switch f := e.Fact.(type) {
		case *lathe.PartDelta:
			line += fmt.Sprintf(" %s@%d %q", f.Part, f.Offset, f.Delta)
		case *lathe.PartChanged:
			line += fmt.Sprintf(" %s %q", f.Part.ID, f.Part.GrowingText())
		default: // the type says enough
		}
		out = append(out, line)
	}
	return out
}

// big is a part whose size fills a quarter of a queue.
func big(in lathe.SessionID) *lathe.PartChanged {
	return &lathe.PartChanged{Part: lathe.Part{
		ID: "prt_big", Session: in, Message: messageOf(in, 0), Body: &lathe.File{Mime: "text/plain", URL: bigURL},
	}}
}

var bigURL = "data:" + strings.Repeat("x", bus.DefaultLimit/4)

// title is a small numbered fact.
func title(in lathe.SessionID, s string) *lathe.SessionChanged {
	return &lathe.SessionChanged{Info: lathe.Session{ID: in, Title: s}}
}
