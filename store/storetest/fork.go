package storetest

import (
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func forkTests() map[string]func(*env) {
	return map[string]func(*env){
		"CopiesAllWithNewIDs":            testForkAll,
		"StopsBeforeTheMessageNamed":     testForkBefore,
		"AnUnknownMessageMeansAll":       testForkUnknown,
		"BoundaryIsAPositionNotAnID":     testForkPosition,
		"ParentsPointIntoTheFork":        testForkParents,
		"CompactionsPointIntoTheFork":    testForkTail,
		"TheRecordIsTheCallers":          testForkRecord,
		"UsageIsWhatWasCopied":           testForkUsage,
		"WaitingPromptsStay":             testForkWaiting,
		"AWaitingPromptMayBeTheBoundary": testForkAtWaiting,
		"EveryPartIsCopied":              testForkParts,
		"ToldToThoseWhoListen":           testForkPublished,
		"NotToldIfNobodyListens":         testForkQuiet,
		"TheCreationIsToldFirst":         testForkCreatedFirst,
		"ATakenIDIsConflict":             testForkTaken,
		"TheOriginalDoesNotChange":       testForkOriginal,
		"LongOnesAreToldWhole":           testForkLong,
	}
}

func (r *env) fork(from lathe.SessionID, before lathe.MessageID) lathe.Session {
	r.Helper()
	rec := r.record()
	r.ok(r.Fork(ctx(), from, before, rec))
	return rec
}

// plain takes away what a copy has of its own: ids, and what points to them.
func plain(messages []lathe.Message) []lathe.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		m.ID, m.Session = "", ""
		m = m.WithParent("")
		m.Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			p.ID, p.Session, p.Message = "", "", ""
			if call, ok := p.Body.(*lathe.ToolCall); ok {
				if done, ok := call.State.(*lathe.Completed); ok {
					for k := range done.Attachments {
						done.Attachments[k].Session, done.Attachments[k].Message = "", ""
					}
				}
			}
			m.Parts[j] = p
		}
		out[i] = m
	}
	return out
}

func testForkAll(r *env) {
	l := r.held()
	r.said(l, "one")
	r.said(l, "two")
	from := r.history(l.Session)
	rec := r.fork(l.Session, "")
	to := r.history(rec.ID)
	r.same("content", plain(to), plain(from))
	for i := range to {
		if to[i].ID == from[i].ID || to[i].Parts[0].ID == from[i].Parts[0].ID {
			r.Fatalf("message %d has its old id", i)
		}
		r.same("session", to[i].Session, rec.ID)
		r.same("message of the part", to[i].Parts[0].Message, to[i].ID)
	}
}

func testForkBefore(r *env) {
	l, ids := r.long(6)
	for i, id := range ids {
		r.same("copied", len(r.history(r.fork(l.Session, id).ID)), i)
	}
}

func testForkUnknown(r *env) {
	l, _ := r.long(3)
	_, others := r.long(3)
	r.same("copied", len(r.history(r.fork(l.Session, "msg_unknown").ID)), 3)
	r.same("copied", len(r.history(r.fork(l.Session, others[0]).ID)), 3)
}

func testForkPosition(r *env) {
	var messages []lathe.Message
	for i, id := range []lathe.MessageID{"msg_9", "msg_1", "msg_5", "msg_0"} {
		m := r.user("")
		m.ID, m.Created = id, lathe.Time(i)
		messages = append(messages, m)
	}
	from := r.imported(messages...)
	r.same("copied", len(r.history(r.fork(from, "msg_5").ID)), 2)
	r.same("copied", len(r.history(r.fork(from, "msg_0").ID)), 3)
	r.same("copied", len(r.history(r.fork(from, "msg_9").ID)), 0)
}

