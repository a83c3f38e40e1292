package engine

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// Undo takes back the last exchange that stands, or everything from the point that is named on. A point that
// does not exist is NotFound, other than for [Engine.Revert].
func (e *Engine) Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	s, err := e.undoPoint(ctx, id, &u)
	if err != nil {
		return lathe.Undone{}, err
	}
	if u.Message == "" {
		prompts, err := e.prompts(ctx, id)
		if err != nil {
			return lathe.Undone{}, err
		}
		at := standing(prompts, s.Revert)
		if at == 0 {
			return lathe.Undone{}, lathe.Errorf(lathe.NotFound, "there is nothing to undo in %s", id)
		}
		u.Message = prompts[at-1]
	}
	return e.Revert(ctx, id, u)
}

// Redo brings back the first exchange that is undone, everything before the point that is named, or all.
func (e *Engine) Redo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	s, err := e.undoPoint(ctx, id, &u)
	if err != nil {
		return lathe.Undone{}, err
	}
	if s.Revert == nil {
		return lathe.Undone{}, lathe.Errorf(lathe.NotFound, "nothing is undone in %s", id)
	}
	if u.Message == "" && !u.All {
		prompts, err := e.prompts(ctx, id)
		if err != nil {
			return lathe.Undone{}, err
		}
		at := standing(prompts, s.Revert)
		if s.Revert.Part == "" {
			at++
		}
		if at < len(prompts) {
			u.Message = prompts[at]
		}
	}
	if u.Message == "" {
		return e.Unrevert(ctx, id, u)
	}
	return e.Revert(ctx, id, u)
}

// undoPoint returns the session and checks that the point exists, if one is named. A part alone gets its message.
func (e *Engine) undoPoint(ctx context.Context, id lathe.SessionID, u *lathe.Undo) (lathe.Session, error) {
	s, err := e.Get(ctx, id)
	switch {
	case err != nil || u.Message == "" && u.Part == "":
		return s, err
	case u.Part == "":
		_, err := e.Message(ctx, id, u.Message)
		return s, err
	}
	found := false
	err = e.eachMessage(ctx, id, func(m lathe.Message) error {
		has := slices.ContainsFunc(m.Parts, func(p lathe.Part) bool { return p.ID == u.Part })
		if has && (u.Message == "" || u.Message == m.ID) {
			u.Message, found = m.ID, true
		}
		return nil
	})
	if err == nil && !found {
		err = lathe.Errorf(lathe.NotFound, "Part not found: %s; `lathe session show --json` prints their ids", u.Part)
	}
	return s, err
}

// prompts lists the prompts of people, oldest first.
func (e *Engine) prompts(ctx context.Context, id lathe.SessionID) (ids []lathe.MessageID, err error) {
	err = e.eachMessage(ctx, id, func(m lathe.Message) error {
		if _, ok := m.Said.(*lathe.User); ok && !history.IsSynthetic(m.Parts) {
			ids = append(ids, m.ID)
		}
		return nil
	})
	return ids, err
}

// standing is how many prompts are not undone.
func standing(prompts []lathe.MessageID, r *lathe.Revert) int {
	if r != nil {
		if i := slices.Index(prompts, r.Message); i >= 0 {
			return i
		}
	}
	return len(prompts)
}

// undone describes an undo from a point on, or with "" its taking back.
func undone(s lathe.Session, from lathe.MessageID, changes []snapshot.Change) lathe.Undone {
	out := lathe.Undone{Message: from, Session: s, Files: []lathe.UndoneFile{}}
	for _, c := range changes {
		out.Files = append(out.Files, lathe.UndoneFile{File: filepath.ToSlash(c.Path), Action: undoAction(c), Conflict: c.Conflict, Note: c.Note})
	}
	return out
}

func undoAction(c snapshot.Change) string {
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
