package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/lathe-agent/lathe/model"
)

// openaiPart is a part of content, of Chat Completions and of Responses.
type openaiPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	ImageURL json.RawMessage `json:"image_url"` // an object, or in Responses a string
	File     struct {
		Filename string `json:"filename"`
		FileData string `json:"file_data"`
	} `json:"file"`
	Filename   string `json:"filename"`
	FileData   string `json:"file_data"`
	FileURL    string `json:"file_url"`
	InputAudio struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

// content converts a part of a Chat Completions or Responses message.
func (p openaiPart) content() (model.Content, error) {
	switch p.Type {
	case "text", "input_text", "output_text":
		return model.TextContent{Text: p.Text}, nil
	case "refusal":
		return model.TextContent{Text: p.Refusal}, nil
	case "image_url", "input_image":
		var address string
		if json.Unmarshal(p.ImageURL, &address) != nil {
			var box struct{ URL string }
			if err := json.Unmarshal(p.ImageURL, &box); err != nil {
				return nil, err
			}
			address = box.URL
		}
		return media("", address), nil
	case "input_audio":
		mime := map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}[p.InputAudio.Format]
		if mime == "" {
			return nil, fmt.Errorf("input_audio.format: %q is neither wav nor mp3", p.InputAudio.Format)
		}
		return model.FileContent{Mime: mime, Data: p.InputAudio.Data}, nil
	case "file":
		return media(p.File.Filename, p.File.FileData), nil
	case "input_file":
		return media(p.Filename, cmp.Or(p.FileData, p.FileURL)), nil
	default:
		return nil, unknown("content", p.Type)
	}
}

// contents reads a string or a list of parts as content.
func contents(raw json.RawMessage) ([]model.Content, error) {
	list, err := parts(raw, func(s string) openaiPart { return openaiPart{Type: "text", Text: s} })
	if err != nil {
		return nil, err
	}
	var out []model.Content
	for _, p := range list {
		c, err := p.content()
		if err != nil {
			return nil, err
		}
		if t, ok := c.(model.TextContent); ok && t.Text == "" {
			continue // the wire wants a content even where nothing was said
		}
		out = append(out, c)
	}
	return out, nil
}

// result puts texts and files of a result together.
func result(id string, raw json.RawMessage) (model.ResultContent, error) {
	out := model.ResultContent{ID: id}
	list, err := contents(raw)
	for _, c := range list {
		switch c := c.(type) {
		case model.TextContent:
			out.Text += c.Text
		case model.FileContent:
			out.Media = append(out.Media, c)
		default:
		}
	}
	return out, err
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Thought    string          `json:"reasoning_content"`
	Reasoning  string          `json:"reasoning"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatBody struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	TopK          *int            `json:"top_k"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// readChat parses a Chat Completions request and fails where the real API would reject it.
func (r *Request) readChat() error {
	var b chatBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	p := &r.Prompt
	r.Stream, r.wants.usage = b.Stream, b.StreamOptions.IncludeUsage
	p.Model, p.MaxOutput, p.Choice = b.Model, cmp.Or(b.MaxCompletion, b.MaxTokens), choice(b.ToolChoice)
	p.Temperature, p.TopP, p.TopK = b.Temperature, b.TopP, b.TopK
	for _, t := range b.Tools {
		f := t.Function
		p.Tools = append(p.Tools, model.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
	}
	for i, m := range b.Messages {
		if err := r.chatMessage(m); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return nil
}

// chatMessage adds a message to the prompt by its role.
func (r *Request) chatMessage(m chatMessage) error {
	list, err := contents(m.Content)
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		for _, c := range list {
			if t, ok := c.(model.TextContent); ok {
				r.Prompt.System = append(r.Prompt.System, t.Text)
			}
		}
	case "user":
		if len(list) == 0 {
			return fmt.Errorf("a message of the user must not be empty")
		}
		r.say(model.UserRole, list...)
	case "tool":
		res, err := result(m.ToolCallID, m.Content)
		if err != nil {
			return err
		}
		r.say(model.ToolRole, res)
	case "assistant":
		if thought := cmp.Or(m.Thought, m.Reasoning); thought != "" {
			list = append([]model.Content{model.ReasoningContent{Text: thought}}, list...)
		}
		for _, c := range m.ToolCalls {
			list = append(list, model.CallContent{ID: c.ID, Name: c.Function.Name, Input: arguments(c.Function.Arguments)})
		}
		if len(list) == 0 {
			return fmt.Errorf("a message of the assistant must have content or calls")
		}
		r.say(model.AssistantRole, list...)
	default:
		return fmt.Errorf("%q is not a role", m.Role)
	}
	return nil
}
