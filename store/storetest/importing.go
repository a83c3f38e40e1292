package storetest

import (
	"fmt"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/store"
)

func importTests() map[string]func(*env) {
	return map[string]func(*env){
		"IDsTimesAndOrderStay":             testImportNew,
		"EveryPartIsKept":                  testImportParts,
		"WhatIsHereIsKept":                 testImportMerge,
		"AKnownSessionMovesHere":           testImportMoves,
		"UsageIsCountedAnew":               testImportUsage,
		"AMessageOfAnotherSession":         testImportForeignMessage,
		"APartOfAnotherSession":            testImportForeignPart,
		"TheSameTwice":                     testImportTwice,
		"DuplicatesInside":                 testImportDuplicates,
		"ARefreshBringsChanges":            testImportRefresh,
		"ARefreshLeavesContinuedSessions":  testImportContinued,
		"PartsApartFromTheirMessage":       testImportApart,
		"NothingWaitsOrWants":              testImportMarks,
		"ToldToThoseWhoListen":             testImportPublished,
		"LaterMessagesComeAfter":           testImportThenCommit,
		"ASessionWithoutMessages":          testImportBare,
		"OpenPartsGrowOn":                  testImportOpen,
		"WhileItsSessionIsHeld":            testImportHeld,
		"LargeOnesAreWrittenAndToldWhole":  testImportLong,
		"AFailureLeavesNoFileBehindInRows": testImportFailed,
	}
}

// foreign is an export of elsewhere.
func foreign() (lathe.Session, []lathe.Message) {
	rec := lathetest.Session()
	messages := lathetest.Messages()
	for i := range messages {
		messages[i].Parts = nil
	}
	messages[1].Parts = lathetest.Parts(rec.ID, messages[1].ID)
	return rec, messages
}

func testImportNew(r *env) {
	rec, messages := foreign()
	messages[2].Created = messages[0].Created // and so the order is by id
	r.ok(r.Import(ctx(), rec, messages))
	got := r.history(rec.ID)
	r.same("order", messageIDs(got), []lathe.MessageID{messages[0].ID, messages[2].ID, messages[1].ID})
	r.same("message", got[2], messages[1])
	s := must(r.Session(ctx(), rec.ID))(r)
	rec.Cost, rec.Tokens = s.Cost, s.Tokens
	r.same("session", s, rec)
}

func testImportParts(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	r.same("parts", must(r.Message(ctx(), rec.ID, messages[1].ID))(r).Parts, messages[1].Parts)
}

func testImportMerge(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages[:2]))
	l := r.lease(rec.ID)
	mine := messages[1].Parts[0]
	mine.Body = &lathe.Text{Text: "changed here"}
	r.commit(l, changed(mine))
	must(r.Edit(ctx(), rec.ID, lathe.Edit{Title: lathe.Some("named here")}))(r)
	extra := lathe.Part{ID: "prt_new", Session: rec.ID, Message: messages[0].ID, Body: &lathe.Text{Text: "new there"}}
	messages[0].Parts = append(messages[0].Parts, extra)
	messages[0].Data = &lathe.User{Agent: "other"}
	r.ok(r.Import(ctx(), rec, messages))
	got := r.history(rec.ID)
	r.same("messages", len(got), 3)
	r.same("kept", got[0].Data.(*lathe.User).Agent, "build")
	r.same("added", got[0].Parts, []lathe.Part{extra})
	r.same("kept", got[1].Parts[0], mine)
	r.same("kept", must(r.Session(ctx(), rec.ID))(r).Title, "named here")
}

func testImportMoves(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	before := must(r.Session(ctx(), rec.ID))(r)
	path := "here"
	rec.Project, rec.Directory, rec.Path = "prj2", "/here", &path
	r.ok(r.Import(ctx(), rec, messages))
	before.Project, before.Directory, before.Path = "prj2", "/here", &path
	r.same("session", must(r.Session(ctx(), rec.ID))(r), before)
}

