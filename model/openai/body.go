package openai

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// body is the ordered list of members of a request. Options of the config may replace or remove
// ours: their author knows the server.
type body struct{ wire.Members }

// set adds or replaces a member; null takes it away.
func (f *body) set(name string, value []byte) {
	if string(value) == "null" {
		f.Drop(name)
		return
	}
	f.Set(name, value)
}

// wireName is the wire's name for an option that the config has under the name of a client
// library. Other names go as they are.
func wireName(name string) string {
	if !slices.Contains([]string{
		"serviceTier", "parallelToolCalls", "promptCacheKey", "promptCacheRetention", "safetyIdentifier", "maxCompletionTokens", "logitBias",
		"topLogprobs", "previousResponseId", "maxToolCalls", "frequencyPenalty", "presencePenalty",
	}, name) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// choice is the tool_choice of a request, nil if it needs none. named gives the form for a
// tool that must be called.
func (d Dialect) choice(r model.Request, named func(name []byte) []byte) []byte {
	if len(r.Tools) == 0 {
		return nil
	}
	switch r.Choice {
	case "", "auto":
		return nil
	case "none":
		return []byte(`"none"`)
	case "required":
		return lathe.AppendJSONString(nil, or(d.Required, "required"))
	default:
		return named(lathe.AppendJSONString(nil, r.Choice))
	}
}

// setTools adds the tools and the choice among them. named gives the form for a tool that must
// be called.
func (d Dialect) setTools(f *body, r model.Request, tools []byte, named func(name []byte) []byte) {
	if tools == nil {
		f.set("parallel_tool_calls", []byte("null")) // servers refuse it without tools
		return
	}
	f.set("tools", tools)
	if choice := d.choice(r, named); choice != nil {
		f.set("tool_choice", choice)
	}
}

// tools encodes the tools as a list, nil if there are none.
func (d Dialect) tools(cache *wire.Cache, r model.Request, encode func(t model.Tool) []byte) []byte {
	if len(r.Tools) == 0 && d.Noop && wire.HasCalls(r.Messages) {
		r.Tools = []model.Tool{wire.Noop()}
	}
	if len(r.Tools) == 0 {
		return nil
	}
	return append(append([]byte{'['}, cache.Tools(r.Tools, encode)...), ']')
}

// function encodes the members that a tool has in both protocols.
func (d Dialect) function(b []byte, t model.Tool) []byte {
	b = lathe.AppendJSONString(append(b, `"name":`...), t.Name)
	b = lathe.AppendJSONString(append(b, `,"description":`...), t.Description)
	b = append(append(b, `,"parameters":`...), cleanSchema(t.Schema)...)
	return b
}
