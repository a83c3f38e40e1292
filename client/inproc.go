package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// errClosed says that a client of this process was closed.
var errClosed = errors.New("the client is closed")

// inproc carries requests to a handler of this process: no port, no password, no bytes on a wire. Each
// runs in a goroutine that ends with its context, with the body of its answer, or when the client is
// closed, which waits for it.
type inproc struct {
	handler http.Handler
	life    context.Context // of all requests; ended by close
	end     context.CancelCauseFunc

	mu      sync.Mutex // guards the fields below
	closed  bool
	running sync.WaitGroup
}

func newInproc(h http.Handler) *inproc {
	t := &inproc{handler: h}
	t.life, t.end = context.WithCancelCause(context.Background())
	return t
}

// close ends all requests and waits for their handlers.
func (t *inproc) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.end(errClosed)
	t.running.Wait()
}

// begin counts a handler in, unless it is too late.
func (t *inproc) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.running.Add(1)
	return true
}

// RoundTrip lets the handler answer, and returns when it has written the header of its answer.
func (t *inproc) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.begin() {
		if r.Body != nil {
			_ = r.Body.Close() // nobody read it
		}
		return nil, errClosed
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	out, in := io.Pipe()
	a := &answering{ctx: ctx, header: http.Header{}, pipe: in, ready: make(chan struct{}), request: r}
	a.body = &answerBody{PipeReader: out, cancel: cancel}
	// Whoever writes an answer that nobody reads any more must not wait for ever.
	forget := context.AfterFunc(ctx, func() { _ = in.CloseWithError(context.Cause(ctx)) })
	release := context.AfterFunc(t.life, func() { cancel(errClosed) })
	go func() {
		defer t.running.Done()
		defer forget()
		defer release()
		defer cancel(nil)
		a.run(t.handler, served(ctx, r))
	}()
	select {
	case <-a.ready:
		if a.failed != nil {
			return nil, a.failed
		}
		return a.response(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// served is the request as a server has it.
func served(ctx context.Context, r *http.Request) *http.Request {
	in := r.Clone(ctx)
	in.RequestURI = in.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// answering is the answer of a handler on its way. Only the goroutine of the handler writes to it; the
// other side waits for ready.
type answering struct {
	ctx     context.Context // ends when nobody reads any more
	request *http.Request
	header  http.Header
	pipe    *io.PipeWriter
	body    *answerBody

	status int
	sent   http.Header   // as it was when the header was written
	failed error         // instead of an answer
	ready  chan struct{} // closed when the three above are set
}

// run calls the handler, whose panics end its answer and nothing else.
func (a *answering) run(h http.Handler, r *http.Request) {
	defer func() {
		_ = r.Body.Close()          // as a transport must
		err := context.Cause(a.ctx) // half an answer is none
		if v := recover(); v != nil {
			err = fmt.Errorf("the handler panicked: %v", v)
		}
		if a.status == 0 && err != nil {
			a.failed = err
			close(a.ready)
			a.status = http.StatusInternalServerError
		}
		a.WriteHeader(http.StatusOK) // if it wrote nothing
		_ = a.pipe.CloseWithError(err)
	}()
	h.ServeHTTP(a, r)
}

// Header is written with the first byte.
func (a *answering) Header() http.Header { return a.header }

// WriteHeader lets the other side have the answer.
func (a *answering) WriteHeader(status int) {
	if a.status != 0 || status < http.StatusOK { // what only informs nobody reads
		return
	}
	a.status, a.sent = status, a.header.Clone()
	close(a.ready)
}

// Write waits until all of it is read.
func (a *answering) Write(b []byte) (int, error) {
	if err := context.Cause(a.ctx); err != nil {
		return 0, err
	}
	a.WriteHeader(http.StatusOK)
	return a.pipe.Write(b)
}

// FlushError has nothing to do but to send the header: what was written is read already.
func (a *answering) FlushError() error {
	a.WriteHeader(http.StatusOK)
	return context.Cause(a.ctx)
}

// Flush is FlushError for those who do not ask.
func (a *answering) Flush() { _ = a.FlushError() }

// response is the answer as a client has it.
func (a *answering) response() *http.Response {
	length := int64(-1)
	if n, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: a.body, ContentLength: length, Request: a.request,
	}
}

// answerBody is what a handler writes. Who closes it ends the handler.
type answerBody struct {
	*io.PipeReader
	cancel context.CancelCauseFunc
}

// Close says that nobody reads any more.
func (b *answerBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel(context.Canceled)
	return err
}
