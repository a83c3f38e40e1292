package snapshot

import (
	"log/slog"
	"time"
)

// Options say where a store is and how large it may become.
type Options struct {
	Dir      string        // created with the first snapshot
	MaxAge   time.Duration // how long a step can be undone; 0 is 30 days
	MaxBytes int64         // size of the whole store after [Store.Tidy]; 0 is 1 GiB
	Now      func() time.Time
	Log      *slog.Logger
	// Excludes returns the path of the user's global gitignore file; nil means none.
	Excludes func() string
	// OnWrite is called before each change of a file, so that tests of other packages can end the process there; nil
	// outside of tests.
	OnWrite func(op, path string)
}

// Stats is the size of a store.
type Stats struct {
	Worktrees, Steps, Objects int
	Bytes                     int64
	Oldest                    time.Time // of the records; zero if there is none
}

// Patch lists the changes of a step.
type Patch struct {
	Before string   // a tree with each file as it was right before the step first wrote it
	After  string   // a tree with the result of the step
	Files  []string // absolute, with "/", sorted
}

// StepRef names a step to undo or show, as recorded in its patch part.
type StepRef struct {
	Key           string
	Before, After string   // trees; "" if not known
	Files         []string // absolute, with "/"
}

// Entry is the state of one path in git's terms. The zero Entry is a path without a file.
type Entry struct {
	Mode uint32 // 0o100644, 0o100755 or 0o120000
	ID   string // of the blob, 40 hex
}

// Change is the action of a plan for one file.
type Change struct {
	Path     string // absolute
	From, To Entry
	Conflict string // why the file stays untouched; "" if it does not
	Note     string // a hint for the user

	rel  string
	from state
	to   state
	made int // how many parent directories to remove with the file, if they are empty
}

// Plan lists changes to apply, sorted by path. It has only files that differ or conflict.
type Plan struct{ Changes []Change }

// Applied is the result of [Worktree.Apply].
type Applied struct {
	Plan
	Tree string // the tree before the change
	Diff string // unified diff from Tree to the current state
}
