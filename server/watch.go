package server

import (
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// ChangeWatcher tells what was changed beside the server: files that somebody edited, logins that another
// process made.
type ChangeWatcher interface {
	// Changed reports what of a directory is no longer as it was when this was last asked, or as
	// clients were told before. It reads no file that has not changed.
	Changed(at workspace.Place) (settings, credentials bool)
}

const (
	// watchEvery is how often settings and credentials are looked at while a stream is open.
	watchEvery = 2 * time.Second
	// mostWatched is how many directories are looked at; beyond it, others are forgotten.
	mostWatched = 100
)

// watch remembers the directories that clients asked about, and looks at them while streams are open.
type watch struct {
	publisher
	watched ChangeWatcher // may be nil
	pulse   pulse

	mu     sync.Mutex // guards places
	places map[string]workspace.Place
}

func newWatch(p publisher, watched ChangeWatcher, every time.Duration) *watch {
	w := &watch{publisher: p, watched: watched}
	w.pulse = pulse{every: every, beat: w.lookAround}
	return w
}

// add has a directory looked at.
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

// lookAround tells clients to ask again for what depends on files that have changed.
func (w *watch) lookAround() {
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
	return w.pulse.enter()
}

// Watch looks for changes of a directory as a server does while a stream is open, and publishes them until stop is
// called: for a program that reads the events of its engine itself.
func Watch(e Engine, watched ChangeWatcher, at workspace.Place) (stop func()) {
	p := publisher{engine: e, ids: lathe.NewIDs()}
	files, branches := newWatch(p, watched, watchEvery), &branches{publisher: p}
	files.add(at)
	branches.look(at)
	beat := &pulse{every: heartbeatEvery, beat: branches.lookAll}
	leaveFiles, leaveBranches := files.enter(), beat.enter()
	return func() {
		leaveFiles()
		leaveBranches()
	}
}
