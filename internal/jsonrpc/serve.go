package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// take does what a message asks for. Its bytes are the reader's, so what outlives it is copied.
func (c *Conn) take(data []byte) error {
	c.counts.all.Add(1)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil // empty lines do no harm
	}
	m, err := readMessage(data)
	if err != nil {
		return fmt.Errorf("invalid message: %w", err)
	}
	switch {
	case m.Method == nil:
		r := reply{result: m.Result} // Unmarshal has copied it
		if m.Error != nil {
			r = reply{err: m.Error}
		}
		if id := number(m.ID); id == 0 || id > c.last.Load() {
			return fmt.Errorf("an answer to %s, which was not asked", clip(m.ID))
		} else {
			c.settle(id, r) // or it was given up, and the answer comes too late
		}
	case m.ID == nil && *m.Method == c.conf.CancelMethod:
		return c.cancel(m.Params)
	case m.ID == nil:
		if c.conf.Notify != nil {
			c.conf.Notify(*m.Method, m.Params)
		}
	default:
		return c.accept(m)
	}
	return nil
}

// cancel ends a request of the other side, if it is still being answered.
func (c *Conn) cancel(params json.RawMessage) error {
	var p map[string]json.RawMessage
	if err := json.Unmarshal(params, &p); err != nil || len(p[c.conf.CancelMember]) == 0 {
		return fmt.Errorf("%s without an id", c.conf.CancelMethod)
	}
	c.mu.Lock()
	stop := c.answers[string(p[c.conf.CancelMember])]
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
	return nil
}

// accept answers a request in its own goroutine.
func (c *Conn) accept(m message) error {
	if c.conf.Handle == nil {
		return c.refuse(m.ID, &Error{Code: CodeMethodNotFound, Message: "unknown method: " + *m.Method})
	}
	select {
	case c.busy <- struct{}{}:
	default:
		return c.refuse(m.ID, &Error{Code: c.conf.BusyCode, Message: fmt.Sprintf("%d requests are being answered, which is all at once", c.conf.Concurrent)})
	}
	ctx, stop := context.WithCancel(c.ctx)
	after := &[]func(){}
	ctx = context.WithValue(context.WithValue(ctx, afterKey{}, after), numberKey{}, c.Received())
	c.mu.Lock()
	_, twice := c.answers[string(m.ID)]
	if !twice {
		c.answers[string(m.ID)] = stop
	}
	c.mu.Unlock()
	if twice {
		stop()
		<-c.busy
		return c.refuse(m.ID, &Error{Code: CodeInvalidRequest, Message: "a request with this id is being answered"})
	}
	go func() { // it ends with its handler, whose context ends with the connection
		defer func() { <-c.busy }()
		defer stop()
		data := c.handle(ctx, m)
		c.mu.Lock()
		delete(c.answers, string(m.ID))
		c.mu.Unlock()
		if c.send(c.ctx, data) == nil { // or the connection has ended
			for _, f := range *after {
				f()
			}
		}
	}()
	return nil
}

// afterKey finds what a handler wants to be done after its answer.
type afterKey struct{}

// AfterReply has a function run when the answer to the request of a handler's context is on its way, so that
// notifications that refer to the answer follow it. It is for the goroutine of the handler.
func AfterReply(ctx context.Context, f func()) {
	if after, ok := ctx.Value(afterKey{}).(*[]func()); ok {
		*after = append(*after, f)
	}
}

// numberKey finds the number of a request.
type numberKey struct{}

// Number is the number of the request of a handler's context among all messages that came in: requests are handled at
// once, and this tells which of two came first.
func Number(ctx context.Context) int64 {
	n, _ := ctx.Value(numberKey{}).(int64) // 0 outside of a handler
	return n
}

// refuse answers without work, and does not wait where the other side writes more than it reads.
func (c *Conn) refuse(id json.RawMessage, why *Error) error {
	select {
	case c.out <- framed(c.conf.Framing, failure(id, why)):
		return nil
	default:
		return fmt.Errorf("a request that could not even be refused: %w", ErrFull)
	}
}

// handle runs the handler and encodes what came of it.
func (c *Conn) handle(ctx context.Context, m message) []byte {
	result, err := c.conf.Handle(ctx, *m.Method, m.Params)
	switch {
	case err != nil && ctx.Err() != nil:
		return failure(m.ID, &Error{Code: CodeCanceled, Message: "the request was canceled"})
	case err != nil:
		return failure(m.ID, err)
	}
	data := answer(m.ID, result)
	if len(data) > c.conf.MaxMessage {
		return failure(m.ID, fmt.Errorf("the answer has %d bytes: %w", len(data), ErrTooLarge))
	}
	return data
}

// clip is a piece of what the other side wrote, for a message.
func clip(b []byte) string {
	const most = 60
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// IsClosed reports whether an error says that the connection is closed.
func IsClosed(err error) bool { return errors.Is(err, ErrClosed) || errors.Is(err, ErrInvalid) }
