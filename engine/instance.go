package engine

import (
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

// idleInstance is how long an instance nobody asks for is kept.
const idleInstance = 10 * time.Minute

// Instance is what the process knows of one directory.
type Instance struct {
	Place   workspace.Place
	Project lathe.Project
}

// instances are keyed by directory as it was asked for, made at first use and let go
// when idle. There is no goroutine to do so: each use looks for others that are stale.
type instances struct {
	store *store.Store
	now   func() lathe.Time

	mu    sync.Mutex // guards held
	held  map[string]*heldInstance
	swept lathe.Time
}

type heldInstance struct {
	ready chan struct{} // closed when the next three are set
	inst  Instance
	err   error
	again bool       // whoever opened it gave up: that is no answer for others
	used  lathe.Time // guarded by instances.mu
}

func newInstances(s *store.Store, now func() lathe.Time) *instances {
	return &instances{store: s, now: now, held: map[string]*heldInstance{}}
}

// get returns the instance of a directory. Callers that come at the same time share one
// opening.
func (is *instances) get(ctx context.Context, dir string) (Instance, error) {
	for {
		h, mine := is.find(dir)
		if mine {
			is.fill(ctx, dir, h)
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

// find returns what is held for a directory; mine says that it is new and the caller is
// to fill it.
func (is *instances) find(dir string) (h *heldInstance, mine bool) {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.sweep()
	h, ok := is.held[dir]
	if !ok {
		h = &heldInstance{ready: make(chan struct{})}
		is.held[dir] = h
	}
	h.used = is.now()
	return h, !ok
}

// fill opens the instance and lets those go on who wait for it. After a failure the next
// caller tries again.
func (is *instances) fill(ctx context.Context, dir string, h *heldInstance) {
	h.again = true // also if opening panics
	defer func() {
		is.mu.Lock()
		defer is.mu.Unlock()
		if h.err == nil && !h.again {
			is.dropFormer(h.inst.Place)
		} else if is.held[dir] == h {
			delete(is.held, dir)
		}
		close(h.ready)
	}()
	h.inst, h.err = is.open(ctx, dir)
	h.again = h.err != nil && ctx.Err() != nil
}

// dropFormer lets go of instances that know the same worktree under another project: it
// has got a remote, say, and its sessions were filed anew.
func (is *instances) dropFormer(now workspace.Place) {
	for dir, h := range is.held {
		select {
		case <-h.ready:
			if was := h.inst.Place; was.Worktree == now.Worktree && was.ProjectID != now.ProjectID {
				delete(is.held, dir)
			}
		default: // it is being opened
		}
	}
}

func (is *instances) open(ctx context.Context, dir string) (Instance, error) {
	place, err := locate(ctx, dir, is.store)
	if err != nil {
		return Instance{}, err
	}
	if err := is.moveLinked(ctx, dir, place); err != nil {
		return Instance{}, err
	}
	p, err := is.store.OpenProject(ctx, lathe.Project{ID: place.ProjectID, Worktree: place.Worktree, VCS: place.VCS}, place.Sandbox)
	return Instance{Place: place, Project: p}, err
}

// moveLinked files sessions that were begun through a symlink, by an earlier version, under the
// real directory.
func (is *instances) moveLinked(ctx context.Context, dir string, place workspace.Place) error {
	asked, err := filepath.Abs(dir)
	if err != nil || asked == place.Directory || place.ProjectID != lathe.GlobalProject {
		return nil
	}
	left, err := is.store.Sessions(ctx, lathe.Query{Project: lathe.GlobalProject, Directory: asked, Archived: lathe.WithArchived})
	for _, s := range left {
		if err == nil {
			_, err = is.store.Edit(ctx, s.ID, lathe.Edit{Directory: lathe.Some(place.Directory), Path: lathe.Some(&place.Path)})
		}
	}
	return err
}

// sweep lets go of what nobody used for a while; looking once a minute is enough.
func (is *instances) sweep() {
	now := is.now()
	if now-is.swept < lathe.Time(time.Minute.Milliseconds()) {
		return
	}
	is.swept = now
	for dir, h := range is.held {
		if now-h.used > lathe.Time(idleInstance.Milliseconds()) {
			delete(is.held, dir)
		}
	}
}

func (is *instances) forget(dir string) bool {
	is.mu.Lock()
	defer is.mu.Unlock()
	had := len(is.held)
	maps.DeleteFunc(is.held, func(asked string, h *heldInstance) bool {
		select {
		case <-h.ready:
			return asked == dir || h.inst.Place.Directory == dir // through a symlink
		default:
			return asked == dir
		}
	})
	return len(is.held) < had
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

// Instance returns what belongs to a directory, and notes that it was opened.
func (e *Engine) Instance(ctx context.Context, dir string) (Instance, error) {
	return e.instances.get(ctx, dir)
}

// Locate tells where a directory belongs. It notes nothing but what took a walk through a
// repository's history to find out.
func (e *Engine) Locate(ctx context.Context, dir string) (workspace.Place, error) {
	return locate(ctx, dir, e.store)
}

// Location is Locate for front ends.
func (e *Engine) Location(ctx context.Context, dir string) (lathe.Location, error) {
	at, err := e.Locate(ctx, dir)
	return lathe.Location{Directory: at.Directory, Worktree: at.Worktree, Project: at.ProjectID, Path: at.Path}, err
}

// Dispose lets go of a directory's instance and tells its listeners.
func (e *Engine) Dispose(dir string) {
	if e.instances.forget(dir) {
		e.bus.Publish(lathe.Event{Directory: dir, Fact: &lathe.InstanceDisposed{Directory: dir}})
	}
}

// EditProject changes what the user gave a project.
func (e *Engine) EditProject(ctx context.Context, id string, edit lathe.ProjectEdit) (lathe.Project, error) {
	return e.store.EditProject(ctx, id, edit)
}

// Projects lists all projects, the one opened last first.
func (e *Engine) Projects(ctx context.Context) ([]lathe.Project, error) { return e.store.Projects(ctx) }
