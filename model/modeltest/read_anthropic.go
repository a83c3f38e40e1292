package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

func anthropicText(s string) anthropicBlock { return anthropicBlock{Type: "text", Text: s} }

type anthropicBody struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice  json.RawMessage `json:"tool_choice"`
	MaxTokens   int             `json:"max_tokens"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	TopK        *int            `json:"top_k"`
	Stream      bool            `json:"stream"`
}

// readAnthropic parses a Messages request and fails where the real API would reject it.
func (r *Request) readAnthropic() error {
	var b anthropicBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	p := &r.Prompt
	r.Stream, p.Model, p.MaxOutput, p.Choice = b.Stream, b.Model, b.MaxTokens, choice(b.ToolChoice)
	p.Temperature, p.TopP, p.TopK = b.Temperature, b.TopP, b.TopK
	system, err := parts(b.System, anthropicText)
	if err != nil {
		return fmt.Errorf("system: %w", err)
	}
	for _, s := range system {
		p.System = append(p.System, s.Text)
	}
	for _, t := range b.Tools {
		p.Tools = append(p.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	for i, m := range b.Messages {
		blocks, err := parts(m.Content, anthropicText)
		if err != nil {
			return fmt.Errorf("messages.%d.content: %w", i, err)
		}
		if len(blocks) == 0 {
			return fmt.Errorf("messages.%d: the content must not be empty", i)
		}
		if err := r.anthropicMessage(m.Role, blocks); err != nil {
			return fmt.Errorf("messages.%d.%w", i, err)
		}
	}
	return nil
}

// anthropicMessage adds a message; results of tools stand in the user's, before anything else.
func (r *Request) anthropicMessage(role string, blocks []anthropicBlock) error {
	if role != "user" && role != "assistant" {
		return fmt.Errorf("role: %q is not a role", role)
	}
	for i, b := range blocks {
		c, err := b.content()
		if err != nil {
			return fmt.Errorf("content.%d: %w", i, err)
		}
		if res, ok := c.(model.ResultContent); ok && !res.Executed {
			if role != "user" {
				return fmt.Errorf("content.%d: results of tools belong to the user", i)
			}
			r.say(model.ToolRole, res)
			continue
		}
		r.say(model.Role(role), c)
	}
	return nil
}

// content converts a block, with the API's own checks.
func (b anthropicBlock) content() (model.Content, error) {
	switch {
	case b.Type == "text":
		if b.Text == "" {
			return nil, fmt.Errorf("text content blocks must be non-empty")
		}
		return model.TextContent{Text: b.Text}, nil
	case b.Type == "thinking":
		return model.ReasoningContent{Text: b.Thinking, Meta: signed(b.Signature)}, nil
	case b.Type == "redacted_thinking":
		return model.ReasoningContent{Meta: signed(b.Data)}, nil
	case b.Type == "image" || b.Type == "document":
		return b.file(), nil
	case b.Type == "tool_use" || b.Type == "server_tool_use":
		return model.CallContent{ID: b.ID, Name: b.Name, Input: b.Input, Executed: b.Type != "tool_use"}, nil
	case b.Type == "tool_result":
		return b.result()
	case strings.HasSuffix(b.Type, "_tool_result"):
		return model.ResultContent{ID: b.ToolUseID, Name: strings.TrimSuffix(b.Type, "_tool_result"), Text: string(b.Content), Executed: true}, nil
	default:
		return nil, unknown("type", b.Type)
	}
}

func (b anthropicBlock) file() model.FileContent {
	mime := b.Source.MediaType
	if mime == "" && b.Type == "document" {
		mime = "application/pdf"
	}
	return model.FileContent{Mime: mime, Name: b.Title, Data: b.Source.Data, URL: b.Source.URL}
}

// result converts a tool result with its texts and media.
func (b anthropicBlock) result() (model.Content, error) {
	out := model.ResultContent{ID: b.ToolUseID, Failed: b.IsError}
	inner, err := parts(b.Content, anthropicText)
	if err != nil {
		return nil, err
	}
	for _, p := range inner {
		switch p.Type {
		case "text":
			out.Text += p.Text
		case "image", "document":
			out.Media = append(out.Media, p.file())
		default:
			return nil, unknown("tool_result", p.Type)
		}
	}
	if out.Failed && out.Text == "" && len(out.Media) == 0 {
		return nil, fmt.Errorf("tool_result: content cannot be empty if `is_error` is true")
	}
	return out, nil
}
