package server_test

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

func (b backend) Commands(ctx context.Context, at workspace.Place) ([]lathe.Command, error) {
	return b.Engine.Commands(ctx, at.Directory)
}

func (b backend) Skills(ctx context.Context, at workspace.Place) ([]lathe.Skill, error) {
	return b.Engine.Skills(ctx, at.Directory)
}

func (b backend) Command(ctx context.Context, id lathe.SessionID, in server.SlashCommand) (lathe.Message, error) {
	return b.Engine.Command(ctx, id, engine.CommandCall(in))
}

func (b backend) Compact(ctx context.Context, id lathe.SessionID, model *lathe.ModelRef, goOn bool) (lathe.Message, error) {
	return b.Engine.Compact(ctx, id, engine.CompactRequest{Model: model, Auto: goOn})
}
