package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/scrub"
)

// stopped is why a body has no end when its reader went away.
const stopped = "the client stopped reading"

// Recorder sends requests on and keeps what happens. Close it when the requests have ended.
type Recorder struct {
	Timing bool // keep when each piece of a body came, too; set before use

	next http.RoundTripper

	mu   sync.Mutex // guards what follows
	w    io.Writer
	open map[*recording]bool
	err  error // the first that writing had
}

// NewRecorder writes to w what passes through next; nil means the default transport.
func NewRecorder(w io.Writer, next http.RoundTripper) *Recorder {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Recorder{next: next, w: w, open: map[*recording]bool{}}
}

// RoundTrip sends a request on. The exchange is written when the body of its response has
// ended or was closed.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	rec := &recording{owner: r, start: time.Now(), secrets: scrub.Secrets(req.Header, req.URL)}
	rec.asked = Request{
		Method: req.Method, Host: req.URL.Host, Path: path(req.URL), Header: scrub.Header(req.Header),
		Body: scrub.Bytes(body, rec.secrets),
	}
	sent := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		sent.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.begin(rec)
	resp, err := r.next.RoundTrip(sent)
	if err != nil {
		rec.end(err.Error())
		return nil, err
	}
	rec.setResponse(resp)
	resp.Body, resp.Request = rec, req
	return resp, nil
}

// readBody reads the body of a request and closes it, as a RoundTripper must.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the body of the request: %w", err)
	}
	return body, nil
}

// path is the path of an address and its query without keys, in a stable order.
func path(u *url.URL) string {
	if q := scrub.Query(u.Query()).Encode(); q != "" {
		return u.EscapedPath() + "?" + q
	}
	return u.EscapedPath()
}

func (r *Recorder) begin(rec *recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[rec] = true
}

// write keeps a finished exchange, once.
func (r *Recorder) write(rec *recording, e Exchange) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open[rec] {
		return
	}
	delete(r.open, rec)
	if err == nil {
		_, err = r.w.Write(line.Bytes())
	}
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("write recording: %w", err)
	}
}

// Close writes what has not ended yet, marked as cut, and returns the first error that writing
// had. It does not close the writer.
func (r *Recorder) Close() error {
	r.mu.Lock()
	var left []*recording
	for rec := range r.open {
		left = append(left, rec)
	}
	r.mu.Unlock()
	for _, rec := range left {
		rec.end("the recording ended first")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// recording is an unfinished exchange. It is also the body that the client reads.
type recording struct {
	owner   *Recorder
	asked   Request
	start   time.Time
	secrets []string
	body    io.ReadCloser // source of the client's reads

	mu   sync.Mutex // guards what follows; the client and Close may meet
	said Response
	done bool
}

func (r *recording) setResponse(resp *http.Response) {
	r.body = resp.Body
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said.Status, r.said.Header = resp.StatusCode, scrub.Header(resp.Header)
}

// Read passes bytes on as they come and keeps them.
func (r *recording) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.keep(p[:n])
	switch {
	case errors.Is(err, io.EOF):
		r.end("")
	case err != nil:
		r.end(err.Error())
	}
	return n, err
}

func (r *recording) keep(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done || len(p) == 0 {
		return
	}
	r.said.Body = append(r.said.Body, p...)
	if r.owner.Timing {
		r.said.Chunks = append(r.said.Chunks, Chunk{At: time.Since(r.start).Milliseconds(), Bytes: len(p)})
	}
}

// Close ends the exchange; before the end of the body it is cut.
func (r *recording) Close() error {
	r.end(stopped)
	return r.body.Close()
}

// end writes the exchange, once, with every secret of the request gone from what came back.
// Why says what is missing at its end; "" when nothing is.
func (r *recording) end(why string) {
	r.mu.Lock()
	if r.done {
		r.mu.Unlock()
		return
	}
	r.done = true
	said := r.said
	r.mu.Unlock()
	if said.Status == 0 {
		said.Failed = scrub.String(why, r.secrets)
	} else {
		said.Cut = scrub.String(why, r.secrets)
	}
	if clean := scrub.Bytes(said.Body, r.secrets); !bytes.Equal(clean, said.Body) {
		said.Body, said.Chunks = clean, nil // the pieces no longer add up
	}
	for _, values := range said.Header {
		for i, v := range values {
			values[i] = scrub.String(v, r.secrets)
		}
	}
	r.owner.write(r, Exchange{Version: version, Request: r.asked, Response: said})
}
