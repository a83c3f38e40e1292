package snapshot

import (
	"log/slog"
	"time"
)

// Options say where a store is and how large it may become.
type Options struct {
	Dir      string        // made when something is first kept
	MaxAge   time.Duration // of what can be undone; 0 is 30 days
	MaxBytes int64         // of the whole store after [Store.Tidy]; 0 is 1 GiB
	Now      func() time.Time
	Log      *slog.Logger
	// Excludes is the file of what the user's git ignores in all repositories; nil is none.
	Excludes func() string
}

// Stats is the size of a store.
type Stats struct {
	Worktrees, Steps, Objects int
	Bytes                     int64
	Oldest                    time.Time // of the records; zero if there is none
}

// Patch is what a step changed.
type Patch struct {
	Before string   // a tree with each file as it was right before the step first wrote it
	After  string   // a tree with what the step left
	Files  []string // absolute, with "/", sorted
}

// StepRef is a step to undo or to show, as its patch part tells it.
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

// Change is what a plan does with one file.
type Change struct {
	Path     string // absolute
	From, To Entry
	Conflict string // why the file is left alone; "" if it is not
	Note     string // what else a person should know

	rel  string
	from state
	to   state
	made int // how many directories above it go with the file, if they are empty
}

// Plan is what would be done, sorted by path. Only files that differ or conflict are in it.
type Plan struct{ Changes []Change }

// Applied is what was done.
type Applied struct {
	Plan
	Tree string // before it
	Diff string // unified text from then to now
}
