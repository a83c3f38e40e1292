package harness

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// Commands lists the slash commands of a directory.
func (b *Served) Commands(ctx context.Context, at workspace.Place) ([]lathe.Command, error) {
	return b.Engine.Commands(ctx, at.Directory)
}

// Skills lists the skills of a directory.
func (b *Served) Skills(ctx context.Context, at workspace.Place) ([]lathe.Skill, error) {
	return b.Engine.Skills(ctx, at.Directory)
}

// Agents are those that can be used in a directory, the default one first and the others by name.
func (b *Served) Agents(ctx context.Context, at workspace.Place) ([]lathe.Agent, error) {
	return b.Engine.Agents(ctx, at.Directory)
}
