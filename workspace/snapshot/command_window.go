package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxAdopt limits how many changed contents are copied out of the project's own objects. Only a branch
// switch changes more, and those contents stay in the project.
const maxAdopt = 2000

// CommandWindow is the time in which a command may change any file.
type CommandWindow struct {
	step      *Step
	startTree *dir
	seq       uint64
	began     time.Time
	ended     bool
	changed   []ChangedFile
}

// ChangedFile is a file that a command changed.
type ChangedFile struct {
	Path    string // real, absolute
	Deleted bool
	Existed bool // before the command
	// Before returns the text before the command, false if it is not known.
	Before func() (string, bool)
}

// maxChanged limits the files that Changed lists.
const maxChanged = 1000

// Changed returns the files that the command changed, when the window has ended.
func (f *CommandWindow) Changed() []ChangedFile { return f.changed }

// note adds to the list of Changed.
func (f *CommandWindow) note(path string, s fileChange) {
	if len(f.changed) >= maxChanged {
		return
	}
	t, before := f.step.t, s.Before
	f.changed = append(f.changed, ChangedFile{
		Path: filepath.FromSlash(t.abs(path)), Deleted: s.After.absent(), Existed: !before.absent(),
		Before: func() (string, bool) { return t.text(before) },
	})
}

// BeginCommand opens the window right before a command starts. It walks the tree, unless Warm started a
// walk just now. Earlier changes belong to the user.
func (st *Step) BeginCommand(ctx context.Context) (*CommandWindow, error) {
	f := &CommandWindow{step: st}
	st.t.mu.Lock()
	st.t.windows++
	st.t.mu.Unlock()
	if err := st.ensureWalked(ctx); err != nil {
		f.release()
		return nil, err
	}
	f.start()
	return f, nil
}

// Restart opens the window again: the command starts only now, and earlier changes belong to the user.
func (f *CommandWindow) Restart(ctx context.Context) error {
	if f.ended {
		return errEnded
	}
	if err := f.step.t.walk(ctx, f.step.worktree.below); err != nil {
		return err
	}
	f.start()
	return nil
}

func (f *CommandWindow) start() {
	f.startTree, f.seq = f.step.t.moment()
	f.began = time.Now()
}

func (f *CommandWindow) release() {
	t := f.step.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.windows--; t.windows == 0 {
		clear(t.touched)
	}
}

// End records what changed since the window opened, except files that another step captured meanwhile.
func (f *CommandWindow) End(ctx context.Context) error {
	if f.ended {
		return nil
	}
	f.ended = true
	defer f.release()
	t := f.step.t
	if err := t.walk(context.WithoutCancel(ctx), f.step.worktree.below); err != nil {
		return err
	}
	found := f.changes()
	if len(found) == 0 {
		return nil
	}
	foreign := t.foreign(f.step.key, f.began)
	st := f.step
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended {
		return errEnded
	}
	var lines []entry
	for path, s := range found {
		if foreign[path] {
			continue
		}
		st.trace(path).add(s)
		f.note(path, s)
		lines = append(lines, entry{Path: pathText(path), Before: &s.Before, After: &s.After, Made: s.Made, From: s.from, To: s.to})
	}
	if st.journal == nil {
		var err error
		if st.journal, err = t.openJournal(st.key); err != nil {
			return err
		}
	}
	return st.journal.append(t.disk, lines...)
}

// changes lists the differences between the two walks that belong to no other step.
func (f *CommandWindow) changes() map[string]fileChange {
	t := f.step.t
	end, seq := t.moment()
	t.mu.Lock()
	others := map[string]bool{}
	for path, touch := range t.touched {
		if touch.step != f.step && touch.seq > f.seq {
			others[path] = true
		}
	}
	for path, step := range t.open {
		others[path] = others[path] || step != f.step
	}
	t.mu.Unlock()
	found := map[string]fileChange{}
	adopted := 0
	compare(f.startTree, end, "", func(path string, a, b *item) {
		if others[path] || a.passed() || b.passed() || repoItem(a) || repoItem(b) {
			return
		}
		s := fileChange{Before: a.state(), After: b.state(), from: f.seq, to: seq}
		if a == nil {
			_, depth := f.startTree.at(path)
			s.Made = strings.Count(path, "/") - depth // parent directories that did not exist
		}
		if adopted++; a != nil && !s.Before.Lost && adopted <= maxAdopt && a.mode != modeRepo {
			s.Before.Lost = !t.objects.adopt(a.id, a.stat.size)
		}
		found[path] = s
	})
	return found
}

func repoItem(it *item) bool { return it != nil && it.mode == modeRepo }

// tracesIn reads a journal up to the first damaged line.
func tracesIn(file string) map[string]*trace {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close() // only read
	traces, _, _ := readJournal(f)
	return traces
}

// foreign lists the files that steps of other processes captured since a given time: from the journals
// of running steps and the records of ended ones.
func (t *sharedTree) foreign(key string, since time.Time) map[string]bool {
	out := map[string]bool{}
	if !t.hasOtherProcesses() {
		return out
	}
	isNew := func(s fileChange) bool { return s.Time >= since.UnixNano() }
	for _, file := range changedSince(t.path(openDir), time.Time{}) {
		if filepath.Base(file) == fileName(key) || isDead(file) {
			continue
		}
		for path, tr := range tracesIn(file) {
			if tr.open != nil || slices.ContainsFunc(tr.changes, isNew) {
				out[path] = true
			}
		}
	}
	for _, file := range changedSince(t.path(stepsDir), since) {
		r, err := readRecord(file)
		if err != nil || r == nil || r.Key == key {
			continue
		}
		for _, ft := range r.Files {
			if slices.ContainsFunc(ft.Changes, isNew) {
				out[ft.Path] = true
			}
		}
	}
	return out
}

// hasOtherProcesses reports whether other processes may use the worktree.
func (t *sharedTree) hasOtherProcesses() bool {
	entries, err := os.ReadDir(t.path(liveDir))
	others := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), indexSuffix) && e.Name() != t.live.name {
			others++
		}
	}
	return err != nil || others > 0
}

// changedSince lists the files of a directory that changed since a given time.
func changedSince(dir string, since time.Time) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), tempPrefix) && !info.ModTime().Before(since.Add(-racyTime)) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}
