package engine

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// Hooks are the points at which others take part in a turn. Each may be nil. An error of a
// hook fails what it takes part in. They are called by many goroutines.
type Hooks struct {
	// ChatMessage may change a prompt before it is written down.
	ChatMessage func(ctx context.Context, m *lathe.Message) error
	// System may change what goes before the conversation.
	System func(ctx context.Context, id lathe.SessionID, ref lathe.ModelRef, system []string) ([]string, error)
	// Params may change a request before it is sent: temperature and its like, options,
	// headers.
	Params func(ctx context.Context, id lathe.SessionID, agent string, ref lathe.ModelRef, r *model.Request) error
	// TextComplete may replace a text when it ends.
	TextComplete func(ctx context.Context, p lathe.Part, text string) (string, error)
	// CommandBefore may change what a slash command says before it becomes a prompt.
	CommandBefore func(ctx context.Context, id lathe.SessionID, name, arguments string, parts []lathe.Part) ([]lathe.Part, error)
	// ToolBefore may change the arguments of a call; they are judged as it leaves them.
	ToolBefore func(ctx context.Context, name string, c *tool.Call) (json.RawMessage, error)
	// ToolAfter may change the result of a call.
	ToolAfter func(ctx context.Context, name string, c *tool.Call, r tool.Result) (tool.Result, error)
	// PermissionAsk may answer what a person would be asked; "" leaves it to the person.
	PermissionAsk func(ctx context.Context, r lathe.PermissionRequest) (lathe.Action, error)
	// Compacting may add to what a summary is asked for with, or ask in other words.
	Compacting func(ctx context.Context, id lathe.SessionID) (CompactingWords, error)
	// Continue says whether a turn goes on after its history was compressed; overflow says
	// that the provider had refused it.
	Continue func(ctx context.Context, id lathe.SessionID, overflow bool) (bool, error)
}

// CompactingWords are what a hook wants a summary to be asked for with.
type CompactingWords struct {
	Context []string // further texts
	Prompt  string   // in place of ours; "" keeps it
}
