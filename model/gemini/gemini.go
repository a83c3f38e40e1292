// Package gemini speaks Google's generateContent protocol: that of the Gemini API and, with
// another address and credential, of Vertex.
//
// It owns how a request is encoded (encode.go), how tool schemas are cut down to what the
// provider takes (schema.go), and how the pieces of an answer are read (decode.go). An
// answer has no last event of its own: it is whole when a reason to finish has come.
//
// A Client is safe for use by many goroutines. Start reading at [Client.Stream].
package gemini

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
)

// Client talks to one provider.
type Client struct {
	endpoint model.Endpoint
	ids      *lathe.IDs
}

// New returns a client. The endpoint's base address ends before /models.
func New(e model.Endpoint, ids *lathe.IDs) *Client { return &Client{endpoint: e, ids: ids} }

// Stream sends a request and yields its answer.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		path := "/models/" + url.PathEscape(r.Model) + ":streamGenerateContent?alt=sse"
		resp, err := c.endpoint.Post(ctx, path, encode(r), r.Headers)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			yield(nil, failure(model.ReadFailure(c.endpoint.Provider, resp)))
			return
		}
		d := &decoder{provider: c.endpoint.Provider, callID: func() string { return "call_" + c.ids.CallID() }}
		read(ctx, d, resp.Body, yield)
	}
}

// read yields the events of a stream until its end, its failure, or the reader's.
func read(ctx context.Context, d *decoder, body io.Reader, yield func(model.Event, error) bool) {
	events := sse.NewReader(body)
	for {
		var out []model.Event
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			out, err = d.finish()
			d.done = true
		case err != nil:
			err = model.TransportError(ctx, err)
		default:
			out, err = d.chunk(e.Data)
		}
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
