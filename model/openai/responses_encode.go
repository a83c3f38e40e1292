package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// responsesEncoder writes requests. It keeps the bytes of messages, so that the next request
// copies its history instead of encoding it again.
type responsesEncoder struct {
	dialect Dialect
	cache   wire.Cache
}

// encryptedReasoning asks for thoughts in a form that can be given back to a provider that
// does not keep them.
const encryptedReasoning = "reasoning.encrypted_content"

// noInstructions stands for a system prompt where the server does without none.
const noInstructions = "You are a helpful assistant."

// request encodes the whole body. Equal requests give equal bytes, and a longer
// history starts with the bytes of a shorter one: the input stands last.
func (e *responsesEncoder) request(r model.Request) []byte {
	d := e.dialect
	var f body
	f.SetString("model", r.Model)
	f.set("stream", []byte("true"))
	f.set("store", []byte("false"))
	if r.MaxOutput > 0 && !d.Instructions {
		f.SetInt("max_output_tokens", r.MaxOutput)
	}
	f.SetFloat("temperature", r.Temperature)
	f.SetFloat("top_p", r.TopP)
	texts := slices.DeleteFunc(slices.Clone(r.System), func(s string) bool { return s == "" })
	if d.Instructions {
		f.SetString("instructions", or(strings.Join(texts, "\n\n"), noInstructions))
		texts = nil
	}
	tools := d.tools(&e.cache, r, e.tool)
	d.responsesOptions(&f, r.Options)
	d.setTools(&f, r, tools, func(name []byte) []byte {
		return slices.Concat([]byte(`{"type":"function","name":`), name, []byte("}"))
	})
	return assemble(&f, "input", e.input(r, texts))
}

func (e *responsesEncoder) tool(t model.Tool) []byte {
	if t.Freeform != nil && e.dialect.Custom {
		b := lathe.AppendJSONString([]byte(`{"type":"custom","name":`), t.Name)
		b = lathe.AppendJSONString(append(b, `,"description":`...), t.Description)
		b = lathe.AppendJSONString(append(b, `,"format":{"type":"grammar","syntax":"lark","definition":`...), t.Freeform.Grammar)
		return append(b, `}}`...)
	}
	b := e.dialect.function([]byte(`{"type":"function",`), t)
	return append(b, `,"strict":false}`...) // the protocol is strict by default
}

// responsesOptions adds the options of the config in the words of the wire.
func (d Dialect) responsesOptions(f *body, options map[string]json.RawMessage) {
	var reasoning, verbosity body
	var include []string
	wire.EachOption(options, func(name string, value json.RawMessage) {
		switch name {
		case "reasoningEffort":
			reasoning.set("effort", value)
		case "reasoningSummary":
			reasoning.set("summary", value)
		case "textVerbosity":
			verbosity.set("verbosity", value)
		case "include":
			_ = wire.Unmarshal(value, &include) // other values include nothing
		default:
			f.set(wireName(name), value)
		}
	})
	_, own := options["reasoning"]
	if !own && !reasoning.IsEmpty() {
		f.set("reasoning", reasoning.Object())
	}
	if _, own := options["text"]; !own && !verbosity.IsEmpty() {
		f.set("text", verbosity.Object())
	}
	reasons := own || !reasoning.IsEmpty() || d.Reasoning != ""
	if reasons && !isStored(options) && !slices.Contains(include, encryptedReasoning) {
		include = append(include, encryptedReasoning)
	}
	if len(include) > 0 {
		list, _ := json.Marshal(include)
		f.set("include", list)
	}
}

// isStored reports whether the provider should store the answer. Then its items are referred
// to; else they are given back.
func isStored(options map[string]json.RawMessage) bool { return string(options["store"]) == "true" }

// input encodes the conversation, a piece for each message.
func (e *responsesEncoder) input(r model.Request, system []string) (out [][]byte) {
	for _, text := range system {
		b := lathe.AppendJSONString([]byte(`{"role":"developer","content":`), text)
		out = append(out, append(b, '}'))
	}
	stored := isStored(r.Options)
	variant := "m"
	if stored {
		variant = "s"
	}
	for _, m := range r.Messages {
		piece := e.cache.Message(variant, m, func() []byte {
			w := inputWriter{dialect: e.dialect, stored: stored}
			w.message(m)
			return w.b
		})
		if len(piece) > 0 {
			out = append(out, piece)
		}
	}
	return out
}
