package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"github.com/lathe-agent/lathe/internal/atomicfile"
)

// A plan is made from three versions of each file that the tree changed: its base, the tree's and the checkout's. Files
// that only the user changed never appear in it. The plan holds what it compared with (Our), and the writer refuses a
// file that has changed since. So a user who saves a file during a merge loses nothing.

// Outcome is what a merge does with a file.
type Outcome string

// The outcomes. A conflict is never resolved by leaving one side out.
const (
	Take     Outcome = "taken"    // only the tree changed it
	Blend    Outcome = "merged"   // both changed it, in different lines
	Same     Outcome = "same"     // both made the same change
	Conflict Outcome = "conflict" // both changed the same
)

// Merge is the merge of one file.
type Merge struct {
	Path    string  `json:"path"`
	Status  string  `json:"status"` // added, modified or deleted, in the tree
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"` // of a conflict
	// Marked says that the result has conflict markers. A conflict without them leaves the file alone.
	Marked bool `json:"marked,omitempty"`

	Our  string `json:"-"` // SHA-1 name of the content in the checkout when it was compared; "" if there was none
	Mode uint32 `json:"-"` // of the result; 0 deletes the file
	Data []byte `json:"-"`
	now  File
}

// Writes reports whether the merge changes the file in the checkout.
func (m Merge) Writes() bool {
	return m.Outcome == Take || m.Outcome == Blend || m.Outcome == Conflict && m.Marked
}

// Plan compares the changes of a tree with a checkout, file by file. It writes nothing.
func (t *Tree) Plan(ctx context.Context, into string) ([]Merge, error) {
	changes, err := t.Changes(ctx)
	if err != nil {
		return nil, err
	}
	ours, err := os.OpenRoot(into)
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	theirs, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	var out []Merge
	for _, c := range changes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m := t.planOne(c, ours, theirs)
		m.Path, m.Status, m.now = c.Path, c.Status(), c.Now
		out = append(out, m)
	}
	return out, nil
}

// planOne merges one file. Errors become conflicts: the file stays as it is and the user decides.
func (t *Tree) planOne(c Change, ours, theirs *os.Root) Merge {
	their, mode, err := readAt(theirs, c.Path)
	if err != nil {
		return Merge{Outcome: Conflict, Reason: err.Error()}
	}
	our, ourMode, err := readAt(ours, c.Path)
	if err != nil {
		return Merge{Outcome: Conflict, Reason: err.Error()}
	}
	m := t.decide(c, our, their, ourMode, mode)
	if ourMode != 0 {
		m.Our = hashBlob(false, our)
	}
	return m
}

// decide compares the three versions of a file.
func (t *Tree) decide(c Change, our, their []byte, ourMode, mode uint32) Merge {
	long := len(c.Base.ID) == 64 || len(c.Now.ID) == 64
	ourID := ""
	if ourMode != 0 {
		ourID = hashBlob(long, our)
	}
	switch {
	case mode == ourMode && bytes.Equal(their, our):
		return Merge{Outcome: Same, Mode: mode, Data: their}
	case ourMode == c.Base.Mode && ourID == c.Base.ID:
		return Merge{Outcome: Take, Mode: mode, Data: their}
	case c.Base.Mode != 0 && ourMode == 0:
		return Merge{Outcome: Conflict, Reason: "deleted in your checkout, changed in the worktree"}
	case c.Base.Mode != 0 && mode == 0:
		return Merge{Outcome: Conflict, Reason: "changed in your checkout, deleted in the worktree"}
	case mode == modeLink || ourMode == modeLink || isBinary(our) || isBinary(their) || len(our) > maxText || len(their) > maxText:
		return Merge{Outcome: Conflict, Reason: "both changed it, and it is not text"}
	}
	base, err := []byte(nil), error(nil)
	if c.Base.Mode != 0 {
		if base, err = t.baseContent(c.Base.ID); err != nil {
			return Merge{Outcome: Conflict, Reason: err.Error()}
		}
	}
	return t.blend(c, string(base), string(our), string(their), ourMode, mode)
}

