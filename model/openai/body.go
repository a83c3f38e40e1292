package openai

import (
	"math"
	"slices"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// body is the members of a request, in order. Options of settings may replace those of ours,
// or take them away: they were written by someone who knows the server.
type body struct {
	names  []string
	values [][]byte
}

// set adds or replaces a member; null takes it away.
func (f *body) set(name string, value []byte) {
	i := slices.Index(f.names, name)
	switch null := string(value) == "null"; {
	case null && i >= 0:
		f.names, f.values = slices.Delete(f.names, i, i+1), slices.Delete(f.values, i, i+1)
	case null:
	case i >= 0:
		f.values[i] = value
	default:
		f.names, f.values = append(f.names, name), append(f.values, value)
	}
}

func (f *body) setString(name, value string) { f.set(name, lathe.AppendJSONString(nil, value)) }

func (f *body) setInt(name string, value int) { f.set(name, strconv.AppendInt(nil, int64(value), 10)) }

func (f *body) setFloat(name string, value *float64) {
	if value != nil && !math.IsNaN(*value) && !math.IsInf(*value, 0) {
		f.set(name, strconv.AppendFloat(nil, *value, 'g', -1, 64))
	}
}

// append writes the members, without the braces around them, each with a comma after it.
func (f *body) append(b []byte) []byte {
	for i, name := range f.names {
		b = append(lathe.AppendJSONString(b, name), ':')
		b = append(append(b, f.values[i]...), ',')
	}
	return b
}

// wireName is what the wire calls an option that settings have under the name of a client
// library. Other names go as they are.
func wireName(name string) string {
	switch name {
	case "serviceTier":
		return "service_tier"
	case "parallelToolCalls":
		return "parallel_tool_calls"
	case "promptCacheKey":
		return "prompt_cache_key"
	case "promptCacheRetention":
		return "prompt_cache_retention"
	case "safetyIdentifier":
		return "safety_identifier"
	case "maxCompletionTokens":
		return "max_completion_tokens"
	case "logitBias":
		return "logit_bias"
	case "topLogprobs":
		return "top_logprobs"
	case "previousResponseId":
		return "previous_response_id"
	case "maxToolCalls":
		return "max_tool_calls"
	case "frequencyPenalty":
		return "frequency_penalty"
	case "presencePenalty":
		return "presence_penalty"
	}
	return name
}

// choice is the tool_choice of a request, nil if it needs none. named gives the form for a
// tool that must be called.
func (d Dialect) choice(r model.Request, named func(name []byte) []byte) []byte {
	if len(r.Tools) == 0 || d.NoChoice {
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

// tools encodes the tools as a list, nil if there are none. Where a choice cannot be told,
// no tool is offered if none may be called.
func (d Dialect) tools(kept *wire.Kept, r model.Request, encode func(t model.Tool) []byte) []byte {
	if len(r.Tools) == 0 && d.Noop && wire.HasCalls(r.Messages) {
		r.Tools = []model.Tool{wire.Noop()}
	}
	if len(r.Tools) == 0 || d.NoChoice && r.Choice == "none" {
		return nil
	}
	return append(append([]byte{'['}, kept.Tools(r.Tools, encode)...), ']')
}

// function encodes the members that a tool has in both protocols.
func (d Dialect) function(b []byte, t model.Tool) []byte {
	b = lathe.AppendJSONString(append(b, `"name":`...), t.Name)
	b = lathe.AppendJSONString(append(b, `,"description":`...), t.Description)
	b = append(append(b, `,"parameters":`...), cleanSchema(t.Schema, d.Schema)...)
	return b
}