func testImportUsage(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	var cost lathe.Money
	for _, p := range messages[1].Parts {
		if f, ok := p.Body.(*lathe.StepFinish); ok {
			cost = cost.Add(f.Cost)
		}
	}
	r.same("cost", *must(r.Session(ctx(), rec.ID))(r).Cost, cost)
	r.ok(r.Import(ctx(), rec, messages))
	r.same("cost after a second time", *must(r.Session(ctx(), rec.ID))(r).Cost, cost)
}

func testImportForeignMessage(r *env) {
	l := r.held()
	taken, _ := r.said(l, "Hello")
	rec, messages := foreign()
	messages[2].ID = taken.ID
	before := read(r, r.Store)
	n := r.counter()
	r.is(r.Import(ctx(), rec, messages), lathe.Conflict)
	r.same("store", read(r, r.Store), before)
	r.same("counter", r.counter(), n)
}

func testImportForeignPart(r *env) {
	l := r.held()
	taken, _ := r.said(l, "Hello")
	rec, messages := foreign()
	last := len(messages[1].Parts) - 1
	messages[1].Parts[last].ID = taken.Parts[0].ID
	before := read(r, r.Store)
	r.is(r.Import(ctx(), rec, messages), lathe.Conflict)
	r.same("store", read(r, r.Store), before)
	messages[1].Parts = messages[1].Parts[:last]
	r.ok(r.Import(ctx(), rec, messages)) // and nothing of the first attempt is in its way
}

func testImportTwice(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	before := read(r, r.Store)
	r.ok(r.Import(ctx(), rec, messages))
	r.same("store", read(r, r.Store), before)
}

func testImportDuplicates(r *env) {
	rec, messages := foreign()
	before := read(r, r.Store)
	r.is(r.Import(ctx(), rec, append(messages, messages[1])), lathe.Invalid)
	twice := messages[1]
	twice.Parts = append(twice.Parts, twice.Parts[0])
	r.is(r.Import(ctx(), rec, []lathe.Message{messages[0], twice}), lathe.Invalid)
	r.same("store", read(r, r.Store), before)
}

// refresh stages messages and writes them over what an earlier import left.
func refresh(r *env, rec lathe.Session, messages []lathe.Message) (store.Imported, error) {
	g := must(r.Stage())(r)
	for _, m := range messages {
		r.ok(g.Add(m))
	}
	out, err := g.Refresh(ctx(), rec)
	r.ok(g.Close())
	return out, err
}

func testImportRefresh(r *env) {
	rec, messages := foreign()
	out := must(refresh(r, rec, messages[:2]))(r)
	r.same("first", out, store.Imported{New: true, Messages: 2, Added: 2})
	out = must(refresh(r, rec, messages[:2]))(r)
	r.same("unchanged", out, store.Imported{Messages: 2})
	changed := messages[1].Parts[0]
	changed.Body = &lathe.Text{Text: "finished there"}
	messages[1].Parts[0] = changed
	rec.Directory = "/elsewhere"
	out = must(refresh(r, rec, messages))(r)
	r.same("grown", out, store.Imported{Messages: 3, Added: 1, Changed: 1})
	r.same("history", r.history(rec.ID), messages)
	var cost lathe.Money
	for _, p := range messages[1].Parts {
		if f, ok := p.Body.(*lathe.StepFinish); ok {
			cost = cost.Add(f.Cost)
		}
	}
	s := must(r.Session(ctx(), rec.ID))(r)
	r.same("cost", *s.Cost, cost)
	r.same("stays where it is", s.Directory == "/elsewhere", false)
}

func testImportContinued(r *env) {
	rec, messages := foreign()
	must(refresh(r, rec, messages[:2]))(r)
	r.said(r.lease(rec.ID), "Hello")
	before := read(r, r.Store)
	_, err := refresh(r, rec, messages)
	r.is(err, lathe.Conflict)
	r.same("store", read(r, r.Store), before)
}

