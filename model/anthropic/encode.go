package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// encoder writes requests. It keeps the bytes of messages that have a key, so that the
// next request copies its history instead of encoding it again.
type encoder struct{ kept model.Kept }

// defaultMaxTokens is sent when nothing bounds the answer: the protocol demands a bound.
const defaultMaxTokens = 4096

func newEncoder() *encoder { return &encoder{} }

// request encodes the whole body. Equal requests give equal bytes.
func (e *encoder) request(r model.Request) []byte {
	b := append(make([]byte, 0, 16<<10), `{"model":`...)
	b = lathe.AppendJSONString(b, r.Model)
	limit := r.MaxOutput
	if limit <= 0 {
		limit = defaultMaxTokens
	}
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(limit), 10)
	b = append(b, `,"stream":true`...)
	b = appendNumbers(b, r)
	b = appendSystem(b, r)
	b = appendTools(b, r)
	b = e.appendMessages(b, r)
	b = appendOptions(b, r.Options)
	return append(b, '}')
}

func appendNumbers(b []byte, r model.Request) []byte {
	if r.Temperature != nil {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *r.Temperature, 'g', -1, 64)
	}
	if r.TopP != nil {
		b = append(b, `,"top_p":`...)
		b = strconv.AppendFloat(b, *r.TopP, 'g', -1, 64)
	}
	if r.TopK != nil {
		b = append(b, `,"top_k":`...)
		b = strconv.AppendInt(b, int64(*r.TopK), 10)
	}
	return b
}

// cacheControl is the marker of a prompt-cache breakpoint.
func cacheControl(ttl model.CacheTTL) string {
	switch ttl {
	case model.CacheFive:
		return `,"cache_control":{"type":"ephemeral"}`
	case model.CacheHour:
		return `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	default:
		return ""
	}
}

// appendSystem writes the system texts; the first two are cache breakpoints.
func appendSystem(b []byte, r model.Request) []byte {
	n := 0
	for _, text := range r.System {
		if text == "" {
			continue
		}
		if n == 0 {
			b = append(b, `,"system":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"type":"text","text":`...)
		b = lathe.AppendJSONString(b, text)
		if n < 2 {
			b = append(b, cacheControl(r.Cache)...)
		}
		b = append(b, '}')
		n++
	}
	if n > 0 {
		b = append(b, ']')
	}
	return b
}

func appendTools(b []byte, r model.Request) []byte {
	if len(r.Tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i, t := range r.Tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = lathe.AppendJSONString(b, t.Name)
		b = append(b, `,"description":`...)
		b = lathe.AppendJSONString(b, t.Description)
		b = append(b, `,"input_schema":`...)
		if len(t.Schema) == 0 {
			b = append(b, `{"type":"object"}`...)
		}
		b = append(append(b, t.Schema...), '}')
	}
	b = append(b, ']')
	switch r.Choice {
	case "", "auto":
	case "none":
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	case "required":
		b = append(b, `,"tool_choice":{"type":"any"}`...)
	default:
		b = append(b, `,"tool_choice":{"type":"tool","name":`...)
		b = append(lathe.AppendJSONString(b, r.Choice), '}')
	}
	return b
}

// turn is one message of the wire: user and tool messages that follow each other are one.
type turn struct {
	role   string
	blocks [][]byte
}

// appendMessages writes the history; the last two turns are cache breakpoints.
func (e *encoder) appendMessages(b []byte, r model.Request) []byte {
	var turns []turn
	for _, m := range r.Messages {
		role := "user"
		if m.Role == model.AssistantRole {
			role = "assistant"
		}
		blocks := e.blocks(m)
		if len(blocks) == 0 {
			continue
		}
		if n := len(turns); n > 0 && turns[n-1].role == role {
			turns[n-1].blocks = append(turns[n-1].blocks, blocks...)
			continue
		}
		turns = append(turns, turn{role, blocks})
	}
	b = append(b, `,"messages":[`...)
	for i, t := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":"`...)
		b = append(b, t.role...)
		b = append(b, `","content":[`...)
		for j, block := range t.blocks {
			if j > 0 {
				b = append(b, ',')
			}
			last := j == len(t.blocks)-1 && i >= len(turns)-2
			b = appendBlock(b, block, last, r.Cache)
		}
		b = append(b, ']', '}')
	}
	return append(b, ']')
}

// appendBlock writes a block, with a breakpoint if it is one; thoughts cannot be.
func appendBlock(b, block []byte, last bool, ttl model.CacheTTL) []byte {
	marker := cacheControl(ttl)
	if !last || marker == "" || strings.HasPrefix(string(block[:min(len(block), 40)]), `{"type":"thinking"`) ||
		strings.HasPrefix(string(block[:min(len(block), 40)]), `{"type":"redacted_thinking"`) {
		return append(b, block...)
	}
	b = append(b, block[:len(block)-1]...)
	b = append(b, marker...)
	return append(b, '}')
}

// blocks encodes a message, or takes the bytes made of it before.
func (e *encoder) blocks(m model.Message) [][]byte {
	if m.Key == "" {
		return encodeBlocks(m)
	}
	return splitBlocks(e.kept.Get(m.Key, func() []byte { return slices.Concat(encodeBlocks(m)...) }))
}

// splitBlocks cuts objects that stand side by side.
func splitBlocks(b []byte) (out [][]byte) {
	depth, start, inString := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				out = append(out, b[start:i+1])
				start = i + 1
			}
		}
	}
	return out
}

