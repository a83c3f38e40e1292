package gemini

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// encoder writes requests. It keeps the bytes of messages and tools, so that the next request
// copies its history instead of encoding it again.
type encoder struct{ cache wire.Cache }

// request encodes the whole body. Equal requests give equal bytes, and one with a longer history
// begins with the same: the contents stand last.
func (e *encoder) request(r model.Request) []byte {
	w, variant := writer{}, ""
	if strings.Contains(strings.ToLower(r.Model), "gemini-3") {
		w.unsigned, variant = anySignature, "3"
	}
	b := append(make([]byte, 0, 16<<10), '{')
	if system := strings.TrimSpace(strings.Join(r.System, "\n")); system != "" {
		b = lathe.AppendJSONString(append(b, `"systemInstruction":{"parts":[{"text":`...), system)
		b = append(b, `}]},`...)
	}
	b = e.appendTools(b, r)
	b = appendGeneration(b, r)
	for _, name := range []string{"safetySettings", "cachedContent", "labels"} {
		if v := r.Options[name]; len(v) > 0 && json.Valid(v) {
			b = append(append(append(b, '"'), name...), `":`...)
			b = append(append(b, v...), ',')
		}
	}
	turns := e.cache.Turns(variant, r.Messages, w.message)
	b = wire.Join(append(b, `"contents":[`...), turns, func(b []byte, t wire.Turn) []byte {
		if t.Role == model.AssistantRole {
			return append(b, `{"role":"model","parts":[`...)
		}
		return append(b, `{"role":"user","parts":[`...)
	}, func(b []byte, _ int) []byte { return append(b, ']', '}') })
	return append(b, ']', '}')
}

// appendTools writes the tools and the tool choice. Encoded tools are cached between requests.
func (e *encoder) appendTools(b []byte, r model.Request) []byte {
	if len(r.Tools) == 0 {
		return b
	}
	b = append(b, `"tools":[{"functionDeclarations":[`...)
	b = append(b, e.cache.Tools(r.Tools, encodeTool)...)
	b = append(b, `]}],`...)
	switch r.Choice {
	case "", "auto":
		return b
	case "none":
		return append(b, `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},`...)
	case "required":
		return append(b, `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},`...)
	default:
		b = append(b, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[`...)
		return append(lathe.AppendJSONString(b, r.Choice), `]}},`...)
	}
}

func encodeTool(t model.Tool) []byte {
	b := lathe.AppendJSONString([]byte(`{"name":`), t.Name)
	b = lathe.AppendJSONString(append(b, `,"description":`...), t.Description)
	if schema := cleanSchema(t.Schema); schema != nil {
		b = append(append(b, `,"parameters":`...), schema...)
	}
	return append(b, '}')
}

// appendGeneration writes the numbers and the options that belong to them.
func appendGeneration(b []byte, r model.Request) []byte {
	var in wire.Members
	if r.MaxOutput > 0 {
		in.SetInt("maxOutputTokens", r.MaxOutput)
	}
	in.SetFloat("temperature", r.Temperature)
	in.SetFloat("topP", r.TopP)
	if r.TopK != nil {
		in.SetInt("topK", *r.TopK)
	}
	for _, name := range []string{"thinkingConfig", "responseMimeType", "responseSchema", "responseModalities", "mediaResolution", "seed", "stopSequences"} {
		if v := r.Options[name]; len(v) > 0 && json.Valid(v) {
			in.Set(name, v)
		}
	}
	if in.IsEmpty() {
		return b
	}
	return append(append(append(b, `"generationConfig":`...), in.Object()...), ',')
}

// anySignature is a placeholder that the provider accepts as the signature of another model's
// call: its later models refuse calls without one.
const anySignature = "skip_thought_signature_validator"

// writer encodes messages for one model.
type writer struct {
	unsigned string // the signature of a message's first call when it has none
}

func (w writer) message(m model.Message) []byte {
	return wire.EncodeEach(m, func(b []byte, c model.Content) []byte {
		b = w.content(b, c)
		if call, ok := c.(model.CallContent); ok && !call.Executed {
			w.unsigned = "" // the others of a step need none
		}
		return b
	})
}

// content writes a part, or nothing where there is nothing to say: what ran at the provider is
// in its text.
func (w writer) content(b []byte, c model.Content) []byte {
	switch c := c.(type) {
	case model.TextContent:
		return appendText(b, c.Text, "", signature(c.Meta))
	case model.ReasoningContent:
		return appendText(b, c.Text, `,"thought":true`, signature(c.Meta))
	case model.FileContent:
		return appendFile(b, c)
	case model.CallContent:
		if c.Executed {
			return b
		}
		b = lathe.AppendJSONString(append(b, `{"functionCall":{"name":`...), c.Name)
		b = append(append(append(b, `,"args":`...), wire.InputObject(c)...), '}')
		return append(appendSignature(b, cmp.Or(signature(c.Meta), w.unsigned)), '}')
	case model.ResultContent:
		return appendResult(b, c)
	}
	return b
}

func appendText(b []byte, text, mark, signature string) []byte {
	if text == "" && signature == "" {
		return b
	}
	b = lathe.AppendJSONString(append(b, `{"text":`...), text)
	return append(appendSignature(append(b, mark...), signature), '}')
}

func appendSignature(b []byte, signature string) []byte {
	if signature == "" {
		return b
	}
	return lathe.AppendJSONString(append(b, `,"thoughtSignature":`...), signature)
}

// appendFile writes media; of other files the provider reads those that are text.
func appendFile(b []byte, c model.FileContent) []byte {
	switch {
	case model.Modality(c.Mime) == "":
		words, ok := c.AsText()
		if !ok {
			words = c.UnreadableNotice()
		}
		return appendText(b, words, "", "")
	case c.Data != "":
		b = lathe.AppendJSONString(append(b, `{"inlineData":{"mimeType":`...), c.Mime)
		b = lathe.AppendJSONString(append(b, `,"data":`...), c.Data)
	default:
		b = lathe.AppendJSONString(append(b, `{"fileData":{"mimeType":`...), c.Mime)
		b = lathe.AppendJSONString(append(b, `,"fileUri":`...), c.URL)
	}
	return append(b, '}', '}')
}

// appendResult writes what a tool gave. Files that are text stand with its words: beside them
// only media may.
func appendResult(b []byte, c model.ResultContent) []byte {
	if c.Executed {
		return b
	}
	var media []byte
	for _, f := range c.Media {
		if words, ok := f.AsText(); ok {
			c.Text = strings.TrimPrefix(c.Text+"\n\n"+words, "\n\n")
		} else if model.Modality(f.Mime) != "" {
			media = appendFile(append(media, ','), f)
		}
	}
	key := `,"response":{"output":`
	if c.Failed {
		key = `,"response":{"error":`
	}
	b = lathe.AppendJSONString(append(b, `{"functionResponse":{"name":`...), c.Name)
	b = append(lathe.AppendJSONString(append(b, key...), c.Text), '}')
	if len(media) > 0 {
		b = append(append(append(b, `,"parts":[`...), media[1:]...), ']')
	}
	return append(b, '}', '}')
}

// signature is the data that the provider wants back with a thought or a call.
func signature(meta model.Meta) string {
	var m struct {
		Google struct{ ThoughtSignature string }
	}
	if len(meta) == 0 || json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Google.ThoughtSignature
}
