package record

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/store"
)

// Source reads a session from elsewhere: it calls add with each message, oldest first, and returns the record.
// Messages without Data carry further parts of another message.
type Source func(add func(lathe.Message) error) (lathe.Session, error)

// Import takes a session from elsewhere into a directory, whole or not at all. Ids and
// times stay as they are.
func (r Sessions) Import(ctx context.Context, dir string, x lathe.Export) (lathe.Session, error) {
	return r.ImportFrom(ctx, dir, func(add func(lathe.Message) error) (lathe.Session, error) {
		for _, m := range x.Messages {
			if err := add(m); err != nil {
				return lathe.Session{}, err
			}
		}
		return x.Info, nil
	})
}

// ImportFrom is Import of a source that is read message by message, so that it may be longer than memory.
func (r Sessions) ImportFrom(ctx context.Context, dir string, read Source) (s lathe.Session, err error) {
	inst, err := r.dirs.Instance(ctx, dir)
	if err != nil {
		return lathe.Session{}, err
	}
	s, _, err = r.stage(ctx, read, func(g *store.Staged, s lathe.Session) (store.Imported, error) {
		return g.Commit(ctx, r.located(s, inst))
	})
	if err != nil {
		return lathe.Session{}, err
	}
	return r.store.Session(ctx, s.ID)
}

// Refresh takes a session of another program, in the directory that its record names. If it is here already, it is
// brought up to date, unless it was continued here: that is a [store.Continued] error. A directory that no longer
// exists stays in the record. stamp describes the state of the source: if it is that of the last time, nothing is read.
func (r Sessions) Refresh(ctx context.Context, id lathe.SessionID, stamp string, read Source) (s lathe.Session, out store.Imported, err error) {
	key := "import " + string(id)
	known, err := r.IsImported(ctx, id, stamp)
	if err != nil {
		return s, out, err
	}
	if known {
		s, err = r.store.Session(ctx, id)
		return s, store.Imported{Unchanged: true}, err
	}
	s, out, err = r.stage(ctx, read, func(g *store.Staged, s lathe.Session) (store.Imported, error) {
		inst, err := r.place(ctx, s.Directory)
		if err != nil {
			return store.Imported{}, err
		}
		return g.Refresh(ctx, r.located(s, inst))
	})
	if err == nil || errors.As(err, new(store.Continued)) { // the same source has nothing new next time
		err = cmp.Or(err, r.store.SaveCached(ctx, key, stamp))
	}
	return s, out, err
}

// IsImported reports whether a session is here, and was imported from a source in that state.
func (r Sessions) IsImported(ctx context.Context, id lathe.SessionID, stamp string) (bool, error) {
	_, err := r.store.Session(ctx, id)
	if lathe.CodeOf(err) == lathe.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	last, err := r.store.Cached(ctx, "import "+string(id))
	return last == stamp, err
}

// place finds the project of a directory that a stranger's file names. One that is not here any more has none.
func (r Sessions) place(ctx context.Context, dir string) (directory.Instance, error) {
	if filepath.IsAbs(dir) {
		inst, err := r.dirs.Instance(ctx, dir)
		if err == nil {
			return inst, nil
		}
		if ctx.Err() != nil {
			return inst, context.Cause(ctx)
		}
	}
	var gone directory.Instance
	gone.Place.ProjectID, gone.Place.Directory = lathe.GlobalProject, dir
	return gone, nil
}

// located completes a record with its place, and a name where it has none. Of its permission rules those that deny
// or ask stay: whoever wrote the file may limit the session, and must not open the machine to it.
func (r Sessions) located(s lathe.Session, inst directory.Instance) lathe.Session {
	path := inst.Place.Path
	limits := slices.DeleteFunc(slices.Clone(s.Rules), func(r lathe.Rule) bool { return r.Action != lathe.Deny && r.Action != lathe.Ask })
	if s.Rules = limits; len(limits) == 0 {
		s.Rules = nil
	}
	s.Project, s.Directory, s.Path = inst.Place.ProjectID, inst.Place.Directory, &path
	if s.Slug == "" {
		s.Slug = slug(r.ids)
	}
	if s.Title == "" {
		s.Title = lathe.DefaultTitle(s.Parent != "", s.Created)
	}
	return s
}

// stage reads a source to its end before anything is written to the database.
func (r Sessions) stage(ctx context.Context, read Source, commit func(*store.Staged, lathe.Session) (store.Imported, error)) (s lathe.Session, out store.Imported, err error) {
	g, err := r.store.Stage()
	if err != nil {
		return s, out, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	s, err = read(func(m lathe.Message) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return g.Add(m)
	})
	if err != nil {
		return s, out, err
	}
	out, err = commit(g, s)
	return s, out, err
}
