package jsonrpc

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// The limits where nothing else is said.
const (
	DefaultMaxMessage = 16 << 20
	DefaultQueue      = 256
	DefaultConcurrent = 64
	DefaultMaxSkipped = 10_000
)

// Config is how a connection behaves; its zero value can be used, and answers no request.
type Config struct {
	Framing Framing
	// MaxMessage is the longest message in bytes, either way.
	MaxMessage int
	// Queue is how many messages may wait to be written.
	Queue int
	// Concurrent is how many requests of the other side are answered at once; more are refused.
	Concurrent int
	// MaxSkipped is how many messages in a row may be invalid before the connection ends.
	MaxSkipped int
	// Handle answers a request, in its own goroutine; its context ends when the other side
	// cancels it or the connection ends. An *Error goes out as it is.
	Handle func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Notify hears a notification, in the order they came in the goroutine that reads: it must not
	// wait for the other side.
	Notify func(method string, params json.RawMessage)
	// Skipped hears why something was passed over, in the goroutine that reads.
	Skipped func(reason error)
	// CancelMethod is the notification that takes a request back, and CancelMember its member with the id. By
	// default they are those of language servers.
	CancelMethod, CancelMember string
	// BusyCode is the code of the error for a request above Concurrent.
	BusyCode int
	// AnswerInvalid answers invalid messages with an error without an id, where the other side reads.
	AnswerInvalid bool
	// Drain is how long requests are answered after the other side has closed its end.
	Drain time.Duration
}

func (c Config) withDefaults() Config {
	set := func(p *int, value int) {
		if *p <= 0 {
			*p = value
		}
	}
	set(&c.MaxMessage, DefaultMaxMessage)
	set(&c.Queue, DefaultQueue)
	set(&c.Concurrent, DefaultConcurrent)
	set(&c.MaxSkipped, DefaultMaxSkipped)
	c.CancelMethod, c.CancelMember = cmp.Or(c.CancelMethod, "$/cancelRequest"), cmp.Or(c.CancelMember, "id")
	c.BusyCode = cmp.Or(c.BusyCode, CodeBusy)
	return c
}

// Conn is a conversation with another program.
type Conn struct {
	conf   Config
	w      io.WriteCloser
	r      io.ReadCloser
	out    chan []byte
	last   atomic.Int64 // number of the last call
	counts counts
	busy   chan struct{} // one place for each request being answered
	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{} // closed when reading has ended
	wrote  chan struct{} // closed when writing has ended

	mu      sync.Mutex
	calls   map[int64]chan reply
	answers map[string]context.CancelFunc // of requests, by their id
	err     error                         // why it ended
	closed  bool
}

// counts are of messages that came in.
type counts struct{ all, skipped atomic.Int64 }

// reply is the end of a call.
type reply struct {
	result json.RawMessage
	err    error
}

// Open begins a conversation over a pair of pipes, which belong to it from now on.
func Open(r io.ReadCloser, w io.WriteCloser, conf Config) *Conn {
	conf = conf.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	c := &Conn{
		conf: conf, r: r, w: w, out: make(chan []byte, conf.Queue), busy: make(chan struct{}, conf.Concurrent),
		ctx: ctx, stop: stop, done: make(chan struct{}), wrote: make(chan struct{}),
		calls: map[int64]chan reply{}, answers: map[string]context.CancelFunc{},
	}
	go c.write()
	go c.read()
	return c
}

// Done is closed when the other side has ended or Close was called; Err then says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the conversation ended, nil while it is open.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Skipped is how much was passed over so far because it was no message, or none we had use for.
func (c *Conn) Skipped() int { return int(c.counts.skipped.Load()) }

// Received is how many messages came in. In Notify it is the number of the notification.
func (c *Conn) Received() int64 { return c.counts.all.Load() }

// Close ends the conversation: calls fail, both pipes are closed.
func (c *Conn) Close() error {
	c.end(ErrClosed)
	_ = c.r.Close() // the other side may have closed it
	<-c.wrote
	<-c.done
	return nil
}

// Call asks the other side and waits for its answer. When the context ends it returns at once
// and cancels the call at the other side, whose answer is then dropped. An error of the other
// side is an *Error.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	id := c.last.Add(1)
	data := request(id, method, params)
	if len(data) > c.conf.MaxMessage {
		return nil, fmt.Errorf("%s: %d bytes: %w", method, len(data), ErrTooLarge)
	}
	got := make(chan reply, 1)
	c.mu.Lock()
	if c.closed {
		err := c.err
		c.mu.Unlock()
		return nil, err
	}
	c.calls[id] = got
	c.mu.Unlock()
	defer c.forget(id)
	if err := c.send(ctx, data); err != nil {
		return nil, err
	}
	select {
	case r := <-got:
		return r.result, r.err
	case <-ctx.Done():
		// Where the queue is full the other side does not read, and would not hear of it anyway.
		_ = c.TryNotify(c.conf.CancelMethod, fmt.Appendf(nil, `{%q:%d}`, c.conf.CancelMember, id))
		return nil, context.Cause(ctx)
	}
}

