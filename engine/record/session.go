// Package record reads and edits stored sessions: their records, their messages, and pending
// requests to the user. Nothing here starts a turn or needs a lease.
package record

import (
	"context"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/directory"
	"github.com/lathe-agent/lathe/store"
)

// Sessions are the records of sessions.
type Sessions struct {
	store   *store.Store
	dirs    *directory.Directories
	ids     *lathe.IDs
	now     func() lathe.Time
	version string // of the program
	// Away tells why no node of a cluster runs the sessions of a directory, "" if one does. It may be nil.
	Away func(ctx context.Context, directory string) string
}

// NewSessions returns the sessions of a store. New ones note the version of the program.
func NewSessions(s *store.Store, dirs *directory.Directories, ids *lathe.IDs, now func() lathe.Time, version string) Sessions {
	return Sessions{store: s, dirs: dirs, ids: ids, now: now, version: version}
}

// Create begins a session in a directory, whose instance it opens.
func (r Sessions) Create(ctx context.Context, dir string, in lathe.NewSession) (lathe.Session, error) {
	inst, err := r.dirs.Instance(ctx, dir)
	if err != nil {
		return lathe.Session{}, err
	}
	return r.CreateNext(ctx, inst, in)
}

// CreateNext begins a session in an open instance. A child is bound by what its parent
// is denied, and may go outside where its parent may.
func (r Sessions) CreateNext(ctx context.Context, inst directory.Instance, in lathe.NewSession) (lathe.Session, error) {
	s := r.record(inst)
	if err := in.Rules.Check(); err != nil {
		return s, err
	}
	if in.ID != "" {
		if err := lathe.CheckID(lathe.PrefixSession, string(in.ID)); err != nil {
			return s, err
		}
		s.ID = in.ID
	}
	s.Rules, s.Agent, s.Model, s.Metadata, s.Workspace = in.Rules, in.Agent, in.Model, in.Metadata, in.Workspace
	if in.Parent != "" {
		parent, err := r.store.Session(ctx, in.Parent)
		if err != nil {
			return s, err
		}
		s.Parent = parent.ID
		s.Rules = append(inheritedRules(parent.Rules), in.Rules...)
	}
	if s.Title = in.Title; s.Title == "" {
		s.Title = lathe.DefaultTitle(s.Parent != "", s.Created)
	}
	return s, r.store.Create(ctx, s)
}

// record is a new root session without a title.
func (r Sessions) record(inst directory.Instance) lathe.Session {
	now := r.now()
	path := inst.Place.Path
	return lathe.Session{
		ID: r.ids.Session(), Slug: slug(r.ids), Project: inst.Place.ProjectID, Directory: inst.Place.Directory, Path: &path,
		Version: r.version, Created: now, Updated: now, Cost: new(lathe.Money), Tokens: &lathe.Tokens{},
	}
}

// inheritedRules are the parent's rules that also limit a child. A deny with later exceptions is
// left to the parent's own rules, which are evaluated for the child too: as a rule of the child it would deny
// the exceptions, and an exception as a rule of the child would be above what its agent is denied.
func inheritedRules(parent lathe.Ruleset) (out lathe.Ruleset) {
	for i, r := range parent {
		meets := func(a, b string) bool { return lathe.Wildcard(a, b) || lathe.Wildcard(b, a) }
		excepted := func(o lathe.Rule) bool {
			return o.Action != lathe.Deny && meets(r.Permission, o.Permission) && meets(r.Pattern, o.Pattern)
		}
		switch {
		case slices.Contains(out, r):
		case r.Permission == "external_directory", r.Action == lathe.Deny && !slices.ContainsFunc(parent[i+1:], excepted):
			out = append(out, r)
		}
	}
	return out
}

