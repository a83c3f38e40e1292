package engine

import "runtime"

// AtRest returns when no session is awake. A session puts its memory away after callers that
// wait for it have continued.
func AtRest(e *Engine) {
	for e.actors.isAwake() {
		runtime.Gosched()
	}
}

// Forget lets go of what is kept of sessions at rest, as time does, and returns how many
// there were.
func Forget(e *Engine) (stored int) {
	AtRest(e)
	return e.actors.cache.Close()
}
