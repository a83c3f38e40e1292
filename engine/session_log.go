package engine

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
)

// sessionLog writes a session under its lease. Facts are committed and applied to the conversation in
// memory, which is therefore always what the store has. It is for one goroutine.
type sessionLog struct {
	store    *store.Store
	lease    store.Lease
	ids      *lathe.IDs
	now      func() lathe.Time
	texts    *growingTexts
	received func() []lathe.Event  // takes the events others have committed; nil without an actor
	mem      *history.Conversation // nil until it is loaded
	isBusy   bool                  // the session was last published as busy
}

// commit writes facts.
func (l *sessionLog) commit(ctx context.Context, facts ...lathe.Fact) ([]lathe.Event, error) {
	if err := l.texts.wait(); err != nil {
		return nil, err
	}
	events, err := l.store.Commit(ctx, l.lease, facts...)
	if err != nil {
		return nil, err
	}
	l.texts.followAll(events)
	return events, nil
}

// write commits facts, also while the turn is being canceled, and applies them to the conversation.
func (l *sessionLog) write(ctx context.Context, facts ...lathe.Fact) error {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	events, err := l.commit(ctx, facts...)
	if err != nil {
		return writeError{err}
	}
	for _, e := range events {
		l.mem.Apply(e)
	}
	return nil
}

// reserve writes facts together with a reservation of what a request may cost. The grant says whether
// there was enough; otherwise nothing is written.
func (l *sessionLog) reserve(ctx context.Context, want store.Reservation, facts ...lathe.Fact) (store.Grant, error) {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	if err := l.texts.wait(); err != nil {
		return store.Grant{}, writeError{err}
	}
	g, events, err := l.store.Reserve(ctx, l.lease, want, facts...)
	if err != nil {
		return g, writeError{err}
	}
	l.texts.followAll(events)
	for _, e := range events {
		l.mem.Apply(e)
	}
	return g, nil
}

// edit changes columns of the session's record.
func (l *sessionLog) edit(ctx context.Context, e lathe.Edit) (lathe.Session, error) {
	ctx, cancel := settleContext(ctx)
	defer cancel()
	rec, err := l.store.Edit(ctx, l.lease.Session, e)
	if err == nil {
		l.mem.Session = rec
	}
	return rec, err
}

// catchUp applies what others have committed.
func (l *sessionLog) catchUp() {
	if l.received == nil {
		return
	}
	after := l.store.Last() // everything published up to here was received
	for _, ev := range l.received() {
		l.mem.Apply(ev)
	}
	l.mem.After = max(l.mem.After, after)
}

// busyFact is the fact that the session is busy. Its writer must publish idle later.
func (l *sessionLog) busyFact() lathe.Fact {
	l.isBusy = true
	return &lathe.StatusChanged{Session: l.lease.Session, Status: lathe.Status{Type: lathe.Busy}}
}

// publish sends an event to clients that is not stored.
func (l *sessionLog) publish(f lathe.Fact) {
	s := l.mem.Session
	l.texts.bus.Publish(lathe.Event{Session: s.ID, Directory: s.Directory, Project: s.Project, Fact: f})
}

// newPart is a part of a message of the session.
func (l *sessionLog) newPart(message lathe.MessageID, body lathe.Body) lathe.Part {
	return lathe.Part{ID: l.ids.Part(), Session: l.lease.Session, Message: message, Body: body}
}

// message are the facts of a new message of the session.
func (l *sessionLog) message(at lathe.Time, author lathe.RoleData, bodies ...lathe.Body) []lathe.Fact {
	m := lathe.Message{ID: l.ids.Message(), Session: l.lease.Session, Created: at, Data: author}
	facts := []lathe.Fact{&lathe.MessageChanged{Info: m}}
	for _, b := range bodies {
		facts = append(facts, &lathe.PartChanged{Part: l.newPart(m.ID, b), Time: at})
	}
	return facts
}

// samePrompt is a user message of our own, with all that a prompt asked for.
func samePrompt(like *lathe.User) *lathe.User {
	return &lathe.User{Agent: like.Agent, Model: like.Model, System: like.System, Tools: like.Tools, Format: like.Format}
}

// batch collects facts that belong into one commit.
type batch struct {
	log   *sessionLog
	facts []lathe.Fact
}

func (b *batch) add(facts ...lathe.Fact) { b.facts = append(b.facts, facts...) }

// flush commits what was added, also when the turn is being canceled: what happened has
// happened.
func (b *batch) flush(ctx context.Context) error {
	if len(b.facts) == 0 {
		return nil
	}
	facts := b.facts
	b.facts = nil
	return b.log.write(ctx, facts...)
}
