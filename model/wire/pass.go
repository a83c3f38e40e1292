package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/model"
)

// Rules of model families and their servers for a conversation, in any protocol.

// IsMistral reports whether a model is of the family that takes only short ids of calls and no
// user right after a tool.
func IsMistral(id string) bool {
	id = strings.ToLower(id)
	return slices.ContainsFunc([]string{"mistral", "devstral", "codestral", "pixtral", "mixtral"}, func(name string) bool {
		return strings.Contains(id, name)
	})
}

// SeparateResults puts an assistant message between the results of tools and a user message
// right after them.
func SeparateResults(messages []model.Message) []model.Message {
	out := make([]model.Message, 0, len(messages))
	for i, m := range messages {
		if i > 0 && m.Role == model.UserRole && messages[i-1].Role == model.ToolRole {
			out = append(out, model.Message{Role: model.AssistantRole, Content: []model.Content{model.TextContent{Text: "Done."}}})
		}
		out = append(out, m)
	}
	return out
}

// DedupeCallIDs gives a call another id whose own an earlier one had, and its result with it.
// Servers of Claude refuse a history in which two calls have one, and servers of other models
// restart their ids with each answer. Ids are compared as [PlainCallID] leaves them. Valid ids
// stay as they are.
func DedupeCallIDs(messages []model.Message) []model.Message {
	ids := callIDs{taken: map[string]bool{}, now: map[string]string{}}
	var out []model.Message
	for i, m := range messages {
		var changed []model.Content
		for j, c := range m.Content {
			c = ids.unique(c)
			if changed == nil && !sameCall(c, m.Content[j]) {
				changed = slices.Clone(m.Content)
			}
			if changed != nil {
				changed[j] = c
			}
		}
		if changed == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(messages)
		}
		out[i].Content, out[i].Key = changed, "" // cached by content: the position is part of it
	}
	if out == nil {
		return messages
	}
	return out
}

// callIDs are the ids so far, and what the last call of an id is called.
type callIDs struct {
	taken map[string]bool
	now   map[string]string
}

// unique gives a call or a result its id.
func (ids callIDs) unique(c model.Content) model.Content {
	switch was := c.(type) {
	case model.CallContent:
		id := was.ID
		for n := 2; ids.taken[PlainCallID(id)]; n++ {
			id = was.ID + "_" + strconv.Itoa(n)
		}
		ids.taken[PlainCallID(id)], ids.now[was.ID] = true, id
		was.ID = id
		return was
	case model.ResultContent:
		if id, ok := ids.now[was.ID]; ok {
			was.ID = id
			return was
		}
	default: // has no id
	}
	return c
}

// sameCall reports whether a call or a result has its original id.
func sameCall(a, b model.Content) bool {
	switch a := a.(type) {
	case model.CallContent:
		return a.ID == b.(model.CallContent).ID
	case model.ResultContent:
		return a.ID == b.(model.ResultContent).ID
	default:
		return true
	}
}

// HasCalls reports whether a history holds calls of tools.
func HasCalls(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Content, func(c model.Content) bool {
			call, ok := c.(model.CallContent)
			return ok && !call.Executed
		})
	})
}

// Noop is a tool for requests without tools to servers that refuse such with calls in their
// history.
func Noop() model.Tool {
	return model.Tool{Name: "_noop", Description: "Does nothing. Never call it.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// ObjectSchema makes a tool's schema one that the servers of Claude take: of an object, and
// without alternatives at its top.
func ObjectSchema(schema json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || s == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	right := string(s["type"]) == `"object"`
	for _, name := range []string{"oneOf", "anyOf", "allOf"} {
		if _, has := s[name]; has {
			delete(s, name)
			right = false
		}
	}
	if right {
		return schema
	}
	s["type"] = json.RawMessage(`"object"`)
	b, _ := json.Marshal(s) // a decoded value always encodes
	return b
}

// InputObject is that of a call as the object that wires want; what is none becomes an empty one.
func InputObject(c model.CallContent) json.RawMessage {
	if raw := bytes.TrimSpace(c.Input); len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	return json.RawMessage(`{}`)
}

// PlainCallID makes an id one that the Claude family accepts on any provider: every character
// but letters, digits, _ and - becomes _.
func PlainCallID(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || isAlphanumeric(r) {
			return r
		}
		return '_'
	}, id)
}

// ShortCallID makes an id one that the Mistral family takes: nine letters or digits, the first
// ones of the id, filled up with 0. Ids with a common prefix differ in their end.
func ShortCallID(id string) string {
	id = strings.Map(func(r rune) rune {
		if isAlphanumeric(r) {
			return r
		}
		return -1
	}, id)
	if len(id) < 9 {
		return id + strings.Repeat("0", 9-len(id))
	}
	for _, common := range []string{"chatcmpl", "functions", "call01"} {
		if strings.HasPrefix(id, common) {
			return id[len(id)-9:]
		}
	}
	return id[:9]
}

// isAlphanumeric reports whether r is one of the letters and digits that all wires know.
func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// EachOption calls f with the options of a request that are for the wire, sorted by name. Those
// for the client are left out, and so is what is no JSON.
func EachOption(options map[string]json.RawMessage, f func(name string, value json.RawMessage)) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if value := options[name]; !isClientOption(name) && json.Valid(value) {
			f(name, value)
		}
	}
}

// isClientOption reports whether an option is for the client and not for the server, or is a
// member that a request has from its conversation.
func isClientOption(name string) bool {
	return slices.Contains([]string{
		"apiKey", "baseURL", "endpoint", "headers", "fetch", "name", "timeout", "headerTimeout", "chunkTimeout", "setCacheKey", "includeUsage",
		"enterpriseUrl", "resourceName", "apiVersion", "useDeploymentBasedUrls", "useCompletionUrls", "strictJsonSchema", "structuredOutputs",
		"litellmProxy", "region", "profile", "project", "location", "accessKeyId", "secretAccessKey", "sessionToken",
		"model", "messages", "input", "stream", "tools", "system", "contents",
	}, name)
}
