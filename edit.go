package lathe

import (
	"encoding/base64"
	"encoding/json"
)

// Edit changes single columns of a session record; what is not set stays as it is, also
// when others change it at the same moment. Anyone may edit.
type Edit struct {
	Title      Opt[string]
	Archived   Opt[*Time]
	Compacting Opt[Time]
	Metadata   Opt[json.RawMessage]
	Rules      Opt[Ruleset]
	AddRules   Ruleset // after those there are
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

// Opt is a value that may be absent, where the zero value has its own meaning.
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
	Before    Position // only what comes after this place in the list
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

// Position is where a row is in a list that is ordered by time and then id. The zero value is
// the beginning.
type Position struct {
	Time Time
	ID   string
}

// IsZero reports whether the place is the beginning of the list.
func (p Position) IsZero() bool { return p == Position{} }

// placeToken is a position in the HTTP API, opaque to clients.
type placeToken struct {
	ID   string `json:"id"`
	Time *Time  `json:"time"`
}

// Token returns the position for the HTTP API; [ParsePosition] reads it.
func (p Position) Token() string {
	b, _ := json.Marshal(placeToken{p.ID, &p.Time}) // it always can be
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParsePosition reads a token of [Position.Token].
func ParsePosition(token string) (Position, error) {
	var p placeToken
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || p.ID == "" || p.Time == nil {
		return Position{}, Errorf(Invalid, "the cursor is invalid; use the cursor of the previous page")
	}
	return Position{Time: *p.Time, ID: p.ID}, nil
}

// Page is a part of a history.
type Page struct {
	Messages []Message // with their parts, oldest first
	More     bool      // whether there are older ones
	Next     Position  // where the older ones continue
}

// Location is where a directory belongs.
type Location struct {
	Directory string // absolute
	Worktree  string // top of the main checkout; the root of the volume without git
	Project   string // its id, [GlobalProject] without one
	Path      string // with "/", from the top of the checkout to Directory; from the root of the volume for [GlobalProject]
}
