// Package directory finds the project of each directory and caches it for directories in use.
package directory

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// idleInstance is how long an unused instance stays open.
const idleInstance = 10 * time.Minute

// Instance is the state of one open directory.
type Instance struct {
	Place   workspace.Place
	Project lathe.Project
}

// Directories are the directories in use. Instances are keyed by directory as it was asked for, opened at
// first use and dropped when idle. No goroutine does so: each use looks for others that are stale.
type Directories struct {
	store   *store.Store
	now     func() lathe.Time
	publish func(...lathe.Event)

	mu    sync.Mutex // guards the fields below
	open  map[string]*entry
	swept lathe.Time
}

// entry is an instance that is open, or about to be.
type entry struct {
	ready chan struct{} // closed when the next three are set
	inst  Instance
	err   error
	again bool       // the caller that opened it gave up: others must retry
	used  lathe.Time // guarded by Directories.mu
}

// New returns the directories of a store. publish publishes disposed instances.
func New(s *store.Store, now func() lathe.Time, publish func(...lathe.Event)) *Directories {
	return &Directories{store: s, now: now, publish: publish, open: map[string]*entry{}}
}

// Instance returns the instance of a directory, and notes that it was opened. Callers that come at the same
// time share one opening.
func (d *Directories) Instance(ctx context.Context, dir string) (Instance, error) {
	for {
		h, mine := d.find(dir)
		if mine {
			d.openEntry(ctx, dir, h)
			return h.inst, h.err
		}
		select {
		case <-h.ready:
			if !h.again {
				return h.inst, h.err
			}
		case <-ctx.Done():
			return Instance{}, context.Cause(ctx)
		}
	}
}

// find returns the entry of a directory; mine says that it is new and the caller must open it.
func (d *Directories) find(dir string) (h *entry, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	h, ok := d.open[dir]
	if !ok {
		h = &entry{ready: make(chan struct{})}
		d.open[dir] = h
	}
	h.used = d.now()
	return h, !ok
}

// openEntry opens the instance and wakes the callers that wait for it. After a failure the next
// caller tries again.
func (d *Directories) openEntry(ctx context.Context, dir string, h *entry) {
	h.again = true // also if opening panics
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if h.err == nil && !h.again {
			d.dropStale(h.inst.Place)
		} else if d.open[dir] == h {
			delete(d.open, dir)
		}
		close(h.ready)
	}()
	h.inst, h.err = d.load(ctx, dir)
	h.again = h.err != nil && ctx.Err() != nil
}

// dropStale drops instances that have the same worktree under another project: the
// repository got a remote, for example, and its sessions moved.
func (d *Directories) dropStale(now workspace.Place) {
	for dir, h := range d.open {
		select {
		case <-h.ready:
			if was := h.inst.Place; mainDir(was) == mainDir(now) && was.ProjectID != now.ProjectID {
				delete(d.open, dir)
			}
		default: // it is being opened
		}
	}
}

func (d *Directories) load(ctx context.Context, dir string) (Instance, error) {
	place, err := locate(ctx, dir, d.store)
	if err != nil {
		return Instance{}, err
	}
	if err := d.moveLinked(ctx, dir, place); err != nil {
		return Instance{}, err
	}
	p, err := d.store.OpenProject(ctx, lathe.Project{ID: place.ProjectID, Worktree: mainDir(place), VCS: place.VCS}, place.Sandbox)
	return Instance{Place: place, Project: p}, err
}

// mainDir is the main checkout of a place, by which its project is known.
func mainDir(p workspace.Place) string { return cmp.Or(p.Main, p.Worktree) }

// moveLinked moves sessions that an earlier version started through a symlink to the
// real directory.
func (d *Directories) moveLinked(ctx context.Context, dir string, place workspace.Place) error {
	asked, err := filepath.Abs(dir)
	if err != nil || asked == place.Directory || place.ProjectID != lathe.GlobalProject {
		return nil
	}
	left, err := d.store.Sessions(ctx, lathe.Query{Project: lathe.GlobalProject, Directory: asked, Archived: lathe.WithArchived})
	for _, s := range left {
		if err == nil {
			_, err = d.store.Edit(ctx, s.ID, lathe.Edit{Directory: lathe.Some(place.Directory), Path: lathe.Some(&place.Path)})
		}
	}
	return err
}

// sweep drops instances that were not used for a while, at most once a minute.
func (d *Directories) sweep() {
	now := d.now()
	if now-d.swept < lathe.Time(time.Minute.Milliseconds()) {
		return
	}
	d.swept = now
	for dir, h := range d.open {
		if now-h.used > lathe.Time(idleInstance.Milliseconds()) {
			delete(d.open, dir)
		}
	}
}

func (d *Directories) forget(dir string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := len(d.open)
	maps.DeleteFunc(d.open, func(asked string, h *entry) bool {
		select {
		case <-h.ready:
			return asked == dir || h.inst.Place.Directory == dir // through a symlink
		default:
			return asked == dir
		}
	})
	return len(d.open) < had
}

// locate finds out where a directory belongs, with errors that have a code.
func locate(ctx context.Context, dir string, mem workspace.Memory) (workspace.Place, error) {
	place, err := workspace.Locate(ctx, dir, mem)
	switch {
	case err == nil:
		return place, nil
	case errors.Is(err, fs.ErrNotExist):
		return place, lathe.Errorf(lathe.NotFound, "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return place, lathe.Errorf(lathe.Denied, "%w", err)
	case errors.Is(err, fs.ErrInvalid), errors.Is(err, workspace.ErrNotDirectory):
		return place, lathe.Errorf(lathe.Invalid, "%w", err)
	default:
		return place, err
	}
}

// Locate returns the project and worktree of a directory. It stores only results that need a walk
// through a repository's history.
func (d *Directories) Locate(ctx context.Context, dir string) (workspace.Place, error) {
	return locate(ctx, dir, d.store)
}

// Location is Locate for front ends.
func (d *Directories) Location(ctx context.Context, dir string) (lathe.Location, error) {
	at, err := d.Locate(ctx, dir)
	return lathe.Location{Directory: at.Directory, Worktree: at.Worktree, Project: at.ProjectID, Path: at.Path}, err
}

// Dispose drops the instance of a directory and publishes that.
func (d *Directories) Dispose(dir string) {
	if d.forget(dir) {
		d.publish(lathe.Event{Directory: dir, Fact: &lathe.InstanceDisposed{Directory: dir}})
	}
}

// EditProject changes what the user gave a project.
func (d *Directories) EditProject(ctx context.Context, id string, edit lathe.ProjectEdit) (lathe.Project, error) {
	return d.store.EditProject(ctx, id, edit)
}

// Projects lists all projects, the one opened last first.
func (d *Directories) Projects(ctx context.Context) ([]lathe.Project, error) {
	return d.store.Projects(ctx)
}
