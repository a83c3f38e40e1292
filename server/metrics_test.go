package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/server"
)

func TestMetrics_CountATurn(t *testing.T) {
	w := begin(t, `
call fail {"message":"no"}
finish tool-calls
--
status 503
--
text "Hi."
usage 90 20
finish stop
`, func(o *server.Options) { o.Metrics = true })
	l := w.listen("/event")
	l.next()
	var s lathe.Session
	w.want(http.StatusOK, &s, "POST", "/session", `{"title":"t"}`)
	w.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/message", `{"parts":[{"type":"text","text":"hello"}]}`)
	w.want(http.StatusNotFound, nil, "GET", "/session/ses_000000000000aaaaaaaaaaaaaa", "")
	w.want(http.StatusNotFound, nil, "GET", "/no/such/path", "")
	a := w.want(http.StatusOK, nil, "GET", "/lathe/metrics", "")
	if got := a.Header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("it is %s", got)
	}
	for _, want := range []string{
		`lathe_info\{version="1.2.3"\} 1`,
		`lathe_streams 1`,
		`lathe_stream_events_total [1-9]\d*`,
		`lathe_http_request_duration_seconds_count\{method="POST",route="/session",status="200"\} 1`,
		`lathe_http_request_duration_seconds_count\{method="GET",route="/session/\{sessionID\}",status="404"\} 1`,
		`lathe_http_request_duration_seconds_count\{method="",route="unknown",status="404"\} 1`,
		`lathe_turns_running 0`,
		`lathe_commit_seconds_count [1-9]\d*`,
		`lathe_fence_rejections_total 0`,
		`lathe_lease_takeovers_total 0`,
		`lathe_feed_horizon_lag_seconds 0(\.\d+|)`,
		`lathe_turn_duration_seconds_count 1`,
		`lathe_requests_running 0`,
		`lathe_requests_waiting 0`,
		`lathe_request_queue_seconds_count 3`,
		`lathe_request_retries_total 1`,
		`lathe_requests_total\{provider="test",model="big",outcome="answered"\} 2`,
		`lathe_requests_total\{provider="test",model="big",outcome="failed"\} 1`,
		`lathe_tokens_total\{provider="test",model="big",kind="output"\} [1-9]\d*`,
		`lathe_cost_dollars_total\{provider="test",model="big"\} 0`,
		`lathe_request_duration_seconds_count\{provider="test",model="big"\} 2`,
		`lathe_tool_failures_total\{tool="fail"\} 1`,
		`lathe_tool_duration_seconds_count\{tool="fail"\} 1`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).Match(a.body) {
			t.Errorf("there is no %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", a.body)
	}
}

func TestMetrics_NeedPasswordAndFlag(t *testing.T) {
	w := begin(t, "", func(o *server.Options) { o.Metrics, o.Password = true, "x" })
	w.want(http.StatusUnauthorized, nil, "GET", "/lathe/metrics", "")
	off := begin(t, "")
	off.want(http.StatusNotFound, nil, "GET", "/lathe/metrics", "")
}

// TestTraces_OfARequest holds the span of a request, below that of its sender.
func TestTraces_OfARequest(t *testing.T) {
	bodies := make(chan []byte, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		bodies <- data
	}))
	defer collector.Close()
	tracer := otlp.Open(otlp.Options{Endpoint: collector.URL, Service: "lathe", Interval: time.Hour})
	w := begin(t, "", func(o *server.Options) { o.Tracer = tracer })
	w.want(http.StatusOK, nil, "GET", "/global/health", "", "Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Resources []struct {
			Scopes []struct {
				Spans []struct {
					Trace string `json:"traceId"`
					Name  string `json:"name"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	data := <-bodies
	w.ok(json.Unmarshal(data, &got))
	span := got.Resources[0].Scopes[0].Spans[0]
	if span.Name != "GET /global/health" || span.Trace != "0123456789abcdef0123456789abcdef" || !strings.Contains(string(data), `"http.response.status_code"`) {
		t.Errorf("sent %s", data)
	}
}
