package bedrock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// writer encodes messages for the models of one maker.
type writer struct{ callID func(id string) string }

// maxCallID is how long an id of a call may be.
const maxCallID = 64

// callID makes an id of another provider one that this one takes. It depends on nothing but
// the id, so that a call and its result keep together.
func callID(id string) string {
	plain := wire.PlainCallID(id)
	if len(plain) <= maxCallID {
		return plain
	}
	sum := strconv.FormatUint(hash(id), 36)
	return plain[:maxCallID-len(sum)-1] + "_" + sum
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // it takes everything
	return h.Sum64()
}

// message encodes the content of a message. A document is refused without words beside it.
func (w writer) message(m model.Message) []byte {
	words, document := false, false
	b := wire.EncodeEach(m, func(b []byte, c model.Content) []byte {
		start := len(b)
		b = w.content(b, c)
		_, isText := c.(model.TextContent)
		words = words || isText && len(b) > start
		document = document || bytes.HasPrefix(b[start:], []byte(`{"document"`))
		return b
	})
	if document && !words {
		b = appendText(append(b, ','), "The document is attached.")
	}
	return b
}

// content writes a block, or nothing where the service takes none: blank texts, and thoughts
// that are not signed.
func (w writer) content(b []byte, c model.Content) []byte {
	switch c := c.(type) {
	case model.TextContent:
		if strings.TrimSpace(c.Text) == "" {
			return b
		}
		return appendText(b, c.Text)
	case model.ReasoningContent:
		return appendReasoning(b, c)
	case model.FileContent:
		return appendFile(b, c)
	case model.CallContent:
		if c.Executed {
			return b // the text already has the results of provider tools
		}
		b = lathe.AppendJSONString(append(b, `{"toolUse":{"toolUseId":`...), w.callID(c.ID))
		b = lathe.AppendJSONString(append(b, `,"name":`...), c.Name)
		b = append(append(b, `,"input":`...), wire.InputObject(c)...)
		return append(b, '}', '}')
	case model.ResultContent:
		if !c.Executed {
			b = w.result(b, c)
		}
		return b
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(lathe.AppendJSONString(append(b, `{"text":`...), text), '}')
}

func appendReasoning(b []byte, c model.ReasoningContent) []byte {
	var meta struct {
		Bedrock, Anthropic struct{ Signature, RedactedData string }
	}
	if json.Unmarshal(c.Meta, &meta) != nil {
		return b
	}
	signed := meta.Bedrock
	if signed.Signature == "" && signed.RedactedData == "" {
		signed = meta.Anthropic // a history of the same model from another provider
	}
	switch {
	case signed.RedactedData != "":
		b = lathe.AppendJSONString(append(b, `{"reasoningContent":{"redactedContent":`...), signed.RedactedData)
		return append(b, '}', '}')
	case signed.Signature != "":
		b = lathe.AppendJSONString(append(b, `{"reasoningContent":{"reasoningText":{"text":`...), c.Text)
		b = lathe.AppendJSONString(append(b, `,"signature":`...), signed.Signature)
		return append(b, '}', '}', '}')
	}
	return b
}

// appendFile writes media with their bytes: the service reads no addresses.
func appendFile(b []byte, c model.FileContent) []byte {
	kind, format := formOf(c.Mime)
	if kind == "" || c.Data == "" {
		if words, ok := c.AsText(); ok && strings.TrimSpace(words) != "" {
			return appendText(b, words)
		}
		return appendText(b, c.UnreadableNotice())
	}
	b = append(append(append(b, `{"`...), kind...), `":{"format":"`...)
	b = append(append(b, format...), '"')
	if kind == "document" {
		b = lathe.AppendJSONString(append(b, `,"name":`...), documentName(c))
	}
	b = lathe.AppendJSONString(append(b, `,"source":{"bytes":`...), c.Data)
	return append(b, '}', '}', '}')
}

// formOf is how the service names media of a type.
func formOf(mime string) (kind, format string) {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return "image", strings.TrimPrefix(mime, "image/")
	case "application/pdf":
		return "document", "pdf"
	case "video/mp4", "video/webm", "video/mpeg":
		return "video", strings.TrimPrefix(mime, "video/")
	case "video/quicktime":
		return "video", "mov"
	}
	return "", ""
}

// documentName is a name of the few characters that the service allows, with the sum of the
// document after it: no two may have the same.
func documentName(c model.FileContent) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return ' '
	}, strings.TrimSuffix(c.Name, ".pdf"))
	name = cmp.Or(strings.Join(strings.Fields(name), " "), "document")
	return name[:min(len(name), 100)] + " " + strconv.FormatUint(hash(c.Data), 36)
}

// result writes what a tool gave; the service wants words.
func (w writer) result(b []byte, c model.ResultContent) []byte {
	b = lathe.AppendJSONString(append(b, `{"toolResult":{"toolUseId":`...), w.callID(c.ID))
	if c.Failed {
		b = append(b, `,"status":"error"`...)
	}
	b = append(b, `,"content":[`...)
	text := c.Text
	if strings.TrimSpace(text) == "" && len(c.Media) == 0 {
		text = "(no output)"
	}
	n := 0
	if strings.TrimSpace(text) != "" {
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
	return append(b, ']', '}', '}')
}
