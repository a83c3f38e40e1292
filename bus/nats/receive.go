package nats

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
)

const (
	// tick is how often the relay looks for gaps.
	tick = 50 * time.Millisecond
	// gapTime is how long a gap may stay before the store is read.
	gapTime = 100 * time.Millisecond
	// heldFor is how long a delta waits for those before it. The store has them within two seconds.
	heldFor = 3 * time.Second
	// followFor is how long a session is followed after the last sign of it.
	followFor = time.Minute

	// Bounds for input of others: waiting deltas of a part in bytes and number, parts with waiting deltas, sessions, and
	// messages that the client has not handled.
	maxHeldBytes   = 256 << 10
	maxHeldDeltas  = 512
	maxHeldParts   = 128
	maxFollowed    = 1000
	maxPending     = 2000
	maxPendingSize = 1 << 20
)

// inbox has what came from other nodes.
type inbox struct {
	held     map[lathe.PartID]*held
	followed map[lathe.SessionID]*followed
}

// held are deltas of a part that wait for those before them, by offset.
type held struct {
	deltas []bus.Delta
	bytes  int
	since  time.Time
	asked  bool // the store was read
}

type followed struct {
	sub  *nats.Subscription
	last time.Time
}

func newInbox() inbox {
	return inbox{held: map[lathe.PartID]*held{}, followed: map[lathe.SessionID]*followed{}}
}

// Follow subscribes to the deltas of a session, soon.
func (r *Relay) Follow(session lathe.SessionID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.in.followed[session]; f != nil {
		f.last = time.Now()
		return
	}
	if len(r.in.followed) < maxFollowed {
		r.in.followed[session] = &followed{last: time.Now()}
		r.out.follow = append(r.out.follow, session)
		r.signal()
	}
}

// subscribe is the second half of Follow, which must not wait for a connection.
func (r *Relay) subscribe(session lathe.SessionID) {
	sub, err := r.conn.Subscribe(r.subject+"d."+token(string(session)), func(m *nats.Msg) { r.receive(session, m.Data) })
	if err == nil {
		err = sub.SetPendingLimits(maxPending, maxPendingSize)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		delete(r.in.followed, session)
		return
	}
	r.in.followed[session].sub = sub
}

// receive handles a message about a session.
func (r *Relay) receive(session lathe.SessionID, data []byte) {
	r.count.received.Add(1)
	d, ok := decode(session, data)
	if !ok {
		r.count.refused.Add(1)
		return
	}
	r.apply(d)
}

// apply extends a text, or keeps the delta for later.
func (r *Relay) apply(d bus.Delta) {
	switch r.node.Bus.Extend(d) {
	case bus.Applied:
		r.count.applied.Add(1)
		r.Release(d.Part)
	case bus.Behind:
	case bus.Refused:
		r.count.refused.Add(1)
	case bus.Beyond, bus.Unknown:
		r.hold(d)
	}
}

// hold keeps a delta that does not fit yet. If there are too many, none is worth keeping: the store is read.
func (r *Relay) hold(d bus.Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.in.held[d.Part]
	if h == nil {
		if len(r.in.held) >= maxHeldParts {
			r.count.dropped.Add(1)
			return
		}
		r.count.gaps.Add(1)
		h = &held{since: time.Now()}
		r.in.held[d.Part] = h
	}
	if h.bytes+len(d.Text) > maxHeldBytes || len(h.deltas) >= maxHeldDeltas {
		r.count.dropped.Add(1)
		return
	}
	h.bytes += len(d.Text)
	at, _ := slices.BinarySearchFunc(h.deltas, d.Offset, func(d bus.Delta, offset int) int { return d.Offset - offset })
	h.deltas = slices.Insert(h.deltas, at, d)
}

// Release applies the deltas of a part that have waited for its text to grow.
func (r *Relay) Release(part lathe.PartID) {
	r.mu.Lock()
	h := r.in.held[part]
	r.mu.Unlock()
	for h != nil {
		r.mu.Lock()
		if len(h.deltas) == 0 || r.in.held[part] != h {
			r.mu.Unlock()
			return
		}
		d := h.deltas[0]
		r.mu.Unlock()
		fit := r.node.Bus.Extend(d)
		if fit == bus.Beyond || fit == bus.Unknown {
			return
		}
		r.drop(part, h, d, fit)
	}
}

// drop removes the first delta of those that wait, unless another goroutine has.
func (r *Relay) drop(part lathe.PartID, h *held, d bus.Delta, fit bus.Fit) {
	if fit == bus.Applied {
		r.count.applied.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(h.deltas) > 0 && h.deltas[0] == d {
		h.deltas = h.deltas[1:]
		h.bytes -= len(d.Text)
	}
	if len(h.deltas) == 0 && r.in.held[part] == h {
		delete(r.in.held, part)
	}
}

// maintain reads parts whose gaps stay, and ends what is no longer needed.
func (r *Relay) maintain(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			r.readGap(ctx, now)
			r.leave(now)
		}
	}
}

// readGap reads the part with the oldest gap that was not read for.
func (r *Relay) readGap(ctx context.Context, now time.Time) {
	if gap, ok := r.nextGap(now); ok && r.node.Bus.Subscribers() > 0 {
		r.count.reads.Add(1)
		if err := r.node.Read(ctx, gap); err != nil && ctx.Err() == nil {
			r.o.Log.Debug("cannot read a part that grows on another node", "part", gap.Part, "error", err)
		}
	}
}

func (r *Relay) nextGap(now time.Time) (gap bus.Delta, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest *held
	for part, h := range r.in.held {
		switch age := now.Sub(h.since); {
		case age > heldFor:
			delete(r.in.held, part)
		case age > gapTime && !h.asked && len(h.deltas) > 0 && (oldest == nil || h.since.Before(oldest.since)):
			oldest, gap = h, h.deltas[0]
		}
	}
	if oldest == nil {
		return gap, false
	}
	oldest.asked = true
	return gap, true
}

// leave ends the subscriptions to sessions that rest.
func (r *Relay) leave(now time.Time) {
	var ended []*nats.Subscription
	r.mu.Lock()
	for session, f := range r.in.followed {
		if f.sub != nil && now.Sub(f.last) > followFor {
			ended = append(ended, f.sub)
			delete(r.in.followed, session)
		}
	}
	r.mu.Unlock()
	for _, sub := range ended {
		_ = sub.Unsubscribe() // it ends with the connection at the latest
	}
}
