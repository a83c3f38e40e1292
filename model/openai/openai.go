// Package openai implements the two protocols of OpenAI: Responses, and Chat Completions, which
// most vendors and every local server adopted, each in its own dialect.
//
// It owns how requests are encoded (chat_encode.go, responses_encode.go) and how the events of
// an answer are read (chat_decode.go, responses_decode.go). A [Dialect] describes, as data, the
// requests that a server accepts. The decoders accept the answers of all servers. The events
// that come hundreds of times are read by scanners (chat_scan.go, responses_scan.go) that give
// up on anything unexpected; the general path then reads them.
//
// A client is safe for use by many goroutines. Start reading at [Chat.Stream].
package openai

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// Chat talks Chat Completions to one provider.
type Chat struct {
	endpoint model.Endpoint
	dialect  Dialect
	ids      *lathe.IDs
	encoder  chatEncoder
}

// NewChat returns a client. The endpoint's base address ends before /chat/completions, or at
// Azure before /deployments; the ids are for calls that a server gives none.
func NewChat(e model.Endpoint, ids *lathe.IDs, d Dialect) *Chat {
	return &Chat{endpoint: e, dialect: d, ids: ids, encoder: chatEncoder{dialect: d}}
}

// Stream sends a request and yields its answer.
func (c *Chat) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		d := &chatDecoder{provider: c.endpoint.Provider, callID: newCallID(c.ids), costs: c.dialect.Costs}
		path := c.dialect.path("/chat/completions", r.Model)
		stream(ctx, c.endpoint, model.Outgoing{Path: path, Body: c.encoder.request(r), Header: r.Headers}, d, yield)
	}
}

// Responses talks the Responses protocol to one provider.
type Responses struct {
	endpoint model.Endpoint
	dialect  Dialect
	ids      *lathe.IDs
	encoder  responsesEncoder
}

// NewResponses returns a client. The endpoint's base address ends before /responses; the ids
// are for calls that a server gives none.
func NewResponses(e model.Endpoint, ids *lathe.IDs, d Dialect) *Responses {
	return &Responses{endpoint: e, dialect: d, ids: ids, encoder: responsesEncoder{dialect: d}}
}

// Stream sends a request and yields its answer.
func (c *Responses) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		d := &responsesDecoder{provider: c.endpoint.Provider, callID: newCallID(c.ids), freeform: freeform(r.Tools)}
		path := c.dialect.path("/responses", r.Model)
		stream(ctx, c.endpoint, model.Outgoing{Path: path, Body: c.encoder.request(r), Header: r.Headers}, d, yield)
	}
}

// freeform names the argument of each tool that takes plain text.
func freeform(tools []model.Tool) map[string]string {
	names := map[string]string{}
	for _, t := range tools {
		if t.Freeform != nil {
			names[t.Name] = t.Freeform.Argument
		}
	}
	return names
}

func newCallID(ids *lathe.IDs) func() string {
	return func() string { return "call_" + ids.CallID() }
}

// path is where a request goes, below the base address.
func (d Dialect) path(path, name string) string {
	if d.Azure.Deployments {
		path = "/deployments/" + url.PathEscape(name) + path
	}
	if d.Azure.Version != "" {
		path += "?api-version=" + url.QueryEscape(d.Azure.Version)
	}
	return path
}

// decoder turns the events of one stream into ours, or an answer that came in one piece, from a
// server that does not stream.
type decoder interface {
	wire.Decoder[sse.Event]
	whole(data []byte) ([]model.Event, error)
}

func stream(ctx context.Context, e model.Endpoint, o model.Outgoing, d decoder, yield func(model.Event, error) bool) {
	err := e.Ask(ctx, o, failure, func(resp *http.Response) { read(ctx, e.Provider, resp.Body, d, yield) })
	if err != nil {
		yield(nil, err)
	}
}

// read yields what a body says, which need not be the stream that was asked for.
func read(ctx context.Context, provider string, body io.Reader, d decoder, yield func(model.Event, error) bool) {
	r := bufio.NewReaderSize(body, 32<<10)
	switch wire.FirstByte(r) {
	case '{', '[':
		data, err := io.ReadAll(io.LimitReader(r, sse.MaxEvent+1))
		if err == nil && len(data) > sse.MaxEvent {
			err = fmt.Errorf("%w: more than %d bytes", sse.ErrTooLarge, sse.MaxEvent)
		}
		if err != nil {
			yield(nil, model.TransportError(ctx, err))
			return
		}
		events, err := d.whole(data)
		wire.Yield(yield, events, err)
	case '<':
		yield(nil, wire.PageError(provider, r))
	default:
		wire.Relay(ctx, sse.NewReader(r).Next, d, model.WithProgress(body, yield))
	}
}
