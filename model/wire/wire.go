// Package wire is what the protocols share between their bytes and the words of package model:
// blocks that grow while they stream, texts whose characters are cut in two, numbers that may be
// anything, encoded messages that are kept, and what families of models want of a conversation
// whoever serves them.
//
// It is for the packages beside it, and no part of what others build on. What it holds is for one
// goroutine, but for [Kept].
//
// Start reading at [Relay], then block.go and kept.go.
package wire

import (
	"context"
	"errors"
	"io"

	"github.com/lathe-agent/lathe/model"
)

// Decoder makes events of the pieces of one answer, as its wire frames them. What it returns is
// good until it is called again.
type Decoder[Piece any] interface {
	Decode(p Piece) ([]model.Event, error)
	// Broke says that the stream ended or failed. If the answer was complete without what is
	// missing, this is its end; else it is the error.
	Broke(cause error) ([]model.Event, error)
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
			out, err = d.Broke(model.Incomplete())
		default:
			out, err = d.Broke(model.TransportError(ctx, err))
		}
		if !Yield(yield, out, err) {
			return
		}
	}
}

// Yield hands on events and the error after them, and reports whether to go on.
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
