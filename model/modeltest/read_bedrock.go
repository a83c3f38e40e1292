package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

type bedrockMedia struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Source struct {
		Bytes string `json:"bytes"`
	} `json:"source"`
}

// bedrockBlock has one of its members.
type bedrockBlock struct {
	Text      *string       `json:"text"`
	Image     *bedrockMedia `json:"image"`
	Document  *bedrockMedia `json:"document"`
	Video     *bedrockMedia `json:"video"`
	Reasoning *struct {
		Text *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
		Redacted string `json:"redactedContent"`
	} `json:"reasoningContent"`
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string         `json:"toolUseId"`
		Status  string         `json:"status"`
		Content []bedrockBlock `json:"content"`
	} `json:"toolResult"`
	CachePoint *struct {
		Type string `json:"type"`
	} `json:"cachePoint"`
}

type bedrockBody struct {
	System   []bedrockBlock `json:"system"`
	Messages []struct {
		Role    string         `json:"role"`
		Content []bedrockBlock `json:"content"`
	} `json:"messages"`
	ToolConfig *struct {
		Tools []struct {
			Spec struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Schema      struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
		} `json:"tools"`
		Choice struct {
			Any  *struct{} `json:"any"`
			Tool struct {
				Name string `json:"name"`
			} `json:"tool"`
		} `json:"toolChoice"`
	} `json:"toolConfig"`
	Inference struct {
		MaxTokens   int      `json:"maxTokens"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"topP"`
	} `json:"inferenceConfig"`
}

// readBedrock parses a Converse request and fails where the real API would reject it.
func (r *Request) readBedrock() error {
	var b bedrockBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	p := &r.Prompt
	p.MaxOutput, p.Temperature, p.TopP = b.Inference.MaxTokens, b.Inference.Temperature, b.Inference.TopP
	for _, s := range b.System {
		if s.Text != nil {
			p.System = append(p.System, *s.Text)
		}
	}
	if c := b.ToolConfig; c != nil {
		for _, t := range c.Tools {
			p.Tools = append(p.Tools, model.Tool{Name: t.Spec.Name, Description: t.Spec.Description, Schema: t.Spec.Schema.JSON})
		}
		p.Choice = c.Choice.Tool.Name
		if c.Choice.Any != nil {
			p.Choice = "required"
		}
	}
	for i, m := range b.Messages {
		if i > 0 && b.Messages[i-1].Role == m.Role {
			return fmt.Errorf("messages.%d: the roles must take turns", i)
		}
		if err := r.bedrockMessage(model.Role(m.Role), m.Content); err != nil {
			return fmt.Errorf("messages.%d.%w", i, err)
		}
	}
	if b.ToolConfig == nil && hasCalls(p.Messages) {
		return fmt.Errorf("the toolConfig field must be defined when using toolUse and toolResult content blocks")
	}
	return nil
}

// bedrockMessage adds a message; results of tools stand in the user's.
func (r *Request) bedrockMessage(role model.Role, blocks []bedrockBlock) error {
	if role != model.UserRole && role != model.AssistantRole {
		return fmt.Errorf("role: %q is not a role", role)
	}
	words, documents := false, false
	for i, b := range blocks {
		if b.CachePoint != nil {
			continue
		}
		c, err := b.content()
		if err != nil {
			return fmt.Errorf("content.%d: %w", i, err)
		}
		words, documents = words || b.Text != nil, documents || b.Document != nil
		at := role
		if _, ok := c.(model.ResultContent); ok {
			if role != model.UserRole {
				return fmt.Errorf("content.%d: results of tools belong to the user", i)
			}
			at = model.ToolRole
		}
		r.say(at, c)
	}
	if documents && !words {
		return fmt.Errorf("content: a document needs a text beside it")
	}
	return nil
}

// content converts a block, with the API's own checks.
func (b bedrockBlock) content() (model.Content, error) {
	switch {
	case b.Text != nil:
		if strings.TrimSpace(*b.Text) == "" {
			return nil, fmt.Errorf("the text field is blank")
		}
		return model.TextContent{Text: *b.Text}, nil
	case b.Image != nil, b.Document != nil, b.Video != nil:
		return b.file(), nil
	case b.Reasoning != nil:
		if t := b.Reasoning.Text; t != nil {
			return model.ReasoningContent{Text: t.Text, Meta: signed(t.Signature)}, nil
		}
		return model.ReasoningContent{Meta: signed(b.Reasoning.Redacted)}, nil
	case b.ToolUse != nil:
		return model.CallContent{ID: b.ToolUse.ID, Name: b.ToolUse.Name, Input: b.ToolUse.Input}, nil
	case b.ToolResult != nil:
		return b.result()
	}
	return nil, unknown("content", "")
}

func (b bedrockBlock) file() model.FileContent {
	switch {
	case b.Image != nil:
		return model.FileContent{Mime: "image/" + b.Image.Format, Data: b.Image.Source.Bytes}
	case b.Video != nil:
		return model.FileContent{Mime: "video/" + b.Video.Format, Data: b.Video.Source.Bytes}
	default:
		return model.FileContent{Mime: "application/" + b.Document.Format, Name: b.Document.Name, Data: b.Document.Source.Bytes}
	}
}

// result converts a tool result with its texts and media.
func (b bedrockBlock) result() (model.Content, error) {
	out := model.ResultContent{ID: b.ToolResult.ID, Failed: b.ToolResult.Status == "error"}
	if len(b.ToolResult.Content) == 0 {
		return nil, fmt.Errorf("toolResult.content must not be empty")
	}
	for _, p := range b.ToolResult.Content {
		c, err := p.content()
		if err != nil {
			return nil, err
		}
		switch c := c.(type) {
		case model.TextContent:
			out.Text += c.Text
		case model.FileContent:
			out.Media = append(out.Media, c)
		default:
			return nil, unknown("toolResult", "")
		}
	}
	return out, nil
}

func hasCalls(messages []model.Message) bool {
	for _, m := range messages {
		for _, c := range m.Content {
			if _, ok := c.(model.CallContent); ok {
				return true
			}
		}
	}
	return false
}
