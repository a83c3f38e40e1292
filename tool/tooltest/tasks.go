package tooltest

import (
	"context"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// Tasks takes work of calls into the background and keeps it.
type Tasks struct {
	Refuse error         // of every task
	Move   chan struct{} // closed moves the running calls; nil never does

	mu   sync.Mutex
	work []tool.Work
}

// Check refuses if it should.
func (x *Tasks) Check(context.Context) error { return x.Refuse }

// Moved is Move.
func (x *Tasks) Moved() <-chan struct{} { return x.Move }

// Add keeps the work.
func (x *Tasks) Add(_ context.Context, w tool.Work) (lathe.TaskID, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.work = append(x.work, w)
	return "job_1", nil
}

// Work returns what was added.
func (x *Tasks) Work() []tool.Work {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.work
}
