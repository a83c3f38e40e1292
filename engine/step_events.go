package engine

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/model"
)

// queueLimit is how many events a stream may be ahead of the step that folds them.
const queueLimit = 1024

// stepQueue puts the events of a stream, of its tools and of their questions into one sequence. Many
// goroutines put into it; the runner takes out.
type stepQueue struct {
	ready    chan struct{} // holds one when there is something to take
	complete chan struct{} // closed when all calls of the stream have started
	calls    atomic.Int32  // that run

	mu            sync.Mutex // guards the fields below
	items         []item
	spare         []item
	space         *sync.Cond
	streamDropped bool // events of the stream are dropped
	closed        bool // all events are dropped
}

// item is an event of the model or another event of the step.
type item struct {
	model model.Event
	other stepEvent
}

// stepEvent is an event of a tool or a hook, or the end of a stream. Sealed.
type stepEvent interface{ stepEvent() }

type (
	// streamEnded is the end of the model's stream, with the error if it failed.
	streamEnded struct{ err error }
	// toolEnded is the outcome of a call.
	toolEnded struct {
		call *fold.Call
		fold.Outcome
	}
	// toolProgressed is the progress of a call.
	toolProgressed struct {
		call  *fold.Call
		title string
		meta  json.RawMessage
		reply chan<- error // receives the result of the write; nil if no call waits
	}
	// toolMarked notes that a repeated call was allowed once.
	toolMarked struct{ call *fold.Call }
	// toolAsks asks the user, for one call at once.
	toolAsks []openAsk
	// askExpired is a request without an answer in time.
	askExpired struct{ ask *ask }
	// textShown is the text that a hook returned.
	textShown struct {
		part lathe.PartID
		text string
		err  error
	}
	// toolPublishes publishes an ephemeral event or replaces the session's list.
	toolPublishes struct {
		fact  lathe.Fact
		reply chan<- error // nil if no call waits
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
	f := &stepQueue{ready: make(chan struct{}, 1), complete: make(chan struct{})}
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

// take returns the queued items, which are valid until the next call.
func (f *stepQueue) take() []item {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := f.items
	clear(f.spare) // or the taken items stay in memory
	f.items, f.spare = f.spare[:0], items
	f.space.Broadcast()
	return items
}

// dropStream drops all further events of the stream.
func (f *stepQueue) dropStream() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streamDropped = true
	f.space.Broadcast()
}

// close drops all further events, also those of a tool that ignored the end of its
// turn.
func (f *stepQueue) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streamDropped, f.closed = true, true
	f.space.Broadcast()
}

// readStream adds a stream to the queue until it ends or is dropped.
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