func testForkParents(r *env) {
	l := r.held()
	m, a := r.said(l, "one")
	orphan := r.answer(lathe.Message{ID: "msg_elsewhere", Session: l.Session})
	r.commit(l, wrote(orphan)...)
	copies := r.history(r.fork(l.Session, "").ID)
	r.same("parent", copies[1].Parent(), copies[0].ID)
	r.same("of a message that was not copied", copies[2].Parent(), lathe.MessageID("msg_elsewhere"))
	r.same("originals", []lathe.MessageID{m.Parent(), a.Parent()}, []lathe.MessageID{"", m.ID})
}

func testForkTail(r *env) {
	l := r.held()
	m, _ := r.said(l, "one")
	request := r.user(l.Session)
	body := lathe.Compaction{Auto: true, Overflow: lathe.No, TailStart: m.ID, Extra: `"x":1`}
	request.Parts = []lathe.Part{r.part(request, &body), r.part(request, &lathe.Compaction{TailStart: "msg_elsewhere"}), r.part(request, &lathe.Compaction{})}
	r.commit(l, wrote(request)...)
	copies := r.history(r.fork(l.Session, "").ID)
	body.TailStart = copies[0].ID
	last := copies[2].Parts
	r.same("points to the copy", last[0].Body, lathe.Body(&body))
	r.same("points nowhere", last[1].Body, lathe.Body(&lathe.Compaction{}))
	r.same("pointed nowhere", last[2].Body, lathe.Body(&lathe.Compaction{}))
	r.same("the original", must(r.Part(ctx(), l.Session, request.ID, request.Parts[1].ID))(r).Body, lathe.Body(&lathe.Compaction{TailStart: "msg_elsewhere"}))
}

func testForkRecord(r *env) {
	from := lathetest.Session()
	r.ok(r.Create(ctx(), from))
	rec := r.record()
	rec.Title, rec.Metadata, rec.Directory = "A title (fork #1)", from.Metadata, "/elsewhere"
	r.ok(r.Fork(ctx(), from.ID, "", rec))
	r.same("record", must(r.Session(ctx(), rec.ID))(r), rec)
}

func testForkUsage(r *env) {
	l := r.held()
	m, a := r.said(l, "one")
	r.commit(l, changed(r.finish(m, 1, 1)), changed(r.finish(a, 2, 2)))
	next, _ := r.said(l, "two")
	r.commit(l, changed(r.finish(next, 4, 4)))
	rec := must(r.Session(ctx(), l.Session))(r) // with its cost
	rec.ID = r.ids.Session()
	r.ok(r.Fork(ctx(), l.Session, next.ID, rec))
	r.uses(rec.ID, 3, 3)
	r.uses(l.Session, 7, 7)
	rec.ID = r.ids.Session()
	r.ok(r.Fork(ctx(), l.Session, m.ID, rec))
	r.uses(rec.ID, 0, 0)
}

func testForkWaiting(r *env) {
	l := r.held()
	r.said(l, "one")
	r.prompts(l.Session, lathe.Steer, lathe.Queue)
	rec := r.fork(l.Session, "")
	r.same("copied", len(r.history(rec.ID)), 2)
	r.same("inbox", r.inbox(rec.ID), []store.QueuedPrompt{})
	r.same("wants", r.wants(rec.ID), lathe.MessageID(""))
	r.same("inbox of the original", len(r.inbox(l.Session)), 2)
}

func testForkAtWaiting(r *env) {
	l := r.held()
	r.said(l, "one")
	waiting := r.prompts(l.Session, lathe.Queue)
	r.said(l, "two")
	r.same("copied", texts(r.history(r.fork(l.Session, waiting[0]).ID)), [][]string{{"one"}, {"You said: one"}})
}

