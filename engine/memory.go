package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/store"
)

// memory is what a runner knows of its session, so that a step need not read its history
// from the disk. Facts are applied as they are committed, by whom ever; applying one twice,
// or an older one late, changes nothing. It is for one goroutine.
type memory struct {
	session  lathe.Session
	told     int64   // number of the session record
	messages []*held // by creation, then id
	byID     map[lathe.MessageID]*held
	gone     map[lathe.MessageID]bool
	after    int64 // everything the feed said up to here is in
	versions *atomic.Int64
	bytes    int // about what it takes
}

// held is a message, and what it was converted to for a model.
type held struct {
	lathe.Message // with its parts
	told          int64
	parts         map[lathe.PartID]int64 // the number each was last told with
	version       int64                  // of the process; no two states of a message share one
	target        string
	converted     []model.Message
}

// recall reads a session from the store.
func recall(ctx context.Context, s *store.Store, id lathe.SessionID, versions *atomic.Int64) (*memory, error) {
	m := &memory{byID: map[lathe.MessageID]*held{}, gone: map[lathe.MessageID]bool{}, after: s.Last(), versions: versions}
	rec, err := s.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	m.session, m.told = rec, m.after
	page, err := s.History(ctx, id, lathe.Place{}, 0)
	if err != nil {
		return nil, err
	}
	for _, msg := range page.Messages {
		h := m.put(msg, m.after)
		for _, p := range msg.Parts {
			m.part(h, p, m.after)
		}
	}
	return m, nil
}

// refresh reads what changed since the memory was put away. One that is too old for that
// is an error, and must be read anew.
func (m *memory) refresh(ctx context.Context, s *store.Store) error {
	var events []lathe.Event
	res, err := s.Since(ctx, lathe.Cursor{Seq: m.after}, lathe.Scope{Session: m.session.ID}, func(e lathe.Event) error {
		events = append(events, e)
		return nil
	})
	if err == nil && res.Resync {
		err = errors.New("too old")
	}
	if err != nil {
		return err
	}
	for _, e := range events {
		e.Seq = max(res.Last, m.after+1) // all are as new as that
		m.apply(e)
	}
	m.after = res.Last
	return nil
}

// apply takes in what was committed.
func (m *memory) apply(e lathe.Event) {
	switch f := e.Fact.(type) {
	case *lathe.SessionChanged:
		if e.Seq > m.told {
			m.session, m.told = f.Info, e.Seq
		}
	case *lathe.MessageChanged:
		if h := m.byID[f.Info.ID]; h == nil || e.Seq > h.told {
			m.put(f.Info, e.Seq)
		}
	case *lathe.MessageRemoved:
		m.remove(f.Message)
	case *lathe.PartChanged:
		if h := m.byID[f.Part.Message]; h != nil && e.Seq > h.parts[f.Part.ID] {
			m.part(h, f.Part, e.Seq)
		}
	case *lathe.PartRemoved:
		if h := m.byID[f.Message]; h != nil && e.Seq > h.parts[f.Part] {
			h.parts[f.Part] = e.Seq
			m.take(h, f.Part)
		}
	default: // nothing a step looks at
	}
}

// put places a message where its time says; its parts stay.
func (m *memory) put(msg lathe.Message, seq int64) *held {
	h := m.byID[msg.ID]
	if h == nil {
		if m.gone[msg.ID] {
			return &held{parts: map[lathe.PartID]int64{}} // a late word
		}
		h = &held{parts: map[lathe.PartID]int64{}}
		m.byID[msg.ID] = h
	} else {
		m.messages = slices.DeleteFunc(m.messages, func(o *held) bool { return o == h })
	}
	msg.Parts = h.Parts
	h.Message, h.told = msg, seq
	at := len(m.messages)
	for at > 0 && msg.Before(m.messages[at-1].Message) { // nearly always the last place
		at--
	}
	m.messages = slices.Insert(m.messages, at, h)
	m.changed(h)
	return h
}

func (m *memory) part(h *held, p lathe.Part, seq int64) {
	h.parts[p.ID] = seq
	m.changed(h)
	m.bytes += weight(p)
	for i := len(h.Parts) - 1; i >= 0; i-- {
		if h.Parts[i].ID == p.ID {
			m.bytes -= weight(h.Parts[i])
			h.Parts = slices.Clone(h.Parts) // a tool may still look at the history of its step
			h.Parts[i] = p
			return
		}
	}
	h.Parts = append(h.Parts, p)
}

// take removes a part. The list is a new one, for the same reason.
func (m *memory) take(h *held, id lathe.PartID) {
	h.Parts = slices.DeleteFunc(slices.Clone(h.Parts), func(p lathe.Part) bool {
		if p.ID == id {
			m.bytes -= weight(p)
		}
		return p.ID == id
	})
	m.changed(h)
}

