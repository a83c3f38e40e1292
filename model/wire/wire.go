// Package wire has the parts that protocols share: blocks that grow while they stream, texts with
// split characters, lenient numbers, a cache of encoded messages, and the rules of model families
// for a conversation.
//
// It is for the sibling packages only. Its values are for one goroutine, except [Cache].
//
// Start reading at [Relay], then block.go and cache.go.
package wire

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
)

// Decoder makes events of the pieces of one answer, as its wire frames them. What it returns is
// good until it is called again.
type Decoder[Piece any] interface {
	Decode(p Piece) ([]model.Event, error)
	// Terminate says that the stream ended or failed. If the answer is complete anyway, this is
	// its end; else it is the error.
	Terminate(cause error) ([]model.Event, error)
	// IsDone reports whether the answer has come to its end.
	IsDone() bool
}

// Relay yields the events of an answer until its end, its failure, or the reader's. next returns
// the pieces of the stream, and io.EOF after the last.
func Relay[Piece any](ctx context.Context, next func() (Piece, error), d Decoder[Piece], yield func(model.Event, error) bool) {
	for !d.IsDone() {
		var out []model.Event
		p, err := next()
		switch {
		case err == nil:
			out, err = d.Decode(p)
		case ctx.Err() != nil:
			err = model.TransportError(ctx, err)
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			out, err = d.Terminate(model.IncompleteError())
		default:
			out, err = d.Terminate(model.TransportError(ctx, err))
		}
		if !Yield(yield, out, err) {
			return
		}
	}
}

// Events relays an answer that should come as server-sent events. One that comes as something
// else is a refusal, whatever its status: an object of JSON that says why, or a page.
func Events(ctx context.Context, provider string, body io.Reader, refused func(model.Failure) *lathe.Error, d Decoder[sse.Event], yield func(model.Event, error) bool) {
	r := bufio.NewReaderSize(body, 32<<10)
	switch FirstByte(r) {
	case '{', '[':
		said, err := io.ReadAll(io.LimitReader(r, 64<<10))
		if err != nil {
			yield(nil, model.TransportError(ctx, err))
			return
		}
		yield(nil, refused(model.Failure{Provider: provider, Body: said}))
	case '<':
		yield(nil, PageError(provider, r))
	default:
		Relay(ctx, sse.NewReader(r).Next, d, model.WithProgress(body, yield))
	}
}

// FirstByte looks at the first byte of an answer that is not white space.
func FirstByte(r *bufio.Reader) byte {
	for {
		b, err := r.Peek(1)
		if err != nil {
			return 0 // the next read returns the error again
		}
		if b[0] != ' ' && b[0] != '\n' && b[0] != '\r' && b[0] != '\t' {
			return b[0]
		}
		_, _ = r.Discard(1)
	}
}

// PageError is the error of an answer that is a page for people.
func PageError(provider string, r io.Reader) error {
	page, _ := io.ReadAll(io.LimitReader(r, 4<<10))
	return model.Failure{Provider: provider, Body: page, Message: "the provider sent a web page instead of an answer; check its base URL"}.Error()
}

// Yield passes on events and the error after them, and reports whether to continue.
func Yield(yield func(model.Event, error) bool, events []model.Event, err error) bool {
	for _, e := range events {
		if !yield(e, nil) {
			return false
		}
	}
	if err != nil {
		yield(nil, err)
	}
	return err == nil
}
