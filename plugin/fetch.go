package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// maxStreams is how many streams a process may have open.
const maxStreams = 64

func (l *process) streaming() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.streams)
}

// chunkMost is how much of a streamed answer goes into one message.
const chunkMost = 256 << 10

// wireRequest is a request of a plugin to the server, and wireResponse its answer. A body is text, or
// base64 where encoding says so.
type wireRequest struct {
	Method   string            `json:"method"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Encoding string            `json:"encoding"`
}

type wireResponse struct {
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body,omitempty"`
	Encoding string            `json:"encoding,omitempty"`
	Stream   int64             `json:"stream,omitempty"` // the body follows, in requests fetch.chunk with this number
}

// fetch answers a request with the server's own handler, without a socket. An answer that the handler
// flushes is a stream: its head is the answer, its body comes in messages that the plugin confirms, so
// that one that does not read makes the handler wait and not us.
func (l *process) fetch(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var w wireRequest
	if err := json.Unmarshal(params, &w); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("fetch: %v", err)}
	}
	handler := l.supervisor.hub.opt.Client
	if handler == nil {
		return encodeResponse(wireResponse{Status: http.StatusServiceUnavailable, Body: "plugins have no server here"})
	}
	if l.streaming() >= maxStreams {
		return encodeResponse(wireResponse{Status: http.StatusTooManyRequests, Body: fmt.Sprintf("%d streams are open, which is all at once", maxStreams)})
	}
	life, stop := context.WithCancel(l.life)
	req, err := w.request(life, l.supervisor.hub.opt.ServerURL)
	if err != nil {
		stop()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("fetch: %v", err)}
	}
	if err := l.supervisor.hub.enter(); err != nil {
		stop()
		return nil, err
	}
	rec := &recorder{link: l, ctx: life, stop: stop, header: http.Header{}, head: make(chan wireResponse, 1)}
	go rec.run(handler, req)
	select {
	case head := <-rec.head:
		return encodeResponse(head)
	case <-ctx.Done():
		stop()
		return nil, context.Cause(ctx)
	}
}

// request is the request that the handler sees. Whatever host the plugin named, it is ours.
func (w wireRequest) request(ctx context.Context, server string) (*http.Request, error) {
	u, err := url.Parse(w.URL)
	if err != nil {
		return nil, err
	}
	if base, err := url.Parse(server); err == nil {
		u.Scheme, u.Host = base.Scheme, base.Host
	}
	if !strings.HasPrefix(u.Path, "/") {
		return nil, fmt.Errorf("the path of %q does not begin with /", cut(w.URL, 200))
	}
	body := []byte(w.Body)
	if w.Encoding == "base64" {
		if body, err = base64.StdEncoding.DecodeString(w.Body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(w.Method, http.MethodGet), u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range w.Headers {
		req.Header.Set(name, value)
	}
	req.RequestURI = u.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	return req, nil
}

func encodeResponse(w wireResponse) (json.RawMessage, error) {
	if w.Headers == nil {
		w.Headers = map[string]string{"content-type": "text/plain"}
	}
	return json.Marshal(w)
}

// recorder is the [http.ResponseWriter] of a request of a plugin. The handler's goroutine alone uses it.
type recorder struct {
	link   *process
	ctx    context.Context
	stop   context.CancelFunc
	header http.Header
	status int
	body   []byte
	head   chan wireResponse // takes one
	stream int64             // 0 before the first flush
}

// run calls the handler and ends the answer, whatever the handler did.
func (r *recorder) run(handler http.Handler, req *http.Request) {
	defer r.link.supervisor.hub.work.Done()
	defer r.stop()
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // it is thrown as it is
				r.link.supervisor.hub.opt.Log.Error("a request of a plugin failed", "panic", fmt.Sprint(p))
				r.status, r.body = http.StatusInternalServerError, nil
			}
		}()
		handler.ServeHTTP(r, req)
	}()
	if r.stream == 0 {
		w := wireResponse{Status: r.code(), Headers: r.headers()}
		w.Body, w.Encoding = encodeBody(r.body)
		r.head <- w
		return
	}
	r.Flush()
	r.link.cut(r.stream)
	_ = r.chunk("", "", true) // or the reader is gone
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
}

// maxBody is how long an answer may be that is not a stream.
const maxBody = maxMessage / 2

func (r *recorder) Write(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.stream == 0 && len(r.body)+len(p) > maxBody {
		r.Flush() // a long body becomes a stream
	}
	r.body = append(r.body, p...)
	if r.stream != 0 && len(r.body) >= chunkMost {
		r.Flush()
	}
	return len(p), nil
}

// Flush makes a stream of the answer and sends what there is.
func (r *recorder) Flush() {
	if r.stream == 0 {
		r.stream = r.link.openStream(r.stop)
		r.head <- wireResponse{Status: r.code(), Headers: r.headers(), Stream: r.stream}
	}
	for len(r.body) > 0 && r.ctx.Err() == nil {
		n := min(len(r.body), chunkMost)
		for n < len(r.body) && n > chunkMost-utf8.UTFMax && !utf8.RuneStart(r.body[n]) {
			n--
		}
		text, encoding := encodeBody(r.body[:n])
		if err := r.chunk(text, encoding, false); err != nil {
			r.stop() // nobody listens any more
			break
		}
		r.body = r.body[n:]
	}
	r.body = nil
}

// chunk sends a piece and waits until the plugin has taken it.
func (r *recorder) chunk(text, encoding string, end bool) error {
	params, err := json.Marshal(struct {
		Stream   int64  `json:"stream"`
		Data     string `json:"data,omitempty"`
		Encoding string `json:"encoding,omitempty"`
		End      bool   `json:"end,omitempty"`
	}{r.stream, text, encoding, end})
	if err != nil {
		return err
	}
	if end { // which a canceled reader may also receive, and nothing waits for
		return r.link.conn.Notify(r.link.life, "fetch.chunk", params)
	}
	_, err = r.link.conn.Call(r.ctx, "fetch.chunk", params)
	return err
}

func (r *recorder) code() int { return cmp.Or(r.status, http.StatusOK) }

func (r *recorder) headers() map[string]string {
	out := make(map[string]string, len(r.header))
	for name, values := range r.header {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

func encodeBody(b []byte) (text, encoding string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return base64.StdEncoding.EncodeToString(b), "base64"
}

func (l *process) openStream(stop context.CancelFunc) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serial++
	l.streams[l.serial] = stop
	return l.serial
}

// cut ends a stream, or does nothing where it has ended.
func (l *process) cut(stream int64) {
	l.mu.Lock()
	stop := l.streams[stream]
	delete(l.streams, stream)
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
}

var _ interface {
	http.ResponseWriter
	http.Flusher
	io.Writer
} = (*recorder)(nil)
