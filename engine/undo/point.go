// Package undo decides what to undo: the point in a history, the steps after it, and those of
// subagents. Package workspace/snapshot restores the files; the engine combines the two.
package undo

import (
	"context"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// Point is the place from which a session is undone, and the steps after it.
type Point struct {
	Message lathe.MessageID
	Part    lathe.PartID
	From    int // the first message that is undone, at least in part
}

// FindPoint finds the place to undo from. A part without content before it stands for the whole
// message; a whole answer is undone with its prompt.
func FindPoint(messages []*history.Message, message lathe.MessageID, part lathe.PartID) (p Point, ok bool) {
	prompt, at := -1, -1
	for i, h := range messages {
		if _, user := h.Data.(*lathe.User); user {
			prompt = i
		}
		if h.ID == message {
			at = i
			break
		}
	}
	if at < 0 {
		return p, false
	}
	if part != "" {
		rest := history.PartsFrom(messages[at].Parts, part)
		if rest == nil {
			return p, false
		}
		before := messages[at].Parts[:len(messages[at].Parts)-len(rest)]
		if slices.ContainsFunc(before, hasContent) {
			return Point{message, part, at}, true
		}
	}
	if prompt >= 0 {
		at = prompt
	}
	return Point{Message: messages[at].ID, From: at}, true
}

// hasContent reports whether a part has content or is a tool call.
func hasContent(p lathe.Part) bool {
	switch p.Body.(type) {
	case *lathe.Text, *lathe.ToolCall:
		return true
	default:
		return false
	}
}

// CopySteps copies of messages what ChangedSteps looks at, for use beside the runner.
func CopySteps(messages []*history.Message) []lathe.Message {
	out := make([]lathe.Message, len(messages))
	for i, h := range messages {
		out[i] = h.Message
		out[i].Parts = nil
		for _, p := range h.Parts {
			switch p.Body.(type) {
			case *lathe.StepFinish, *lathe.Patch:
				out[i].Parts = append(out[i].Parts, p)
			default:
			}
		}
	}
	return out
}

// ChangedSteps lists the steps of messages that changed files, in their order.
func ChangedSteps(messages []lathe.Message) (steps []snapshot.StepRef) {
	for _, m := range messages {
		after := ""
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.StepFinish:
				after = b.Snapshot
			case *lathe.Patch:
				steps = append(steps, snapshot.StepRef{Key: string(m.ID), Before: b.Hash, After: after, Files: b.Files})
			default:
			}
		}
	}
	return steps
}

// WithSubagents lists messages with those of the sessions that subagents began since the first of them: what they
// did is undone as well, and counts as a change of the session. What such a session has undone itself is
// left out. The oldest is first.
func WithSubagents(ctx context.Context, db *store.Store, id lathe.SessionID, messages []lathe.Message) ([]lathe.Message, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	out := slices.Clone(messages)
	err := walkChildren(ctx, db, id, messages[0].Created, func(_ lathe.Session, since []lathe.Message) error {
		out = append(out, since...)
		return nil
	})
	slices.SortStableFunc(out, func(a, b lathe.Message) int { return int(a.Created - b.Created) })
	return out, err
}

// walkChildren visits the sessions below one with their steps since a time that are not undone.
func walkChildren(ctx context.Context, db *store.Store, id lathe.SessionID, since lathe.Time, visit func(lathe.Session, []lathe.Message) error) error {
	for todo := []lathe.SessionID{id}; len(todo) > 0; {
		children, err := db.Sessions(ctx, lathe.Query{Parent: todo[0], Archived: lathe.WithArchived})
		if err != nil {
			return err
		}
		todo = todo[1:]
		for _, c := range children {
			if isIsolated(c) {
				continue
			}
			todo = append(todo, c.ID)
			messages, err := db.Steps(ctx, c.ID)
			if err != nil {
				return err
			}
			messages = withoutUndone(messages, c.Revert)
			at := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.Created >= since })
			if at < 0 {
				continue
			}
			if err := visit(c, messages[at:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// isIsolated reports whether a session works in a tree of its own: a parent gets its changes by a merge, which is
// a step of the parent.
func isIsolated(s lathe.Session) bool { return workspace.IsolatedTop(s.Directory) != "" }

// MarkSubagents marks the work of subagents since a time as undone, when the undo of their
// parent becomes final: its calls are deleted, and nothing else would show that their changes
// are undone.
func MarkSubagents(ctx context.Context, db *store.Store, id lathe.SessionID, since lathe.Time) error {
	return walkChildren(ctx, db, id, since, func(c lathe.Session, undone []lathe.Message) error {
		_, err := db.Edit(ctx, c.ID, lathe.Edit{Revert: lathe.Some(&lathe.Revert{Message: undone[0].ID})})
		return err
	})
}

// withoutUndone returns the history without its undone messages. A message that is undone in part
// is left out too, because its step lists the changes at its end.
func withoutUndone(messages []lathe.Message, back *lathe.Revert) []lathe.Message {
	if back == nil {
		return messages
	}
	at := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == back.Message })
	if at < 0 {
		return messages
	}
	return messages[:at]
}
