// Package openai speaks the two protocols that began at OpenAI: Chat Completions, which most
// vendors and every local server took over, each in its own dialect, and Responses.
//
// It owns how requests are encoded (chat_encode.go, responses_encode.go) and how the events of
// an answer are read (chat_decode.go, responses_decode.go). Where servers differ in what they
// take, a [Dialect] says so, as data; where they differ in what they send, the decoders take
// all of it. The events that come hundreds of times are read by scanners (chat_scan.go,
// responses_scan.go) that give up on any surprise; the general path then reads them.
//
// A client is safe for use by many goroutines. Start reading at [Chat.Stream].
package openai

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
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
		stream(ctx, c.endpoint, outgoing{path, c.encoder.request(r), r.Headers}, d, yield)
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
		d := &responsesDecoder{provider: c.endpoint.Provider, callID: newCallID(c.ids)}
		path := c.dialect.path("/responses", r.Model)
		stream(ctx, c.endpoint, outgoing{path, c.encoder.request(r), r.Headers}, d, yield)
	}
}

func newCallID(ids *lathe.IDs) func() string {
	return func() string { return "call_" + ids.CallID() }
}

// path is where a request goes, below the base address.
func (d Dialect) path(path, name string) string {
	if d.Path != "" {
		path = d.Path
	}
	if d.Azure.Deployments {
		path = "/deployments/" + url.PathEscape(name) + path
	}
	if d.Azure.Version != "" {
		path += "?api-version=" + url.QueryEscape(d.Azure.Version)
	}
	return path
}

// decoder turns the events of one stream into ours. What it returns is good until it is
// called again.
type decoder interface {
	// event reads one event of the wire.
	event(name, data []byte) ([]model.Event, error)
	// whole reads an answer that came in one piece, from a server that does not stream.
	whole(data []byte) ([]model.Event, error)
	// broke says that the stream ended or failed. If the answer was complete without what
	// is missing, this is its end; else it is the error.
	broke(cause error) ([]model.Event, error)
	// isDone reports whether the answer has come to its end.
	isDone() bool
}

// outgoing is a request on its way.
type outgoing struct {
	path   string
	body   []byte
	header map[string]string
}

func stream(ctx context.Context, e model.Endpoint, o outgoing, d decoder, yield func(model.Event, error) bool) {
	resp, err := e.Post(ctx, o.path, o.body, o.header)
	if err != nil {
		yield(nil, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		yield(nil, failure(model.ReadFailure(e.Provider, resp)))
		return
	}
	read(ctx, e.Provider, resp.Body, d, yield)
}

// read yields what a body says, which need not be the stream that was asked for.
func read(ctx context.Context, provider string, body io.Reader, d decoder, yield func(model.Event, error) bool) {
	r := bufio.NewReaderSize(body, 32<<10)
	switch firstByte(r) {
	case '{', '[':
		data, err := io.ReadAll(io.LimitReader(r, sse.MaxEvent+1))
		if err == nil && len(data) > sse.MaxEvent {
			err = fmt.Errorf("%w: more than %d bytes", sse.ErrTooLarge, sse.MaxEvent)
		}
		if err != nil {
			yield(nil, model.TransportError(ctx, err))
			return
		}
		pass(d.whole(data))(yield)
	case '<':
		page, _ := io.ReadAll(io.LimitReader(r, 4<<10))
		yield(nil, model.Failure{Provider: provider, Body: page, Message: "the provider sent a web page instead of an answer; check its address"}.Error())
	default:
		readEvents(ctx, r, d, yield)
	}
}

// firstByte looks at the first byte that is not white space.
func firstByte(r *bufio.Reader) byte {
	for {
		b, err := r.Peek(1)
		if err != nil {
			return 0 // whoever reads on meets the error again
		}
		if b[0] != ' ' && b[0] != '\n' && b[0] != '\r' && b[0] != '\t' {
			return b[0]
		}
		_, _ = r.Discard(1)
	}
}

func readEvents(ctx context.Context, r io.Reader, d decoder, yield func(model.Event, error) bool) {
	events := sse.NewReader(r)
	for !d.isDone() {
		e, err := events.Next()
		var more bool
		switch {
		case err == nil:
			more = pass(d.event(e.Name, e.Data))(yield)
		case ctx.Err() != nil:
			yield(nil, model.TransportError(ctx, err))
		case errors.Is(err, io.EOF):
			pass(d.broke(model.Incomplete()))(yield)
		default:
			pass(d.broke(model.TransportError(ctx, err)))(yield)
		}
		if !more {
			return
		}
	}
}

// pass hands on events and the error after them, and reports whether to read on.
func pass(events []model.Event, err error) func(yield func(model.Event, error) bool) bool {
	return func(yield func(model.Event, error) bool) bool {
		for _, ev := range events {
			if !yield(ev, nil) {
				return false
			}
		}
		if err != nil {
			yield(nil, err)
		}
		return err == nil
	}
}
