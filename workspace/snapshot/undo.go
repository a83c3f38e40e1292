package snapshot

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

// The reasons for leaving a file alone.
const (
	whyChanged   = "it changed after the step, so it stays as it is"
	whyUnknown   = "its state after the step is unknown, so it stays as it is"
	whyNotStored = "its earlier content is no longer stored"
	whyOutside   = "it is outside the worktree"
	whyGuarded   = "other programs act on it, so only its own earlier content is restored; make the change again if you want it"
)

// history lists the changes of the undone steps to one file, oldest first.
type history struct {
	changes []fileChange
	why     string // a known conflict
}

// Undo plans to revert steps, given oldest first. It changes no files.
func (w *Worktree) Undo(ctx context.Context, steps []StepRef) (Plan, error) {
	w.t.revertInterruptedOnce()
	files, outside, err := w.t.histories(ctx, steps)
	if err != nil {
		return Plan{}, err
	}
	p, err := w.t.plan(ctx, files, nil)
	for _, path := range outside {
		p.Changes = append(p.Changes, Change{Path: path, Conflict: whyOutside})
	}
	p.sort()
	return p, err
}

func (p *Plan) sort() {
	slices.SortFunc(p.Changes, func(a, b Change) int {
		switch {
		case a.Path < b.Path:
			return -1
		case a.Path > b.Path:
			return 1
		}
		return 0
	})
}

// Redo plans to revert the changes applied under a key. It changes no files.
func (w *Worktree) Redo(ctx context.Context, key string) (Plan, error) {
	w.t.revertInterruptedOnce()
	r, err := readRecord(w.t.undoPath(key))
	if err != nil {
		return Plan{}, lathe.Errorf(lathe.Unavailable, "redo: %w", err)
	}
	if r == nil {
		return Plan{}, nil
	}
	files := map[string]*history{}
	for _, f := range r.Files {
		files[f.Path] = &history{changes: f.Changes}
		if w.t.guarded(f.Path) { // the content comes from the model, and nothing asks the user here
			files[f.Path].why = whyGuarded
		}
	}
	return w.t.plan(ctx, files, nil)
}

// guarded reports whether other programs execute or obey a file.
func (t *sharedTree) guarded(rel string) bool {
	file := workspace.File{Name: t.abs(rel), Path: t.abs(rel)}
	_, ok := guarded.List{}.Check(guarded.Project{Dir: t.root, Root: t.root}, file)
	return ok
}

// ReplanUndo plans to revert the changes applied under a key and then steps, and returns the combined
// plan. It changes no files. Applied changes add up under the key.
func (w *Worktree) ReplanUndo(ctx context.Context, key string, steps []StepRef) (Plan, error) {
	first, err := w.Redo(ctx, key)
	if err != nil {
		return Plan{}, err
	}
	files, outside, err := w.t.histories(ctx, steps)
	if err != nil {
		return Plan{}, err
	}
	before, net := map[string]Change{}, map[string]Change{}
	for _, c := range first.Changes {
		net[c.Path] = c
		if c.Conflict == "" {
			before[c.rel] = c
		}
	}
	p, err := w.t.plan(ctx, files, before)
	if err != nil {
		return Plan{}, err
	}
	for _, c := range p.Changes {
		if was, ok := before[c.rel]; ok {
			c.From, c.from = was.From, was.from
		}
		if net[c.Path] = c; c.Conflict == "" && c.from.same(c.to) {
			delete(net, c.Path)
		}
	}
	for _, path := range outside {
		net[path] = Change{Path: path, Conflict: whyOutside}
	}
	out := Plan{Changes: slices.Collect(maps.Values(net))}
	out.sort()
	return out, nil
}

// histories collects the changes of steps for each file.
func (t *sharedTree) histories(ctx context.Context, steps []StepRef) (files map[string]*history, outside []string, err error) {
	files = map[string]*history{}
	known := map[string]bool{} // whether a file is guarded; a session has many steps, and few files
	guarded := func(rel string) bool {
		is, ok := known[rel]
		if !ok {
			is = t.guarded(rel)
			known[rel] = is
		}
		return is
	}
	add := func(path string, why string, spans ...fileChange) {
		h := files[path]
		if h == nil {
			h = &history{}
			files[path] = h
		}
		h.changes = append(h.changes, spans...)
		h.why = why
	}
	for _, done := range steps {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		r, err := readRecord(t.recordPath(done.Key))
		if err != nil {
			t.store.o.Log.Warn("read the record of a step", "error", err)
		}
		if r != nil && r.Key == done.Key {
			for _, f := range r.Files {
				add(f.Path, "", f.Changes...)
			}
			continue
		}
		for _, path := range done.Files {
			rel, ok := t.rel(path)
			if !ok {
				outside = append(outside, path)
				continue
			}
			s, why := t.changeOf(done, rel)
			if why == "" && guarded(rel) { // an imported step can name any content
				why = whyGuarded
			}
			add(rel, why, s)
		}
	}
	slices.Sort(outside)
	return files, slices.Compact(outside), nil
}

