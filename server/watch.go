package server

import (
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// Watched tells what was changed beside the server: files that somebody edited, logins that another
// process made.
type Watched interface {
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

// watch remembers the directories that clients asked about.
type watch struct {
	mu     sync.Mutex // guards places
	places map[string]workspace.Place
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
func (s *Server) lookAround() {
	for _, at := range s.watch.all() {
		settings, credentials := s.Watched.Changed(at)
		var news []lathe.Fact
		if settings || credentials {
			news = append(news, &lathe.CatalogChanged{}, &lathe.IntegrationsChanged{})
		}
		if settings {
			news = append(news, &lathe.ReferencesChanged{})
		}
		for _, f := range news {
			s.Feed.Publish(lathe.Event{ID: s.options.IDs.Event(), Directory: at.Directory, Project: at.ProjectID, Fact: f})
		}
	}
}

// watching looks around until the function returned is called.
func (s *Server) watching() (stop func()) {
	if s.Watched == nil {
		return func() {}
	}
	return s.looks.enter()
}
