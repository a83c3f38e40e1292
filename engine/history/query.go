package history

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

func LastAnswer(messages []*Message) *Message {
	for _, h := range slices.Backward(messages) {
		if _, ok := h.Data.(*lathe.Assistant); ok {
			return h
		}
	}
	return nil
}

// Calls lists the calls of messages, oldest first.
func Calls(messages []*Message) (calls []*lathe.ToolCall) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if c, ok := p.Body.(*lathe.ToolCall); ok {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// Canonical writes JSON with its keys sorted and no space, so that inputs that mean the
// same are equal. What is not JSON stays as it is.
func Canonical(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

func InputOf(s lathe.ToolState) json.RawMessage {
	switch s := s.(type) {
	case *lathe.Pending:
		return s.Input
	case *lathe.Running:
		return s.Input
	case *lathe.Completed:
		return s.Input
	case *lathe.Failed:
		return s.Input
	}
	return nil
}

func MetadataOf(s lathe.ToolState) json.RawMessage {
	switch s := s.(type) {
	case *lathe.Running:
		return s.Metadata
	case *lathe.Completed:
		return s.Metadata
	case *lathe.Failed:
		return s.Metadata
	default:
		return nil
	}
}

// HasMark reports whether metadata has a member that is true.
func HasMark(meta json.RawMessage, key string) bool {
	var m map[string]json.RawMessage
	return len(meta) > 0 && json.Unmarshal(meta, &m) == nil && string(m[key]) == "true"
}

// WithMark adds a member to metadata.
func WithMark(meta json.RawMessage, key string) json.RawMessage {
	return WithMember(meta, key, json.RawMessage("true"))
}

func WithMember(meta json.RawMessage, key string, val json.RawMessage) json.RawMessage {
	m := map[string]json.RawMessage{}
	if len(meta) > 0 {
		_ = json.Unmarshal(meta, &m) // metadata that is no object is replaced
	}
	m[key] = val
	out, err := json.Marshal(m)
	if err != nil {
		return meta
	}
	return out
}

// Answers lists the answers among messages.
func Answers(messages []*Message) (out []*Message) {
	for _, h := range messages {
		if _, ok := h.Data.(*lathe.Assistant); ok {
			out = append(out, h)
		}
	}
	return out
}

// IsSynthetic reports whether all parts were written by the engine.
func IsSynthetic(parts []lathe.Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p lathe.Part) bool {
		t, ok := p.Body.(*lathe.Text)
		return !ok || !t.Synthetic.On()
	})
}

func Tasks(h *Message) (out []lathe.Part) {
	for _, p := range h.Parts {
		if _, ok := p.Body.(*lathe.Subtask); ok {
			out = append(out, p)
		}
	}
	return out
}

// LastExchange is the index of the user's last message.
func LastExchange(messages []*Message) int {
	for i, h := range slices.Backward(messages) {
		if IsUserPrompt(h) {
			return i
		}
	}
	return 0
}

// LastUser is the newest prompt; a request to compress is one only where there is no other.
func LastUser(messages []*Message) (last *Message) {
	for i := len(messages) - 1; i >= 0; i-- {
		if _, ok := messages[i].Data.(*lathe.User); !ok {
			continue
		}
		if CompactionOf(messages[i]) == nil {
			return messages[i]
		}
		if last == nil {
			last = messages[i]
		}
	}
	return last
}

// Size is how long messages are: their texts in bytes, their media in tokens.
func Size(messages []model.Message) (size, media int) {
	for _, m := range messages {
		for _, c := range m.Content {
			switch c := c.(type) {
			case model.TextContent:
				size += len(c.Text)
			case model.ReasoningContent:
				size += len(c.Text)
			case model.FileContent:
				media += tokensOf(c)
			case model.CallContent:
				size += len(c.Name) + len(c.Input)
			case model.ResultContent:
				size += len(c.Text)
				for _, f := range c.Media {
					media += tokensOf(f)
				}
			}
		}
	}
	return size, media
}

func tokensOf(f model.FileContent) int {
	if strings.HasPrefix(f.Mime, "image/") {
		return mediaTokens
	}
	return max(mediaTokens, len(f.Data)/mediaBytesPerToken)
}

// mediaTokens is the estimate for an image; documents have many pages.
const mediaTokens, mediaBytesPerToken = 2000, 30

// PartsFrom returns the parts from the one named on.
func PartsFrom(parts []lathe.Part, id lathe.PartID) []lathe.Part {
	if i := slices.IndexFunc(parts, func(p lathe.Part) bool { return p.ID == id }); i >= 0 {
		return parts[i:]
	}
	return nil
}
