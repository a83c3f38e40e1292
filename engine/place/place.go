// Package place watches the directories of a node in a cluster: sessions below one that is missing do not run there.
//
// Run looks at the directories in the goroutine of its caller. All other methods may be called by many goroutines. Start
// reading at Watch.
package place

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe/store"
)

const (
	// every is the time between two looks whether the places exist.
	every = time.Second
	// wait is how long a look may take. The server of a volume that does not answer is a missing volume.
	wait = 2 * time.Second
)

var (
	errNoDirectory = errors.New("it is not a directory")
	errNoAnswer    = errors.New("the file system does not answer")
)

// Covers reports whether a directory lies in one of the places that are not missing. No places cover everything.
func Covers(places []store.Place, directory string) bool {
	return len(places) == 0 || slices.ContainsFunc(places, func(p store.Place) bool { return !p.Missing && IsBelow(directory, p.Path) })
}

// IsBelow reports whether a clean path is a folder or lies below it.
func IsBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// Watch knows which places of a node exist. The map is for the goroutine of Run.
type Watch struct {
	log      *slog.Logger
	announce func([]store.Place)
	all      atomic.Pointer[[]store.Place]
	looks    map[string]chan error // that have not ended, by path
}

// New returns a watch for places, which exist until it looks. It tells announce of changes, unless that is nil.
func New(places []store.Place, log *slog.Logger, announce func([]store.Place)) *Watch {
	w := &Watch{log: log, announce: announce, looks: map[string]chan error{}}
	w.all.Store(&places)
	return w
}

// Covers reports whether a directory lies in a place that exists. No places cover everything.
func (w *Watch) Covers(directory string) bool { return Covers(*w.all.Load(), directory) }

// Missing are the places whose directory does not exist now.
func (w *Watch) Missing() (out []store.Place) {
	for _, p := range *w.all.Load() {
		if p.Missing {
			out = append(out, p)
		}
	}
	return out
}

// Run looks after the places until the context ends.
func (w *Watch) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.Look(ctx)
		}
	}
}

// Look notes which places exist, and tells the log and the other nodes of a change. Call it before Run, not beside it.
func (w *Watch) Look(ctx context.Context) {
	before := *w.all.Load()
	now := slices.Clone(before)
	for i := range now {
		err := w.look(ctx, now[i].Path)
		if ctx.Err() != nil {
			return
		}
		now[i].Missing = err != nil
		switch p := now[i]; {
		case p.Missing && !before[i].Missing:
			w.log.Error("the directory of a place is missing; its sessions wait, or continue on a node that has it", "place", p.Name, "path", p.Path, "error", err)
		case !p.Missing && before[i].Missing:
			w.log.Info("the directory of a place is back", "place", p.Name, "path", p.Path)
		}
	}
	if slices.Equal(before, now) {
		return
	}
	w.all.Store(&now)
	if w.announce != nil {
		w.announce(now)
	}
}

// look returns why a directory cannot be used. Nobody can end a call of the system that hangs: its goroutine stays until
// then, and the next look waits for the same one.
func (w *Watch) look(ctx context.Context, path string) error {
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
	timer := time.NewTimer(wait)
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
