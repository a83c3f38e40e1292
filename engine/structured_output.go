package engine

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

// format is a structured answer that was asked for.
type format struct{ schema json.RawMessage }

// readFormat reads what a prompt says about its answer; nil asks for text.
func readFormat(raw json.RawMessage) (*format, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var f struct {
		Type   string
		Schema map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "format: %w", err)
	}
	switch f.Type {
	case "", "text":
		return nil, nil
	case "json_schema":
		if f.Schema == nil {
			return nil, lathe.Errorf(lathe.Invalid, "format: json_schema needs a schema")
		}
		delete(f.Schema, "$schema")
		schema, err := json.Marshal(f.Schema)
		if err != nil {
			return nil, err
		}
		if err := args.CheckSchema(schema); err != nil {
			return nil, lathe.Errorf(lathe.Invalid, "format: %w", err)
		}
		return &format{schema}, nil
	default:
		return nil, lathe.Errorf(lathe.Invalid, "format: type %q is neither text nor json_schema", f.Type)
	}
}

// structuredTool captures the answer.
func structuredTool(f *format) tool.Tool {
	spec := tool.Spec{
		Name:        fold.StructuredTool,
		Description: "Return the final answer in the requested structure. Call it exactly once, at the end; nothing happens afterwards.",
		Schema:      f.schema,
	}
	return tool.Raw(spec, func(_ context.Context, c *tool.Call) (tool.Result, error) {
		if err := args.Validate(spec.Schema, c.Input); err != nil {
			return tool.Result{}, tool.Failf("%s: the answer does not fit the structure: %v. Call it again with an answer that does.", fold.StructuredTool, err)
		}
		return tool.Result{Title: "Structured Output", Output: "Structured output captured.", Metadata: json.RawMessage(`{"valid":true}`)}, nil
	})
}
