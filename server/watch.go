package server

import (
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/pulse"
	"github.com/lathe-agent/lathe/workspace"
)

// ChangeWatcher detects changes from outside the server: edited files, logins of another process.
type ChangeWatcher interface {
	// Changed reports changes of a directory since the last call, or since clients were last
	// notified. It reads only changed files.
	Changed(at workspace.Place) (settings, credentials bool)
}

const (
	// watchEvery is the default interval of checks while a stream is open.
	watchEvery = 2 * time.Second
	// mostWatched limits the watched directories; older ones are dropped.
	mostWatched = 100
)

// watch checks the directories of clients for changes while streams are open.
type watch struct {
	publisher
	watched ChangeWatcher // may be nil
	pulse   *pulse.Pulse

	mu     sync.Mutex // guards places
	places map[string]workspace.Place
}

func newWatch(p publisher, watched ChangeWatcher, every time.Duration) *watch {
	w := &watch{publisher: p, watched: watched}
	w.pulse = pulse.New(every, w.publishChanges)
	return w
}

// add watches a directory.
func (w *watch) add(at workspace.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.places[at.Directory]; w.places == nil || !known && len(w.places) >= mostWatched {
		w.places = map[string]workspace.Place{}
	}
	w.places[at.Directory] = at
}

func (w *watch) all() (places []workspace.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.places {
		places = append(places, at)
	}
	return places
}

// publishChanges notifies clients of changes, so that they reload.
func (w *watch) publishChanges() {
	for _, at := range w.all() {
		settings, credentials := w.watched.Changed(at)
		var changes []lathe.Fact
		if settings || credentials {
			changes = append(changes, &lathe.CatalogChanged{}, &lathe.IntegrationsChanged{})
		}
		if settings {
			changes = append(changes, &lathe.ReferencesChanged{})
		}
		for _, f := range changes {
			w.publish(at, f)
		}
	}
}

// enter looks around until the function returned is called.
func (w *watch) enter() (leave func()) {
	if w.watched == nil {
		return func() {}
	}
	return w.pulse.Enter()
}

// Watch checks a directory for changes like a server with an open stream, and publishes them until stop is called.
// It is for a program that reads the events of its engine itself.
func Watch(e Engine, watched ChangeWatcher, at workspace.Place) (stop func()) {
	p := publisher{engine: e, ids: lathe.NewIDs()}
	files, branches := newWatch(p, watched, watchEvery), &branches{publisher: p}
	files.add(at)
	branches.check(at)
	beat := pulse.New(heartbeatEvery, branches.checkAll)
	leaveFiles, leaveBranches := files.enter(), beat.Enter()
	return func() {
		leaveFiles()
		leaveBranches()
	}
}
