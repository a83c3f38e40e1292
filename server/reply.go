package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// writer is the response to one request, with the data for its log line.
type writer struct {
	http.ResponseWriter
	id     string // of the request
	gzip   bool   // the client understands it
	plain  bool   // but is not to get it
	status int    // 0 before the header is written
	bytes  int64
}

func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find deadlines and flushes.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// reply writes a value as JSON; none is status 204.
func reply[Out any](c *call, out Out) error {
	if reflect.TypeFor[Out]() == reflect.TypeFor[none]() {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	data, err := encode(out)
	if err != nil {
		return err
	}
	c.w.json(http.StatusOK, data)
	return nil
}

// encode writes JSON as OpenCode does: without escapes that only HTML needs. A list that
// is nil is an empty one.
func encode[Out any](out Out) ([]byte, error) {
	if own, ok := any(out).(appender); ok {
		return own.AppendJSON(nil), nil
	}
	if v := reflect.ValueOf(&out).Elem(); v.Kind() == reflect.Slice && v.IsNil() && v.Type() != reflect.TypeFor[json.RawMessage]() {
		return []byte("[]"), nil
	} else if v.Kind() == reflect.Map && v.IsNil() {
		return []byte("{}"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// compressFrom is how long an answer must be to be worth compressing, in bytes.
const compressFrom = 1024

// zippers are pooled because each has a window of 800 KB.
var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is right
	return z
}}

// json writes a response with an encoded body. Write errors do not matter.
func (w *writer) json(status int, data []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	w.whole(status, data)
}

// whole writes a body whose type is set, compressed if that is wanted and worth it.
func (w *writer) whole(status int, data []byte) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if len(data) >= compressFrom && !w.plain {
		h.Add("Vary", "Accept-Encoding")
		if w.gzip {
			h.Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			z := zippers.Get().(*gzip.Writer)
			defer zippers.Put(z)
			out := &patientWriter{w, http.NewResponseController(w)}
			z.Reset(out)
			_, _ = z.Write(data)
			_ = z.Close()
			out.rest()
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	out := &patientWriter{w, http.NewResponseController(w)}
	_, _ = out.Write(data)
	out.rest()
}

// patientWriter gives each piece of a response its own deadline: a stalled client does not hold a
// connection forever, and a slow one gets everything.
type patientWriter struct {
	w       io.Writer
	control *http.ResponseController
}

const answerPiece = 256 << 10

func (p *patientWriter) Write(b []byte) (n int, err error) {
	for len(b) > n && err == nil {
		_ = p.control.SetWriteDeadline(time.Now().Add(stuckTime)) // a connection without deadlines is one of a test
		var m int
		m, err = p.w.Write(b[n:min(len(b), n+answerPiece)])
		n += m
	}
	return n, err
}

// rest removes the deadline: the connection is reused, and the next response may take long.
func (p *patientWriter) rest() { _ = p.control.SetWriteDeadline(time.Time{}) }

// accepts reports whether the client understands an encoding.
func accepts(r *http.Request, encoding string) bool {
	for _, v := range r.Header.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(v, ",") {
			name, quality, _ := strings.Cut(strings.TrimSpace(one), ";")
			if name == encoding && strings.ReplaceAll(quality, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}

// fail sends the error to the client, if nothing was written yet, and logs it if it is not the
// client's mistake.
func (c *call) fail(err error) {
	if c.isRevoked() {
		err = errPassword
	}
	if c.Context().Err() != nil && !isProblem(err) {
		if c.server.closing.Err() == nil {
			return // the client is gone
		}
	}
	p, ref := c.problemOf(err)
	if p.status >= http.StatusInternalServerError && p.status != http.StatusServiceUnavailable {
		c.server.options.Log.Error("request failed", "request", c.w.id, "method", c.Method, "path", loggedPath(c.Request), "ref", ref, "error", err)
	}
	if c.w.status != 0 {
		return
	}
	if p.status == http.StatusUnauthorized && p.body == nil && !isOfPage(c.Request) {
		c.w.Header().Set("WWW-Authenticate", `Basic realm="Secure Area"`)
	}
	if p.body == nil {
		c.w.Header().Set("Content-Length", "0")
		c.w.WriteHeader(p.status)
		return
	}
	data, err := encode(p.body)
	if err != nil { // a body of ours is always JSON; of a fault it was checked when it was made
		data = []byte(`{"name":"UnknownError","data":{"message":"the error could not be written"}}`)
	}
	c.w.json(p.status, data)
}

// isOfPage reports whether a script of a page sent a request. It shows its own login, so the browser must show none.
func isOfPage(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Dest") == "empty" || r.Header.Get("X-Lathe-Page") != ""
}

func isProblem(err error) bool {
	var p *problem
	return errors.As(err, &p)
}
