package sandbox

import (
	"time"

	"github.com/lathe-agent/lathe/internal/fence"
)

// beaten is a tree whose launcher ends it at a time that we move while we live.
type beaten interface{ beat(until time.Duration) }

// UseFence lets commands of [Runner.Run] run only until the limit of a fence, and ends them there even if this process
// is stopped: another node may continue the session then. Services and terminals belong to no turn and stay. It is
// called before the first command. A nil fence changes nothing.
func (r *Runner) UseFence(f *fence.Fence) {
	r.fence = f
	f.OnExtend(func(until time.Duration) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for t := range r.live {
			if b, ok := t.(beaten); ok {
				b.beat(until)
			}
		}
	})
}

// fenced returns the command with the limit of the fence.
func (r *Runner) fenced(c Command) (Command, error) {
	if r.fence == nil {
		return c, nil
	}
	c.until = r.fence.Until()
	return c, r.fence.Valid()
}
