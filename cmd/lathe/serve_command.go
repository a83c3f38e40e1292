package main

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// promptFrom is a prompt of a client.
func promptFrom(p server.Prompt) engine.Prompt {
	return engine.Prompt{
		ID: p.ID, Agent: p.Agent, Model: p.Model, Variant: p.Variant, System: p.System, Tools: p.Tools, Format: p.Format,
		Delivery: p.Delivery, NoReply: p.NoReply, Parts: p.Parts,
	}
}

// Commands lists the slash commands of a directory.
func (b *served) Commands(ctx context.Context, at workspace.Place) ([]lathe.Command, error) {
	return b.Engine.Commands(ctx, at.Directory)
}

// Skills lists the skills of a directory.
func (b *served) Skills(ctx context.Context, at workspace.Place) ([]lathe.Skill, error) {
	return b.Engine.Skills(ctx, at.Directory)
}

// Agents are those that can be used in a directory, the default one first and the others by name.
func (b *served) Agents(ctx context.Context, at workspace.Place) ([]lathe.Agent, error) {
	return b.Engine.Agents(ctx, at.Directory)
}

// Command runs a slash command and waits for the answer.
func (b *served) Command(ctx context.Context, id lathe.SessionID, in server.SlashCommand) (lathe.Message, error) {
	return b.Engine.Command(ctx, id, engine.CommandCall(in))
}

// Compact compresses the history of a session.
func (b *served) Compact(ctx context.Context, id lathe.SessionID, model *lathe.ModelRef, goOn bool) (lathe.Message, error) {
	return b.Engine.Compact(ctx, id, engine.CompactRequest{Model: model, Auto: goOn})
}
