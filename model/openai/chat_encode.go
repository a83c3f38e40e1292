package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// chatEncoder writes requests. It keeps the bytes of messages, so that the next request copies
// its history instead of encoding it again.
type chatEncoder struct {
	dialect Dialect
	cache   wire.Cache
}

// request encodes the whole body. Equal requests give equal bytes, and a longer
// history starts with the bytes of a shorter one: the messages stand last.
func (e *chatEncoder) request(r model.Request) []byte {
	d := e.dialect
	var f body
	f.SetString("model", r.Model)
	f.set("stream", []byte("true"))
	if !d.NoUsage {
		f.set("stream_options", []byte(`{"include_usage":true}`))
	}
	if r.MaxOutput > 0 {
		f.SetInt(or(d.MaxTokens, "max_tokens"), r.MaxOutput)
	}
	f.SetFloat("temperature", r.Temperature)
	f.SetFloat("top_p", r.TopP)
	tools := d.tools(&e.cache, r, e.tool)
	d.chatOptions(&f, r.Options)
	d.setTools(&f, r, tools, func(name []byte) []byte {
		return slices.Concat([]byte(`{"type":"function","function":{"name":`), name, []byte("}}"))
	})
	return assemble(&f, "messages", e.messages(r))
}

// assemble writes a body whose last member is a list of pieces.
func assemble(f *body, name string, pieces [][]byte) []byte {
	head := append(append(f.Append([]byte{'{'}), '"'), name...)
	size := len(head) + len(pieces) + 8
	for _, p := range pieces {
		size += len(p)
	}
	b := append(append(make([]byte, 0, size), head...), `":[`...)
	for i, p := range pieces {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, p...)
	}
	return append(b, ']', '}')
}

func (e *chatEncoder) tool(t model.Tool) []byte {
	b := e.dialect.function([]byte(`{"type":"function","function":{`), t)
	return append(b, '}', '}')
}

// chatOptions adds the options of the config in the words of the wire.
func (d Dialect) chatOptions(f *body, options map[string]json.RawMessage) {
	wire.EachOption(options, func(name string, value json.RawMessage) {
		switch name {
		case "reasoningEffort":
			if d.Effort == "" {
				f.set("reasoning_effort", value)
			} else if _, own := options[d.Effort]; !own {
				f.set(d.Effort, slices.Concat([]byte(`{"effort":`), value, []byte{'}'}))
			}
		case "textVerbosity":
			f.set("verbosity", value)
		case "reasoningSummary", "include": // of the other protocol
		default:
			f.set(wireName(name), value)
		}
	})
}

// messages encodes the conversation, a piece for each message.
func (e *chatEncoder) messages(r model.Request) [][]byte {
	w := chatWriter{dialect: e.dialect, claude: strings.Contains(strings.ToLower(r.Model), "claude")}
	variant := "m"
	if w.claude {
		variant, r.Messages = "c", wire.DedupeCallIDs(r.Messages)
	}
	out := w.system(r)
	if e.dialect.ShortIDs {
		r.Messages = wire.SeparateResults(r.Messages)
	}
	marked := w.lastMarked(r)
	for i, m := range r.Messages {
		var piece []byte
		if ttl := markIf(slices.Contains(marked, i), r.Cache); ttl != "" {
			piece = w.message(m, ttl)
		} else {
			piece = e.cache.Message(variant, m, func() []byte { return w.message(m, "") })
		}
		if len(piece) > 0 {
			out = append(out, piece)
		}
	}
	return out
}

func markIf(yes bool, ttl model.CacheTTL) model.CacheTTL {
	if yes {
		return ttl
	}
	return model.NoCache
}

// chatWriter encodes messages for one model.
type chatWriter struct {
	dialect Dialect
	claude  bool // its ids of calls have fewer characters
}

// lastMarked returns the last two messages that can carry a breakpoint of the prompt cache.
func (w chatWriter) lastMarked(r model.Request) (out []int) {
	if w.dialect.Cache == "" || r.Cache == model.NoCache {
		return nil
	}
	for i := len(r.Messages) - 1; i >= 0 && len(out) < 2; i-- {
		speaks := slices.ContainsFunc(r.Messages[i].Content, func(c model.Content) bool {
			t, isText := c.(model.TextContent)
			return isText && t.Text != ""
		})
		if speaks || r.Messages[i].Role != model.AssistantRole {
			out = append(out, i)
		}
	}
	return out
}

// system encodes the system texts; the first two are breakpoints of the prompt cache.
func (w chatWriter) system(r model.Request) (out [][]byte) {
	texts := slices.DeleteFunc(slices.Clone(r.System), func(s string) bool { return s == "" })
	for i, text := range texts {
		out = append(out, w.plain("system", []part{textPart(text)}, markIf(i < 2, r.Cache)))
	}
	return out
}

// message encodes a message; that of tools becomes one for each result.
func (w chatWriter) message(m model.Message, ttl model.CacheTTL) []byte {
	switch m.Role {
	case model.AssistantRole:
		return w.assistant(m, ttl)
	case model.ToolRole:
		return w.results(m, ttl)
	}
	if parts := userParts(m, chatForm); len(parts) > 0 {
		return w.plain("user", parts, ttl)
	}
	return nil
}

// plain encodes a message of nothing but a role and content.
func (w chatWriter) plain(role string, parts []part, ttl model.CacheTTL) []byte {
	b := lathe.AppendJSONString([]byte(`{"role":`), role)
	b = w.content(append(b, `,"content":`...), parts, ttl, false)
	return append(w.mark(b, ttl), '}')
}

// mark adds a breakpoint that is a field of the message.
func (w chatWriter) mark(b []byte, ttl model.CacheTTL) []byte {
	if ttl == model.NoCache || w.dialect.Cache == "" || w.dialect.Cache == "content" {
		return b
	}
	b = lathe.AppendJSONString(append(b, ','), w.dialect.Cache)
	return append(append(b, ':'), ephemeral(ttl)...)
}

func ephemeral(ttl model.CacheTTL) string {
	if ttl == model.CacheHour {
		return `{"type":"ephemeral","ttl":"1h"}`
	}
	return `{"type":"ephemeral"}`
}

// content encodes one text, or with flat several texts, as a string and other pieces as a list.
func (w chatWriter) content(b []byte, parts []part, ttl model.CacheTTL, flat bool) []byte {
	marked := ttl != model.NoCache && w.dialect.Cache == "content"
	isText := !slices.ContainsFunc(parts, func(p part) bool { return !p.isText })
	if isText && !marked && (flat || len(parts) < 2) {
		texts := make([]string, len(parts))
		for i, p := range parts {
			texts[i] = p.text
		}
		return lathe.AppendJSONString(b, strings.Join(texts, "\n\n"))
	}
	b = appendParts(append(b, '['), parts, `{"type":"text","text":`)
	if marked && len(parts) > 0 {
		b = append(append(b[:len(b)-1], `,"cache_control":`...), ephemeral(ttl)...)
		b = append(b, '}')
	}
	return append(b, ']')
}
