package gitobj

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxPeel  = 32      // tags put on tags
	maxLoose = 1 << 20 // loose commits in a walk
)

// Roots returns the commits without parents that can be reached from refs, in the order
// of their ids. Where a shallow clone was cut off counts as a root, as it does in git.
// Grafts and replacements do not count. Refs to something other than commits and refs to
// missing objects are passed over; a missing commit further down is an error.
func (r *Repo) Roots(ctx context.Context, refs []Ref) ([]ID, error) {
	w := &walk{repo: r, packed: map[*pack]bitmap{}, loose: map[ID]bool{}}
	err := w.readShallow()
	for i := 0; err == nil && i < len(refs); i++ {
		if err = w.start(ctx, refs[i].ID); err == nil {
			err = w.run(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find root commits: %w", err)
	}
	slices.SortFunc(w.roots, func(a, b ID) int { return strings.Compare(string(a.bytes()), string(b.bytes())) })
	return w.roots, nil
}

// walk visits every commit once. For packed ones it remembers a bit each, so that a long
// history costs little.
type walk struct {
	repo    *Repo
	shallow map[ID]bool
	packed  map[*pack]bitmap
	loose   map[ID]bool
	todo    []step
	roots   []ID
}

type step struct {
	place
	id ID
}

type bitmap []uint64

func (b bitmap) has(i uint32) bool { return b != nil && b[i/64]&(1<<(i%64)) != 0 }
func (b bitmap) set(i uint32)      { b[i/64] |= 1 << (i % 64) }

func (w *walk) readShallow() error {
	text, err := readWhole(filepath.Join(w.repo.common, "shallow"), 16<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	w.shallow = map[ID]bool{}
	for line := range strings.Lines(string(text)) {
		if id, err := ParseID(strings.TrimSpace(line)); err == nil {
			w.shallow[id] = true
		}
	}
	return nil
}

// start follows tags to a commit and puts it on the list.
func (w *walk) start(ctx context.Context, id ID) error {
	for range maxPeel {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		at, err := w.repo.find(id)
		if err != nil || w.met(at, id) {
			return err
		}
		kind, data, err := w.repo.read(ctx, at, id, maxCommit)
		switch {
		case errors.Is(err, ErrMissing), errors.Is(err, ErrLimit) && kind != CommitKind:
			return nil
		case err != nil:
			return err
		case kind == CommitKind:
			return w.push(id)
		case kind != TagKind:
			return nil
		}
		if id, err = parseTag(data, w.repo.hash); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) met(at place, id ID) bool {
	if at.pack == nil {
		return w.loose[id]
	}
	return w.packed[at.pack].has(at.pos)
}

// push puts a commit on the list, unless it was there before.
func (w *walk) push(id ID) error {
	at, err := w.repo.find(id)
	if err != nil || w.met(at, id) {
		return err
	}
	if at.pack == nil {
		if w.loose[id] = true; len(w.loose) > maxLoose {
			return fmt.Errorf("more than %d loose commits: %w", maxLoose, ErrLimit)
		}
	} else {
		if w.packed[at.pack] == nil {
			w.packed[at.pack] = make(bitmap, at.pack.index.count/64+1)
		}
		w.packed[at.pack].set(at.pos)
	}
	w.todo = append(w.todo, step{at, id})
	return nil
}

// run visits what is on the list and all that comes before it.
func (w *walk) run(ctx context.Context) error {
	for len(w.todo) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		kind, data, err := w.repo.read(ctx, s.place, s.id, maxCommit)
		if err != nil {
			return err
		}
		if kind != CommitKind {
			return fmt.Errorf("parent %s: %w", s.id, corrupt("it is a %s", kind))
		}
		parents, err := parseCommit(data, w.repo.hash)
		if err != nil {
			return fmt.Errorf("commit %s: %w", s.id, err)
		}
		if len(parents) == 0 || w.shallow[s.id] {
			w.roots = append(w.roots, s.id)
			continue
		}
		for _, p := range parents {
			if err := w.push(p); err != nil {
				return err
			}
		}
	}
	return nil
}
