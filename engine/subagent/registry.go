// Package subagent tracks the subagent sessions in this process: the limit on how many run at a
// time, their progress as shown to their parents, and clocks that stop while the user is asked.
//
// A Registry is safe for use by many goroutines.
package subagent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
)

// Limits bound what agents hand to others.
type Limits struct {
	Depth    int      // how deep sessions nest; 0 is 1, negative allows no child
	Parallel int      // children of one session at work at the same time; 0 is 3, negative has no limit
	Writers  int      // those of them that may change files; 0 is 1, negative has no limit
	MinBrief int      // the fewest words of a brief; 0 takes any
	Primary  []string // tools that children do not have
	// Beside says that tasks may run in the background.
	Background bool
}

// MaxDepth is how deep sessions may nest.
func (s Limits) MaxDepth() int { return max(cmp.Or(s.Depth, 1), 0) }

func (s Limits) fits(busy, writers int, writes bool) bool {
	most, some := cmp.Or(s.Parallel, 3), cmp.Or(s.Writers, 1)
	return (most < 0 || busy < most) && (!writes || some < 0 || writers < some)
}

// Registry holds the subagents of this process: the calls that wait for a child, and the slots of
// the children of one parent. It is safe for use by many goroutines. Its mutex comes after that of
// actors and is never held during a wait.
type Registry struct {
	mu       sync.Mutex                        // guards the fields below, and those of what they hold
	calls    map[lathe.SessionID][]*Delegation // by the child
	siblings map[lathe.SessionID]*siblings     // by the parent
	// questions are those of children that wait for their parent's answer, by the child.
	questions map[lathe.SessionID]*Question
}

// Delegation is a call that waits for a child.
type Delegation struct {
	Parent, Child lathe.SessionID
	Clocks        []*Clock      // that stop while the child asks the user
	Changed       chan struct{} // holds one when the child has done something
	Asked         chan string   // takes a question of the child
	left          chan struct{} // closed when the call no longer waits
	canceling     bool          // the parent is being canceled: no word of the child's end
	done          []shownCall   // the last calls of the child
	count         int           // of all
}

// shownCall is a call of a child as clients see it in the parent's part.
type shownCall struct {
	ID    lathe.PartID `json:"id"`
	Tool  string       `json:"tool"`
	State shownState   `json:"state"`
}

type shownState struct {
	Status string `json:"status"`
	Title  string `json:"title,omitempty"`
}

// maxShownCalls limits the calls of a child in its parent's part: each change writes and
// publishes all of them again.
const maxShownCalls = 12

// Register makes a call known that waits for a child, until leave.
func (c *Registry) Register(h *Delegation) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[lathe.SessionID][]*Delegation{}
	}
	h.left = make(chan struct{})
	c.calls[h.Child] = append(c.calls[h.Child], h)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(h.left)
		rest := slices.DeleteFunc(slices.Clone(c.calls[h.Child]), func(o *Delegation) bool { return o == h })
		if c.calls[h.Child] = rest; len(rest) == 0 {
			delete(c.calls, h.Child)
		}
	}
}

// IsAwaited reports whether a call of this process waits for a session.
func (c *Registry) IsAwaited(child lathe.SessionID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls[child]) > 0
}

// Receive notes the calls of a child, and messages for it. It is called by the store's writer and does not block;
// its cost does not depend on the number of calls.
func (c *Registry) Receive(ev lathe.Event) {
	if _, ok := ev.Fact.(*lathe.MessageChanged); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if q := c.questions[ev.Session]; q != nil {
			q.signal()
		}
		return
	}
	p, ok := ev.Fact.(*lathe.PartChanged)
	if !ok {
		return
	}
	call, ok := p.Part.Body.(*lathe.ToolCall)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.calls[ev.Session] {
		h.note(p.Part.ID, call)
		select {
		case h.Changed <- struct{}{}:
		default:
		}
	}
}

// note replaces a call in the list, or appends it. The mutex is held.
func (h *Delegation) note(id lathe.PartID, call *lathe.ToolCall) {
	d := shownCall{ID: id, Tool: call.Tool, State: shownState{Status: call.State.Status()}}
	switch s := call.State.(type) {
	case *lathe.Pending, *lathe.Failed:
	case *lathe.Running:
		d.State.Title = s.Title
	case *lathe.Completed:
		d.State.Title = s.Title
	}
	if r := []rune(d.State.Title); len(r) > 80 {
		d.State.Title = string(r[:79]) + "…"
	}
	if i := slices.IndexFunc(h.done, func(o shownCall) bool { return o.ID == id }); i >= 0 {
		h.done[i] = d
		return
	}
	h.count++
	if h.done = append(h.done, d); len(h.done) > maxShownCalls {
		h.done = slices.Delete(h.done, 0, 1)
	}
}

