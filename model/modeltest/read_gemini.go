package modeltest

import (
	"encoding/json"
	"fmt"

	"github.com/lathe-agent/lathe/model"
)

type geminiPart struct {
	Text       *string `json:"text"`
	Thought    bool    `json:"thought"`
	Signature  string  `json:"thoughtSignature"`
	InlineData *struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
	FileData *struct {
		MimeType string `json:"mimeType"`
		FileURI  string `json:"fileUri"`
	} `json:"fileData"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
		Parts    []geminiPart               `json:"parts"`
	} `json:"functionResponse"`
}

type geminiBody struct {
	System struct {
		Parts []geminiPart `json:"parts"`
	} `json:"systemInstruction"`
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Schema      json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig struct {
		Calling struct {
			Mode    string   `json:"mode"`
			Allowed []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Generation struct {
		MaxOutput   int      `json:"maxOutputTokens"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"topP"`
		TopK        *int     `json:"topK"`
	} `json:"generationConfig"`
}

// readGemini parses a generateContent request and fails where the real API would reject it.
func (r *Request) readGemini() error {
	var b geminiBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return err
	}
	p, g := &r.Prompt, b.Generation
	p.MaxOutput, p.Temperature, p.TopP, p.TopK = g.MaxOutput, g.Temperature, g.TopP, g.TopK
	switch c := b.ToolConfig.Calling; {
	case len(c.Allowed) == 1:
		p.Choice = c.Allowed[0]
	default:
		p.Choice = map[string]string{"ANY": "required", "NONE": "none", "AUTO": "auto"}[c.Mode]
	}
	for _, s := range b.System.Parts {
		if s.Text != nil {
			p.System = append(p.System, *s.Text)
		}
	}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			schema := f.Schema
			if schema == nil {
				schema = f.Parameters
			}
			p.Tools = append(p.Tools, model.Tool{Name: f.Name, Description: f.Description, Schema: schema})
		}
	}
	ids := geminiIDs{calls: map[string]int{}, results: map[string]int{}}
	for i, m := range b.Contents {
		if len(m.Parts) == 0 {
			return fmt.Errorf("contents[%d]: parts must not be empty", i)
		}
		for k, part := range m.Parts {
			if err := r.geminiPart(m.Role, part, &ids); err != nil {
				return fmt.Errorf("contents[%d].parts[%d]: %w", i, k, err)
			}
		}
	}
	return nil
}

// geminiIDs names calls and results that have no id: the n-th result of a tool is that of its
// n-th call.
type geminiIDs struct{ calls, results map[string]int }

func nth(id, name string, seen map[string]int) string {
	if id != "" {
		return id
	}
	seen[name]++
	return fmt.Sprintf("%s#%d", name, seen[name])
}

// geminiPart adds a part to the prompt. A call without an id is numbered by its name.
func (r *Request) geminiPart(from string, p geminiPart, ids *geminiIDs) error {
	role := model.UserRole
	switch from {
	case "model":
		role = model.AssistantRole
	case "user", "function", "":
	default:
		return fmt.Errorf("please use a valid role: user, model; not %q", from)
	}
	switch {
	case p.FunctionCall != nil:
		c := p.FunctionCall
		r.say(role, model.CallContent{ID: nth(c.ID, c.Name, ids.calls), Name: c.Name, Input: c.Args, Meta: signed(p.Signature)})
	case p.FunctionResponse != nil:
		r.say(model.ToolRole, p.result(ids))
	case p.InlineData != nil:
		r.say(role, model.FileContent{Mime: p.InlineData.MimeType, Data: p.InlineData.Data})
	case p.FileData != nil:
		r.say(role, model.FileContent{Mime: p.FileData.MimeType, URL: p.FileData.FileURI})
	case p.Text != nil && p.Thought:
		r.say(role, model.ReasoningContent{Text: *p.Text, Meta: signed(p.Signature)})
	case p.Text != nil:
		r.say(role, model.TextContent{Text: *p.Text, Meta: signed(p.Signature)})
	default:
		return fmt.Errorf("a part must have one of its fields")
	}
	return nil
}

// result reads what a tool gave: a text under any single name, or the object as it is.
func (p geminiPart) result(ids *geminiIDs) model.ResultContent {
	f := p.FunctionResponse
	out := model.ResultContent{ID: nth(f.ID, f.Name, ids.results), Name: f.Name, Text: geminiOutput(f.Response)}
	_, out.Failed = f.Response["error"]
	for _, m := range f.Parts {
		if d := m.InlineData; d != nil {
			out.Media = append(out.Media, model.FileContent{Mime: d.MimeType, Data: d.Data})
		}
	}
	return out
}

// geminiOutput returns the text of a function response: its only string, or else the JSON.
func geminiOutput(response map[string]json.RawMessage) string {
	if len(response) == 1 {
		for _, v := range response {
			var text string
			if json.Unmarshal(v, &text) == nil {
				return text
			}
		}
	}
	raw, err := json.Marshal(response)
	if err != nil {
		return ""
	}
	return string(raw)
}
