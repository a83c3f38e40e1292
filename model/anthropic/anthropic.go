// Package anthropic speaks the Messages protocol: Anthropic's own, and that of the gateways
// and clouds that took it over.
//
// It owns how a request is encoded (encode.go) and how the events of an answer are read
// (decode.go). The few events that come hundreds of times are read by a scanner
// (scan.go) that gives up on any surprise; the general path then reads them.
//
// A Client is safe for use by many goroutines. Start reading at [Client.Stream].
package anthropic

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
)

// Client talks to one provider.
type Client struct {
	endpoint model.Endpoint
	path     string
	encoder  *encoder
}

// New returns a client. The endpoint's base address ends before /messages.
func New(e model.Endpoint) *Client {
	header := map[string]string{"anthropic-version": "2023-06-01"}
	for k, v := range e.Header {
		header[k] = v
	}
	e.Header = header
	return &Client{endpoint: e, path: "/messages", encoder: newEncoder()}
}

// Stream sends a request and yields its answer.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		resp, err := c.endpoint.Post(ctx, c.path, c.encoder.request(r), r.Headers)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			yield(nil, failure(model.ReadFailure(c.endpoint.Provider, resp)))
			return
		}
		read(ctx, c.endpoint.Provider, resp.Body, yield)
	}
}

// read yields the events of a stream until its end, its failure, or the reader's.
func read(ctx context.Context, provider string, body io.Reader, yield func(model.Event, error) bool) {
	d := decoder{provider: provider}
	events := sse.NewReader(body)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			if !d.done {
				yield(nil, model.Incomplete())
			}
			return
		}
		if err != nil {
			yield(nil, model.TransportError(ctx, err))
			return
		}
		out, err := d.event(e.Data)
		for _, ev := range out {
			if !yield(ev, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if d.done {
			return
		}
	}
}