// Calls are the child's calls, as the members summary and calls.
func (c *Registry) Calls(h *Delegation) (summary json.RawMessage, count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(h.done) == 0 {
		return nil, 0
	}
	summary, _ = json.Marshal(h.done)
	return summary, h.count
}

// ClocksAbove are the clocks of all calls, up to the root, that wait for a session.
func (c *Registry) ClocksAbove(id lathe.SessionID) (out []*Clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for next := c.calls[id]; len(next) > 0; next = c.calls[next[0].Parent] {
		for _, h := range next {
			out = append(out, h.Clocks...)
		}
	}
	return out
}

// BeginCancel marks the calls of a session as canceled: its children end first, and
// their ends are then not reported to it.
func (c *Registry) BeginCancel(parent lathe.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, calls := range c.calls {
		for _, h := range calls {
			h.canceling = h.canceling || h.Parent == parent
		}
	}
}

func (c *Registry) IsCanceling(h *Delegation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return h.canceling
}

// siblings are the running children of one session and the children that wait for a slot. Only
// children of a session wait for its slots, and none waits for a sibling's result: so they cannot
// deadlock.
type siblings struct {
	busy, writers int
	waiting       []*slot
}

// slot is a child's.
type slot struct {
	limits Limits
	writes bool
	ready  chan struct{} // closed when it is his
}

// Acquire waits for a place among the children of a session.
func (c *Registry) Acquire(ctx context.Context, parent lathe.SessionID, limits Limits, writes bool) (leave func(), err error) {
	p := c.queue(parent, limits, writes)
	select {
	case <-p.ready:
		return sync.OnceFunc(func() { c.release(parent, p) }), nil
	case <-ctx.Done():
		c.release(parent, p)
		return nil, context.Cause(ctx)
	}
}

// TryAcquire takes a place if there is one.
func (c *Registry) TryAcquire(parent lathe.SessionID, limits Limits, writes bool) (leave func(), ok bool) {
	p := c.queue(parent, limits, writes)
	select {
	case <-p.ready:
		return sync.OnceFunc(func() { c.release(parent, p) }), true
	default:
		c.release(parent, p)
		return nil, false
	}
}

// Reserve takes a place whether there is one or not: for a child that had it before.
func (c *Registry) Reserve(parent lathe.SessionID, writes bool) (leave func()) {
	p := c.queue(parent, Limits{Parallel: -1, Writers: -1}, writes)
	return sync.OnceFunc(func() { c.release(parent, p) })
}

func (c *Registry) queue(parent lathe.SessionID, limits Limits, writes bool) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.siblingsOf(parent)
	p := &slot{limits: limits, writes: writes, ready: make(chan struct{})}
	t.waiting = append(t.waiting, p)
	t.admit()
	return p
}

// siblingsOf are the children of a session. The mutex is held.
func (c *Registry) siblingsOf(parent lathe.SessionID) *siblings {
	if c.siblings == nil {
		c.siblings = map[lathe.SessionID]*siblings{}
	}
	if c.siblings[parent] == nil {
		c.siblings[parent] = &siblings{}
	}
	return c.siblings[parent]
}

// drop forgets the children of a session that has none. The mutex is held.
func (c *Registry) drop(parent lathe.SessionID) {
	if t := c.siblings[parent]; t.busy == 0 && len(t.waiting) == 0 {
		delete(c.siblings, parent)
	}
}

// release gives a place back, or stops waiting for it. A child that yielded its place may end before it has it again.
func (c *Registry) release(parent lathe.SessionID, p *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.siblingsOf(parent)
	if i := slices.Index(t.waiting, p); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	} else {
		t.add(p, -1)
	}
	t.admit()
	c.drop(parent)
}

// add counts a child in, or out with -1. The mutex is held.
func (t *siblings) add(p *slot, n int) {
	t.busy += n
	if p.writes {
		t.writers += n
	}
}

// admit gives free slots to waiting children, oldest first; a reader passes a child that waits
// for another writer. The mutex is held.
func (t *siblings) admit() {
	t.waiting = slices.DeleteFunc(t.waiting, func(p *slot) bool {
		if !p.limits.fits(t.busy, t.writers, p.writes) {
			return false
		}
		t.add(p, 1)
		close(p.ready)
		return true
	})
}
