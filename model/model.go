// Package model talks to language models.
//
// It owns the interface [Model] with its vendor-neutral [Request] and stream of [Event]s. It
// converts a history to such a request ([Convert]), counts the usage and cost of an answer, sends
// requests over HTTP with a deadline on every wait, and converts every provider failure to an error
// code ([Failure]). The packages below encode the wire: one for each protocol, none for a vendor.
//
// A Model is safe for use by many goroutines. A stream belongs to the goroutine that ranges
// over it, and closes its connection when that loop ends.
//
// Start reading here, then convert.go; model/anthropic shows a whole protocol.
package model

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers requests.
type Model interface {
	// Stream sends one request. The events of its answer come in the order the provider
	// sent them; an error ends the stream. Breaking out early closes the connection.
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// Request is the complete input of a model. Equal requests are equal bytes on the wire.
type Request struct {
	Model       string // the provider's own id of it
	System      []string
	Messages    []Message
	Tools       []Tool
	Choice      string // auto (""), none, required, or the name of a tool
	MaxOutput   int    // tokens; 0 leaves it to the provider
	Temperature *float64
	TopP        *float64
	TopK        *int
	// Options are the provider's own, merged from the config, agent and variant.
	Options map[string]json.RawMessage
	Headers map[string]string
	// Cache marks where the provider's prompt cache should hold, and for how long.
	Cache CacheTTL
}

// CacheTTL is the requested lifetime of a prompt cache entry.
type CacheTTL string

// The times a prompt cache can hold.
const (
	NoCache   CacheTTL = ""
	CacheFive CacheTTL = "5m"
	CacheHour CacheTTL = "1h"
)

// Tool is a tool that a model can call. Schema is the JSON schema of its input.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
	// Freeform lets protocols that can offer the tool with plain text as its input; nil is JSON only.
	Freeform *Freeform
}

// Freeform is an input that is one plain text. Wherever the call is stored or run, the text is
// the member Argument of its JSON input.
type Freeform struct {
	Argument string
	Grammar  string // in Lark's notation
}

// Role is the author of a message.
type Role string

// The roles. Tool messages carry the results of calls.
const (
	UserRole      Role = "user"
	AssistantRole Role = "assistant"
	ToolRole      Role = "tool"
)

// Message is one turn of the neutral prompt.
type Message struct {
	Role    Role
	Content []Content
	// Key stands for the content: messages with the same key are the same, so that an
	// encoder can keep the bytes it made of one. "" says nothing.
	Key string
}

// Content is a piece of a message. Sealed.
type Content interface{ content() }

// Meta is data to send back to a provider unchanged, keyed by its name: signatures, item IDs,
// encrypted reasoning.
type Meta = json.RawMessage

type (
	// TextContent is text of either side.
	TextContent struct {
		Text string
		Meta Meta
	}
	// ReasoningContent is earlier reasoning of the same model.
	ReasoningContent struct {
		Text string
		Meta Meta
	}
	// FileContent is media: base64 data, or an address.
	FileContent struct {
		Mime, Name string
		Data       string // base64
		URL        string // when there is no data
	}
	// CallContent is a call the model made. Executed ones ran at the provider.
	CallContent struct {
		ID, Name string
		Input    json.RawMessage
		Executed bool
		Meta     Meta
	}
	// ResultContent is the result of a call.
	ResultContent struct {
		ID, Name string
		Text     string
		Media    []FileContent
		Failed   bool
		Executed bool
		Meta     Meta
	}
)

func (TextContent) content()      {}
func (ReasoningContent) content() {}
func (FileContent) content()      {}
func (CallContent) content()      {}
func (ResultContent) content()    {}
