package otlp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/otlp"
)

// sent is the part of a sending that the tests look at.
type sent struct {
	Resources []struct {
		Resource struct{ Attributes []json.RawMessage }
		Scopes   []struct {
			Spans []struct {
				Trace      string `json:"traceId"`
				ID         string `json:"spanId"`
				Parent     string `json:"parentSpanId"`
				Name       string
				Kind       int
				Start      string `json:"startTimeUnixNano"`
				End        string `json:"endTimeUnixNano"`
				Attributes []json.RawMessage
				Status     struct {
					Code    int
					Message string
				}
			}
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

// collector keeps what it is sent.
type collector struct {
	mu     sync.Mutex
	bodies []string
	keys   []string
	status int
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, string(data))
	c.keys = append(c.keys, r.URL.Path+" "+r.Header.Get("Authorization"))
	w.WriteHeader(c.status)
}

func TestTracer_SendsATree(t *testing.T) {
	c := &collector{status: http.StatusOK}
	h := httptest.NewServer(c)
	defer h.Close()
	tracer := otlp.Open(otlp.Options{Endpoint: h.URL + "/", Headers: map[string]string{"Authorization": "Bearer k"}, Service: "lathe", Version: "1", Interval: time.Hour})
	ctx := otlp.WithRemoteParent(t.Context(), "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	ctx, outer := tracer.Start(ctx, otlp.Server, "outer", otlp.Attr{Name: "session", Text: "ses_x"})
	_, inner := tracer.Start(ctx, otlp.Client, "inner")
	inner.Set(otlp.Attr{Name: "tokens", Int: 7})
	inner.End("limited")
	outer.End("")
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	if len(c.bodies) != 1 || c.keys[0] != "/v1/traces Bearer k" {
		t.Fatalf("sent %d times: %v", len(c.bodies), c.keys)
	}
	var got sent
	if err := json.Unmarshal([]byte(c.bodies[0]), &got); err != nil {
		t.Fatal(err)
	}
	spans := got.Resources[0].Scopes[0].Spans
	in, out := spans[0], spans[1]
	if in.Name != "inner" || in.Parent != out.ID || in.Trace != out.Trace || in.Kind != 3 || in.Status.Code != 2 || in.Status.Message != "limited" {
		t.Errorf("inner is %+v", in)
	}
	if out.Trace != "0123456789abcdef0123456789abcdef" || out.Parent != "0123456789abcdef" || out.Status.Code != 0 || out.Start > out.End {
		t.Errorf("outer is %+v", out)
	}
	for _, want := range []string{`{"key":"service.name","value":{"stringValue":"lathe"}}`, `{"key":"tokens","value":{"intValue":"7"}}`, `{"key":"session","value":{"stringValue":"ses_x"}}`} {
		if !strings.Contains(c.bodies[0], want) {
			t.Errorf("no %s in %s", want, c.bodies[0])
		}
	}
}

func TestTracer_NilCostsNothing(t *testing.T) {
	var none *otlp.Tracer
	ctx, span := none.Start(t.Context(), otlp.Internal, "x")
	span.Set(otlp.Attr{Name: "a", Text: "b"})
	span.End("failed")
	if span != nil || ctx != t.Context() || none.Close() != nil {
		t.Error("a tracer that is nil does something")
	}
	if n := testing.AllocsPerRun(100, func() {
		_, s := none.Start(ctx, otlp.Internal, "x")
		s.End("")
	}); n != 0 {
		t.Errorf("it costs %v allocations", n)
	}
}

func TestTracer_IsBoundedWithoutACollector(t *testing.T) {
	c := &collector{status: http.StatusServiceUnavailable}
	h := httptest.NewServer(c)
	defer h.Close()
	tracer := otlp.Open(otlp.Options{Endpoint: h.URL, Interval: time.Hour})
	for range 20_000 {
		_, s := tracer.Start(t.Context(), otlp.Internal, "x")
		s.End("")
	}
	if err := tracer.Close(); err != nil || tracer.Close() != nil {
		t.Error("it does not close")
	}
	if len(c.bodies) == 0 || len(c.bodies) > 50 {
		t.Errorf("sent %d times", len(c.bodies))
	}
}

func TestUnder_IgnoresNonsense(t *testing.T) {
	for _, bad := range []string{"", "x", "00-0-0-01", "00-zz23456789abcdef0123456789abcdef-0123456789abcdef-01", "00-00000000000000000000000000000000-0123456789abcdef-01"} {
		if otlp.WithRemoteParent(t.Context(), bad) != t.Context() {
			t.Errorf("%q names a span", bad)
		}
	}
	if otlp.WithRemoteParent(context.Background(), "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00") == context.Background() {
		t.Error("a span is passed over")
	}
}