func (c *Conn) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// Notify sends a notification. It waits for space in the queue, not for the other side.
func (c *Conn) Notify(ctx context.Context, method string, params json.RawMessage) error {
	data := request(0, method, params)
	if len(data) > c.conf.MaxMessage {
		return fmt.Errorf("%s: %d bytes: %w", method, len(data), ErrTooLarge)
	}
	return c.send(ctx, data)
}

// TryNotify is Notify that fails with [ErrFull] where it would have to wait.
func (c *Conn) TryNotify(method string, params json.RawMessage) error {
	data := request(0, method, params)
	if len(data) > c.conf.MaxMessage {
		return fmt.Errorf("%s: %d bytes: %w", method, len(data), ErrTooLarge)
	}
	if c.ctx.Err() != nil { // asked alone, since a choice among what is ready is made by chance
		return c.Err()
	}
	select {
	case c.out <- framed(c.conf.Framing, data):
		return nil
	default:
		return ErrFull
	}
}

func (c *Conn) send(ctx context.Context, data []byte) error {
	switch {
	case c.ctx.Err() != nil:
		return c.Err()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	select {
	case <-c.ctx.Done():
		return c.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	case c.out <- framed(c.conf.Framing, data):
		return nil
	}
}

// write is the goroutine that writes. Messages that wait are written together. A pipe that breaks ends the
// conversation.
func (c *Conn) write() {
	defer close(c.wrote)
	for {
		select {
		case <-c.ctx.Done():
			return
		case data := <-c.out:
			data, last := c.collect(data)
			if _, err := c.w.Write(data); err != nil {
				c.end(fmt.Errorf("%w: %w", ErrClosed, err))
				return
			}
			if last {
				return
			}
		}
	}
}

// collect adds the messages that wait behind one, up to a size. It reports an empty one, which is the last.
func (c *Conn) collect(data []byte) (all []byte, last bool) {
	if len(data) == 0 {
		return nil, true
	}
	for len(data) < bufferSize {
		select {
		case next := <-c.out:
			if len(next) == 0 {
				return data, true
			}
			data = append(data, next...)
		default:
			return data, false
		}
	}
	return data, false
}

// drain gives requests that are being answered a little time, and writes what waits.
func (c *Conn) drain() {
	timer := time.NewTimer(c.conf.Drain)
	defer timer.Stop()
	for range c.conf.Concurrent {
		select {
		case c.busy <- struct{}{}:
		case <-timer.C:
			return
		case <-c.ctx.Done():
			return
		}
	}
	select {
	case c.out <- nil:
	case <-timer.C:
		return
	case <-c.ctx.Done():
		return
	}
	select {
	case <-c.wrote:
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// end lets all calls fail and stops reading and writing; only the first reason counts.
func (c *Conn) end(why error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed, c.err = true, why
	waiting := c.calls
	c.calls = map[int64]chan reply{}
	c.mu.Unlock()
	for _, got := range waiting {
		got <- reply{err: why} // its buffer holds one reply, and only one sender takes it out of the list
	}
	c.stop()
	_ = c.w.Close() // which also frees a write that the other side does not take
}

// read is the goroutine that reads.
func (c *Conn) read() {
	defer close(c.done)
	f := &frames{r: bufio.NewReaderSize(c.r, bufferSize), kind: c.conf.Framing, most: c.conf.MaxMessage}
	row := 0 // invalid messages in a row
	for {
		data, err := f.next()
		var long *tooLong
		switch {
		case errors.As(err, &long):
			err = c.overlong(long)
		case err != nil:
			if errors.Is(err, io.EOF) && c.conf.Drain > 0 {
				c.drain()
			}
			c.end(closing(err))
			return
		default:
			err = c.take(data)
		}
		if err == nil {
			row = 0
			continue
		}
		c.skip(err)
		if c.conf.AnswerInvalid {
			code := CodeParse
			if json.Valid(data) { // such as a batch
				code = CodeInvalidRequest
			}
			_ = c.refuse(json.RawMessage("null"), &Error{Code: code, Message: err.Error()})
		}
		if row++; row >= c.conf.MaxSkipped {
			c.end(fmt.Errorf("%w: %d in a row", ErrInvalid, row))
			return
		}
	}
}

// closing is the reason why reading ended, as reported to callers.
func closing(err error) error {
	switch {
	case errors.Is(err, ErrInvalid):
		return err
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w by the other side", ErrClosed)
	default:
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
}

func (c *Conn) skip(why error) {
	c.counts.skipped.Add(1)
	if c.conf.Skipped != nil {
		c.conf.Skipped(why)
	}
}

// overlong lets the call fail whose answer was too long.
func (c *Conn) overlong(m *tooLong) error {
	err := fmt.Errorf("%w: %w, at most %d are taken", ErrTooLarge, m, c.conf.MaxMessage)
	if id := headID(m.head); id != 0 && c.settle(id, reply{err: err}) {
		return nil
	}
	return err
}

// settle ends a call and reports whether there was one.
func (c *Conn) settle(id int64, r reply) bool {
	c.mu.Lock()
	got, ok := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if ok {
		got <- r
	}
	return ok
}
