// Package anthropic implements the Messages protocol of Anthropic, and of the gateways and
// clouds that adopted it.
//
// It owns how a request is encoded (encode.go) and how the events of an answer are read
// (decode.go). The few events that come hundreds of times are read by a scanner (scan.go) that
// gives up on anything unexpected; the general path then reads them.
//
// A Client is safe for use by many goroutines. Start reading at [Client.Stream].
package anthropic

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

// New returns a client. The endpoint's base address ends before /messages; the ids are for
// calls that a server gives none.
func New(e model.Endpoint, ids *lathe.IDs) *Client {
	return &Client{endpoint: e.WithHeader("anthropic-version", "2023-06-01"), ids: ids}
}

// NewVertex returns a client for Google's cloud, where the address names the model and the
// body the version. The endpoint's base address ends before /models.
func NewVertex(e model.Endpoint, ids *lathe.IDs) *Client {
	return &Client{endpoint: e, ids: ids, encoder: encoder{version: "vertex-2023-10-16"}}
}

// Stream sends a request and yields its answer.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		path := "/messages"
		if c.encoder.version != "" {
			path = "/models/" + url.PathEscape(r.Model) + ":streamRawPredict"
		}
		err := c.endpoint.Ask(ctx, model.Outgoing{Path: path, Body: c.encoder.request(r), Header: r.Headers}, failure, func(resp *http.Response) {
			d := &decoder{provider: c.endpoint.Provider, ids: wire.NewCallIDs(c.ids)}
			wire.Events(ctx, c.endpoint.Provider, resp.Body, failure, d, yield)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