func testForkParts(r *env) {
	l := r.held()
	_, a := r.said(l, "one")
	var facts []lathe.Fact
	for _, p := range lathetest.Parts(l.Session, a.ID) {
		if c, ok := p.Body.(*lathe.Compaction); ok {
			c.TailStart = "" // has its own test
		}
		facts = append(facts, changed(p))
	}
	r.commit(l, facts...)
	rec := r.fork(l.Session, "")
	r.same("content", plain(r.history(rec.ID)), plain(r.history(l.Session)))
	for _, m := range r.history(rec.ID) {
		for _, p := range m.Parts {
			if call, ok := p.Body.(*lathe.ToolCall); ok {
				if done, ok := call.State.(*lathe.Completed); ok {
					r.same("attachment's session", done.Attachments[0].Session, rec.ID)
					r.same("attachment's message", done.Attachments[0].Message, m.ID)
				}
			}
		}
	}
}

func testForkPublished(r *env) {
	l := r.held()
	_, a := r.said(l, "one")
	r.commit(l, changed(r.finish(a, 1, 1)))
	r.published.take()
	n := r.counter()
	rec := r.fork(l.Session, "")
	events := r.published.take()
	r.same("kinds", kinds(events), []string{
		"session.created", "message.updated", "message.part.updated", "message.updated", "message.part.updated", "message.part.updated", "session.updated",
	})
	last := events[len(events)-1]
	r.same("number of the last", []any{last.Seq, last.Last}, []any{r.counter(), true})
	for _, e := range events[:len(events)-1] {
		if e.Last || e.Seq <= n {
			r.Fatalf("%s has number %d, last %v", e.Fact.Type(), e.Seq, e.Last)
		}
	}
	r.same("reader state", read(r, r.Store)[rec.ID], followed(r, events)[rec.ID])
}

func testForkQuiet(r *env) {
	published := &listener{ignores: true}
	s := r.again(store.Options{Publish: published.publish, HasListeners: published.wanted})
	l := r.held()
	r.said(l, "one")
	r.ok(s.Fork(ctx(), l.Session, "", r.record()))
	r.same("counter", s.Last(), r.counter())
	for _, k := range kinds(published.events()) {
		if k != "session.created" {
			r.Errorf("%s was not published", k)
		}
	}
}

// testForkCreatedFirst changes the new session while its parts are still being published.
func testForkCreatedFirst(r *env) {
	l, _ := r.long(300)
	rec := r.record()
	other := r.again(store.Options{})
	published := &listener{}
	changed := false
	s := r.again(store.Options{Publish: func(b store.Batch) {
		published.publish(b)
		if len(b.Events) > 0 && !changed {
			changed = true
			if _, err := other.Edit(ctx(), rec.ID, lathe.Edit{Title: lathe.Some("Changed meanwhile")}); err != nil {
				r.Errorf("edit: %v", err)
			}
		}
	}})
	r.ok(s.Fork(ctx(), l.Session, "", rec))
	r.ok(s.Poll(ctx()))
	events := published.events()
	r.same("first", events[0].Fact.Type(), "session.created")
	r.same("reader state", followed(r, events)[rec.ID], read(r, r.Store)[rec.ID])
}

func testForkTaken(r *env) {
	l := r.held()
	r.said(l, "one")
	rec := r.record()
	rec.ID = l.Session
	before := read(r, r.Store)
	r.is(r.Fork(ctx(), l.Session, "", rec), lathe.Conflict)
	r.same("store", read(r, r.Store), before)
}

func testForkOriginal(r *env) {
	l := r.held()
	m, _ := r.said(l, "one")
	before := read(r, r.Store)[l.Session]
	rec := r.fork(l.Session, "")
	r.same("original", read(r, r.Store)[l.Session], before)
	r.commit(l, &lathe.MessageRemoved{Session: l.Session, Message: m.ID})
	r.same("the fork afterwards", len(r.history(rec.ID)), 2)
	r.ok(r.Remove(ctx(), l.Session))
	r.same("the fork afterwards", len(r.history(rec.ID)), 2)
}

func testForkLong(r *env) {
	l, ids := r.long(400)
	r.published.take()
	rec := r.fork(l.Session, "")
	events := r.published.take()
	r.same("events", len(events), 1+2*len(ids))
	r.same("reader state", len(followed(r, events)[rec.ID].Messages), len(ids))
}