// standaloneRules are the rules of a session that becomes independent of its ancestors: they include
// the ancestors' denies with their exceptions.
func (r Sessions) standaloneRules(ctx context.Context, s lathe.Session) (lathe.Ruleset, error) {
	rules, seen := s.Rules, map[lathe.SessionID]bool{s.ID: true}
	for s.Parent != "" && !seen[s.Parent] {
		seen[s.Parent] = true
		parent, err := r.store.Session(ctx, s.Parent)
		if lathe.CodeOf(err) == lathe.NotFound {
			break
		}
		if err != nil {
			return nil, err
		}
		var denied lathe.Ruleset
		for _, r := range parent.Rules {
			if r.Action == lathe.Deny && !slices.Contains(rules, r) && !slices.Contains(denied, r) {
				denied = append(denied, r)
			}
		}
		rules, s = append(denied, rules...), parent
	}
	return rules, nil
}

// Get returns a session by its id, whatever its project.
func (r Sessions) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return r.store.Session(ctx, id)
}

// List returns sessions by their last change, newest first.
func (r Sessions) List(ctx context.Context, q lathe.Query) ([]lathe.Session, error) {
	return r.store.Sessions(ctx, q)
}

// Children returns the sessions whose parent is id, newest first, archived ones too.
func (r Sessions) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return r.store.Sessions(ctx, lathe.Query{Parent: id, Archived: lathe.WithArchived})
}

// Update changes single columns of a session and returns the record as it is then.
func (r Sessions) Update(ctx context.Context, id lathe.SessionID, edit lathe.Edit) (lathe.Session, error) {
	if err := edit.AddRules.Check(); err != nil {
		return lathe.Session{}, err
	}
	return r.store.Edit(ctx, id, edit)
}

// Touch sets the time of the last change to now.
func (r Sessions) Touch(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return r.store.Edit(ctx, id, lathe.Edit{Touch: true})
}

// Rename changes the title. That is no change of the conversation: its time stays.
func (r Sessions) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	if title == "" {
		return lathe.Session{}, lathe.Errorf(lathe.Invalid, "a title cannot be empty")
	}
	return r.store.Edit(ctx, id, lathe.Edit{Title: lathe.Some(title)})
}

// Archive takes a session off the list; nil brings it back. It stays readable.
func (r Sessions) Archive(ctx context.Context, id lathe.SessionID, at *lathe.Time) (lathe.Session, error) {
	return r.store.Edit(ctx, id, lathe.Edit{Archived: lathe.Some(at)})
}

// Share notes where a session can be read by others.
func (r Sessions) Share(ctx context.Context, id lathe.SessionID, url string) (lathe.Session, error) {
	if url == "" {
		return lathe.Session{}, lathe.Errorf(lathe.Invalid, "a share needs an address")
	}
	return r.store.Edit(ctx, id, lathe.Edit{Share: lathe.Some(&lathe.Share{URL: url})})
}

// Unshare takes that note away.
func (r Sessions) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return r.store.Edit(ctx, id, lathe.Edit{Share: lathe.Some[*lathe.Share](nil)})
}

// Fork makes a new root session in a directory, or with "" in that of the original, out of the messages
// before the one named; out of all of them if it is empty or unknown. The copy keeps rules and metadata.
func (r Sessions) Fork(ctx context.Context, dir string, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error) {
	return r.ForkBelow(ctx, dir, id, before, lathe.Session{})
}

// ForkBelow is Fork for a copy that is a child of another session, whose limits and rules hold for it.
func (r Sessions) ForkBelow(ctx context.Context, dir string, id lathe.SessionID, before lathe.MessageID, parent lathe.Session) (lathe.Session, error) {
	from, err := r.store.Session(ctx, id)
	if err != nil {
		return lathe.Session{}, err
	}
	if dir == "" {
		dir = from.Directory
	}
	inst, err := r.dirs.Instance(ctx, dir)
	if err != nil {
		return lathe.Session{}, err
	}
	s := r.record(inst)
	if s.Rules, err = r.standaloneRules(ctx, from); err != nil {
		return lathe.Session{}, err
	}
	s.Parent, s.Rules = parent.ID, append(s.Rules, parent.Rules...)
	s.Title = lathe.ForkTitle(from.Title)
	s.Metadata, s.Workspace = from.Metadata, from.Workspace
	if err := r.store.Fork(ctx, id, before, s); err != nil {
		return lathe.Session{}, err
	}
	return r.store.Session(ctx, s.ID)
}

