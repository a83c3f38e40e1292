// Package gemini implements Google's generateContent protocol, for the Gemini API and, with
// another address and credential, for Vertex.
//
// It owns how a request is encoded (encode.go), how tool schemas are reduced to the provider's
// subset (schema.go), and how the pieces of an answer are read (decode.go). A scanner (scan.go)
// reads the frequent ones and gives up on anything unexpected. An answer has no final event: it
// is complete when a finish reason has come.
//
// A Client is safe for use by many goroutines. Start reading at [Client.Stream].
package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// Client talks to one provider.
type Client struct {
	endpoint model.Endpoint
	ids      *lathe.IDs
	encoder  encoder
}

// New returns a client. The endpoint's base address ends before /models.
func New(e model.Endpoint, ids *lathe.IDs) *Client { return &Client{endpoint: e, ids: ids} }

// Stream sends a request and yields its answer.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		path := "/models/" + url.PathEscape(r.Model) + ":streamGenerateContent?alt=sse"
		err := c.endpoint.Ask(ctx, model.Outgoing{Path: path, Body: c.encoder.request(r), Header: r.Headers}, failure, func(resp *http.Response) {
			d := &decoder{provider: c.endpoint.Provider, ids: wire.NewCallIDs(c.ids)}
			wire.Events(ctx, c.endpoint.Provider, resp.Body, failure, d, yield)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
