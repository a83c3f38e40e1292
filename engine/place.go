package engine

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// placesEvery is the time between two looks whether the places of a node exist.
	placesEvery = time.Second
	// placeWait is how long a look may take. The server of a volume that does not answer is a missing volume.
	placeWait = 2 * time.Second
)

var (
	errNoDirectory = errors.New("it is not a directory")
	errNoAnswer    = errors.New("the file system does not answer")
)

// placeWatch knows which places of a node exist. The map is for one goroutine.
type placeWatch struct {
	all   atomic.Pointer[[]Place]
	looks map[string]chan error // that have not ended, by path
}

// MissingPlaces are the places of this node whose directory does not exist now. It runs none of their sessions.
func (m *Member) MissingPlaces() (out []Place) {
	for _, p := range *m.found.all.Load() {
		if p.Missing {
			out = append(out, p)
		}
	}
	return out
}

// makeTrees makes the folder of worktrees if it is a place: it would be missing until the first worktree.
func (m *Member) makeTrees() {
	trees := m.engine.files.trees.Dir
	if !slices.ContainsFunc(m.Places, func(p Place) bool { return p.Path == trees }) {
		return
	}
	if err := os.MkdirAll(trees, 0o700); err != nil {
		m.engine.log.Warn("could not make the folder of worktrees", "error", err)
	}
}

// watchPlaces looks after the places until the engine ends.
func (m *Member) watchPlaces(ctx context.Context) {
	tick := time.NewTicker(placesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.lookAtPlaces(ctx)
		}
	}
}

// lookAtPlaces notes which places exist, and tells the log and the other nodes of a change.
func (m *Member) lookAtPlaces(ctx context.Context) {
	before := *m.found.all.Load()
	now := slices.Clone(before)
	for i := range now {
		err := m.found.look(ctx, now[i].Path)
		if ctx.Err() != nil {
			return
		}
		now[i].Missing = err != nil
		switch p := now[i]; {
		case p.Missing && !before[i].Missing:
			m.engine.log.Error("the directory of a place is missing; its sessions wait, or continue on a node that has it", "place", p.Name, "path", p.Path, "error", err)
		case !p.Missing && before[i].Missing:
			m.engine.log.Info("the directory of a place is back", "place", p.Name, "path", p.Path)
		}
	}
	if slices.Equal(before, now) {
		return
	}
	m.found.all.Store(&now)
	if m.Announce != nil {
		m.Announce(now)
	}
}

// look returns why a directory cannot be used. Nobody can end a call of the system that hangs: its goroutine stays until
// then, and the next look waits for the same one.
func (w *placeWatch) look(ctx context.Context, path string) error {
	if w.looks == nil {
		w.looks = map[string]chan error{}
	}
	done := w.looks[path]
	if done == nil {
		done = make(chan error, 1)
		go func() { // see above
			info, err := os.Stat(path)
			if err == nil && !info.IsDir() {
				err = &os.PathError{Op: "stat", Path: path, Err: errNoDirectory}
			}
			done <- err
		}()
		w.looks[path] = done
	}
	timer := time.NewTimer(placeWait)
	defer timer.Stop()
	select {
	case err := <-done:
		delete(w.looks, path)
		return err
	case <-timer.C:
		return errNoAnswer
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
