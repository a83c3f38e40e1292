package engine

import (
	"context"
	"reflect"

	"github.com/lathe-agent/lathe"
)

// What tests from outside need of the inside.

// Runner is a runner with names that can be called.
type Runner struct{ *runner }

// Take makes a runner for a session.
func Take(ctx context.Context, e *Engine, id lathe.SessionID) (Runner, error) {
	r, err := e.actors.newIdleRunner(ctx, id)
	return Runner{r}, err
}

func (r Runner) Commit(ctx context.Context, facts ...lathe.Fact) ([]lathe.Event, error) {
	return r.log.commit(ctx, facts...)
}
func (r Runner) Grow(id lathe.PartID, delta string) error { return r.log.texts.grow(id, delta) }
func (r Runner) Checkpoint(ctx context.Context) error {
	if err := r.log.texts.checkpoint(ctx); err != nil {
		return err
	}
	return r.log.texts.wait()
}
func (r Runner) Release(ctx context.Context) error { return r.release(ctx) }

// Holds lists how many texts the runner has open.
func (r Runner) Holds() int { return len(r.log.texts.open) }

// Text is what was streamed of an open part, on the bus and stored or not.
func (r Runner) Text(id lathe.PartID) string { return r.log.texts.open[id].text.String() }

// Publish puts events on the bus.
func Publish(e *Engine, ev lathe.Event) { e.bus.Publish(ev) }

// Texts is how many texts are open on the bus.
func Texts(e *Engine) int { return e.bus.Texts() }

// Subscribers is how many listen to the bus.
func Subscribers(e *Engine) int { return e.bus.Subscribers() }

// Held is how many instances are kept.
func Held(e *Engine) int {
	return reflect.ValueOf(e.Directories).Elem().FieldByName("open").Len()
}

// Watching reports whether the engine looks for what other processes write.
func Watching(e *Engine) bool {
	return reflect.ValueOf(e.Source).Elem().FieldByName("watch").Elem().FieldByName("users").Int() > 0
}
