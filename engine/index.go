package engine

import (
	"context"
	"time"

	"github.com/lathe-agent/lathe/store"
)

// The pauses of the index: after the start, so that it delays no first prompt; after each batch, so that it takes
// less than half of a processor and others can write; and when all is indexed.
const (
	indexStart = 3 * time.Second
	indexPause = 50 * time.Millisecond
	indexRest  = time.Minute
)

// keepIndex indexes old sessions, imports and forks, until the context ends. New messages are indexed when they are
// written.
func (e *Engine) keepIndex(ctx context.Context) {
	wait := indexStart
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		more, _, err := store.IndexBatch(ctx, e.store)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.log.Warn("could not index sessions for the search; trying again later", "error", err)
			wait = indexRest
		case more:
			wait = max(indexPause, time.Since(began))
		default:
			wait = indexRest
		}
	}
}
