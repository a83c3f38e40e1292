package server

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/internal/otlp"
)

// metricsAPI serves the metrics of the server.
type metricsAPI struct {
	enabled bool
	version string
	meters  *meters
	engine  Engine
}

func (a metricsAPI) routes() []row {
	return []row{
		raw(route("GET /lathe/metrics", "lathe.metrics", "lathe", mayAll,
			"Get metrics for Prometheus; requires --metrics", []failure{failsMissing}, withoutDirectory), metric.ContentType, a.metrics),
	}
}

// meters count requests and streams.
type meters struct {
	streams atomic.Int64 // open
	events  atomic.Int64 // sent

	mu     sync.Mutex // guards routes
	routes map[routeKey]*metric.Histogram
}

// routeKey is a route as it is in the table, so that there are only so many, and how it was
// answered.
type routeKey struct {
	method, route string
	status        int
}

// stream counts a stream until the function returned is called.
func (m *meters) stream() (left func()) {
	m.streams.Add(1)
	return func() { m.streams.Add(-1) }
}

// request counts one that was answered.
func (m *meters) request(r *http.Request, status int, took time.Duration) {
	key := routeKey{r.Method, r.Pattern, status}
	if key.route == "" || key.route == "/" {
		key = routeKey{"", "unknown", status} // all unknown methods share one
	}
	m.mu.Lock()
	h := m.routes[key]
	if h == nil {
		if m.routes == nil {
			m.routes = map[routeKey]*metric.Histogram{}
		}
		h = &metric.Histogram{}
		m.routes[key] = h
	}
	m.mu.Unlock()
	h.Observe(took)
}

// traced starts the span of a request, below the span of its sender.
func (s *Server) traced(r *http.Request) (*http.Request, *otlp.Span) {
	if s.options.Tracer == nil {
		return r, nil
	}
	ctx, span := s.options.Tracer.Start(otlp.WithRemoteParent(r.Context(), r.Header.Get("Traceparent")), otlp.Server, r.Method,
		otlp.Attr{Name: "http.request.method", Text: r.Method})
	return r.WithContext(ctx), span
}

// measure counts a request and ends its span. Streams last as long as their clients like, and
// say nothing about the server.
func (s *Server) measure(w *writer, r *http.Request, began time.Time, span *otlp.Span) {
	if s.options.Metrics && w.Header().Get("Content-Type") != "text/event-stream" {
		s.meters.request(r, w.status, time.Since(began))
	}
	if span != nil {
		span.Rename(r.Method + " " + r.Pattern)
		span.Set(otlp.Attr{Name: "http.route", Text: r.Pattern}, otlp.Attr{Name: "http.response.status_code", Int: int64(w.status)})
		failure := ""
		if w.status >= http.StatusInternalServerError {
			failure = strconv.Itoa(w.status)
		}
		span.End(failure)
	}
}

// metrics writes the page.
func (a metricsAPI) metrics(c *call, _ none) error {
	if !a.enabled {
		return notFound("Metrics are disabled; start the server with --metrics")
	}
	var p metric.Page
	p.Gauge("lathe_info", "Version of the program.", 1, "version", a.version)
	p.Gauge("lathe_streams", "Open event streams.", float64(a.meters.streams.Load()))
	p.Counter("lathe_stream_events_total", "Events sent on streams.", float64(a.meters.events.Load()))
	a.meters.measure(&p)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	p.Gauge("go_goroutines", "Number of goroutines.", float64(runtime.NumGoroutine()))
	p.Gauge("go_memstats_heap_inuse_bytes", "Heap memory in use.", float64(mem.HeapInuse))
	p.Gauge("go_memstats_sys_bytes", "Memory obtained from the system.", float64(mem.Sys))
	if a.engine != nil {
		a.engine.Measure(&p)
	}
	c.w.Header().Set("Content-Type", metric.ContentType)
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.whole(http.StatusOK, p.Bytes())
	return nil
}

func (m *meters) measure(p *metric.Page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := make([]routeKey, 0, len(m.routes))
	for key := range m.routes {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b routeKey) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	for _, key := range keys {
		p.Histogram("lathe_http_request_duration_seconds", "Duration of requests, without streams.", m.routes[key],
			"method", key.method, "route", key.route, "status", strconv.Itoa(key.status))
	}
}
