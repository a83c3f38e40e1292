// Package history is a session's conversation in memory: its messages with their parts, updated by
// events, their conversions for a model, and queries about them.
//
// A Conversation is for one goroutine; a Cache is safe for use by many. visible.go selects the
// part of a history that a model sees, marks.go has the marks on calls.
package history

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

// Conversation is a session's history in memory, so that a step need not read it from disk.
// Facts are applied as they are committed, by whom ever; applying one twice, or an older one
// late, changes nothing. It is for one goroutine.
type Conversation struct {
	Session  lathe.Session
	seq      int64      // number of the session record
	Messages []*Message // by creation, then id
	ByID     map[lathe.MessageID]*Message
	gone     map[lathe.MessageID]bool
	After    int64 // everything in the feed up to here is included
	versions *atomic.Int64
	bytes    int // about what it takes
}

// Message is a message, and what it was converted to for a model.
type Message struct {
	lathe.Message // with its parts
	seq           int64
	parts         map[lathe.PartID]int64 // event number of each part's last change
	version       int64                  // of the process; no two states of a message share one
	target        string
	converted     []model.Message
}

// New is the conversation of a session that has none. versions is shared by all of a process.
func New(versions *atomic.Int64) *Conversation {
	return &Conversation{ByID: map[lathe.MessageID]*Message{}, gone: map[lathe.MessageID]bool{}, versions: versions}
}

// Load reads a session from the store.
func Load(ctx context.Context, s *store.Store, id lathe.SessionID, versions *atomic.Int64) (*Conversation, error) {
	m := New(versions)
	m.After = s.Last()
	rec, err := s.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	m.Session, m.seq = rec, m.After
	page, err := s.History(ctx, id, lathe.Position{}, 0)
	if err != nil {
		return nil, err
	}
	for _, msg := range page.Messages {
		h := m.put(msg, m.After)
		for _, p := range msg.Parts {
			m.part(h, p, m.After)
		}
	}
	return m, nil
}

