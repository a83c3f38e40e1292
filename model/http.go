package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
)

// Endpoint is the address of a provider with its credentials and limits.
type Endpoint struct {
	Provider  string
	BaseURL   string            // without a slash at its end
	Header    map[string]string // credentials among them; never logged, never in an error
	Client    *http.Client      // nil means the default one
	Deadlines Deadlines
	MaxWire   int  // bytes of one answer; 0 means the default
	Sign      Sign // nil where a key in the header is enough
}

// Sign signs a complete request, for providers that require signatures. The body is for its hash and
// must not be changed. Sign may block until the context of the request ends.
type Sign func(req *http.Request, body []byte) error

// Deadlines limit every wait for a provider. Zero means the default, negative none. The gap is
// between bytes: a model that reasons for minutes sends comments meanwhile, or the config allows
// more. Time without a reader does not count.
type Deadlines struct {
	Headers, First, Gap time.Duration
}

// The default deadlines. Reasoning models may be silent for minutes before they answer.
const (
	DefaultHeaders = 5 * time.Minute
	DefaultFirst   = 5 * time.Minute
	DefaultGap     = 5 * time.Minute
)

// Post sends a body and returns the response once its headers arrive. Close its body; reading it
// fails after a timeout. A refusal is returned like any other response.
func (e Endpoint) Post(ctx context.Context, path string, body []byte, more map[string]string) (*http.Response, error) {
	d := Deadlines{cmp.Or(e.Deadlines.Headers, DefaultHeaders), cmp.Or(e.Deadlines.First, DefaultFirst), cmp.Or(e.Deadlines.Gap, DefaultGap)}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{cancel: cancel, created: time.Now()}
	w.wait()
	w.watch(d.Headers, "the provider sent no response headers within %s")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		w.stop()
		cancel(nil)
		return nil, lathe.Errorf(lathe.Invalid, "the base URL of %s is not valid: %s", e.Provider, rootCause(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	for _, set := range []map[string]string{e.Header, more} {
		for k, v := range set {
			req.Header.Set(k, v)
		}
	}
	resp, err := e.do(req, body)
	if err != nil {
		w.stop()
		err = TransportError(ctx, err)
		cancel(nil)
		return nil, err
	}
	w.rest()
	w.watch(d.First, "the provider sent nothing within %s of its headers")
	resp.Body = &watchedBody{body: resp.Body, dog: w, gap: d.Gap, ctx: ctx, most: cmp.Or(e.MaxWire, defaultWire)}
	return resp, nil
}

// do signs and sends a request. Redirects stay on the same host, because the request carries credentials.
func (e Endpoint) do(req *http.Request, body []byte) (*http.Response, error) {
	if e.Sign != nil {
		if err := e.Sign(req, body); err != nil {
			return nil, err
		}
	}
	client := http.Client{}
	if e.Client != nil {
		client = *e.Client
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = followSameHost
	}
	return client.Do(req)
}

// followSameHost allows redirects within the same host only. net/http would send keys in headers, and the
// conversation, to any other host too.
func followSameHost(req *http.Request, via []*http.Request) error {
	first, most := via[0], 5
	if req.Method != first.Method || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme && req.URL.Scheme != "https" || len(via) > most {
		return http.ErrUseLastResponse
	}
	return nil
}

// watchdog cancels a request after a timeout. It counts only while a reader waits: a reader that is
// busy for an hour is not the provider's fault.
type watchdog struct {
	cancel  context.CancelCauseFunc
	created time.Time
	since   atomic.Int64 // start of the current wait, in nanoseconds after born plus 1; 0 if there is none

	mu     sync.Mutex // guards what follows
	limit  time.Duration
	format string // error message of the timeout
	timer  *time.Timer
}

// wait and rest mark the start and end of a wait. They are cheap, since there are many.
func (w *watchdog) wait() { w.since.Store(int64(time.Since(w.created)) + 1) }
func (w *watchdog) rest() { w.since.Store(0) }

// watch sets the timeout of each wait from now on; none if it is not positive.
func (w *watchdog) watch(limit time.Duration, format string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	w.limit, w.format = limit, format
	if limit > 0 {
		w.timer = time.AfterFunc(limit, w.check)
	}
}

func (w *watchdog) stop() { w.watch(0, "") }

// check runs when a wait may have timed out, and reschedules itself if it has not.
func (w *watchdog) check() {
	if err := w.over(); err != nil {
		w.cancel(err)
	}
}

// over returns the error of an expired limit. Only time spent waiting counts, so it may set the timer again.
func (w *watchdog) over() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return nil // stopped meanwhile
	}
	left := w.limit
	if since := w.since.Load(); since != 0 {
		left -= time.Since(w.created) - time.Duration(since-1)
	}
	if left > 0 {
		w.timer.Reset(left)
		return nil
	}
	return broken(fmt.Sprintf(w.format, w.limit), context.DeadlineExceeded, "code", "timeout", "timeoutMs", strconv.FormatInt(w.limit.Milliseconds(), 10))
}

// watchedBody is a body whose every read is watched.
type watchedBody struct {
	body     io.ReadCloser
	dog      *watchdog
	gap      time.Duration
	ctx      context.Context
	started  bool          // the first bytes have come
	read     int           // bytes so far
	most     int           // that it may have
	progress bool          // events are reported, see WithProgress
	vain     time.Duration // waited since something did
}

// quietGaps is how many gaps long a provider may stay silent: comments and pings keep a
// connection alive that has no one at its other end.
const quietGaps = 12

// WithProgress wraps yield to report events to the body they came from. Reading the body fails if bytes
// arrive without events for too long.
func WithProgress(body io.Reader, yield func(Event, error) bool) func(Event, error) bool {
	b, ok := body.(*watchedBody)
	if !ok {
		return yield
	}
	b.progress = true
	return func(e Event, err error) bool {
		b.vain = 0
		return yield(e, err)
	}
}

// tooQuiet is the error of a body without events for too long, nil before that.
func (b *watchedBody) tooQuiet() error {
	limit := quietGaps * b.gap
	if !b.progress || b.gap <= 0 || b.vain <= limit {
		return nil
	}
	return broken(fmt.Sprintf("the provider sent only keep-alives for %s", limit), context.DeadlineExceeded,
		"code", "timeout", "timeoutMs", strconv.FormatInt(limit.Milliseconds(), 10))
}

// Read passes data on and enforces the limits on silence and size while it waits for the provider.
func (b *watchedBody) Read(p []byte) (int, error) {
	b.dog.wait()
	began := time.Now()
	n, err := b.body.Read(p)
	b.vain += time.Since(began)
	b.dog.rest()
	if n > 0 && !b.started {
		b.started = true
		b.dog.watch(b.gap, "the provider sent nothing for %s in the middle of its answer")
	}
	b.read += n
	switch quiet := b.tooQuiet(); {
	case b.read > b.most:
		err = TooLongError("data", b.most)
	case err != nil && !errors.Is(err, io.EOF):
		err = TransportError(b.ctx, err)
	case err == nil && quiet != nil:
		err = quiet
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.dog.stop()
	err := b.body.Close()
	b.dog.cancel(nil)
	return err
}
