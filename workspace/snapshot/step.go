package snapshot

import (
	"context"
	"errors"
	"sync"
	"time"
)

// warmTime is how old the beginning of a walk may be for a command that starts now.
const warmTime = time.Second

// Step is one step of a session: what it captures and frames is its own, all else is the user's. Its
// tools may call it side by side.
type Step struct {
	worktree *Worktree
	t        *sharedTree
	key      string

	mu      sync.Mutex // guards the rest
	journal *journal
	traces  map[string]*trace
	warm    *warm
	ended   bool
}

// warm is a walk that goes on beside the model.
type warm struct {
	began time.Time
	done  chan struct{}
	err   error // once done
}

// Step begins a step under a key that no other step has. What is known is loaded beside the caller.
func (w *Worktree) Step(key string) *Step {
	w.t.store.beside(w.t.load)
	return &Step{worktree: w, t: w.t, key: key, traces: map[string]*trace{}}
}

// Tree names the state of the work tree as it is known now, which may be older than what is there:
// only captures and frames look.
func (st *Step) Tree(ctx context.Context) (string, error) {
	st.t.load()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	known, _ := st.t.moment()
	return st.t.objects.keepRoot(known)
}

// Capture keeps what files are right before a tool writes them. The paths are absolute and real; what
// is outside the work tree is not kept. When it returns, a crash loses nothing of them.
func (st *Step) Capture(ctx context.Context, paths ...string) error {
	st.t.load()
	for _, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, ok := st.t.rel(path)
		if !ok {
			continue
		}
		if err := st.capture(rel); err != nil {
			return err
		}
	}
	return nil
}

func (st *Step) capture(rel string) error {
	now, err := st.t.look(rel, true)
	if err != nil {
		return err
	}
	seq := st.t.note(rel, now.knownItem(), st)
	st.t.opening(rel, st)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended {
		return errEnded
	}
	tr := st.trace(rel)
	if tr.open != nil { // a tool that writes it is under way
		return nil
	}
	if st.journal == nil {
		if st.journal, err = st.t.openJournal(st.key); err != nil {
			return err
		}
	}
	open := &fileChange{Before: now.state, Made: now.missing, Time: time.Now().UnixNano(), from: seq}
	if err := st.journal.append(st.t.disk, entry{Path: pathText(rel), Before: &open.Before, Made: open.Made, From: seq, Time: open.Time}); err != nil {
		return err
	}
	tr.open = open
	return nil
}

var errEnded = errors.New("the step has ended; what is written now cannot be undone with it")

// knownItem is what is to be known of a path that was looked at.
func (s *seen) knownItem() item {
	if s.blocked != "" || s.state.absent() {
		return item{}
	}
	return s.item
}

func (st *Step) trace(rel string) *trace {
	tr := st.traces[rel]
	if tr == nil {
		tr = &trace{}
		st.traces[rel] = tr
	}
	return tr
}

// RecordWrite keeps what files are after a tool has written them, or has failed to.
func (st *Step) RecordWrite(ctx context.Context, paths ...string) error {
	var errs []error
	for _, path := range paths {
		if rel, ok := st.t.rel(path); ok {
			errs = append(errs, st.recordWrite(ctx, rel))
		}
	}
	return errors.Join(errs...)
}

func (st *Step) recordWrite(_ context.Context, rel string) error {
	now, err := st.t.look(rel, true)
	if err != nil {
		return err
	}
	seq := st.t.note(rel, now.knownItem(), st)
	st.t.closing(rel, st)
	st.mu.Lock()
	defer st.mu.Unlock()
	tr := st.trace(rel)
	if tr.open == nil || st.ended {
		return nil
	}
	after := now.state
	tr.open.After, tr.open.to = after, seq
	tr.add(*tr.open)
	tr.open = nil
	return st.journal.append(st.t.disk, entry{Path: pathText(rel), After: &after, To: seq})
}

// Warm begins the walk that a frame needs while the model is still answering.
func (st *Step) Warm() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended || st.warm != nil && time.Since(st.warm.began) < warmTime {
		return
	}
	w := &warm{began: time.Now(), done: make(chan struct{})}
	st.warm = w
	st.t.store.beside(func() {
		defer close(w.done)
		w.err = st.t.walk(context.Background(), st.worktree.below)
	})
}

// walked makes what is known current, by the walk that is under way if that began just now.
func (st *Step) walked(ctx context.Context) error {
	st.mu.Lock()
	w := st.warm
	st.warm = nil
	st.mu.Unlock()
	if w != nil && time.Since(w.began) < warmTime {
		select {
		case <-w.done:
			if w.err == nil {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return st.t.walk(ctx, st.worktree.below)
}

// End closes the step and keeps its record. Files whose tool never said that it had written are taken
// as they are now.
func (st *Step) End(ctx context.Context) (Patch, error) {
	st.t.load()
	ctx = context.WithoutCancel(ctx) // the step is over in any case, and what it did must be kept
	st.mu.Lock()
	var open []string
	for rel, tr := range st.traces {
		if tr.open != nil {
			open = append(open, st.t.abs(rel))
		}
	}
	st.mu.Unlock()
	err := st.RecordWrite(ctx, open...)
	st.mu.Lock()
	if st.ended {
		st.mu.Unlock()
		return Patch{}, errEnded
	}
	st.ended = true
	traces, journal := st.traces, st.journal
	st.mu.Unlock()
	st.t.closeAll(st)
	p, failed := st.t.finish(st.key, traces, journal)
	if journal != nil {
		failed = errors.Join(failed, journal.file.Close())
	}
	st.t.saveSoon()
	return p, errors.Join(err, failed)
}
