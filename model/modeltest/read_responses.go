package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Action    json.RawMessage `json:"action"`
	Encrypted string          `json:"encrypted_content"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

type responsesBody struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Format      struct {
			Definition string `json:"definition"`
		} `json:"format"`
	} `json:"tools"`
	ToolChoice  json.RawMessage `json:"tool_choice"`
	MaxOutput   int             `json:"max_output_tokens"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	Include     []string        `json:"include"`
	Stream      bool            `json:"stream"`
}

// readResponses parses a Responses request and fails where the real API would reject it.
func (r *Request) readResponses() error {
	var b responsesBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	p := &r.Prompt
	r.Stream, r.wants.encrypted = b.Stream, slices.Contains(b.Include, "reasoning.encrypted_content")
	p.Model, p.MaxOutput, p.Choice, p.Temperature, p.TopP = b.Model, b.MaxOutput, choice(b.ToolChoice), b.Temperature, b.TopP
	if b.Instructions != "" {
		p.System = append(p.System, b.Instructions)
	}
	for _, t := range b.Tools {
		tool := model.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters}
		if t.Type == "custom" {
			tool.Freeform = &model.Freeform{Argument: "input", Grammar: t.Format.Definition}
		}
		p.Tools = append(p.Tools, tool)
	}
	items, err := parts(b.Input, func(s string) responsesItem {
		return responsesItem{Role: "user", Content: appendString(nil, s)}
	})
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	for i, item := range items {
		if err := r.responsesItem(item); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return nil
}

// responsesItem adds an input item to the prompt by its type.
func (r *Request) responsesItem(item responsesItem) error {
	switch {
	case item.Type == "message" || item.Type == "" && item.Role != "":
		return r.responsesMessage(item)
	case item.Type == "function_call":
		r.say(model.AssistantRole, model.CallContent{ID: item.CallID, Name: item.Name, Input: arguments(item.Arguments)})
	case item.Type == "custom_tool_call":
		r.say(model.AssistantRole, model.CallContent{ID: item.CallID, Name: item.Name, Input: appendString(nil, item.Input)})
	case item.Type == "function_call_output" || item.Type == "custom_tool_call_output":
		res, err := result(item.CallID, item.Output)
		if err != nil {
			return err
		}
		r.say(model.ToolRole, res)
	case item.Type == "reasoning":
		text := ""
		for _, s := range item.Summary {
			text += s.Text
		}
		r.say(model.AssistantRole, model.ReasoningContent{Text: text, Meta: signed(item.Encrypted)})
	case strings.HasSuffix(item.Type, "_call"):
		name := strings.TrimSuffix(item.Type, "_call")
		r.say(model.AssistantRole, model.CallContent{ID: item.ID, Name: name, Input: item.Action, Executed: true},
			model.ResultContent{ID: item.ID, Name: name, Executed: true})
	case item.Type == "item_reference": // the provider stores the item itself
	default:
		return unknown("type", item.Type)
	}
	return nil
}

// responsesMessage adds a message item to the prompt by its role.
func (r *Request) responsesMessage(item responsesItem) error {
	list, err := contents(item.Content)
	if err != nil {
		return err
	}
	switch item.Role {
	case "system", "developer":
		for _, c := range list {
			if t, ok := c.(model.TextContent); ok {
				r.Prompt.System = append(r.Prompt.System, t.Text)
			}
		}
	case "user", "assistant":
		if len(list) == 0 {
			return fmt.Errorf("a message must not be empty")
		}
		r.say(model.Role(item.Role), list...)
	default:
		return fmt.Errorf("%q is not a role", item.Role)
	}
	return nil
}
