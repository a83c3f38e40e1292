package harness

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Revert undoes from a message, or a part of it, on.
func (b *Served) Revert(ctx context.Context, id lathe.SessionID, message lathe.MessageID, part lathe.PartID) (lathe.Session, error) {
	u, err := b.Engine.Revert(ctx, id, lathe.Undo{Message: message, Part: part})
	return u.Session, err
}

// Unrevert takes that back.
func (b *Served) Unrevert(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	u, err := b.Engine.Unrevert(ctx, id, lathe.Undo{})
	return u.Session, err
}
