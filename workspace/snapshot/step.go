package snapshot

import (
	"context"
	"errors"
	"sync"
	"time"
)

// warmTime is the maximum age of a walk's start for a command that starts now.
const warmTime = time.Second

// Step is one step of a session. It owns what it captures and what its commands change; all else is the
// user's. Its tools may call it concurrently.
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

// warm is a walk that runs while the model answers.
type warm struct {
	began time.Time
	done  chan struct{}
	err   error // once done
}

// Step starts a step under a unique key. It loads the known state in the background.
func (w *Worktree) Step(key string) *Step {
	w.t.store.background(w.t.load)
	return &Step{worktree: w, t: w.t, key: key, traces: map[string]*trace{}}
}

// Tree returns the name of the known state, which may be older than the disk: only captures and commands
// read files.
func (st *Step) Tree(ctx context.Context) (string, error) {
	st.t.load()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	known, _ := st.t.moment()
	return st.t.objects.keepRoot(known)
}

// Capture stores the state of files right before a tool writes them. The paths are absolute and real,
// and those outside the worktree are ignored. After it returns, a crash loses nothing.
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
	if tr.open != nil { // a tool is already writing it
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

var errEnded = errors.New("the step has ended; later writes cannot be undone with it")

// knownItem converts the state to an item of the known tree.
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

// RecordWrite records the state of files after a tool has written them or failed to.
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

// Warm starts the walk for a command while the model is still answering.
func (st *Step) Warm() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended || st.warm != nil && time.Since(st.warm.began) < warmTime {
		return
	}
	w := &warm{began: time.Now(), done: make(chan struct{})}
	st.warm = w
	st.t.store.background(func() {
		defer close(w.done)
		w.err = st.t.walk(context.Background(), st.worktree.below)
	})
}

// ensureWalked brings the known state up to date, with the current walk if that started just now.
func (st *Step) ensureWalked(ctx context.Context) error {
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

// End closes the step and saves its record. It reads the files of tools that never reported their write.
func (st *Step) End(ctx context.Context) (Patch, error) {
	st.t.load()
	ctx = context.WithoutCancel(ctx) // the step ends in any case, and its changes must be saved
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
