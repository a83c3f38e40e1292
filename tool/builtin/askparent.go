package builtin

import (
	"context"
	_ "embed"
	"strings"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

//go:embed askparent.md
var askParentText string

type askParentInput struct {
	Question string `json:"question" jsonschema:"all it must know: it does not see your conversation"`
}

// AskParent returns the tool with which a subagent asks the agent that gave it its task. It names no receiver: there
// is no way to another session.
func AskParent() tool.Tool {
	spec := tool.Spec{Name: "ask_parent", Description: strings.TrimSpace(askParentText), Child: true}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in askParentInput) (tool.Result, error) {
		in.Question = strings.TrimSpace(in.Question)
		if in.Question == "" {
			return tool.Result{}, tool.InvalidArguments("ask_parent", args.Faults{{Path: "question", Problem: "is empty; write the whole question"}})
		}
		answer, err := c.Host.AskParent(ctx, in.Question)
		return tool.Result{Title: "Asked its parent", Output: answer}, err
	})
}
