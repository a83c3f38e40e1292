package lathe_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// life draws a session's facts, each of which makes sense after those before it.
type life struct {
	t        *rapid.T
	facts    []lathe.Fact
	messages []lathe.MessageID
	parts    []lathe.Part // those that are there, with their present text
	asks     []lathe.AskID
	made     int
}

func (l *life) add(f lathe.Fact) { l.facts = append(l.facts, f) }

func (l *life) number() int {
	l.made++
	return l.made
}

func (l *life) step() {
	switch rapid.IntRange(0, 11).Draw(l.t, "step") {
	case 0, 1:
		id := lathe.MessageID(fmt.Sprintf("msg_%d", l.number()))
		l.messages = append(l.messages, id)
		l.add(message(id, l.created(), &lathe.Assistant{Finish: "new"}))
	case 2:
		if len(l.messages) > 0 {
			l.add(message(rapid.SampledFrom(l.messages).Draw(l.t, "message"), l.created(), &lathe.Assistant{Finish: lathetest.Text(l.t)}))
		}
	case 3, 4, 5:
		if len(l.messages) > 0 {
			p := lathe.Part{
				ID: lathe.PartID(fmt.Sprintf("prt_%d", l.number())), Session: "ses_1",
				Message: rapid.SampledFrom(l.messages).Draw(l.t, "message"), Body: open(lathetest.Text(l.t)),
			}
			if rapid.Bool().Draw(l.t, "other") {
				p.Body = lathetest.Body(l.t)
			}
			l.parts = append(l.parts, p)
			l.add(&lathe.PartChanged{Part: p})
		}
	case 6, 7:
		l.grow()
	case 8:
		l.end()
	case 9:
		l.remove()
	case 10:
		l.ask()
	default:
		l.add(&lathe.TodosChanged{Session: "ses_1", Todos: []lathe.Todo{{Content: lathetest.Text(l.t)}}})
	}
}

func (l *life) created() lathe.Time { return lathe.Time(rapid.IntRange(1, 4).Draw(l.t, "created")) }

// grow streams into an open part, with or without saying where.
func (l *life) grow() {
	for i, p := range l.parts {
		if !p.Open() {
			continue
		}
		text := lathetest.Text(l.t)
		offset := lathe.UTF16Len(p.GrowingText())
		if rapid.Bool().Draw(l.t, "silent") {
			offset = -1
		}
		l.parts[i] = p.WithText(p.GrowingText() + text)
		l.add(delta(p.Message, p.ID, text, offset))
	}
}

func (l *life) end() {
	for i, p := range l.parts {
		if p.Open() && rapid.Bool().Draw(l.t, "end") {
			p.Body = ended(p.GrowingText())
			l.parts[i] = p
			l.add(&lathe.PartChanged{Part: p})
		}
	}
}

func (l *life) remove() {
	if len(l.parts) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.parts)-1).Draw(l.t, "part")
	gone := l.parts[i]
	if rapid.Bool().Draw(l.t, "only the part") {
		l.parts = append(l.parts[:i], l.parts[i+1:]...)
		l.add(&lathe.PartRemoved{Session: "ses_1", Message: gone.Message, Part: gone.ID})
		return
	}
	l.add(&lathe.MessageRemoved{Session: "ses_1", Message: gone.Message})
	var parts []lathe.Part
	for _, p := range l.parts {
		if p.Message != gone.Message {
			parts = append(parts, p)
		}
	}
	var messages []lathe.MessageID
	for _, m := range l.messages {
		if m != gone.Message {
			messages = append(messages, m)
		}
	}
	l.parts, l.messages = parts, messages
}

func (l *life) ask() {
	if len(l.asks) > 0 && rapid.Bool().Draw(l.t, "answer") {
		l.add(&lathe.PermissionReplied{Session: "ses_1", Request: l.asks[0], Reply: lathe.Once})
		l.asks = l.asks[1:]
		return
	}
	id := lathe.AskID(fmt.Sprintf("per_%d", l.number()))
	l.asks = append(l.asks, id)
	l.add(asked(id))
}

// I1 for readers: any prefix, then the present state of what changed since any earlier
// number, then what follows, is the same as everything.
func TestTranscript_PropResume(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{t: rt}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			l.step()
		}
		n := len(l.facts)
		want := viewOf(fold(l.facts))
		m := rapid.IntRange(0, n).Draw(rt, "back")
		k := rapid.IntRange(0, m).Draw(rt, "cut")
		noted := rapid.IntRange(0, k).Draw(rt, "noted")
		store := feedAt(l.facts, m)
		got := viewOf(fold(l.facts[:k], store.since(noted), l.facts[m:]))
		if d := viewDiff(want, got); d != "" {
			rt.Fatalf("cut after %d of %d, back after %d from %d (-want +got):\n%s", k, n, m, noted, d)
		}

		// Deltas that the reader's queue still held are reported again; they know their place.
		var late []lathe.Fact
		for _, f := range l.facts[k:m] {
			if d, ok := f.(*lathe.PartDelta); ok && d.Offset >= 0 {
				late = append(late, d)
			}
		}
		got = viewOf(fold(l.facts[:k], store.since(noted), late, l.facts[m:]))
		got.Stale = want.Stale // a delta of what is gone asks for more than is needed
		if d := viewDiff(want, got); d != "" {
			rt.Fatalf("with late deltas (-want +got):\n%s", d)
		}
	})
}
