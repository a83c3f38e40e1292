package main

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// Undo and what follows are what the commands of this program do, for those who are attached.

// Undo takes back what a session did.
func (b *served) Undo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error) {
	return local{b.Engine, b.app}.Undo(ctx, id, u)
}

// Redo brings it back.
func (b *served) Redo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error) {
	return local{b.Engine, b.app}.Redo(ctx, id, u)
}

// Interrupted lists the sessions whose turn was cut off.
func (b *served) Interrupted(ctx context.Context) ([]lathe.SessionID, error) {
	return local{b.Engine, b.app}.Interrupted(ctx)
}
