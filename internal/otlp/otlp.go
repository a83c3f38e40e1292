// Package otlp sends spans to an OpenTelemetry collector, over HTTP in JSON.
//
// It is a small part of that protocol, written here because the official library adds a second
// network stack. A tracer that is nil does nothing and costs a comparison; so does a span that
// is nil. Spans wait in memory, a bounded number of them, and are sent together; spans that
// cannot be sent are dropped and counted, and never block a caller.
//
// A Tracer is safe for use by many goroutines, a Span is for the goroutine that started it. One
// goroutine sends; Close ends it.
//
// Start reading at Tracer.Start.
package otlp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options are the surroundings of a tracer.
type Options struct {
	Endpoint string            // of the collector; /v1/traces is added
	Headers  map[string]string // sent along: keys
	Service  string
	Version  string
	Instance string // of the service; "" leaves it out
	Client   *http.Client
	Interval time.Duration // between two sendings; 0 is five seconds
	Log      *slog.Logger
}

const (
	mostSpans = 4096 // that wait
	batch     = 512  // spans in one sending
	sendTime  = 10 * time.Second
)

// Tracer collects spans. A nil one collects none.
type Tracer struct {
	options Options
	full    chan struct{} // a batch waits
	stop    chan struct{}
	done    chan struct{}
	closing sync.Once

	mu      sync.Mutex // guards the fields below
	spans   []*Span
	dropped int
}

// Open returns a tracer that sends what it collects until it is closed.
func Open(o Options) *Tracer {
	if o.Interval <= 0 {
		o.Interval = 5 * time.Second
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Endpoint = strings.TrimRight(o.Endpoint, "/") + "/v1/traces"
	t := &Tracer{options: o, full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

// Close sends the remaining spans and ends.
func (t *Tracer) Close() error {
	if t != nil {
		t.closing.Do(func() { close(t.stop) })
		<-t.done
	}
	return nil
}

// Attr says something about a span.
type Attr struct {
	Name string
	Text string
	Int  int64 // counts if Text is empty
}

// Kind is the side of a call that a span is on.
type Kind int

// The kinds, by their numbers on the wire.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// Span is a timed operation. A nil span does nothing.
type Span struct {
	tracer     *Tracer
	trace      [16]byte
	id, parent [8]byte
	name       string
	kind       Kind
	begin, end time.Time
	attrs      []Attr
	failure    string
	failed     bool
}

type spanKey struct{}

// Start begins a span below the one of the context; work that is given the context returned is
// below it.
func (t *Tracer) Start(ctx context.Context, kind Kind, name string, attrs ...Attr) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	s := &Span{tracer: t, name: name, kind: kind, begin: time.Now(), attrs: attrs}
	_, _ = rand.Read(s.id[:]) // it never fails
	if above, ok := ctx.Value(spanKey{}).(*Span); ok {
		s.trace, s.parent = above.trace, above.id
	} else {
		_, _ = rand.Read(s.trace[:])
	}
	return context.WithValue(ctx, spanKey{}, s), s
}

// WithRemoteParent returns a context below the span that a request names in its traceparent header, or the
// same if it names none.
func WithRemoteParent(ctx context.Context, traceparent string) context.Context {
	f := strings.Split(traceparent, "-")
	var s Span
	if len(f) != 4 || len(f[1]) != 2*len(s.trace) || len(f[2]) != 2*len(s.id) {
		return ctx
	}
	_, err := hex.Decode(s.trace[:], []byte(f[1]))
	if _, e := hex.Decode(s.id[:], []byte(f[2])); err != nil || e != nil || s.trace == [16]byte{} || s.id == [8]byte{} {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, &s)
}

// WithTrace returns a context whose spans belong to the trace of a name: programs that use the same one add to the same
// trace.
func WithTrace(ctx context.Context, name string) context.Context {
	sum := sha256.Sum256([]byte(name))
	return context.WithValue(ctx, spanKey{}, &Span{trace: [16]byte(sum[:16])})
}

// Traceparent is the header that names the span of a context to another program, "" without one.
func Traceparent(ctx context.Context) string {
	s, ok := ctx.Value(spanKey{}).(*Span)
	if !ok {
		return ""
	}
	return "00-" + hex.EncodeToString(s.trace[:]) + "-" + hex.EncodeToString(s.id[:]) + "-01"
}

// Set adds an attribute to the span.
func (s *Span) Set(attrs ...Attr) {
	if s != nil {
		s.attrs = append(s.attrs, attrs...)
	}
}

// Rename gives the span the name that is known only later.
func (s *Span) Rename(name string) {
	if s != nil {
		s.name = name
	}
}

// End ends the span, with an error if it failed. It records only the kind of failure: error
// texts may hold parts of the conversation.
func (s *Span) End(failure string) {
	if s == nil {
		return
	}
	s.end, s.failure, s.failed = time.Now(), failure, failure != ""
	t := s.tracer
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.spans) >= mostSpans {
		t.dropped++
		return
	}
	t.spans = append(t.spans, s)
	if len(t.spans) >= batch {
		select {
		case t.full <- struct{}{}:
		default:
		}
	}
}

// run sends every few seconds, and when much waits.
func (t *Tracer) run() {
	defer close(t.done)
	tick := time.NewTicker(t.options.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-t.full:
		case <-t.stop:
			t.send()
			return
		}
		t.send()
	}
}

// take removes what waits.
func (t *Tracer) take() (spans []*Span, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	spans, dropped = t.spans, t.dropped
	t.spans, t.dropped = nil, 0
	return spans, dropped
}
