package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

func encodeMessage(m model.Message) []byte { return wire.EncodeEach(m, appendContent) }

// appendContent writes a block, or nothing where the provider takes none: empty texts, and
// thoughts that are not signed.
func appendContent(b []byte, c model.Content) []byte {
	switch c := c.(type) {
	case model.TextContent:
		if c.Text == "" {
			return b
		}
		return appendText(b, c.Text)
	case model.ReasoningContent:
		return appendReasoning(b, c)
	case model.FileContent:
		return appendFile(b, c)
	case model.CallContent:
		return appendCall(b, c)
	case model.ResultContent:
		return appendResult(b, c)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(lathe.AppendJSONString(append(b, `{"type":"text","text":`...), text), '}')
}

func appendReasoning(b []byte, c model.ReasoningContent) []byte {
	var meta struct {
		Anthropic struct{ Signature, RedactedData string }
	}
	if json.Unmarshal(c.Meta, &meta) != nil {
		return b
	}
	switch a := meta.Anthropic; {
	case a.RedactedData != "":
		b = lathe.AppendJSONString(append(b, `{"type":"redacted_thinking","data":`...), a.RedactedData)
		return append(b, '}')
	case a.Signature != "":
		b = lathe.AppendJSONString(append(b, `{"type":"thinking","thinking":`...), c.Text)
		b = lathe.AppendJSONString(append(b, `,"signature":`...), a.Signature)
		return append(b, '}')
	}
	return b
}

// appendFile writes an image or a document, inline or by URL.
func appendFile(b []byte, c model.FileContent) []byte {
	kind := ""
	switch c.Mime {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		kind = "image"
	case "application/pdf":
		kind = "document"
	default:
		if words, ok := c.AsText(); ok {
			return appendText(b, words)
		}
		return appendText(b, c.UnreadableNotice())
	}
	b = append(append(b, `{"type":"`...), kind...)
	if c.Data == "" {
		b = lathe.AppendJSONString(append(b, `","source":{"type":"url","url":`...), c.URL)
	} else {
		b = lathe.AppendJSONString(append(b, `","source":{"type":"base64","media_type":`...), c.Mime)
		b = lathe.AppendJSONString(append(b, `,"data":`...), c.Data)
	}
	b = append(b, '}')
	if kind == "document" && c.Name != "" {
		b = lathe.AppendJSONString(append(b, `,"title":`...), c.Name)
	}
	return append(b, '}')
}

func appendCall(b []byte, c model.CallContent) []byte {
	kind := "tool_use"
	if c.Executed {
		kind = "server_tool_use"
	}
	b = append(append(append(b, `{"type":"`...), kind...), `","id":`...)
	b = lathe.AppendJSONString(b, wire.PlainCallID(c.ID))
	b = lathe.AppendJSONString(append(b, `,"name":`...), c.Name)
	b = append(b, `,"input":`...)
	return append(append(b, wire.InputObject(c)...), '}')
}

// appendResult writes the result of a tool call, with its images.
func appendResult(b []byte, c model.ResultContent) []byte {
	if c.Executed {
		return appendExecuted(b, c)
	}
	b = lathe.AppendJSONString(append(b, `{"type":"tool_result","tool_use_id":`...), wire.PlainCallID(c.ID))
	if c.Failed {
		b = append(b, `,"is_error":true`...)
	}
	b = append(b, `,"content":[`...)
	text, n := c.Text, 0
	if c.Failed && len(c.Media) == 0 && strings.TrimSpace(text) == "" {
		text = "(no output)" // a failure without a word is refused, and every request after it
	}
	if text != "" {
		b = appendText(b, text)
		n++
	}
	for _, f := range c.Media {
		if n > 0 {
			b = append(b, ',')
		}
		b = appendFile(b, f)
		n++
	}
	return append(b, ']', '}')
}

// appendExecuted gives back the result of a call that the provider ran.
func appendExecuted(b []byte, c model.ResultContent) []byte {
	var meta struct {
		Anthropic struct{ Type string }
	}
	_ = json.Unmarshal(c.Meta, &meta) // without a type the name tells it
	kind := strings.TrimSuffix(meta.Anthropic.Type, "_tool_result")
	if kind == "" || kind == "server_tool_use" {
		kind = c.Name
	}
	b = lathe.AppendJSONString(append(b, `{"type":`...), kind+"_tool_result")
	b = lathe.AppendJSONString(append(b, `,"tool_use_id":`...), wire.PlainCallID(c.ID))
	b = append(b, `,"content":`...)
	if json.Valid([]byte(c.Text)) {
		b = append(b, c.Text...)
	} else {
		b = lathe.AppendJSONString(b, c.Text)
	}
	return append(b, '}')
}
