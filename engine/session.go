package engine

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Create begins a session in a directory, whose instance it opens.
func (e *Engine) Create(ctx context.Context, dir string, in lathe.NewSession) (lathe.Session, error) {
	inst, err := e.Instance(ctx, dir)
	if err != nil {
		return lathe.Session{}, err
	}
	return e.CreateNext(ctx, inst, in)
}

// CreateNext begins a session in an open instance. A child is bound by what its parent
// is denied, and may go outside where its parent may.
func (e *Engine) CreateNext(ctx context.Context, inst Instance, in lathe.NewSession) (lathe.Session, error) {
	s := e.record(inst)
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
		parent, err := e.store.Session(ctx, in.Parent)
		if err != nil {
			return s, err
		}
		s.Parent = parent.ID
		s.Rules = append(inherit(parent.Rules), in.Rules...)
	}
	if s.Title = in.Title; s.Title == "" {
		s.Title = lathe.DefaultTitle(s.Parent != "", s.Created)
	}
	return s, e.store.Create(ctx, s)
}

// record is a new root session without a title.
func (e *Engine) record(inst Instance) lathe.Session {
	now := e.now()
	path := inst.Place.Path
	return lathe.Session{
		ID: e.ids.Session(), Slug: slug(e.ids), Project: inst.Place.ProjectID, Directory: inst.Place.Directory, Path: &path,
		Version: e.version, Created: now, Updated: now, Cost: new(lathe.Money), Tokens: &lathe.Tokens{},
	}
}

// inherit is what a child must not exceed of its parent's rules. A deny that has exceptions behind it is
// left to the parent's own rules, by which the child is judged too: as a rule of the child it would deny
// the exceptions, and an exception as a rule of the child would be above what its agent is denied.
func inherit(parent lathe.Ruleset) (out lathe.Ruleset) {
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

// bounded are the rules of a session that is to stand alone: whatever its ancestors are denied it is
// denied by itself, exceptions included.
func (e *Engine) bounded(ctx context.Context, s lathe.Session) (lathe.Ruleset, error) {
	rules, seen := s.Rules, map[lathe.SessionID]bool{s.ID: true}
	for s.Parent != "" && !seen[s.Parent] {
		seen[s.Parent] = true
		parent, err := e.store.Session(ctx, s.Parent)
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
func (e *Engine) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.store.Session(ctx, id)
}

// List returns sessions by their last change, newest first.
func (e *Engine) List(ctx context.Context, q lathe.Query) ([]lathe.Session, error) {
	return e.store.Sessions(ctx, q)
}

// Children returns the sessions whose parent is id, newest first, archived ones too.
func (e *Engine) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return e.store.Sessions(ctx, lathe.Query{Parent: id, Archived: lathe.WithArchived})
}

// Update changes single columns of a session and returns the record as it is then.
func (e *Engine) Update(ctx context.Context, id lathe.SessionID, edit lathe.Edit) (lathe.Session, error) {
	if err := edit.AddRules.Check(); err != nil {
		return lathe.Session{}, err
	}
	return e.store.Edit(ctx, id, edit)
}

// Touch sets the time of the last change to now.
func (e *Engine) Touch(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.store.Edit(ctx, id, lathe.Edit{Touch: true})
}

// Rename changes the title. That is no change of the conversation: its time stays.
func (e *Engine) Rename(ctx context.Context, id lathe.SessionID, title string) (lathe.Session, error) {
	if title == "" {
		return lathe.Session{}, lathe.Errorf(lathe.Invalid, "a title cannot be empty")
	}
	return e.store.Edit(ctx, id, lathe.Edit{Title: lathe.Some(title)})
}

// Archive takes a session off the list; nil brings it back. It stays readable.
func (e *Engine) Archive(ctx context.Context, id lathe.SessionID, at *lathe.Time) (lathe.Session, error) {
	return e.store.Edit(ctx, id, lathe.Edit{Archived: lathe.Some(at)})
}

// Share notes where a session can be read by others.
func (e *Engine) Share(ctx context.Context, id lathe.SessionID, url string) (lathe.Session, error) {
	if url == "" {
		return lathe.Session{}, lathe.Errorf(lathe.Invalid, "a share needs an address")
	}
	return e.store.Edit(ctx, id, lathe.Edit{Share: lathe.Some(&lathe.Share{URL: url})})
}

// Unshare takes that note away.
func (e *Engine) Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	return e.store.Edit(ctx, id, lathe.Edit{Share: lathe.Some[*lathe.Share](nil)})
}

// Remove deletes a session and all below it, children first.
func (e *Engine) Remove(ctx context.Context, id lathe.SessionID) error {
	err := e.store.Remove(ctx, id)
	if err == nil {
		e.memories.Forget(id)
	}
	return err
}

// Fork makes a new root session in a directory, or with "" in that of the original, out of the messages
// before the one named; out of all of them if it is empty or unknown. The copy keeps rules and metadata.
func (e *Engine) Fork(ctx context.Context, dir string, id lathe.SessionID, before lathe.MessageID) (lathe.Session, error) {
	from, err := e.store.Session(ctx, id)
	if err != nil {
		return lathe.Session{}, err
	}
	if dir == "" {
		dir = from.Directory
	}
	inst, err := e.Instance(ctx, dir)
	if err != nil {
		return lathe.Session{}, err
	}
	s := e.record(inst)
	if s.Rules, err = e.bounded(ctx, from); err != nil {
		return lathe.Session{}, err
	}
	s.Title = lathe.ForkTitle(from.Title)
	s.Metadata, s.Workspace = from.Metadata, from.Workspace
	if err := e.store.Fork(ctx, id, before, s); err != nil {
		return lathe.Session{}, err
	}
	return e.store.Session(ctx, s.ID)
}

// Messages returns the newest messages older than before, at most limit, oldest first. A
// limit of 0 has no limit.
func (e *Engine) Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) (lathe.Page, error) {
	return e.store.History(ctx, id, before, limit)
}

// Message returns one message with its parts.
func (e *Engine) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error) {
	return e.store.Message(ctx, session, id)
}

// Statuses returns what every session in scope is doing, idle ones left out.
func (e *Engine) Statuses(ctx context.Context, s lathe.Scope) (map[lathe.SessionID]lathe.Status, error) {
	return e.store.Statuses(ctx, s)
}