// blend merges texts line by line.
func (t *Tree) blend(c Change, base, our, their string, ourMode, mode uint32) Merge {
	text, conflicts := mergeText(base, our, their, "your checkout", "worktree "+t.Name)
	m := Merge{Outcome: Blend, Mode: mode, Data: []byte(text)}
	if c.Base.Mode != 0 && mode == c.Base.Mode {
		m.Mode = ourMode
	}
	switch {
	case conflicts > 0 && c.Base.Mode == 0:
		m.Outcome, m.Marked, m.Reason = Conflict, true, "both added it with different contents"
	case conflicts > 0:
		m.Outcome, m.Marked, m.Reason = Conflict, true, "both changed the same lines"
	}
	return m
}

// Advance prepares the base for the next merge: the state that this plan took from the tree. Conflicts that
// left the file alone keep their base, so that they are found again.
func (t *Tree) Advance(plan []Merge) error {
	base, err := readBase(t.file(baseFile))
	if err != nil {
		return err
	}
	for _, m := range plan {
		switch {
		case m.Outcome == Conflict && !m.Marked:
		case m.now.Mode == 0:
			delete(base, m.Path)
		default:
			base[m.Path] = m.now
		}
	}
	files := make([]File, 0, len(base))
	for _, f := range base {
		files = append(files, f)
	}
	t.root.step("base next")
	if err := t.keepContents(plan); err != nil {
		return err
	}
	return writeBase(t.file(nextFile), files)
}

// keepContents adds the new texts of a plan to those for the next merge.
func (t *Tree) keepContents(plan []Merge) error {
	old, err := os.ReadFile(t.file(contentsFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	theirs, err := os.OpenRoot(t.Path)
	if err != nil {
		return err
	}
	defer theirs.Close()
	more := &contents{}
	for _, m := range plan {
		if m.now.Mode == 0 || m.now.ID == "" || m.Outcome == Conflict && !m.Marked {
			continue
		}
		if data, _, err := readAt(theirs, m.Path); err == nil && len(data) <= maxText && !isBinary(data) && hashBlob(len(m.now.ID) == 64, data) == m.now.ID {
			more.add(m.now.ID, data)
		}
	}
	if more.buf.Len() == 0 {
		return nil
	}
	return atomicfile.Write(t.file(contentsFile), append(old, more.buf.Bytes()...))
}

// BeginMerge writes down a merge before its first file changes.
func (t *Tree) BeginMerge(ctx context.Context, m MergeRecord) error {
	return t.Update(ctx, func(r *Record) { r.State, r.Merge, r.PID = Merging, &m, os.Getpid() })
}

// EndMerge makes a merge count, or forgets one that was reverted.
func (t *Tree) EndMerge(ctx context.Context, counts bool) error {
	if counts {
		t.root.step("base keep")
		if err := t.keepBase(); err != nil {
			return err
		}
		t.root.step("base rename")
		if err := os.Rename(t.file(nextFile), t.file(baseFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	} else {
		_ = os.Remove(t.file(nextFile)) // there may be none
	}
	return t.Update(ctx, func(r *Record) {
		if counts {
			r.Merged, r.Last = t.root.now().UTC(), r.Merge
		}
		r.State, r.Merge = Ready, nil
	})
}

// keepBase keeps the base from before a merge, for an undo of it. Once the next base is in place it is too late.
func (t *Tree) keepBase() error {
	if _, err := os.Lstat(t.file(nextFile)); err != nil {
		return nil
	}
	data, err := os.ReadFile(t.file(baseFile))
	if err != nil {
		return err
	}
	return atomicfile.Write(t.file(prevFile), data)
}

// Rewind forgets the last merge, which was undone: its changes can be merged again.
func (t *Tree) Rewind(ctx context.Context) error {
	t.root.step("rewind")
	if err := os.Rename(t.file(prevFile), t.file(baseFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return t.Update(ctx, func(r *Record) { r.Last, r.Merged = nil, time.Time{} })
}
