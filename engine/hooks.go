package engine

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// Hooks are the points at which others take part in the turns of a directory. Each may be nil.
// An error of a hook fails what it takes part in. They are called by many goroutines.
type Hooks struct {
	// ChatMessage may change a prompt before it is written down. Parts that it adds need no id.
	ChatMessage func(ctx context.Context, m *lathe.Message) error
	// Messages may change the conversation in a request, for that request alone. It must not
	// change its argument in place.
	Messages func(ctx context.Context, history []lathe.Message) ([]lathe.Message, error)
	// System may change the system prompt.
	System func(ctx context.Context, o RequestInfo, system []string) ([]string, error)
	// Params may change a request before it is sent: temperature and its like, options,
	// headers.
	Params func(ctx context.Context, o RequestInfo, r *model.Request) error
	// TextComplete may replace a text when it ends.
	TextComplete func(ctx context.Context, p lathe.Part, text string) (string, error)
	// CommandBefore may change what a slash command says before it becomes a prompt.
	CommandBefore func(ctx context.Context, id lathe.SessionID, name, arguments string, parts []lathe.Part) ([]lathe.Part, error)
	// ToolBefore may change the arguments of a call; permissions are checked on the result.
	ToolBefore func(ctx context.Context, name string, c *tool.Call) (json.RawMessage, error)
	// ToolAfter may change the result of a call.
	ToolAfter func(ctx context.Context, name string, c *tool.Call, r tool.Result) (tool.Result, error)
	// PermissionAsk may answer a permission request; "" leaves it to the user.
	PermissionAsk func(ctx context.Context, r lathe.PermissionRequest) (lathe.Action, error)
	// Compacting may add to what a summary is asked for with, or ask in other words.
	Compacting func(ctx context.Context, id lathe.SessionID) (CompactionPrompt, error)
	// Continue says whether a turn continues after its history was compressed; overflow says
	// that the provider had refused it.
	Continue func(ctx context.Context, o RequestInfo, overflow bool) (bool, error)
}

// RequestInfo describes the purpose of a request to a model.
type RequestInfo struct {
	Session lathe.SessionID
	Agent   string
	Model   lathe.ModelRef
	Prompt  lathe.Message // that is answered
}

// CompactionPrompt is a hook's change of the prompt for a summary.
type CompactionPrompt struct {
	Context []string // further texts
	Prompt  string   // replaces the default; "" does not
}

// requestInfo describes the step's request to hooks.
func (s *stepInput) requestInfo() RequestInfo {
	return RequestInfo{Session: s.session.ID, Agent: s.agent.Name, Model: s.model.Ref, Prompt: s.user.Message}
}

// transformHistory returns messages as the Messages hook rewrites them.
func (s *stepInput) transformHistory(ctx context.Context, messages []*history.Message) ([]*history.Message, error) {
	hook := s.settings.Hooks.Messages
	if hook == nil {
		return messages, nil
	}
	changed, err := hook(ctx, plainMessages(messages))
	out := make([]*history.Message, len(changed))
	for i, m := range changed {
		out[i] = &history.Message{Message: m}
	}
	return out, err
}

func plainMessages(messages []*history.Message) []lathe.Message {
	out := make([]lathe.Message, len(messages))
	for i, h := range messages {
		out[i] = h.Message
	}
	return out
}