func testImportApart(r *env) {
	rec, messages := foreign()
	g := must(r.Stage())(r)
	for _, p := range messages[1].Parts { // parts may come before their message
		r.ok(g.Add(lathe.Message{ID: messages[1].ID, Parts: []lathe.Part{p}}))
	}
	for _, m := range messages {
		m.Parts = nil
		r.ok(g.Add(m))
	}
	must(g.Commit(ctx(), rec))(r)
	r.ok(g.Close())
	r.same("parts", must(r.Message(ctx(), rec.ID, messages[1].ID))(r).Parts, messages[1].Parts)
	g = must(r.Stage())(r)
	r.ok(g.Add(lathe.Message{ID: "msg_none", Parts: []lathe.Part{r.text(messages[0], "lost")}}))
	_, err := g.Commit(ctx(), rec)
	r.is(err, lathe.Invalid)
	r.ok(g.Close())
}

func testImportMarks(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	r.same("inbox", r.inbox(rec.ID), []store.QueuedPrompt{})
	r.same("wants", r.wants(rec.ID), lathe.MessageID(""))
}

func testImportPublished(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages))
	events := r.published.take()
	r.same("first", events[0].Fact.Type(), "session.created")
	r.same("reader state", followed(r, events), read(r, r.Store))
	messages = append(messages, lathe.Message{ID: "msg_more", Session: rec.ID, Created: lathetest.Now + 99, Data: lathetest.RoleData()[0]})
	r.ok(r.Import(ctx(), rec, messages))
	r.same("of a second time", kinds(r.published.take()), []string{"session.updated", "message.updated"})
}

func testImportThenCommit(r *env) {
	rec, messages := foreign()
	messages[2].Created += 1e6
	r.ok(r.Import(ctx(), rec, messages))
	m, a := r.said(r.lease(rec.ID), "Hello")
	r.same("order", messageIDs(r.history(rec.ID))[3:], []lathe.MessageID{m.ID, a.ID})
}

func testImportBare(r *env) {
	rec := r.record()
	r.ok(r.Import(ctx(), rec, nil))
	r.same("session", must(r.Session(ctx(), rec.ID))(r), rec)
	r.same("events", numbers(r.published.take()), []string{"1*"})
}

func testImportOpen(r *env) {
	rec, messages := foreign()
	messages[2].Parts = []lathe.Part{{ID: "prt_open", Session: rec.ID, Message: messages[2].ID, Body: &lathe.Reasoning{Text: "Hm", Time: lathe.Span{Start: 1}}}}
	r.ok(r.Import(ctx(), rec, messages))
	r.same("text", must(r.Message(ctx(), rec.ID, messages[2].ID))(r).Parts, messages[2].Parts)
	r.commit(r.lease(rec.ID), &lathe.Checkpoint{Session: rec.ID, Part: "prt_open", Offset: 2, Text: "!"})
}

func testImportHeld(r *env) {
	rec, messages := foreign()
	r.ok(r.Import(ctx(), rec, messages[:1]))
	l := r.lease(rec.ID)
	r.ok(r.Import(ctx(), rec, messages))
	r.said(l, "undisturbed")
}

func testImportLong(r *env) {
	rec := r.record()
	var messages []lathe.Message
	for i := range 400 {
		m := r.user(rec.ID)
		m.Parts = []lathe.Part{r.text(m, fmt.Sprint(i))}
		messages = append(messages, m)
	}
	r.ok(r.Import(ctx(), rec, messages))
	r.same("stored", r.history(rec.ID), messages)
	r.same("reader state", followed(r, r.published.take()), read(r, r.Store))
}

func testImportFailed(r *env) {
	l := r.held()
	taken, _ := r.said(l, "Hello")
	rec, messages := foreign()
	messages[0].Parts = []lathe.Part{r.text(messages[0], big('a'))}
	messages[2].ID = taken.ID
	r.is(r.Import(ctx(), rec, messages), lathe.Conflict)
	r.same("large values", must(r.Stats(ctx()))(r).Blobs, int64(0))
}
