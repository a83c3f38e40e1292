package undo

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/record"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// Targets choose from which message on an undo or redo works.
type Targets struct{ record.Histories }

// Undo returns the prompt of the last exchange that is not undone, or the point that is named.
// A point that does not exist is NotFound.
func (t Targets) Undo(ctx context.Context, s lathe.Session, u lathe.Undo) (lathe.Undo, error) {
	if err := t.check(ctx, s.ID, &u); err != nil || u.Message != "" {
		return u, err
	}
	prompts, at, err := t.prompts(ctx, s)
	if err != nil {
		return u, err
	}
	if at == 0 {
		return u, lathe.Errorf(lathe.NotFound, "nothing to undo in %s", s.ID)
	}
	u.Message = prompts[at-1]
	return u, nil
}

// Redo returns the prompt after the first exchange that is undone, or the point that is named;
// without a message everything is redone.
func (t Targets) Redo(ctx context.Context, s lathe.Session, u lathe.Undo) (lathe.Undo, error) {
	if err := t.check(ctx, s.ID, &u); err != nil {
		return u, err
	}
	if s.Revert == nil {
		return u, lathe.Errorf(lathe.NotFound, "nothing is undone in %s", s.ID)
	}
	if u.Message != "" || u.All {
		return u, nil
	}
	prompts, at, err := t.prompts(ctx, s)
	if err != nil {
		return u, err
	}
	if at < len(prompts) && prompts[at] == s.Revert.Message {
		at++
	}
	if at < len(prompts) {
		u.Message = prompts[at]
	}
	return u, nil
}

// check checks that the point exists, if one is named. A part alone gets its message.
func (t Targets) check(ctx context.Context, id lathe.SessionID, u *lathe.Undo) error {
	switch {
	case u.Message == "" && u.Part == "":
		return nil
	case u.Part == "":
		_, err := t.Message(ctx, id, u.Message)
		return err
	}
	found := false
	err := t.Each(ctx, id, func(m lathe.Message) error {
		has := slices.ContainsFunc(m.Parts, func(p lathe.Part) bool { return p.ID == u.Part })
		if has && (u.Message == "" || u.Message == m.ID) {
			u.Message, found = m.ID, true
		}
		return nil
	})
	if err == nil && !found {
		err = lathe.Errorf(lathe.NotFound, "Part not found: %s; `lathe session show --json` prints their ids", u.Part)
	}
	return err
}

// prompts lists the prompts of people, oldest first, and counts those that are not undone. A session can be undone from
// the middle of an exchange, so the count goes by position.
func (t Targets) prompts(ctx context.Context, s lathe.Session) (ids []lathe.MessageID, remaining int, err error) {
	remaining = -1
	err = t.Each(ctx, s.ID, func(m lathe.Message) error {
		if s.Revert != nil && m.ID == s.Revert.Message {
			remaining = len(ids)
		}
		if _, ok := m.Data.(*lathe.User); ok && !history.IsSynthetic(m.Parts) {
			ids = append(ids, m.ID)
		}
		return nil
	})
	if remaining < 0 {
		remaining = len(ids)
	}
	return ids, remaining, err
}

// Describe describes an undo from a point on, or with "" a redo.
func Describe(s lathe.Session, from lathe.MessageID, changes []snapshot.Change) lathe.Undone {
	out := lathe.Undone{Message: from, Session: s, Files: []lathe.UndoneFile{}}
	for _, c := range changes {
		out.Files = append(out.Files, lathe.UndoneFile{File: filepath.ToSlash(c.Path), Action: actionOf(c), Conflict: c.Conflict, Note: c.Note})
	}
	return out
}

func actionOf(c snapshot.Change) string {
	switch {
	case c.Conflict != "":
		return "conflict"
	case c.To == snapshot.Entry{}:
		return "remove"
	case c.From == snapshot.Entry{}:
		return "create"
	default:
		return "restore"
	}
}