// Depth is how many sessions are above one.
func (r Sessions) Depth(ctx context.Context, s lathe.Session) (n int, err error) {
	for seen := map[lathe.SessionID]bool{s.ID: true}; s.Parent != "" && !seen[s.Parent]; n++ {
		seen[s.Parent] = true
		parent, err := r.store.Session(ctx, s.Parent)
		if lathe.CodeOf(err) == lathe.NotFound {
			return n + 1, nil
		}
		if err != nil {
			return n, err
		}
		s = parent
	}
	return n, nil
}

// SetLimits gives a session limits of its own, in place of those of the settings; where one is zero the settings
// count. The zero value takes them all away.
func (r Sessions) SetLimits(ctx context.Context, id lathe.SessionID, limits lathe.Spending) error {
	return r.store.SetLimits(ctx, id, limits)
}

// Accounts returns what a session and those above it, today and its project have spent, and their limits under a
// budget.
func (r Sessions) Accounts(ctx context.Context, id lathe.SessionID, b lathe.Budget) ([]lathe.Account, error) {
	return r.store.Accounts(ctx, id, r.Today(), b)
}

// Today names the day of an account, in local time.
func (r Sessions) Today() string { return r.now().Std().Local().Format(time.DateOnly) }

// BackgroundTasks lists the tasks of a session that run in the background, or whose report it has not got yet; those of
// all sessions if it is "".
func (r Sessions) BackgroundTasks(ctx context.Context, parent lathe.SessionID) ([]lathe.Session, error) {
	return r.store.BackgroundTasks(ctx, parent)
}

// Interruptions lists the sessions whose turn was interrupted by the end of a process, and sessions with queued
// prompts that no process works on.
func (r Sessions) Interruptions(ctx context.Context) ([]store.Interruption, error) {
	return r.store.Interruptions(ctx, "")
}

// Interrupted lists the sessions of [Sessions.Interruptions].
func (r Sessions) Interrupted(ctx context.Context) (ids []lathe.SessionID, err error) {
	all, err := r.Interruptions(ctx)
	for _, i := range all {
		ids = append(ids, i.Session)
	}
	return ids, err
}

// HasMore reports whether a session is busy or about to be, because it has a queued prompt that is not paused. A report
// may arrive right after the session was reported idle.
func (r Sessions) HasMore(ctx context.Context, id lathe.SessionID) (bool, error) {
	waiting, _, err := r.store.Inbox(ctx, id)
	if err != nil || slices.ContainsFunc(waiting, func(w store.QueuedPrompt) bool { return !w.Paused }) {
		return err == nil, err
	}
	busy, err := r.Statuses(ctx, lathe.Scope{Session: id})
	return len(busy) > 0, err
}

// Statuses returns what every session in scope is doing, idle ones left out. A session that waits for a node with its
// directory says so.
func (r Sessions) Statuses(ctx context.Context, scope lathe.Scope) (map[lathe.SessionID]lathe.Status, error) {
	out, err := r.store.Statuses(ctx, scope)
	if err != nil || r.Away == nil {
		return out, err
	}
	found, err := r.store.Interruptions(ctx, scope.Session)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		if !one.Dead && !one.HasQueued {
			continue // it waits for its user
		}
		rec, err := r.store.Session(ctx, one.Session)
		if err != nil || !scope.Includes(lathe.Event{Session: rec.ID, Directory: rec.Directory, Project: rec.Project}) {
			continue // removed just now, or of no interest
		}
		if why := r.Away(ctx, rec.Directory); why != "" {
			out[rec.ID] = AwayStatus(why, r.now())
		}
	}
	return out, nil
}

// AwayStatus is the status of a session that waits for a node with its directory.
func AwayStatus(why string, now lathe.Time) lathe.Status {
	return lathe.Status{Type: lathe.Retrying, Attempt: 1, Message: why, Next: now + lathe.Time(time.Second.Milliseconds())}
}