// Refresh reads the changes since the conversation was cached. A conversation that is too old is
// an error and must be loaded again.
func (m *Conversation) Refresh(ctx context.Context, s *store.Store) error {
	var events []lathe.Event
	res, err := s.Since(ctx, lathe.Cursor{Seq: m.After}, lathe.Scope{Session: m.Session.ID}, func(e lathe.Event) error {
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
		e.Seq = max(res.Last, m.After+1) // all are as new as that
		m.Apply(e)
	}
	m.After = res.Last
	return nil
}

// Apply applies committed events.
func (m *Conversation) Apply(e lathe.Event) {
	switch f := e.Fact.(type) {
	case *lathe.SessionChanged:
		if e.Seq > m.seq {
			m.Session, m.seq = f.Info, e.Seq
		}
	case *lathe.MessageChanged:
		if h := m.ByID[f.Info.ID]; h == nil || e.Seq > h.seq {
			m.put(f.Info, e.Seq)
		}
	case *lathe.MessageRemoved:
		m.remove(f.Message)
	case *lathe.PartChanged:
		if h := m.ByID[f.Part.Message]; h != nil && e.Seq > h.parts[f.Part.ID] {
			m.part(h, f.Part, e.Seq)
		}
	case *lathe.PartRemoved:
		if h := m.ByID[f.Message]; h != nil && e.Seq > h.parts[f.Part] {
			h.parts[f.Part] = e.Seq
			m.take(h, f.Part)
		}
	default: // nothing a step looks at
	}
}

// put places a message where its time says; its parts stay.
func (m *Conversation) put(msg lathe.Message, seq int64) *Message {
	h := m.ByID[msg.ID]
	if h == nil {
		if m.gone[msg.ID] {
			return &Message{parts: map[lathe.PartID]int64{}} // a late word
		}
		h = &Message{parts: map[lathe.PartID]int64{}}
		m.ByID[msg.ID] = h
	} else {
		m.Messages = slices.DeleteFunc(m.Messages, func(o *Message) bool { return o == h })
	}
	msg.Parts = h.Parts
	h.Message, h.seq = msg, seq
	at := len(m.Messages)
	for at > 0 && msg.Before(m.Messages[at-1].Message) { // nearly always the last place
		at--
	}
	m.Messages = slices.Insert(m.Messages, at, h)
	m.markChanged(h)
	return h
}

func (m *Conversation) part(h *Message, p lathe.Part, seq int64) {
	h.parts[p.ID] = seq
	m.markChanged(h)
	m.bytes += memorySize(p)
	for i := len(h.Parts) - 1; i >= 0; i-- {
		if h.Parts[i].ID == p.ID {
			m.bytes -= memorySize(h.Parts[i])
			h.Parts = slices.Clone(h.Parts) // a tool may still look at the history of its step
			h.Parts[i] = p
			return
		}
	}
	h.Parts = append(h.Parts, p)
}

// take removes a part. The list is a new one, for the same reason.
func (m *Conversation) take(h *Message, id lathe.PartID) {
	h.Parts = slices.DeleteFunc(slices.Clone(h.Parts), func(p lathe.Part) bool {
		if p.ID == id {
			m.bytes -= memorySize(p)
		}
		return p.ID == id
	})
	m.markChanged(h)
}

// memorySize is about what a part takes in memory.
func memorySize(p lathe.Part) int { return 1024 + p.Size() }

func (m *Conversation) remove(id lathe.MessageID) {
	if h := m.ByID[id]; h != nil {
		for _, p := range h.Parts {
			m.bytes -= memorySize(p)
		}
	}
	delete(m.ByID, id)
	m.gone[id] = true
	m.Messages = slices.DeleteFunc(m.Messages, func(o *Message) bool { return o.ID == id })
}

func (m *Conversation) markChanged(h *Message) {
	h.version, h.converted = m.versions.Add(1), nil
}

// History returns the messages for others to look at.
func (m *Conversation) History() []lathe.Message {
	out := make([]lathe.Message, len(m.Messages))
	for i, h := range m.Messages {
		out[i] = h.Message
	}
	return out
}

// Convert converts messages for a model. It reuses the conversion of an unchanged message with its
// key, so that its bytes are not encoded again either.
func (m *Conversation) Convert(messages []*Message, to model.Target) (out []model.Message) {
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

// Cache stores the conversations of idle sessions for a few minutes, because most prompts follow
// soon after the last. It is limited in bytes and safe for use by many
// goroutines.
type Cache struct {
	now      func() lathe.Time
	onIdle   func()
	versions atomic.Int64

	mu    sync.Mutex // guards the fields below
	byID  map[lathe.SessionID]cached
	bytes int
	busy  bool        // something was put since memory was last given back
	last  lathe.Time  // when something was put
	timer *time.Timer // lets go of what is old; nil while there is nothing to do
}

type cached struct {
	*Conversation
	at lathe.Time
}

// NewCache returns an empty cache. It calls rest once after a busy time.
func NewCache(now func() lathe.Time, rest func()) *Cache {
	return &Cache{now: now, onIdle: rest, byID: map[lathe.SessionID]cached{}}
}

const (
	memoryTime  = 3 * time.Minute
	memoryAge   = lathe.Time(memoryTime / time.Millisecond)
	memoryBytes = 16 << 20
)

// Put stores a conversation and drops the oldest ones if there are too many.
func (k *Cache) Put(m *Conversation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(m.Session.ID)
	k.busy, k.last = true, k.now()
	k.byID[m.Session.ID] = cached{m, k.last}
	k.bytes += m.bytes
	k.sweep()
}

// Load returns the conversation of a session: the cached one, refreshed, or one from the store. The caller then
// owns it.
func (k *Cache) Load(ctx context.Context, s *store.Store, id lathe.SessionID) (*Conversation, error) {
	if m := k.Take(id); m != nil && m.Refresh(ctx, s) == nil {
		return m, nil
	}
	return Load(ctx, s, id, &k.versions)
}

// Take removes and returns the cached conversation of a session; nil if there is none.
func (k *Cache) Take(id lathe.SessionID) *Conversation {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.byID[id].Conversation
	k.drop(id)
	return m
}

// Forget removes a deleted session.
func (k *Cache) Forget(id lathe.SessionID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(id)
	k.sweep()
}

// drop removes a session. The mutex is held.
func (k *Cache) drop(id lathe.SessionID) {
	if m, ok := k.byID[id]; ok {
		k.bytes -= m.bytes
		delete(k.byID, id)
	}
}

// sweep removes old and excess conversations and sets the timer for the others. The mutex is held.
func (k *Cache) sweep() {
	now := k.now()
	for id, m := range k.byID {
		if m.at+memoryAge <= now {
			k.drop(id)
		}
	}
	for k.bytes > memoryBytes {
		k.drop(k.oldest())
	}
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
	next := k.last
	if len(k.byID) > 0 {
		next = k.byID[k.oldest()].at
	}
	if k.busy {
		left := time.Duration(next+memoryAge-now) * time.Millisecond
		k.timer = time.AfterFunc(min(left, memoryTime), k.expire)
	}
}

// oldest is the session that was put first. The mutex is held.
func (k *Cache) oldest() (first lathe.SessionID) {
	for id, m := range k.byID {
		if first == "" || m.at < k.byID[first].at {
			first = id
		}
	}
	return first
}

// expire is the timer's.
func (k *Cache) expire() {
	k.mu.Lock()
	over := k.busy && k.last+memoryAge <= k.now()
	k.busy = k.busy && !over
	k.sweep()
	k.mu.Unlock()
	if over {
		k.onIdle()
	}
}

// Close removes everything and returns the number of sessions.
func (k *Cache) Close() (kept int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept = len(k.byID)
	clear(k.byID)
	k.bytes, k.busy = 0, false
	k.sweep()
	return kept
}
