package otlp

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// The wire's form of spans, as far as it is used here.
type (
	body struct {
		Resources []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource resource     `json:"resource"`
		Scopes   []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		Trace      string      `json:"traceId"`
		ID         string      `json:"spanId"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       Kind        `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     *status     `json:"status,omitempty"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		Text *string `json:"stringValue,omitempty"`
		Int  string  `json:"intValue,omitempty"` // 64 bits travel as text
	}
)

// statusError is the wire's number for a span that failed.
const statusError = 2

func wireAttrs(attrs []Attr) (out []attribute) {
	for _, a := range attrs {
		v := value{Text: &a.Text}
		if a.Text == "" {
			v = value{Int: strconv.FormatInt(a.Int, 10)}
		}
		out = append(out, attribute{a.Name, v})
	}
	return out
}

func (s *Span) wire() span {
	out := span{
		Trace: hex.EncodeToString(s.trace[:]), ID: hex.EncodeToString(s.id[:]), Name: s.name, Kind: s.kind,
		Start: strconv.FormatInt(s.begin.UnixNano(), 10), End: strconv.FormatInt(s.end.UnixNano(), 10), Attributes: wireAttrs(s.attrs),
	}
	if s.parent != [8]byte{} {
		out.Parent = hex.EncodeToString(s.parent[:])
	}
	if s.failed {
		out.Status = &status{statusError, s.failure}
	}
	return out
}

// send hands what waits to the collector. What it does not take is gone.
func (t *Tracer) send() {
	spans, dropped := t.take()
	for len(spans) > 0 {
		n := min(len(spans), batch)
		if err := t.post(spans[:n]); err != nil {
			t.options.Log.Warn("spans could not be sent", "count", len(spans)+dropped, "error", err)
			return
		}
		spans = spans[n:]
	}
	if dropped > 0 {
		t.options.Log.Warn("spans were dropped: more came than could be sent", "count", dropped)
	}
}

// post sends finished spans to the collector in one request.
func (t *Tracer) post(spans []*Span) error {
	o := t.options
	out := scopeSpans{Scope: scope{o.Service, o.Version}}
	for _, s := range spans {
		out.Spans = append(out.Spans, s.wire())
	}
	from := []Attr{{Name: "service.name", Text: o.Service}, {Name: "service.version", Text: o.Version}}
	if o.Instance != "" {
		from = append(from, Attr{Name: "service.instance.id", Text: o.Instance})
	}
	data, err := json.Marshal(body{[]resourceSpans{{
		Resource: resource{wireAttrs(from)},
		Scopes:   []scopeSpans{out},
	}}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), sendTime)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Endpoint, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, v := range o.Headers {
		req.Header.Set(name, v)
	}
	res, err := o.Client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the collector answered %s", res.Status)
	}
	return nil
}
