package storetest

import (
	"encoding/json"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

// This file has the commits and imports of the random processes.

// bring imports a random session: a new one, an existing one, or a removed one.
func (h *actors) bring(by *store.Store) touched {
	rec := h.record()
	if rapid.Bool().Draw(h.t, "known") {
		rec.ID = h.any()
	}
	var messages []lathe.Message
	for range rapid.IntRange(0, 3).Draw(h.t, "messages") {
		messages = append(messages, onWire(h.env, lathetest.Message(h.t, rec.ID, h.next())))
	}
	h.ok(by.Import(ctx(), rec, messages))
	return touched{rec.ID: nil}
}

// onWire is the message as any reader would have it.
func onWire(r *env, m lathe.Message) lathe.Message {
	r.Helper()
	var out lathe.Message
	r.ok(json.Unmarshal(m.AppendJSON(nil), &out))
	return out
}

// commit writes a few random facts to a session, under its lease.
func (h *actors) commit(by *store.Store) touched {
	id := h.any()
	l, ok := h.leases[id]
	if !ok {
		l = held{by, must(by.Acquire(ctx(), id))(h.env)}
		h.leases[id] = l
	}
	w := &writing{actors: h, id: id, state: h.now[id]}
	for range rapid.IntRange(1, 4).Draw(h.t, "facts") {
		w.fact()
	}
	must(l.by.Commit(ctx(), l.lease, w.facts...))(h.env)
	if rapid.IntRange(0, 4).Draw(h.t, "release") == 0 {
		must(l.by.Commit(ctx(), l.lease, status(id, lathe.Idle)))(h.env)
		h.ok(l.by.Release(ctx(), l.lease))
		delete(h.leases, id)
	}
	return touched{id: w.touched}
}

// writing is a commit in the making. It works on what was stored before; a row that the
// commit itself has changed or removed is not used again.
type writing struct {
	*actors
	id      lathe.SessionID
	state   state
	facts   []lathe.Fact
	touched []lathe.MessageID
	used    map[string]bool
}

func (w *writing) add(m lathe.MessageID, facts ...lathe.Fact) {
	w.facts = append(w.facts, facts...)
	w.touched = append(w.touched, m)
}

// message draws a message that this commit has not changed yet.
func (w *writing) message() (lathe.Message, bool) {
	var free []lathe.Message
	for _, m := range w.state.Messages {
		if !w.used[string(m.ID)] {
			free = append(free, m)
		}
	}
	if len(free) == 0 {
		return lathe.Message{}, false
	}
	m := free[rapid.IntRange(0, len(free)-1).Draw(w.t, "message")]
	w.use(string(m.ID))
	return m, true
}

func (w *writing) use(id string) {
	if w.used == nil {
		w.used = map[string]bool{}
	}
	w.used[id] = true
}

// fact adds one random change.
func (w *writing) fact() {
	m, ok := w.message()
	kind := rapid.IntRange(0, 15).Draw(w.t, "fact")
	switch {
	case kind <= 1 || !ok && kind <= 11:
		w.write()
	case kind <= 3:
		w.add(m.ID, changed(w.body(m)))
	case kind <= 7:
		w.changePart(m)
	case kind == 8:
		w.answered(m)
	case kind == 9:
		w.add(m.ID, &lathe.MessageRemoved{Session: w.id, Message: m.ID})
	case kind == 10:
		w.add(m.ID, &lathe.Promote{Session: w.id, Message: m.ID})
	case kind == 11:
		w.add(m.ID, wrote(lathe.Message{ID: m.ID, Created: m.Created, Data: m.Data})...)
	default:
		w.small(kind)
	}
}

// write adds a new message of either side.
func (w *writing) write() {
	m := lathetest.Message(w.t, w.id, w.next())
	for i := range m.Parts {
		m.Parts[i] = own(m.Parts[i])
	}
	if rapid.Bool().Draw(w.t, "plain") {
		m = w.user(w.id)
		m.Parts = []lathe.Part{w.growing(m, "It ")}
	}
	w.use(string(m.ID))
	w.add(m.ID, wrote(m)...)
}

// body makes a further part of a message.
func (w *writing) body(m lathe.Message) lathe.Part {
	switch rapid.IntRange(0, 2).Draw(w.t, "kind") {
	case 0:
		return w.growing(m, rapid.SampledFrom([]string{"", "Once", "é😀"}).Draw(w.t, "text"))
	case 1:
		return w.finish(m, 0.5, int64(w.next()))
	default:
		return own(w.part(m, lathetest.Body(w.t)))
	}
}

// own sets the session and message of the attachments of a sample.
func own(p lathe.Part) lathe.Part {
	if call, ok := p.Body.(*lathe.ToolCall); ok {
		if done, ok := call.State.(*lathe.Completed); ok {
			for i := range done.Attachments {
				done.Attachments[i].Session, done.Attachments[i].Message = p.Session, p.Message
			}
		}
	}
	return p
}

// changePart changes one part of a message: an open one grows or ends, another is replaced
// or removed.
func (w *writing) changePart(m lathe.Message) {
	if len(m.Parts) == 0 {
		w.add(m.ID, changed(w.body(m)))
		return
	}
	p := m.Parts[rapid.IntRange(0, len(m.Parts)-1).Draw(w.t, "part")]
	switch rapid.IntRange(0, 3).Draw(w.t, "change") {
	case 0:
		w.add(m.ID, &lathe.PartRemoved{Session: w.id, Message: m.ID, Part: p.ID})
	case 1:
		p.Body = lathetest.Body(w.t)
		w.add(m.ID, changed(own(p)))
	default:
		if !p.Open() {
			w.add(m.ID, changed(p))
			return
		}
		if text, ok := p.Body.(*lathe.Text); ok && rapid.Bool().Draw(w.t, "end") {
			w.add(m.ID, changed(ended(p, text.Text+"the end")))
			return
		}
		// Subscribers already have the text of a checkpoint as a delta.
		old := p.GrowingText()
		more := rapid.SampledFrom([]string{"more ", "é", "😀"}).Draw(w.t, "more")
		w.add(m.ID, &lathe.PartDelta{Session: w.id, Message: m.ID, Part: p.ID, Field: "text", Delta: more, Offset: lathe.UTF16Len(old)},
			&lathe.Checkpoint{Session: w.id, Part: p.ID, Offset: len(old), Text: more})
	}
}

// answered completes an answer, or gives a user message another agent.
func (w *writing) answered(m lathe.Message) {
	switch s := m.Data.(type) {
	case *lathe.Assistant:
		next := *s
		next.Completed, next.Finish = w.clock.tick(), "stop"
		m.Data = &next
	case *lathe.User:
		next := *s
		next.Agent = "plan"
		m.Data = &next
	}
	m.Parts = nil
	w.add(m.ID, wrote(m)...)
}

// small adds a change of a row that is not a message.
func (w *writing) small(kind int) {
	switch kind {
	case 12:
		w.facts = append(w.facts, status(w.id, rapid.SampledFrom([]string{lathe.Busy, lathe.Idle}).Draw(w.t, "status")))
	case 13:
		w.facts = append(w.facts, &lathe.TodosChanged{Session: w.id, Todos: []lathe.Todo{{Content: string(rune('a' + w.next()%26))}}},
			&lathe.DiffChanged{Session: w.id, Diff: []lathe.FileDiff{lathetest.Diff()}})
	case 14:
		if rapid.Bool().Draw(w.t, "question") {
			w.facts = append(w.facts, w.question(w.id))
		} else {
			w.facts = append(w.facts, w.ask(w.id))
		}
	default:
		for _, f := range w.state.Asks {
			if p, ok := f.(*lathe.PermissionAsked); ok {
				w.facts = append(w.facts, &lathe.PermissionReplied{Session: w.id, Request: p.ID, Reply: lathe.Reject})
			}
		}
		w.facts = append(w.facts, &lathe.SessionCompacted{Session: w.id})
	}
}
