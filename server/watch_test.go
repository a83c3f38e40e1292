package server_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// edited is files that change when a test says so.
type edited struct{ settings, credentials atomic.Bool }

func (e *edited) Changed(workspace.Place) (settings, credentials bool) {
	return e.settings.Swap(false), e.credentials.Swap(false)
}

// Who listens is notified that settings or credentials were changed on disk.
func TestStream_Edited(t *testing.T) {
	t.Parallel()
	w := begin(t, "")
	files, b := &edited{}, w.backend
	b.Watcher = files
	w.serve(b, server.Options{Directory: w.dir, PollInterval: time.Millisecond})
	l := w.listen("/event")
	for _, c := range []struct {
		edit *atomic.Bool
		want []string
	}{
		{&files.settings, []string{"catalog.updated", "integration.updated", "reference.updated"}},
		{&files.credentials, []string{"catalog.updated", "integration.updated"}},
	} {
		c.edit.Store(true)
		for _, want := range c.want {
			l.until(want)
		}
	}
}
