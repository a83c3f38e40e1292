package debug

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/run"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// trial runs one tool call outside a session, and refuses requests that need a user.
type trial struct {
	tool.NoSession
	agent engine.Agent
	yes   bool
}

// Ask evaluates the agent's rules. A request that they ask about is refused without --yes.
func (x trial) Ask(_ context.Context, all ...tool.Permission) error {
	for _, p := range all {
		if err := x.ask(p); err != nil {
			return err
		}
	}
	return nil
}

func (x trial) ask(p tool.Permission) error {
	worst, about := p.Conflict(x.agent.Rules)
	for _, pattern := range p.Patterns {
		switch action := run.ActionOf(x.agent, p.Name, pattern); {
		case action == lathe.Deny:
			worst, about = action, pattern
		case action == lathe.Ask && worst == lathe.Allow:
			worst, about = action, pattern
		}
	}
	switch {
	case worst == lathe.Deny:
		return lathe.Errorf(lathe.Denied, "the rules of %s deny %s %s", termtext.Plain(x.agent.Name), termtext.Plain(p.Name), termtext.Quote(about))
	case worst == lathe.Ask && p.Name == "sandbox":
		return lathe.Errorf(lathe.Rejected, "%s would ask about %s %s; allow it with a rule", termtext.Plain(x.agent.Name), termtext.Plain(p.Name), termtext.Quote(about))
	case worst == lathe.Ask && !x.yes:
		return lathe.Errorf(lathe.Rejected, "%s would ask about %s %s; use --yes to approve it", termtext.Plain(x.agent.Name), termtext.Plain(p.Name), termtext.Quote(about))
	}
	return nil
}

// Allowed reports whether Ask would.
func (x trial) Allowed(p tool.Permission) bool { return x.ask(p) == nil }

// trialJSON is a tool call with its result, as for a model.
type trialJSON struct {
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input"`
	Title    string          `json:"title,omitempty"`
	Output   string          `json:"output,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// trialCall is a tool call by the user in place of a model.
type trialCall struct {
	tool, params string
	yes          bool
}

// tryTool runs one tool as an agent does and prints the result. A failed call is also a result, with exit code 1.
func tryTool(ctx context.Context, a *cli.App, place workspace.Place, tools *tool.Set, agent engine.Agent, call trialCall) error {
	input := json.RawMessage(cmp.Or(call.params, "{}"))
	if !json.Valid(input) || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		return cli.Usagef("--params %s: want a JSON object, such as '{\"filePath\": \"go.mod\"}'", termtext.Quote(call.params))
	}
	var names []string
	for _, t := range tools.All() {
		if t.Spec().Hidden {
			continue
		}
		if names = append(names, t.Spec().Name); t.Spec().Name != call.tool {
			continue
		}
		if tool.Hidden(agent.Rules)(t.Spec()) {
			return lathe.Errorf(lathe.Denied, "the rules of %s hide the tool %s", termtext.Plain(agent.Name), termtext.Plain(call.tool))
		}
		res, err := tool.Run(ctx, t, &tool.Call{
			Session: "ses_debug", Message: "msg_debug", ID: "debug", Agent: agent.Name, Dir: place.Directory, Root: place.Worktree,
			Input: input, Host: trial{agent: agent, yes: call.yes},
		})
		out := trialJSON{Tool: call.tool, Input: input, Title: res.Title, Output: res.Output, Metadata: res.Metadata}
		var told *tool.Failure
		switch {
		case errors.As(err, &told):
			out.Error = told.Text
		case err != nil:
			return err
		}
		if err := a.PrintJSON(out); err != nil || out.Error == "" {
			return err
		}
		return cli.Reported{Code: cli.ExitFailed}
	}
	return lathe.Errorf(lathe.NotFound, "tool not found: %s; available: %s", termtext.Quote(call.tool), termtext.Plain(strings.Join(names, ", ")))
}
