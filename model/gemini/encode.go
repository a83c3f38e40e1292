package gemini

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

// The shapes of the wire. They are structs and sorted maps, so equal requests are equal
// bytes.
type (
	wireRequest struct {
		SystemInstruction *wireContent    `json:"systemInstruction,omitempty"`
		Contents          []wireContent   `json:"contents"`
		Tools             []wireTools     `json:"tools,omitempty"`
		ToolConfig        *wireToolConfig `json:"toolConfig,omitempty"`
		GenerationConfig  map[string]any  `json:"generationConfig,omitempty"`
		SafetySettings    json.RawMessage `json:"safetySettings,omitempty"`
		CachedContent     json.RawMessage `json:"cachedContent,omitempty"`
	}
	wireContent struct {
		Role  string     `json:"role,omitempty"`
		Parts []wirePart `json:"parts"`
	}
	wirePart struct {
		Text             *string       `json:"text,omitempty"`
		Thought          bool          `json:"thought,omitempty"`
		ThoughtSignature string        `json:"thoughtSignature,omitempty"`
		InlineData       *wireBlob     `json:"inlineData,omitempty"`
		FileData         *wireFile     `json:"fileData,omitempty"`
		FunctionCall     *wireCall     `json:"functionCall,omitempty"`
		FunctionResponse *wireResponse `json:"functionResponse,omitempty"`
	}
	wireBlob struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	wireFile struct {
		MimeType string `json:"mimeType"`
		FileURI  string `json:"fileUri"`
	}
	wireCall struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	wireResponse struct {
		ID       string            `json:"id,omitempty"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
		Parts    []wirePart        `json:"parts,omitempty"`
	}
	wireTools struct {
		FunctionDeclarations []wireFunction `json:"functionDeclarations"`
	}
	wireFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	wireToolConfig struct {
		FunctionCallingConfig struct {
			Mode                 string   `json:"mode"`
			AllowedFunctionNames []string `json:"allowedFunctionNames,omitempty"`
		} `json:"functionCallingConfig"`
	}
)

// encode writes the whole body.
func encode(r model.Request) []byte {
	w := wireRequest{Contents: contents(r.Messages), GenerationConfig: generation(r)}
	if system := strings.TrimSpace(strings.Join(r.System, "\n")); system != "" {
		w.SystemInstruction = &wireContent{Parts: []wirePart{{Text: &system}}}
	}
	if len(r.Tools) > 0 {
		tools := wireTools{}
		for _, t := range r.Tools {
			tools.FunctionDeclarations = append(tools.FunctionDeclarations, wireFunction{t.Name, t.Description, cleanSchema(t.Schema)})
		}
		w.Tools = []wireTools{tools}
		w.ToolConfig = choice(r.Choice)
	}
	w.SafetySettings, w.CachedContent = r.Options["safetySettings"], r.Options["cachedContent"]
	b, err := json.Marshal(w)
	if err != nil { // an option that is no JSON: leave them all out rather than send nothing
		w.GenerationConfig, w.SafetySettings, w.CachedContent = nil, nil, nil
		b, _ = json.Marshal(w)
	}
	return b
}

func choice(c string) *wireToolConfig {
	t := &wireToolConfig{}
	switch f := &t.FunctionCallingConfig; c {
	case "", "auto":
		return nil
	case "none":
		f.Mode = "NONE"
	case "required":
		f.Mode = "ANY"
	default:
		f.Mode, f.AllowedFunctionNames = "ANY", []string{c}
	}
	return t
}

// generation gathers the numbers and the options that belong there.
func generation(r model.Request) map[string]any {
	g := map[string]any{}
	if r.MaxOutput > 0 {
		g["maxOutputTokens"] = r.MaxOutput
	}
	if r.Temperature != nil {
		g["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		g["topP"] = *r.TopP
	}
	if r.TopK != nil {
		g["topK"] = *r.TopK
	}
	for _, name := range []string{"thinkingConfig", "responseMimeType", "responseSchema", "responseModalities", "mediaResolution", "seed", "stopSequences"} {
		if v, ok := r.Options[name]; ok {
			g[name] = v
		}
	}
	return g
}

// contents converts the history; turns of one side that follow each other are one.
func contents(messages []model.Message) []wireContent {
	out := []wireContent{}
	for _, m := range messages {
		role := "user"
		if m.Role == model.AssistantRole {
			role = "model"
		}
		var parts []wirePart
		for _, c := range m.Content {
			parts = append(parts, encodePart(c)...)
		}
		if len(parts) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
			continue
		}
		out = append(out, wireContent{role, parts})
	}
	return out
}

func encodePart(c model.Content) []wirePart {
	switch c := c.(type) {
	case model.TextContent:
		if c.Text == "" && signature(c.Meta) == "" {
			return nil
		}
		return []wirePart{{Text: &c.Text, ThoughtSignature: signature(c.Meta)}}
	case model.ReasoningContent:
		if c.Text == "" && signature(c.Meta) == "" {
			return nil
		}
		return []wirePart{{Text: &c.Text, Thought: true, ThoughtSignature: signature(c.Meta)}}
	case model.FileContent:
		return []wirePart{encodeFile(c)}
	case model.CallContent:
		if c.Executed {
			return nil // what ran at the provider is in its text
		}
		input := c.Input
		if len(input) == 0 || input[0] != '{' {
			input = json.RawMessage(`{}`)
		}
		return []wirePart{{FunctionCall: &wireCall{Name: c.Name, Args: input}, ThoughtSignature: signature(c.Meta)}}
	case model.ResultContent:
		return encodeResult(c)
	}
	return nil
}

func encodeFile(c model.FileContent) wirePart {
	if c.Data != "" {
		return wirePart{InlineData: &wireBlob{c.Mime, c.Data}}
	}
	return wirePart{FileData: &wireFile{c.Mime, c.URL}}
}

func encodeResult(c model.ResultContent) []wirePart {
	if c.Executed {
		return nil
	}
	key := "output"
	if c.Failed {
		key = "error"
	}
	res := &wireResponse{Name: c.Name, Response: map[string]string{key: c.Text}}
	for _, f := range c.Media {
		res.Parts = append(res.Parts, encodeFile(f))
	}
	return []wirePart{{FunctionResponse: res}}
}

// signature is what the provider wants back with a thought or a call.
func signature(meta model.Meta) string {
	var m struct {
		Google struct{ ThoughtSignature string }
	}
	if len(meta) == 0 || json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Google.ThoughtSignature
}
