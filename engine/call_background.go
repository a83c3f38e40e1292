package engine

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/background"
	"github.com/lathe-agent/lathe/tool"
)

// newBackground makes the background tasks of the engine.
func (e *Engine) newBackground() *background.Registry {
	return background.New(background.Options{
		Store: e.store, IDs: e.ids, Now: e.now, Log: e.log, Outputs: e.files.outputs, Context: e.ctx, Work: &e.work, Compose: e.compose, Cancel: e.Cancel,
		Wake: func(id lathe.SessionID) error {
			_, err := e.actors.wake(id)
			return err
		},
		Away:    func(ctx context.Context, dir string) string { return e.Member.whyAway(ctx, dir) },
		IsAwake: func(id lathe.SessionID) bool { return e.actors.find(id) != nil },
	})
}

// callBackground is the way of one call into the background.
type callBackground struct{ host *host }

// Background lets the call continue after its result.
func (h *host) Background() tool.Background { return callBackground{h} }

// Check refuses one more command than a session may have.
func (c callBackground) Check(context.Context) error {
	return c.host.step.engine.Registry.Check(c.host.step.session.ID)
}

// Moved is closed when the user moves the call to the background.
func (c callBackground) Moved() <-chan struct{} {
	return c.host.step.engine.Registry.Movable(c.host.step.session.ID, c.host.by.Call)
}

// Add makes a running command a task of the session.
func (c callBackground) Add(ctx context.Context, w tool.Work) (lathe.TaskID, error) {
	s := c.host.step
	return s.engine.Registry.Add(ctx, s.session.ID, s.place.Directory, w)
}