func encodeBlocks(m model.Message) (out [][]byte) {
	for _, c := range m.Content {
		if b := encodeContent(c); b != nil {
			out = append(out, b)
		}
	}
	return out
}

func encodeContent(c model.Content) []byte {
	switch c := c.(type) {
	case model.TextContent:
		if c.Text == "" {
			return nil // the provider refuses empty texts
		}
		b := lathe.AppendJSONString([]byte(`{"type":"text","text":`), c.Text)
		return append(b, '}')
	case model.ReasoningContent:
		return encodeReasoning(c)
	case model.FileContent:
		return encodeFile(c)
	case model.CallContent:
		return encodeCall(c)
	case model.ResultContent:
		return encodeResult(c)
	}
	return nil
}

// encodeReasoning gives signed thoughts back; unsigned ones the provider would refuse.
func encodeReasoning(c model.ReasoningContent) []byte {
	var meta struct {
		Anthropic struct{ Signature, RedactedData string }
	}
	if json.Unmarshal(c.Meta, &meta) != nil {
		return nil
	}
	switch a := meta.Anthropic; {
	case a.RedactedData != "":
		b := lathe.AppendJSONString([]byte(`{"type":"redacted_thinking","data":`), a.RedactedData)
		return append(b, '}')
	case a.Signature != "":
		b := lathe.AppendJSONString([]byte(`{"type":"thinking","thinking":`), c.Text)
		b = lathe.AppendJSONString(append(b, `,"signature":`...), a.Signature)
		return append(b, '}')
	}
	return nil
}

func encodeFile(c model.FileContent) []byte {
	kind := "image"
	if c.Mime == "application/pdf" {
		kind = "document"
	}
	if !strings.HasPrefix(c.Mime, "image/") && kind != "document" {
		b := lathe.AppendJSONString([]byte(`{"type":"text","text":`), "[a file of type "+c.Mime+" that cannot be shown: "+c.Name+"]")
		return append(b, '}')
	}
	b := append([]byte(`{"type":"`), kind...)
	if c.Data == "" {
		b = lathe.AppendJSONString(append(b, `","source":{"type":"url","url":`...), c.URL)
		return append(b, '}', '}')
	}
	b = lathe.AppendJSONString(append(b, `","source":{"type":"base64","media_type":`...), c.Mime)
	b = lathe.AppendJSONString(append(b, `,"data":`...), c.Data)
	return append(b, '}', '}')
}

func encodeCall(c model.CallContent) []byte {
	kind := "tool_use"
	if c.Executed {
		kind = "server_tool_use"
	}
	b := lathe.AppendJSONString(append(append([]byte(`{"type":"`), kind...), `","id":`...), callID(c.ID))
	b = lathe.AppendJSONString(append(b, `,"name":`...), c.Name)
	b = append(b, `,"input":`...)
	if len(c.Input) == 0 || c.Input[0] != '{' {
		b = append(b, '{', '}')
	} else {
		b = append(b, c.Input...)
	}
	return append(b, '}')
}

func encodeResult(c model.ResultContent) []byte {
	if c.Executed {
		return encodeExecuted(c)
	}
	b := lathe.AppendJSONString([]byte(`{"type":"tool_result","tool_use_id":`), callID(c.ID))
	if c.Failed {
		b = append(b, `,"is_error":true`...)
	}
	b = append(b, `,"content":[`...)
	n := 0
	if c.Text != "" {
		b = append(lathe.AppendJSONString(append(b, `{"type":"text","text":`...), c.Text), '}')
		n++
	}
	for _, f := range c.Media {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, encodeFile(f)...)
		n++
	}
	return append(b, ']', '}')
}

// encodeExecuted gives back the result of a call that the provider ran.
func encodeExecuted(c model.ResultContent) []byte {
	var meta struct {
		Anthropic struct{ Type string }
	}
	_ = json.Unmarshal(c.Meta, &meta)
	kind := strings.TrimSuffix(meta.Anthropic.Type, "_tool_result")
	if kind == "" || kind == "server_tool_use" {
		kind = c.Name
	}
	b := lathe.AppendJSONString([]byte(`{"type":`), kind+"_tool_result")
	b = lathe.AppendJSONString(append(b, `,"tool_use_id":`...), callID(c.ID))
	b = append(b, `,"content":`...)
	if json.Valid([]byte(c.Text)) {
		b = append(b, c.Text...)
	} else {
		b = lathe.AppendJSONString(b, c.Text)
	}
	return append(b, '}')
}

// callID makes an id of another provider one that this one takes.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
}

// appendOptions adds the provider's own options in the words of its wire, sorted.
func appendOptions(b []byte, options map[string]json.RawMessage) []byte {
	names := make([]string, 0, len(options))
	for k := range options {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		v := options[k]
		switch k {
		case "thinking":
			v = renameBudget(v)
			b = append(append(b, `,"thinking":`...), v...)
		case "effort":
			b = append(append(append(b, `,"output_config":{"effort":`...), v...), '}')
		case "metadata", "service_tier", "stop_sequences", "context_management", "container", "mcp_servers", "output_config":
			b = append(lathe.AppendJSONString(append(b, ','), k), ':')
			b = append(b, v...)
		default: // options of the client library, not of the wire
		}
	}
	return b
}

// renameBudget writes budgetTokens the way the wire does.
func renameBudget(v json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.Replace(string(v), `"budgetTokens"`, `"budget_tokens"`, 1))
}
