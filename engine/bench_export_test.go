package engine

import "runtime"

// AtRest returns when no session is awake. A session puts its memory away after those who
// wait for it have gone on.
func AtRest(e *Engine) {
	for e.actors.isAwake() {
		runtime.Gosched()
	}
}

// Forget lets go of what is kept of sessions at rest, as time does, and returns how many
// there were.
func Forget(e *Engine) (kept int) {
	AtRest(e)
	return e.actors.cache.Close()
}