// changeOf reads the change of a file from the two trees of a step without a record.
func (t *sharedTree) changeOf(done StepRef, rel string) (fileChange, string) {
	s := fileChange{Before: state{Lost: true}, After: state{Lost: true}}
	read := func(tree string, into *state) bool {
		id, err := parseTree(tree)
		if err != nil {
			return false
		}
		e, err := t.objects.entryIn(id, rel)
		if err != nil {
			return false
		}
		*into = e.state()
		return true
	}
	known := read(done.Before, &s.Before)
	switch {
	case !read(done.After, &s.After):
		return s, whyUnknown
	case !known:
		return s, whyNotStored
	}
	return s, ""
}

// plan decides for each file whether it can be reverted. The changes in first count as applied.
func (t *sharedTree) plan(ctx context.Context, files map[string]*history, first map[string]Change) (Plan, error) {
	var p Plan
	deleted := map[string]bool{}                          // links that will be deleted, so that paths below them become usable
	restored := map[string]bool{}                         // links that are back already, so that nothing is below them
	for _, rel := range slices.Sorted(maps.Keys(files)) { // parents come first
		if ctx.Err() != nil {
			return Plan{}, context.Cause(ctx)
		}
		now, err := t.look(rel, false)
		if err != nil {
			return Plan{}, lathe.Errorf(lathe.Unavailable, "look at %s: %w", t.abs(rel), err)
		}
		if c, ok := first[rel]; ok {
			now = seen{state: c.to} // a link above it is gone then
		} else if restored[now.link] {
			now = seen{}
		}
		c, ok := t.planFile(rel, files[rel], now.unblock(deleted))
		if ok {
			p.Changes = append(p.Changes, c)
			deleted[rel] = c.deletes()
		}
		restored[rel] = !ok && c.from.Mode == modeLink
	}
	return p, nil
}

// planFile compares the current state with the result of the last step. It reports false if nothing
// needs to change.
func (t *sharedTree) planFile(rel string, h *history, now seen) (Change, bool) {
	spans := netChanges(withoutUndone(h.changes))
	if len(spans) == 0 {
		return Change{}, false
	}
	last := len(spans) - 1
	// The remaining changes do not follow each other: a person edited the file between them, and undo
	// stops there.
	target := spans[last]
	c := Change{Path: t.abs(rel), From: now.entry(), To: target.Before.entry(), rel: rel, from: now.state, to: target.Before, made: target.Made}
	switch {
	case now.state.same(target.Before):
		return c, false
	case now.blocked != "":
		c.Conflict = now.blocked
	case h.why != "":
		c.Conflict = h.why
	case now.Lost || target.After.Lost && target.After.Mode != 0 && now.Mode == target.After.Mode:
		c.Conflict = fmt.Sprintf("it is larger than %d MB, and such files are not stored", maxContent>>20)
	case target.After.Lost:
		c.Conflict = whyUnknown
	case !now.state.same(target.After):
		c.Conflict = whyChanged
	case target.Before.Lost || !t.available(target.Before):
		c.Conflict = whyNotStored
	case last > 0:
		c.Note = "someone else edited it between the steps, so it goes back to that edit and no further"
	}
	return c, true
}

// deletes reports whether the change removes a symlink.
func (c *Change) deletes() bool {
	return c.Conflict == "" && c.from.Mode == modeLink && c.to.absent()
}

// available reports whether a state can be restored.
func (t *sharedTree) available(s state) bool {
	id, ok := parseOID(s.ID)
	return s.absent() || ok && t.objects.has(id)
}

// Finalize makes the changes under a key final: they can no longer be undone.
func (w *Worktree) Finalize(ctx context.Context, key string) error {
	release, err := w.t.lock(ctx)
	if err == nil {
		defer release()
		err = w.t.disk.remove(w.t.undoPath(key))
	}
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "finalize an undo: %w", err)
	}
	return nil
}
