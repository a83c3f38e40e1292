package engine

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/model"
)

// queueLimit is how many events a stream may be ahead of the step that folds them.
const queueLimit = 1024

// stepQueue puts the events of a stream, of its tools and of their questions into one sequence. Many
// goroutines put into it; the runner takes out.
type stepQueue struct {
	ready chan struct{} // holds one when there is something to take

	mu            sync.Mutex // guards the fields below
	items         []item
	spare         []item
	space         *sync.Cond
	streamDropped bool // nobody takes more of the stream
	closed        bool // nobody takes anything
}

// item is one thing that happened: an event of the model, or something else.
type item struct {
	model model.Event
	other stepEvent
}

// stepEvent is what comes from tools, hooks and the end of a stream. Sealed.
type stepEvent interface{ stepEvent() }

type (
	// streamEnded tells that the model says no more; with why, if that is a failure.
	streamEnded struct{ err error }
	// toolEnded brings the outcome of a call.
	toolEnded struct {
		call *fold.Call
		fold.Outcome
	}
	// toolProgressed shows what a call is doing.
	toolProgressed struct {
		call  *fold.Call
		title string
		meta  json.RawMessage
		reply chan<- error // told when it is written; nil if nobody waits
	}
	// toolMarked notes that a repeated call was allowed once.
	toolMarked struct{ call *fold.Call }
	// toolAsks asks the user; the answer goes to reply, which is buffered.
	toolAsks struct {
		ask   *ask
		reply chan<- answer
	}
	// askExpired tells that nobody answered in time.
	askExpired struct{ ask *ask }
	// textShown brings a text back from its hook.
	textShown struct {
		part lathe.PartID
		text string
		err  error
	}
	// toolPublishes publishes an ephemeral event or replaces the session's list.
	toolPublishes struct {
		fact  lathe.Fact
		reply chan<- error // nil if nobody waits
	}
)

func (streamEnded) stepEvent()    {}
func (toolEnded) stepEvent()      {}
func (toolProgressed) stepEvent() {}
func (toolMarked) stepEvent()     {}
func (toolAsks) stepEvent()       {}
func (askExpired) stepEvent()     {}
func (textShown) stepEvent()      {}
func (toolPublishes) stepEvent()  {}

func newStepQueue() *stepQueue {
	f := &stepQueue{ready: make(chan struct{}, 1)}
	f.space = sync.NewCond(&f.mu)
	return f
}

// put adds something; after the end it is dropped.
func (f *stepQueue) put(h stepEvent) { f.add(item{other: h}, false) }

// add appends an item and reports whether it will be read. A stream waits for free space.
func (f *stepQueue) add(it item, patient bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for patient && len(f.items) >= queueLimit && !f.streamDropped {
		f.space.Wait()
	}
	if f.closed || patient && f.streamDropped {
		return false
	}
	f.items = append(f.items, it)
	if len(f.items) == 1 {
		select {
		case f.ready <- struct{}{}:
		default:
		}
	}
	return true
}

// take returns what has come. It is valid until the next call.
func (f *stepQueue) take() []item {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := f.items
	clear(f.spare) // or what was taken stays in memory
	f.items, f.spare = f.spare[:0], items
	f.space.Broadcast()
	return items
}

// dropStream drops what the stream says from now on.
func (f *stepQueue) dropStream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streamDropped = true
	f.space.Broadcast()
}

// close drops all that comes from now on: a tool that ignored the end of its turn finds
// nobody to tell.
func (f *stepQueue) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streamDropped, f.closed = true, true
	f.space.Broadcast()
}

// readStream adds a stream to the queue until it ends or nobody takes it.
func (f *stepQueue) readStream(ctx context.Context, m model.Model, r model.Request) {
	defer func() {
		if p := recover(); p != nil { // a bug in a protocol must not end the process
			f.put(streamEnded{lathe.Errorf(lathe.Internal, "reading the model's answer failed: %v", p)})
		}
	}()
	for ev, err := range m.Stream(ctx, r) {
		if err != nil {
			f.put(streamEnded{err})
			return
		}
		if !f.add(item{model: ev}, true) {
			return
		}
	}
	f.put(streamEnded{})
}
