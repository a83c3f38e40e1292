package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
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
	// ToolGate decides about a call after ToolBefore. Its arguments are judged by the rules.
	ToolGate func(ctx context.Context, name string, c *tool.Call) (ToolDecision, error)
	// ToolAfter may change the result of a call.
	ToolAfter func(ctx context.Context, name string, c *tool.Call, r tool.Result) (tool.Result, error)
	// PermissionAsk may answer a permission request; "" leaves it to the user.
	PermissionAsk func(ctx context.Context, r lathe.PermissionRequest) (lathe.Action, error)
	// Compacting may add to what a summary is asked for with, or ask in other words.
	Compacting func(ctx context.Context, id lathe.SessionID) (CompactionPrompt, error)
	// Compaction is called before the history is compressed and after. The text that it returns after it
	// is added to the summary.
	Compaction func(ctx context.Context, id lathe.SessionID, at CompactionPoint) string
	// TurnEnd is called before a turn that was answered ends. A text continues it, as a prompt.
	TurnEnd func(ctx context.Context, e TurnEnd) string
	// Waiting is told that a call waits for the user. It returns at once.
	Waiting func(id lathe.SessionID, w Waiting)
	// Continue says whether a turn continues after its history was compressed; overflow says
	// that the provider had refused it.
	Continue func(ctx context.Context, o RequestInfo, overflow bool) (bool, error)
}

// ToolDecision is a decision of hooks about a call.
type ToolDecision struct {
	Input json.RawMessage
	// Action refuses the call, makes it ask, or answers what it would ask the user. No allow changes a
	// rule that denies, or gives the permission sandbox. "" decides nothing.
	Action lathe.Action
	Reason string // of a refusal, for the model
	// Context is added to the result for the model.
	Context string
	Stop    bool // with a refusal: the turn ends
}

// CompactionPoint is a point of a compaction.
type CompactionPoint int

// The points: before one that the user asked for, before one that a full context needs, and after each.
const (
	BeforeManual CompactionPoint = iota
	BeforeAuto
	AfterCompaction
)

// TurnEnd describes the end of a turn.
type TurnEnd struct {
	Session   lathe.Session
	Agent     string
	Continued int // how often hooks have continued this turn
}

// Waiting is the reason why a call waits for the user: a permission, or a question.
type Waiting struct {
	Tool     string
	Question bool
}

// mostContinued is how often hooks may continue a turn, so that none runs for ever.
const mostContinued = 8

// StopAfter marks the result of a call, so that the turn ends with its step.
func StopAfter(r tool.Result) tool.Result {
	r.Metadata = history.WithMark(r.Metadata, history.StoppedMark)
	return r
}

// endHook lets late errors and a hook continue a turn that is about to end. A turn that failed or made no step just ends.
func endHook(ctx context.Context, r *runner, s state) (continued bool, err error) {
	if !r.stepped || s.steps > 0 && s.stepsDone() >= s.steps {
		return false, nil
	}
	asked := slices.IndexFunc(s.messages, func(h *history.Message) bool { return h.ID == s.wants })
	if asked < 0 || r.user == nil || r.agent == nil {
		return false, nil
	}
	answers := history.Answers(withoutShell(s.messages[check.LastCheckPrompt(s.messages, asked):]))
	if s.hasFailed(answers) || !s.isDone(answers) {
		return false, nil
	}
	by, text := check.NewErrors, ""
	if answers[len(answers)-1].Data.(*lathe.Assistant).Structured == nil { // which is the answer as it is
		text = lateErrors(ctx, r)
	}
	if hook := r.settings.hooks().TurnEnd; text == "" && hook != nil && r.continued < mostContinued {
		by, text = stopHook, hook(ctx, TurnEnd{Session: s.session, Agent: r.agent.Name, Continued: r.continued})
		r.continued++
	}
	if text == "" || ctx.Err() != nil {
		return false, nil
	}
	facts := append([]lathe.Fact{r.log.busyFact()}, r.log.message(r.engine.now(), samePrompt(r.user.Data.(*lathe.User)), &lathe.Text{
		Text: text, Synthetic: lathe.Yes, Metadata: check.WithMeta(nil, check.Issue{Check: by, Fact: text}),
	})...)
	return true, r.log.write(ctx, facts...)
}

// stopHook marks a prompt of hooks, which the turn answers like one of a check.
const stopHook check.Check = "stop_hook"

// hooks are those of settings that may not have been read.
func (s *StepSettings) hooks() Hooks {
	if s == nil {
		return Hooks{}
	}
	return s.Hooks
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