// weight is about what a part takes in memory: what can be long, and the rest.
func weight(p lathe.Part) int {
	n := 1024
	switch b := p.Body.(type) {
	case *lathe.Text:
		n += len(b.Text) + len(b.Metadata)
	case *lathe.Reasoning:
		n += len(b.Text) + len(b.Metadata)
	case *lathe.File:
		n += len(b.URL) // may hold the whole file
	case *lathe.ToolCall:
		n += len(b.Metadata) + stateWeight(b.State)
	default: // names and counts
	}
	return n
}

func stateWeight(s lathe.ToolState) (n int) {
	switch s := s.(type) {
	case *lathe.Pending:
		n = len(s.Input) + len(s.Raw)
	case *lathe.Running:
		n = len(s.Input) + len(s.Metadata)
	case *lathe.Completed:
		n = len(s.Input) + len(s.Metadata) + len(s.Output)
		for _, a := range s.Attachments {
			n += weight(a)
		}
	case *lathe.Failed:
		n = len(s.Input) + len(s.Metadata) + len(s.Error)
	}
	return n
}

func (m *memory) remove(id lathe.MessageID) {
	if h := m.byID[id]; h != nil {
		for _, p := range h.Parts {
			m.bytes -= weight(p)
		}
	}
	delete(m.byID, id)
	m.gone[id] = true
	m.messages = slices.DeleteFunc(m.messages, func(o *held) bool { return o.ID == id })
}

func (m *memory) changed(h *held) {
	h.version, h.converted = m.versions.Add(1), nil
}

// history returns the messages for others to look at.
func (m *memory) history() []lathe.Message {
	out := make([]lathe.Message, len(m.messages))
	for i, h := range m.messages {
		out[i] = h.Message
	}
	return out
}

// convert turns messages into what a model is told. What did not change since the last
// step is not converted again, and keeps its key, so that its bytes are not made again
// either.
func (m *memory) convert(messages []*held, to model.Target) (out []model.Message) {
	target := cmp.Or(to.Provider, "-") + "/" + to.Model + "/" + strconv.FormatBool(to.StripMedia) + strconv.Itoa(to.MaxOutput)
	for _, h := range messages {
		if h.converted == nil || h.target != target {
			h.converted = model.Convert([]lathe.Message{h.Message}, to)
			h.target = target
			for i := range h.converted {
				h.converted[i].Key = string(h.ID) + "/" + strconv.FormatInt(h.version, 10) + "/" + strconv.Itoa(i) + "/" + target
			}
		}
		out = append(out, h.converted...)
	}
	return out
}

// memories keeps what sessions were like when they came to rest, for a few minutes: most
// prompts follow soon upon the last. It is bounded in bytes, and safe for use by many
// goroutines.
type memories struct {
	now func() lathe.Time

	mu    sync.Mutex // guards the fields below
	kept  map[lathe.SessionID]keptMemory
	bytes int
	timer *time.Timer // lets go of what is old; nil while nothing is kept
}

type keptMemory struct {
	*memory
	at lathe.Time
}

const (
	memoryTime  = 3 * time.Minute
	memoryBytes = 64 << 20
)

// put keeps a memory; the oldest ones go when there are too many.
func (k *memories) put(m *memory) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(m.session.ID)
	k.kept[m.session.ID] = keptMemory{m, k.now()}
	k.bytes += m.bytes
	k.sweep()
}

// take returns what is kept of a session, nil if nothing is. It is the caller's then.
func (k *memories) take(id lathe.SessionID) *memory {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.kept[id].memory
	k.drop(id)
	return m
}

func (k *memories) drop(id lathe.SessionID) {
	if m, ok := k.kept[id]; ok {
		k.bytes -= m.bytes
		delete(k.kept, id)
	}
}

// sweep lets go of what is old or too much. The mutex is held.
func (k *memories) sweep() {
	old := k.now() - lathe.Time(memoryTime.Milliseconds())
	for id, m := range k.kept {
		if m.at <= old {
			k.drop(id)
		}
	}
	for k.bytes > memoryBytes {
		var first lathe.SessionID
		for id, m := range k.kept {
			if first == "" || m.at < k.kept[first].at {
				first = id
			}
		}
		k.drop(first)
	}
	switch {
	case len(k.kept) == 0 && k.timer != nil:
		k.timer.Stop()
		k.timer = nil
	case len(k.kept) > 0 && k.timer == nil:
		k.timer = time.AfterFunc(memoryTime, k.expire)
	}
}

// expire is the timer's.
func (k *memories) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = nil
	k.sweep()
}

// close lets go of everything.
func (k *memories) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept)
	k.bytes = 0
	k.sweep()
}
