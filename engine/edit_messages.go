package engine

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// editor changes messages of idle sessions.
type editor struct {
	*services
	actors *actors
}

// UpdateMessage writes a message without its parts.
func (e editor) UpdateMessage(ctx context.Context, m lathe.Message) (lathe.Message, error) {
	if err := lathe.CheckID(lathe.PrefixMessage, string(m.ID)); err != nil {
		return m, err
	}
	if m.Created == 0 {
		m.Created = e.now()
	}
	err := e.actors.edit(ctx, m.Session, func(r *runner) error {
		events, err := r.log.commit(ctx, &lathe.MessageChanged{Info: m})
		if err == nil {
			m.Created = events[0].Fact.(*lathe.MessageChanged).Info.Created
		}
		return err
	})
	return m, err
}

// UpdatePart writes a part. With a delta, the part named is open and grows by it: clients
// get the delta alone, and the store appends it; of p only the ids count.
func (e editor) UpdatePart(ctx context.Context, p lathe.Part, delta string) (lathe.Part, error) {
	if err := lathe.CheckID(lathe.PrefixPart, string(p.ID)); err != nil {
		return p, err
	}
	err := e.actors.edit(ctx, p.Session, func(r *runner) (err error) {
		if delta == "" {
			_, err = r.log.commit(ctx, &lathe.PartChanged{Part: p})
			return err
		}
		p, err = r.log.extend(ctx, p, delta)
		return err
	})
	return p, err
}

// extend grows a part that is open in the store, and writes that down at once.
func (l *sessionLog) extend(ctx context.Context, p lathe.Part, delta string) (lathe.Part, error) {
	s, err := l.store.Session(ctx, p.Session)
	if err != nil {
		return p, err
	}
	if p, err = l.store.Part(ctx, p.Session, p.Message, p.ID); err != nil {
		return p, err
	}
	if !p.Open() {
		return p, lathe.Errorf(lathe.Conflict, "part %s has ended and cannot grow", p.ID)
	}
	l.texts.follow(lathe.Event{Session: s.ID, Directory: s.Directory, Project: s.Project, Fact: &lathe.PartChanged{Part: p}})
	if err := l.texts.grow(p.ID, delta); err != nil {
		return p, err
	}
	if err := l.texts.checkpoint(context.WithoutCancel(ctx)); err != nil {
		return p, err
	}
	return p.WithText(l.texts.open[p.ID].text.String()), l.texts.wait()
}

// RemoveMessage deletes a message and its parts.
func (e editor) RemoveMessage(ctx context.Context, session lathe.SessionID, id lathe.MessageID) error {
	return e.actors.edit(ctx, session, func(r *runner) error {
		_, err := r.log.commit(ctx, &lathe.MessageRemoved{Session: session, Message: id})
		return err
	})
}

// RemovePart deletes a part.
func (e editor) RemovePart(ctx context.Context, session lathe.SessionID, message lathe.MessageID, id lathe.PartID) error {
	return e.actors.edit(ctx, session, func(r *runner) error {
		_, err := r.log.commit(ctx, &lathe.PartRemoved{Session: session, Message: message, Part: id})
		return err
	})
}
