// Package bedrock implements Amazon Bedrock's Converse protocol, which serves the models of all
// makers in one format.
//
// It owns how a request is encoded (encode.go, message.go), how the frames of an answer are
// taken apart (frame.go) and read (decode.go). The event that comes hundreds of times is read
// by a scanner (scan.go) that gives up on anything unexpected; the general path then reads it.
//
// It knows bearer tokens only, which are headers like any key. The endpoint's hook signs
// requests that need it; package model/aws has one.
//
// A Client is safe for use by many goroutines. Start reading at [Client.Stream].
package bedrock

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// Client talks to one region.
type Client struct {
	endpoint model.Endpoint
	ids      *lathe.IDs
	encoder  encoder
}

// New returns a client. The endpoint's base address ends before /model; the ids are for calls
// that have none.
func New(e model.Endpoint, ids *lathe.IDs) *Client {
	return &Client{endpoint: e.WithHeader("Accept", "application/vnd.amazon.eventstream"), ids: ids}
}

// Stream sends a request and yields its answer.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		// Ids have colons, and those of profiles slashes; the service computes signatures over them escaped.
		path := "/model/" + strings.ReplaceAll(url.PathEscape(r.Model), ":", "%3A") + "/converse-stream"
		err := c.endpoint.Ask(ctx, model.Outgoing{Path: path, Body: c.encoder.request(r), Header: r.Headers}, refusal, func(resp *http.Response) {
			d := &decoder{provider: c.endpoint.Provider, ids: wire.NewCallIDs(c.ids), id: resp.Header.Get("X-Amzn-Requestid")}
			wire.Relay(ctx, newFrames(resp.Body).next, d, yield)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
