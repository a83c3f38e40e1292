package lathe

import "encoding/json"

// Edit changes single columns of a session record; what is not set stays as it is, also
// when others change it at the same moment. Anyone may edit.
type Edit struct {
	Title      Opt[string]
	Archived   Opt[*Time]
	Compacting Opt[Time]
	Metadata   Opt[json.RawMessage]
	Rules      Opt[Ruleset]
	AddRules   Ruleset // behind those there are
	Share      Opt[*Share]
	Summary    Opt[*SessionSummary]
	Revert     Opt[*Revert]
	Agent      Opt[string]
	Model      Opt[*SessionModel]
	Project    Opt[string]
	Directory  Opt[string]
	Path       Opt[*string]
	Touch      bool // time.updated becomes now
}

// Opt is a value that may be absent, where the zero value has a meaning of its own.
type Opt[T any] struct {
	Set   bool
	Value T
}

// Some returns an Opt that is set.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// Query selects sessions. The zero value selects all that are not archived.
type Query struct {
	Project   string
	Directory string // exact
	Path      string // this path below the worktree, or anything under it
	Parent    SessionID
	Roots     bool     // only sessions without a parent
	Search    string   // part of the title, whatever its case
	Since     Time     // updated at or after
	Archived  Archived // which of the archived to show
	Before    Place    // only what comes after this place in the list
	Limit     int      // 0 means no limit
}

// Archived says which archived sessions a query shows.
type Archived int

// The choices of Archived.
const (
	HideArchived Archived = iota
	WithArchived
	OnlyArchived
)

// Place is where a row stands in a list that is ordered by time and then id. The zero
// value is the beginning.
type Place struct {
	Time Time
	ID   string
}

// IsZero reports whether the place is the beginning of the list.
func (p Place) IsZero() bool { return p == Place{} }
