package builtin

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
)

// Buffers are files that are open in an editor, with changes that are not saved. A session sees only those of its own
// editor. Methods are called after the permission to read or change the file was given.
type Buffers interface {
	// ReadBuffer returns the text that the session's editor has for a file; it is not ok without one.
	ReadBuffer(ctx context.Context, id lathe.SessionID, path string) (text string, ok bool)
	// CanWriteBuffer reports whether the session's editor can write files.
	CanWriteBuffer(id lathe.SessionID) bool
	// WriteBuffer has the editor change a file and save it.
	WriteBuffer(ctx context.Context, id lathe.SessionID, path, text string) error
}

// overlay is the files of a call as its user sees them: on disk, or as they stand in the editor.
type overlay struct {
	buffers Buffers // nil has none
	call    *tool.Call
}

// unsaved returns the text of a file that the editor has changed and not saved. Editors convert line ends and marks at
// the beginning, which is no change.
func (o overlay) unsaved(ctx context.Context, t target.Target, disk string) (string, bool) {
	if o.buffers == nil || o.call == nil || t.Temporary {
		return "", false
	}
	text, ok := o.buffers.ReadBuffer(ctx, o.call.Session, t.Shown)
	return text, ok && plainText(text) != plainText(disk)
}

func plainText(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, phrase.BOM), "\r\n", "\n")
}

// over replaces the content of a file on disk by the one in the editor, if that is not saved.
func (o overlay) over(ctx context.Context, t target.Target, disk content) content {
	if disk.large {
		return disk
	}
	text, ok := o.unsaved(ctx, t, disk.text)
	if !ok {
		return disk
	}
	return content{exists: true, unsaved: true, bytes: int64(len(text)), text: text, sum: sumOf([]byte(text))}
}

// check refuses to change a file that only the editor could write and cannot.
func (o overlay) check(t target.Target, old content) error {
	if old.unsaved && !o.buffers.CanWriteBuffer(o.call.Session) {
		return unsavedRefusal(t)
	}
	return nil
}

func unsavedRefusal(t target.Target) error {
	return tool.Failf("%s has unsaved changes in the editor, so nothing was written. Ask the user to save or revert the file, then read it and try again.", t.Shown)
}

// write puts a text into a file: itself, or through the editor if that has unsaved changes, which would be lost otherwise.
// The caller has saved the file for an undo.
func (o overlay) write(ctx context.Context, t target.Target, old content, text string) error {
	if !old.unsaved {
		if err := t.Within(ctx).Write([]byte(text)); err != nil {
			return tool.Failf("Cannot write %s: %w.", t.Shown, err)
		}
		return nil
	}
	if err := o.buffers.WriteBuffer(ctx, o.call.Session, t.Shown, text); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return tool.Failf("%s has unsaved changes in the editor, and the editor did not write it: %w. Ask the user to save the file, then read it and try again.", t.Shown, err)
	}
	saved, err := t.ReadAll(editLimit)
	if err != nil || plainText(string(saved)) != plainText(text) {
		return tool.Failf("The editor took the change of %s, but the file on disk does not have it. Ask the user to save the file, then read it and continue from there.", t.Shown)
	}
	return nil
}
